"""What the compiled engines of weighted CKY parsing have in common: passes, and their checks."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..batch import Batch
from ..dispatch import Progress
from ..rules import cells
from .contract import WeightedCky
from .semirings import CompiledSemiring, Residues, Semiring
from .tables import Weights, check_lengths, check_primes, check_weights, has_units

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Job:
    """Hold what all strings of one arithmetic have in common.

    units: whether the grammar has unit rules. weights: encoded, in the order of the engine's
        tables. symbol: whose values are asked for.
    """

    arithmetic: CompiledSemiring
    units: bool
    weights: list[npt.NDArray[Any]]
    symbol: int


class CompiledWeighted(WeightedCky):
    """Parses in the arithmetics of a semiring, one after the other.

    Strings that the first cannot do, as a number on the way leaves its range, go to the next. An
    engine says how strings are parsed in one of them, and in what order its tables have weights.
    """

    def residues(
        self,
        batch: Batch,
        symbol: int,
        weights: Weights,
        primes: Sequence[int],
        progress: Progress | None = None,
    ) -> npt.NDArray[np.uint32]:
        """See WeightedCky.residues()."""
        check_primes(primes)
        result = np.zeros((len(primes), len(batch)), np.uint32)
        at = 0
        for lanes in self._lanes(len(primes)):
            some = list(primes[at : at + lanes])
            ring = Residues(some + [primes[0]] * (lanes - len(some)))
            look = progress if at + lanes >= len(primes) else None
            found = self.values(batch, symbol, weights, ring, look)
            result[at : at + lanes] = found[:, : len(some)].T
            at += lanes
        return result

    def values(
        self,
        batch: Batch,
        symbol: int,
        weights: Weights,
        semiring: Semiring,
        progress: Progress | None = None,
    ) -> npt.NDArray[Any]:
        """See WeightedCky.values()."""
        check_weights(self.rules, weights)
        check_lengths(batch, self.max_length)
        rows = self._rows(weights)
        arithmetics = semiring.arithmetics(rows)
        units, which = has_units(self.rules, weights), np.flatnonzero(batch.lengths)
        found = np.zeros(len(batch), arithmetics[0].result)
        for arithmetic in arithmetics:
            if which.size:
                job = Job(arithmetic, units, [arithmetic.encode(row) for row in rows], symbol)
                which = self._run(batch, job, found, which, progress)
        return semiring.output(found)

    def chart(
        self, terminals: npt.NDArray[np.uint32], weights: Weights, semiring: Semiring
    ) -> npt.NDArray[Any]:
        """See WeightedCky.chart()."""
        check_weights(self.rules, weights)
        batch = Batch(terminals, np.array([0, terminals.size]))
        check_lengths(batch, self.max_length)
        rows = self._rows(weights)
        arithmetic = semiring.arithmetics(rows)[-1]  # that does for all spans
        chart = np.zeros((cells(terminals.size), self.rules.symbols), arithmetic.result)
        if terminals.size:
            encoded = [arithmetic.encode(row) for row in rows]
            self._fill(chart, batch, Job(arithmetic, has_units(self.rules, weights), encoded, 0))
        return semiring.output(chart)

    @abstractmethod
    def _lanes(self, primes: int) -> Iterator[int]:
        """Yield how many primes each pass over the strings takes; the last may take more."""

    @abstractmethod
    def _rows(self, weights: Weights) -> list[npt.NDArray[Any]]:
        """Return weights in the order of the tables."""

    @abstractmethod
    def _run(
        self,
        batch: Batch,
        job: Job,
        results: npt.NDArray[Any],
        which: Numbers,
        progress: Progress | None,
    ) -> Numbers:
        """Fill in results of these strings; return those that need another arithmetic."""

    @abstractmethod
    def _fill(self, chart: npt.NDArray[Any], batch: Batch, job: Job) -> None:
        """Fill in the chart of a batch of one string, which has tokens."""
