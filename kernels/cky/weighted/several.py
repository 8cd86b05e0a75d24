"""Weighted CKY parsing on several devices, as if they were one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from ..batch import Batch
from ..parts import Progress, Work, each_part, parts, unless, worth_a_part
from .common import check_lengths
from .engine import Kind, Logs, WeightedCky, Weights

LEAST = 256  # strings of a part: a block of the device each


class SeveralWeighted(WeightedCky):
    """Parts of a batch on engines of the same rules, a device and a thread each.

    memory: of each device. worth: what a part is, at least, of work: split points times rules.
    """

    name = "several"

    def __init__(self, engines: Sequence[WeightedCky], worth: float = 0.0) -> None:
        self._worth = worth
        self.engines = tuple(engines)
        self.rules = self.engines[0].rules
        self.memory = min(engine.memory for engine in self.engines)

    def _part(self, batch: Batch) -> int:
        """Strings of a part, at least."""
        rules = len(self.rules.binary)
        return max(LEAST, worth_a_part(batch.lengths, rules, self._worth))

    @property
    def max_length(self) -> int:
        return min(engine.max_length for engine in self.engines)

    def _all(
        self,
        batch: Batch,
        part: Callable[[WeightedCky, int, int, Progress], None],
        progress: Progress | None,
    ) -> None:
        stop = threading.Event()
        look = unless(stop)

        def by(engine: WeightedCky) -> Work:
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
        check_lengths(batch, self.max_length)
        result = np.zeros((len(primes), len(batch)), np.uint32)

        def part(engine: WeightedCky, start: int, end: int, look: Progress) -> None:
            strings = batch.between(start, end)
            result[:, start:end] = engine.residues(strings, symbol, weights, primes, look)

        self._all(batch, part, progress)
        return result

    def logs(
        self,
        batch: Batch,
        symbol: int,
        weights: Weights,
        kind: Kind,
        progress: Progress | None = None,
    ) -> Logs:
        check_lengths(batch, self.max_length)
        result = np.zeros(len(batch), np.float64)

        def part(engine: WeightedCky, start: int, end: int, look: Progress) -> None:
            strings = batch.between(start, end)
            result[start:end] = engine.logs(strings, symbol, weights, kind, look)

        self._all(batch, part, progress)
        return result

    def chart(self, terminals: npt.NDArray[np.uint32], weights: Weights, kind: Kind) -> Logs:
        return self.engines[0].chart(terminals, weights, kind)
