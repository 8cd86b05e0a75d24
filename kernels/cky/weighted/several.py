"""Weighted CKY parsing on several devices, as if they were one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..batch import Batch
from ..parts import each_part, worth_a_part
from .common import check_lengths
from .engine import Kind, Logs, Progress, WeightedCky, Weights

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

        def work(engine: WeightedCky, part: Batch, where: slice, progress: Progress | None) -> None:
            result[:, where] = engine.residues(part, symbol, weights, primes, progress)

        each_part(self.engines, batch, self._part(batch), work, progress)
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

        def work(engine: WeightedCky, part: Batch, where: slice, progress: Progress | None) -> None:
            result[where] = engine.logs(part, symbol, weights, kind, progress)

        each_part(self.engines, batch, self._part(batch), work, progress)
        return result

    def chart(self, terminals: npt.NDArray[np.uint32], weights: Weights, kind: Kind) -> Logs:
        return self.engines[0].chart(terminals, weights, kind)
