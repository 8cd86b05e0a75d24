"""Weighted CKY parsing on several devices, as if they were one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..batch import Batch
from ..dispatch import PartWork, Progress, each_part, unless
from ..plan import parts, worth_a_part
from .contract import WeightedCky
from .semirings import Semiring
from .tables import Weights, check_lengths

LEAST = 256  # strings of a part: a block of the device each


class SeveralWeighted(WeightedCky):
    """Parses parts of a batch on engines of the same rules, a device and a thread each.

    memory: of each device. worth: what a part is, at least, of work: split points times rules.
    """

    name = "several"

    def __init__(self, engines: Sequence[WeightedCky], worth: float = 0.0) -> None:
        self._worth = worth
        self.engines = tuple(engines)
        self.rules = self.engines[0].rules
        self.memory = min(engine.memory for engine in self.engines)

    def _part(self, batch: Batch) -> int:
        """Return the strings of a part, at least."""
        rules = len(self.rules.binary)
        return max(LEAST, worth_a_part(batch.lengths, rules, self._worth))

    @property
    def max_length(self) -> int:
        """Tokens of the longest string whose values fit in memory."""
        return min(engine.max_length for engine in self.engines)

    def _all(
        self,
        batch: Batch,
        part: Callable[[WeightedCky, int, int, Progress], None],
        progress: Progress | None,
    ) -> None:
        stop = threading.Event()
        look = unless(stop)

        def by(engine: WeightedCky) -> PartWork:
            return lambda start, end: part(engine, start, end, look)

        pieces = parts(batch.lengths, len(self.engines), self._part(batch))
        if len(pieces) > 1:
            each_part([by(engine) for engine in self.engines], pieces, stop, progress)
        else:
            for start, end in pieces:
                part(self.engines[0], start, end, progress or look)

    def residues(
        self,
        batch: Batch,
        symbol: int,
        weights: Weights,
        primes: Sequence[int],
        progress: Progress | None = None,
    ) -> npt.NDArray[np.uint32]:
        """See WeightedCky.residues()."""
        check_lengths(batch, self.max_length)
        result = np.zeros((len(primes), len(batch)), np.uint32)

        def part(engine: WeightedCky, start: int, end: int, look: Progress) -> None:
            strings = batch.between(start, end)
            result[:, start:end] = engine.residues(strings, symbol, weights, primes, look)

        self._all(batch, part, progress)
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
        check_lengths(batch, self.max_length)
        result = semiring.exact_output([0] * len(batch))

        def part(engine: WeightedCky, start: int, end: int, look: Progress) -> None:
            strings = batch.between(start, end)
            result[start:end] = engine.values(strings, symbol, weights, semiring, look)

        self._all(batch, part, progress)
        return result

    def chart(
        self, terminals: npt.NDArray[np.uint32], weights: Weights, semiring: Semiring
    ) -> npt.NDArray[Any]:
        """See WeightedCky.chart()."""
        return self.engines[0].chart(terminals, weights, semiring)
