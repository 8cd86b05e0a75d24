"""Weighted CKY parsing by the compiled extension, strings spread over the cores."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels.backend import Backend
from kernels.cpu import CpuBackend
from kernels.memory import available_memory

from ..batch import Batch
from ..parts import Progress
from ..rules import Rules, cells
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
)
from .engine import Kind, Logs, WeightedCky, Weights

# Of weighted.hpp.
PLAIN = {"inside": 0, "viterbi": 1}
SCALED_KINDS = {"inside": 2, "viterbi": 3}
RESIDUES = {2: 4, 8: 5}

Numbers = npt.NDArray[np.int64]
_WORK = 1e9  # of strings between two calls of progress: a second or so


class CpuWeighted(WeightedCky):
    """level: of kernels.cpu.levels(). threads: how many strings at once, as far as their
    charts fit in memory together."""

    name = "cpu"

    def __init__(self, rules: Rules, level: str, threads: int, memory: int) -> None:
        self.rules, self.level, self.threads, self.memory = rules, level, threads, memory
        # Not imported above: without it all but the CPU's part still works.
        self._extension: Any = importlib.import_module("kernels._cpu")
        tables = self._order = Tables.of(rules)
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
    def of(cls, backend: Backend, rules: Rules, memory: int | None = None) -> CpuWeighted:
        """memory: bytes; by default half of what can be taken."""
        if not isinstance(backend, CpuBackend):
            raise TypeError(f"{backend.name} is not the CPU's backend")
        memory = available_memory() // 2 if memory is None else memory
        return cls(rules, backend.level, backend.threads, memory)

    @property
    def max_length(self) -> int:
        return self._max_length

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
        units, rows = has_units(self.rules, weights), self._rows(weights)
        passes = list(_passes(len(primes)))
        for n, (first, lanes) in enumerate(passes):
            some = list(primes[first : first + lanes])
            some += [primes[0]] * (lanes - len(some))
            found = np.zeros((len(batch), lanes), np.uint32)
            self._run(
                batch,
                symbol,
                RESIDUES[lanes],
                units,
                [montgomery(row, some) for row in rows],
                found,
                np.flatnonzero(batch.lengths),
                ring_constants(some).reshape(-1),
                progress if n == len(passes) - 1 else None,
            )
            result[first : first + lanes] = found[:, : len(primes) - first].T
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
        units, rows = has_units(self.rules, weights), [floats(w) for w in self._rows(weights)]
        found = np.zeros(len(batch), SCALED)
        which = np.flatnonzero(batch.lengths)
        if all(is_plain(row) for row in rows):
            # The same numbers while no exponent is needed, several times as fast.
            which = self._run(batch, symbol, PLAIN[kind], units, rows, found, which, None, progress)
        rows = [scaled(row) for row in rows]
        self._run(batch, symbol, SCALED_KINDS[kind], units, rows, found, which, None, progress)
        return logarithms(found)

    def chart(self, terminals: npt.NDArray[np.uint32], weights: Weights, kind: Kind) -> Logs:
        check_weights(self.rules, weights)
        batch = Batch(terminals, np.array([0, terminals.size]))
        check_lengths(batch, self.max_length)
        chart = np.zeros((cells(terminals.size), self.rules.symbols), SCALED)
        if terminals.size:
            units, rows = has_units(self.rules, weights), self._rows(weights)
            self._call(
                batch,
                0,
                SCALED_KINDS[kind],
                units,
                [scaled(floats(row)) for row in rows],
                np.zeros(1, SCALED),
                np.zeros(1, np.int64),
                None,
                chart,
            )
        return logarithms(chart)

    def _rows(self, weights: Weights) -> list[npt.NDArray[Any]]:
        """In the order of the tables."""
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
        symbol: int,
        kind: int,
        units: bool,
        weights: list[npt.NDArray[Any]],
        results: npt.NDArray[Any],
        which: Numbers,
        primes: npt.NDArray[np.uint32] | None,
        progress: Progress | None,
    ) -> Numbers:
        """Fills in results of these strings; returns those that need other numbers."""
        left = []
        done = len(batch) - which.size
        for part in self._parts(batch, which, kind, units):
            found = results[part]
            marks = self._call(batch, symbol, kind, units, weights, found, part, primes, None)
            results[part] = found
            left.append(part[marks == 0])
            done += int(marks.sum())
            if progress is not None:
                progress(done)
        return np.concatenate(left) if left else which

    def _parts(self, batch: Batch, which: Numbers, kind: int, units: bool) -> Iterator[Numbers]:
        """Of strings that all threads can parse at once, or one alone; long ones first."""
        lengths = batch.lengths[which]
        order = np.argsort(-lengths, kind="stable")
        which, lengths = which[order], lengths[order]
        part = longest_fitting(lambda n: self._bytes(kind, n, units), self.memory // self.threads)
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
        symbol: int,
        kind: int,
        units: bool,
        weights: list[npt.NDArray[Any]],
        results: npt.NDArray[Any],
        which: Numbers,
        primes: npt.NDArray[np.uint32] | None,
        chart: npt.NDArray[Any] | None,
    ) -> npt.NDArray[np.uint8]:
        done = np.zeros(which.size, np.uint8)
        longest = int(batch.lengths[which].max())
        most = self.memory // self._bytes(kind, longest, units)
        self._extension.weighted_run(
            self.level,
            kind,
            self._tables,
            units,
            [row.view(np.uint8) for row in weights],
            primes,
            batch.terminals,
            batch.offsets,
            which,
            symbol,
            results.view(np.uint8),
            done,
            None if chart is None else chart.view(np.uint8),
            max(1, min(self.threads, most)),
        )
        return done

    def _bytes(self, kind: int, length: int, units: bool) -> int:
        return int(
            self._extension.weighted_scratch_bytes(self.level, kind, self._tables, units, length)
        )

    def _most_bytes(self, length: int) -> int:
        kinds = (SCALED_KINDS["inside"], RESIDUES[8])
        return max(self._bytes(kind, length, True) for kind in kinds)


def _passes(primes: int) -> Iterator[tuple[int, int]]:
    """Where a pass over the strings starts, and how many primes it takes at a time."""
    at = 0
    while at < primes:
        lanes = 2 if primes - at <= 2 else 8
        yield at, lanes
        at += lanes
