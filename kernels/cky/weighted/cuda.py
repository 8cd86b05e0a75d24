"""Weighted CKY parsing on a CUDA device: a block a string, each with a chart of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels.backend import Backend
from kernels.device import Buffer, Device

from ..batch import Batch
from ..parts import Progress
from ..rules import Rules, cell, cells
from .common import (
    SCALED,
    Tables,
    check_lengths,
    check_primes,
    check_weights,
    floats,
    has_units,
    is_plain,
    logarithms,
    longest_fitting,
    montgomery,
    ring_constants,
    scaled,
    starts,
)
from .engine import Kind, Logs, WeightedCky, Weights

SOURCE = Path(__file__).with_name("weighted.cu")
PLAIN, SCALED_FLOATS, RESIDUES = 0, 1, 2  # KIND of weighted.cu
MOST_PRIMES = 4
WORK = 1e12  # products of strings of one launch: a second or so
TOKENS = 1 << 26  # of one launch

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Params:
    """threads: of a block. blocks: of a launch, each with a slot of memory."""

    threads: int
    blocks: int


def choose(items: int, strings: int, slot_bytes: int, memory: int, multiprocessors: int) -> Params:
    """items: that the threads of a block share, at most, between two barriers."""
    threads, most = 32, 128 if items < 4096 else 512
    while threads < most and 2 * threads < items:
        threads *= 2
    blocks = multiprocessors * (1024 // threads)
    return Params(threads, max(1, min(blocks, strings, memory // slot_bytes)))


class CudaWeighted(WeightedCky):
    """memory: half of what is free by default."""

    name = "cuda"

    def __init__(self, device: Device, rules: Rules, memory: int | None = None) -> None:
        self.device, self.rules = device, rules
        self.memory = device.free_memory() // 2 if memory is None else memory
        tables = self._order = Tables.of(rules)
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
    def of(cls, backend: Backend, rules: Rules, memory: int | None = None) -> CudaWeighted:
        from kernels.cuda import CudaBackend

        if not isinstance(backend, CudaBackend):
            raise TypeError(f"{backend.name} is not the backend of a CUDA device")
        return cls(backend.device, rules, memory)

    @property
    def max_length(self) -> int:
        # The widest numbers, of one string at a time; and places are numbered by 32 bits.
        fitting = longest_fitting(lambda n: self._slot(n, SCALED.itemsize), self.memory)
        return min(fitting, longest_fitting(lambda n: max(self._values(n)), 2**32 - 2**16))

    def residues(
        self,
        batch: Batch,
        symbol: int,
        weights: Weights,
        primes: Sequence[int],
        progress: Progress | None = None,
    ) -> npt.NDArray[np.uint32]:
        check_primes(primes)
        check_weights(self.rules, weights)
        check_lengths(batch, self.max_length)
        result = np.zeros((len(primes), len(batch)), np.uint32)
        which, rows = np.flatnonzero(batch.lengths), self._rows(weights)
        at = 0
        while at < len(primes):
            lanes = min(MOST_PRIMES, 1 << (len(primes) - at).bit_length() - 1)
            some = list(primes[at : at + lanes])
            found = np.zeros((len(batch), lanes), np.uint32)
            run = _Run(
                self,
                {"KIND": RESIDUES, "PRIMES": lanes, "UNITS": int(has_units(self.rules, weights))},
                [montgomery(row, some) for row in rows],
                ring_constants(some),
            )
            last = at + lanes == len(primes)
            run.strings(batch, which, symbol, found, progress if last else None)
            result[at : at + lanes] = found.T
            at += lanes
        return result

    def logs(
        self,
        batch: Batch,
        symbol: int,
        weights: Weights,
        kind: Kind,
        progress: Progress | None = None,
    ) -> Logs:
        check_weights(self.rules, weights)
        check_lengths(batch, self.max_length)
        rows = [floats(row) for row in self._rows(weights)]
        found = np.zeros(len(batch), SCALED)
        which = np.flatnonzero(batch.lengths)
        if all(is_plain(row) for row in rows):
            # The same numbers while no exponent is needed, faster and smaller.
            run = _Run(self, self._macros(PLAIN, weights, kind), rows)
            which = run.strings(batch, which, symbol, found, progress)
        if which.size:
            run = _Run(
                self, self._macros(SCALED_FLOATS, weights, kind), [scaled(row) for row in rows]
            )
            run.strings(batch, which, symbol, found, progress)
        return logarithms(found)

    def chart(self, terminals: npt.NDArray[np.uint32], weights: Weights, kind: Kind) -> Logs:
        check_weights(self.rules, weights)
        batch = Batch(terminals, np.array([0, terminals.size]))
        check_lengths(batch, self.max_length)
        length, symbols = terminals.size, self.rules.symbols
        chart = np.zeros((cells(length), symbols), SCALED)
        if length:
            rows = [scaled(floats(row)) for row in self._rows(weights)]
            run = _Run(self, self._macros(SCALED_FLOATS, weights, kind), rows)
            memory = run.launch(batch, 0, np.zeros(1, SCALED), whole=True)[1]
            flat = np.empty(cells(length) * symbols, SCALED)
            self.device.download(flat, memory)
            at = 0
            for width in range(1, length + 1):
                count = length - width + 1
                here = flat[at : at + count * symbols].reshape(symbols, count)
                for start in range(count):
                    chart[cell(start, start + width)] = here[:, start]
                at += count * symbols
        return logarithms(chart)

    def _macros(self, number: int, weights: Weights, kind: Kind) -> dict[str, int]:
        units = has_units(self.rules, weights)
        return {"KIND": number, "BEST": int(kind == "viterbi"), "UNITS": int(units)}

    def _rows(self, weights: Weights) -> list[npt.NDArray[Any]]:
        """In the order of the tables."""
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
        """Numbers of a chart, and beside it of pairs and of symbols."""
        symbols, pairs = self.rules.symbols, len(self._order.pairs)
        return cells(length) * symbols, pairs * length, symbols * length

    def _slot(self, length: int, value_bytes: int) -> int:
        nbytes = sum(self._values(length)) * value_bytes
        nbytes += 12 * self.rules.symbols + 4 * len(self._order.pairs)
        return -(-nbytes // 256) * 256


class _Run:
    """Launches with the same weights."""

    def __init__(
        self,
        engine: CudaWeighted,
        macros: dict[str, int],
        weights: list[npt.NDArray[Any]],
        constants: npt.NDArray[np.uint32] | None = None,
    ) -> None:
        self.engine, self.macros = engine, macros
        self.value_bytes = weights[0].itemsize * int(np.prod(weights[0].shape[1:]))
        self.weights = [engine._put(row) for row in weights]
        self.constants = engine._put(np.zeros(1, np.uint32) if constants is None else constants)

    def strings(
        self,
        batch: Batch,
        which: Numbers,
        symbol: int,
        results: npt.NDArray[Any],
        progress: Progress | None,
    ) -> Numbers:
        """Fills in results of these strings; returns those that need other numbers."""
        left = []
        done = len(batch) - which.size
        for part in self._parts(batch, which):
            found = np.empty((part.size, *results.shape[1:]), results.dtype)
            # Most of the time of many short strings of one length would go into their copy.
            in_order = part.size == len(batch) and np.array_equal(part, np.arange(part.size))
            marks, _ = self.launch(batch if in_order else batch.take(part), symbol, found)
            results[part] = found
            left.append(part[marks == 0])
            done += int(np.count_nonzero(marks))
            if progress is not None:
                progress(done)
        return np.concatenate(left) if left else which

    def launch(
        self, batch: Batch, symbol: int, results: npt.NDArray[Any], whole: bool = False
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
            np.uint32(symbol),
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
                int(np.searchsorted(work, done + WORK)),
                int(np.searchsorted(tokens, passed + TOKENS)),
            )
            end = max(end, at + 1)
            yield which[at:end]
            at = end
