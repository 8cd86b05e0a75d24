"""CKY parsing on several devices, as if they were one."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from itertools import zip_longest

import numpy as np

from .batch import Batch, ChartGroup, Mask
from .contract import Ask, Cky, Lengths
from .dispatch import Progress, each_part
from .plan import parts, worth_a_part


class SeveralCky(Cky):
    """Parses parts of a batch on engines of the same rules, a device each.

    memory: of each device. worth: what a part is, at least, of work: split points times rules.
    """

    name = "several"

    def __init__(self, engines: Sequence[Cky], worth: float = 0.0) -> None:
        self.engines = tuple(engines)
        self.rules = self.engines[0].rules
        self.memory = min(engine.memory for engine in self.engines)
        self.at_once = sum(engine.at_once for engine in self.engines)
        self._least, self._worth = max(engine.at_once for engine in self.engines), worth

    def _part(self, batch: Batch) -> int:
        """Return the strings of a part, at least: as many times what keeps an engine busy as is
        worth it."""
        worth = worth_a_part(batch.lengths, len(self.rules.binary), self._worth)
        return -(-worth // self._least) * self._least

    @property
    def max_length(self) -> int:
        """Tokens of the longest string whose chart fits in memory of each device."""
        return min(engine.max_length for engine in self.engines)

    def accept(self, batch: Batch, symbol: int, progress: Progress | None = None) -> Mask:
        """See Cky.accept()."""
        least = self._part(batch)
        if len(batch) <= least:
            return self.engines[0].accept(batch, symbol, progress)
        result = np.zeros(len(batch), np.bool_)
        self._all("accept", batch, symbol, result, least, progress)
        return result

    def longest(self, batch: Batch, symbol: int, progress: Progress | None = None) -> Lengths:
        """See Cky.longest()."""
        least = self._part(batch)
        if len(batch) <= least:
            return self.engines[0].longest(batch, symbol, progress)
        result = np.zeros(len(batch), np.int32)
        self._all("longest", batch, symbol, result, least, progress)
        return result

    def _all(
        self,
        ask: Ask,
        batch: Batch,
        symbol: int,
        result: Mask | Lengths,
        least: int,
        progress: Progress | None,
    ) -> None:
        self.check(batch, symbol)
        stop = threading.Event()
        most = -(-len(batch) // (least * len(self.engines)))
        by_engine = [
            engine.works(ask, batch, symbol, result, stop, most) for engine in self.engines
        ]
        # In turns, so that all engines have a piece before one has its second.
        turns = [[*enumerate(turn)] for turn in zip_longest(*by_engine)]
        works = [(work, of) for turn in turns for of, work in turn if work is not None]
        pieces = (
            piece
            for part in parts(batch.lengths, len(works), least)
            for piece in self.engines[0].cut(batch, *part)
        )
        each_part([work for work, _ in works], pieces, stop, progress, [of for _, of in works])

    def charts(self, batch: Batch) -> Iterator[ChartGroup]:
        """Yield charts of the first engine: whoever reads charts takes longer than it."""
        self.check_lengths(batch)
        yield from self.engines[0].charts(batch)
