"""The contract of CKY parsing: what an engine of any target offers."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from .batch import Batch, ChartGroup, Mask
from .dispatch import PartWork, Progress, unless
from .plan import Piece
from .rules import Rules

Ask = Literal["accept", "longest"]
Lengths = npt.NDArray[np.int32]


class TooLongError(MemoryError):
    """Says that a string's chart does not fit in the memory given; the message says which.

    index: of the string in its batch. length: its tokens. longest: those that would fit.
    """

    def __init__(self, index: int, length: int, longest: int) -> None:
        super().__init__(
            f"string {index + 1} has {length} tokens; memory suffices for charts of {longest}"
        )
        self.index, self.length, self.longest = index, length, longest

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.index, self.length, self.longest), vars(self)


class Cky(ABC):
    """Parses batches of strings of any lengths with one grammar, many strings to a word.

    Results are in the order of the batch and do not depend on how it is cut up. An empty
    string has no spans: it is not accepted, and its longest is 0. Interrupted
    (KeyboardInterrupt), a call leaves the engine as it was.

    rules: the grammar. memory: bytes that charts may take at any one time. at_once: strings
    that take about the time of one of them.
    """

    name: str
    rules: Rules
    memory: int
    at_once: int

    @abstractmethod
    def accept(self, batch: Batch, symbol: int, progress: Progress | None = None) -> Mask:
        """Return which strings the symbol derives: bool (count,).

        Raises TooLongError, and ValueError where there is no such symbol.
        """

    @abstractmethod
    def longest(self, batch: Batch, symbol: int, progress: Progress | None = None) -> Lengths:
        """Return the greatest k where symbol derives the first k tokens, or 0: int32 (count,).

        Raises as accept() does.
        """

    @abstractmethod
    def charts(self, batch: Batch) -> Iterator[ChartGroup]:
        """Yield the charts of all strings that are not empty, group by group, in any order.

        Raises TooLongError before the first.
        """

    def works(
        self,
        ask: Ask,
        batch: Batch,
        symbol: int,
        result: Mask | Lengths,
        stop: threading.Event,
        most: int,
    ) -> Sequence[PartWork]:
        """Return what does pieces of the batch, 1 to `most` of them at a time.

        ask, symbol: the method, and for what. result: of all strings, to be filled. stop: ends it.
        """
        method = self.accept if ask == "accept" else self.longest

        def work(start: int, end: int) -> None:
            result[start:end] = method(batch.between(start, end), symbol, unless(stop))

        return [work]

    def cut(self, batch: Batch, start: int, stop: int) -> Iterator[Piece]:
        """Yield pieces as they suit the engine."""
        yield start, stop

    @property
    @abstractmethod
    def max_length(self) -> int:
        """Tokens of the longest string whose chart fits in memory."""

    def check(self, batch: Batch, symbol: int) -> None:
        """Raise what accept() and longest() must."""
        if not 0 <= symbol < self.rules.symbols:
            raise ValueError(f"there is no symbol {symbol}: they are 0 to {self.rules.symbols - 1}")
        self.check_lengths(batch)

    def check_lengths(self, batch: Batch) -> None:
        """Raise TooLongError for the first string that is too long."""
        if not len(batch):
            return
        longest = self.max_length
        if int(batch.lengths.max()) > longest:
            index = int(np.argmax(batch.lengths > longest))
            raise TooLongError(index, int(batch.lengths[index]), longest)
