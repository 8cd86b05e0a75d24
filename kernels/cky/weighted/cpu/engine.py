"""Weighted CKY parsing by the compiled extension, strings spread over the cores."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels.targets.contract import Target
from kernels.targets.cpu import CpuTarget
from kernels.targets.memory import available_memory

from ...batch import Batch
from ...dispatch import Progress
from ...rules import Rules
from ..compiled import CompiledWeighted, Job, Numbers
from ..plan import longest_fitting
from ..tables import RuleTables, Weights

_WIDEST = "Scaled<false>", "Residues<8>"  # arithmetics that need most memory
_WORK = 1e9  # of strings between two calls of progress: a second or so


class CpuWeighted(CompiledWeighted):
    """level: of kernels.targets.cpu.levels(). threads: how many strings at once, as far as their
    charts fit in memory together."""

    name = "cpu"

    def __init__(self, rules: Rules, level: str, threads: int, memory: int) -> None:
        self.rules, self.level, self.threads, self.memory = rules, level, threads, memory
        # Not imported above: without it all but the CPU's part still works.
        self._extension: Any = importlib.import_module("kernels._cpu")
        tables = self._order = RuleTables.of(rules)
        self._tables = [
            tables.left_rows,
            tables.right,
            tables.left_of,
            tables.right_of,
            tables.rule_rows,
            tables.rule_symbols,
            tables.unit_rows,
            tables.unit_symbols,
            tables.lexical_rows,
            tables.lexical_symbols,
        ]
        self._max_length = longest_fitting(self._most_bytes, memory)

    @classmethod
    def of(cls, backend: Target, rules: Rules, memory: int | None = None) -> CpuWeighted:
        """Return the engine of a target. memory: bytes; by default half of what can be taken.

        Raises TypeError for a target that is not the CPU.
        """
        if not isinstance(backend, CpuTarget):
            raise TypeError(f"{backend.name} is not the CPU's backend")
        memory = available_memory() // 2 if memory is None else memory
        return cls(rules, backend.level, backend.threads, memory)

    @property
    def max_length(self) -> int:
        """Tokens of the longest string whose values fit in memory."""
        return self._max_length

    def _lanes(self, primes: int) -> Iterator[int]:
        """Yield 8 while there are more than 2, then 2."""
        at = 0
        while at < primes:
            lanes = 2 if primes - at <= 2 else 8
            yield lanes
            at += lanes

    def _fill(self, chart: npt.NDArray[Any], batch: Batch, job: Job) -> None:
        """Fill in the chart of one string."""
        self._call(batch, job, np.zeros(1, chart.dtype), np.zeros(1, np.int64), chart)

    def _rows(self, weights: Weights) -> list[npt.NDArray[Any]]:
        """Return weights in the order of the tables."""
        units = np.concatenate((weights.units, weights.loops))
        order = self._order
        return [
            weights.binary[order.rule_order],
            units[order.unit_order],
            weights.lexical[order.lexical_order],
        ]

    def _run(
        self,
        batch: Batch,
        job: Job,
        results: npt.NDArray[Any],
        which: Numbers,
        progress: Progress | None,
    ) -> Numbers:
        """Fill in results of these strings; return those that need another arithmetic."""
        left = []
        done = len(batch) - which.size
        for part in self._parts(batch, which, job):
            found = results[part]
            marks = self._call(batch, job, found, part, None)
            results[part] = found
            left.append(part[marks == 0])
            done += int(marks.sum())
            if progress is not None:
                progress(done)
        return np.concatenate(left) if left else which

    def _parts(self, batch: Batch, which: Numbers, job: Job) -> Iterator[Numbers]:
        """Yield strings that all threads can parse at once, or one alone; long ones first."""
        lengths = batch.lengths[which]
        order = np.argsort(-lengths, kind="stable")
        which, lengths = which[order], lengths[order]
        name, units = job.arithmetic.name, job.units
        part = longest_fitting(lambda n: self._bytes(name, n, units), self.memory // self.threads)
        first = int(np.searchsorted(-lengths, -part))  # that is not too long for all at once
        work = np.cumsum(lengths.astype(np.float64) ** 3)
        at = 0
        while at < which.size:
            done = work[at - 1] if at else 0.0
            end = max(int(np.searchsorted(work, done + _WORK)), at + 1)
            end = min(end, first) if at < first else end
            yield which[at:end]
            at = end

    def _call(
        self,
        batch: Batch,
        job: Job,
        results: npt.NDArray[Any],
        which: Numbers,
        chart: npt.NDArray[Any] | None,
    ) -> npt.NDArray[np.uint8]:
        done = np.zeros(which.size, np.uint8)
        longest = int(batch.lengths[which].max())
        most = self.memory // self._bytes(job.arithmetic.name, longest, job.units)
        self._extension.weighted_run(
            self.level,
            job.arithmetic.name,
            self._tables,
            job.units,
            [row.view(np.uint8) for row in job.weights],
            job.arithmetic.constants,
            batch.terminals,
            batch.offsets,
            which,
            job.symbol,
            results.view(np.uint8),
            done,
            None if chart is None else chart.view(np.uint8),
            max(1, min(self.threads, most)),
        )
        return done

    def _bytes(self, name: str, length: int, units: bool) -> int:
        return int(
            self._extension.weighted_scratch_bytes(self.level, name, self._tables, units, length)
        )

    def _most_bytes(self, length: int) -> int:
        return max(self._bytes(name, length, True) for name in _WIDEST)
