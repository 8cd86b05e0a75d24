"""Weighted CKY parsing on a CUDA device: a block a string, each with a chart of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels.targets.contract import Target
from kernels.targets.cuda.device import Buffer, Device

from ...batch import Batch
from ...costs import LAUNCH_COSTS
from ...dispatch import Progress
from ...rules import Rules, cell, cells
from ..compiled import CompiledWeighted, Job, Numbers
from ..plan import choose, longest_fitting
from ..tables import SCALED, RuleTables, Weights, starts

SOURCE = Path(__file__).with_name("weighted.cu")
MOST_PRIMES = 4
TOKENS = 1 << 26  # of one launch


class CudaWeighted(CompiledWeighted):
    """Parses with a block for each string. memory: half of what is free by default."""

    name = "cuda"

    def __init__(self, device: Device, rules: Rules, memory: int | None = None) -> None:
        self.device, self.rules = device, rules
        self.memory = device.free_memory() // 2 if memory is None else memory
        tables = self._order = RuleTables.of(rules)
        above = np.concatenate((rules.units[:, 0], np.arange(rules.symbols)))
        below = np.concatenate((rules.units[:, 1], np.arange(rules.symbols)))
        self._unit_order = np.lexsort((below, above))

        def by_symbol(symbols: npt.NDArray[Any]) -> npt.NDArray[np.uint32]:
            return starts(np.bincount(symbols, minlength=rules.symbols))

        self._pairs = self._put(tables.pairs)
        self._rule_rows = self._put(by_symbol(rules.binary[:, 0]))
        self._rule_pairs = self._put(tables.pair_of.astype(np.uint32))
        self._unit_rows = self._put(by_symbol(above))
        self._unit_symbols = self._put(below[self._unit_order].astype(np.uint32))
        self._lexical_rows = self._put(tables.lexical_rows)
        self._lexical_symbols = self._put(tables.lexical_symbols)

    @classmethod
    def of(cls, backend: Target, rules: Rules, memory: int | None = None) -> CudaWeighted:
        """Return the engine of a target's device. Raises TypeError for another target."""
        from kernels.targets.cuda.target import CudaTarget

        if not isinstance(backend, CudaTarget):
            raise TypeError(f"{backend.name} is not the backend of a CUDA device")
        return cls(backend.device, rules, memory)

    @property
    def max_length(self) -> int:
        # The widest numbers, of one string at a time; and places are numbered by 32 bits.
        """Tokens of the longest string whose values fit in memory."""
        fitting = longest_fitting(lambda n: self._slot(n, SCALED.itemsize), self.memory)
        return min(fitting, longest_fitting(lambda n: max(self._values(n)), 2**32 - 2**16))

    def _lanes(self, primes: int) -> Iterator[int]:
        """Yield powers of two that add up to the number of primes, at most 4 each."""
        while primes:
            lanes = min(MOST_PRIMES, 1 << primes.bit_length() - 1)
            yield lanes
            primes -= lanes

    def _run(
        self,
        batch: Batch,
        job: Job,
        results: npt.NDArray[Any],
        which: Numbers,
        progress: Progress | None,
    ) -> Numbers:
        """Fill in results of these strings; return those that need another arithmetic."""
        return _Launches(self, job).strings(batch, which, results, progress)

    def _fill(self, chart: npt.NDArray[Any], batch: Batch, job: Job) -> None:
        """Fill in the chart of one string, which the device has by widths of spans."""
        length, symbols = int(batch.lengths[0]), self.rules.symbols
        memory = _Launches(self, job).launch(batch, np.zeros(1, chart.dtype), whole=True)[1]
        flat = np.empty(chart.size, chart.dtype)
        self.device.download(flat, memory)
        at = 0
        for width in range(1, length + 1):
            count = length - width + 1
            values = flat[at : at + count * symbols].reshape(symbols, count)
            for start in range(count):
                chart[cell(start, start + width)] = values[:, start]
            at += count * symbols

    def _rows(self, weights: Weights) -> list[npt.NDArray[Any]]:
        """Return weights in the order of the tables."""
        units = np.concatenate((weights.units, weights.loops))
        lexical = weights.lexical[self._order.lexical_order]
        return [weights.binary, units[self._unit_order], lexical]

    def _put(self, array: npt.NDArray[Any]) -> Buffer:
        buffer = self.device.alloc(max(array.nbytes, 16))
        if array.nbytes:
            self.device.upload(buffer, np.ascontiguousarray(array))
        self.device.synchronize()  # the array may go
        return buffer

    def _values(self, length: int) -> tuple[int, int, int]:
        """Return how many numbers a chart has, and beside it pairs and symbols."""
        symbols, pairs = self.rules.symbols, len(self._order.pairs)
        return cells(length) * symbols, pairs * length, symbols * length

    def _slot(self, length: int, value_bytes: int) -> int:
        nbytes = sum(self._values(length)) * value_bytes
        nbytes += 12 * self.rules.symbols + 4 * len(self._order.pairs)
        return -(-nbytes // 256) * 256


class _Launches:
    """Launch the kernel for strings with the same weights, in one arithmetic."""

    def __init__(self, engine: CudaWeighted, job: Job) -> None:
        self.engine, self.symbol = engine, job.symbol
        self.macros: dict[str, int | str] = {"RING": job.arithmetic.name, "UNITS": int(job.units)}
        weights, constants = job.weights, job.arithmetic.constants
        self.value_bytes = weights[0].itemsize * int(np.prod(weights[0].shape[1:]))
        self.weights = [engine._put(row) for row in weights]
        self.constants = engine._put(np.zeros(1, np.uint32) if constants is None else constants)

    def strings(
        self,
        batch: Batch,
        which: Numbers,
        results: npt.NDArray[Any],
        progress: Progress | None,
    ) -> Numbers:
        """Fill in results of these strings; return those that need another arithmetic."""
        left = []
        done = len(batch) - which.size
        for part in self._parts(batch, which):
            found = np.empty((part.size, *results.shape[1:]), results.dtype)
            # Most of the time of many short strings of one length would go into their copy.
            in_order = part.size == len(batch) and np.array_equal(part, np.arange(part.size))
            marks, _ = self.launch(batch if in_order else batch.take(part), found)
            results[part] = found
            left.append(part[marks == 0])
            done += int(np.count_nonzero(marks))
            if progress is not None:
                progress(done)
        return np.concatenate(left) if left else which

    def launch(
        self, batch: Batch, results: npt.NDArray[Any], whole: bool = False
    ) -> tuple[npt.NDArray[np.uint32], Buffer]:
        """Fills in results; which of them are right, and the memory with the last charts."""
        engine, device = self.engine, self.engine.device
        longest = int(batch.lengths.max())
        chart, pairs, symbols = engine._values(longest)
        slot = engine._slot(longest, self.value_bytes)
        params = choose(
            max(pairs, symbols), len(batch), slot, engine.memory, device.info.multiprocessors
        )
        memory = device.alloc(params.blocks * slot)
        found = device.alloc(results.nbytes)
        done = device.alloc(4 * len(batch))
        module = device.module(SOURCE, {**self.macros, "THREADS": params.threads})
        module.launch(
            "cky_weighted",
            (params.blocks, 1, 1),
            (params.threads, 1, 1),
            engine._pairs,
            np.uint32(len(engine._order.pairs)),
            engine._rule_rows,
            engine._rule_pairs,
            self.weights[0],
            engine._unit_rows,
            engine._unit_symbols,
            self.weights[1],
            engine._lexical_rows,
            engine._lexical_symbols,
            self.weights[2],
            np.uint32(engine.rules.symbols),
            np.uint32(engine.rules.terminals),
            self.constants,
            engine._put(batch.terminals),
            engine._put(batch.offsets.astype(np.uint64)),
            np.uint32(len(batch)),
            engine._put(np.zeros(1, np.uint32)),
            np.uint32(self.symbol),
            np.uint32(whole),
            memory,
            np.uint64(slot),
            np.uint64(chart),
            np.uint64(pairs),
            found,
            done,
        )
        marks = np.empty(len(batch), np.uint32)
        device.download(marks, done)
        device.download(results, found)
        return marks, memory

    def _parts(self, batch: Batch, which: Numbers) -> Iterator[Numbers]:
        """Long strings first, and in one launch none shorter than two thirds of the longest."""
        lengths = batch.lengths[which]
        order = np.argsort(-lengths, kind="stable")
        which, lengths = which[order], lengths[order]
        products = len(self.engine._order.pairs) + 1
        work = np.cumsum(lengths.astype(np.float64) ** 3 / 6 * products)
        tokens = np.cumsum(lengths)
        at = 0
        while at < which.size:
            done, passed = (work[at - 1], tokens[at - 1]) if at else (0.0, 0)
            end = min(
                int(np.searchsorted(-lengths, -(2 * lengths[at] // 3), side="right")),
                int(np.searchsorted(work, done + LAUNCH_COSTS.second)),
                int(np.searchsorted(tokens, passed + TOKENS)),
            )
            end = max(end, at + 1)
            yield which[at:end]
            at = end
