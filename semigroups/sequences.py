"""Make words and rules as they are asked for: there may be millions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TypeVar, overload

import numpy as np
import numpy.typing as npt

from bulkbits.plurals import many
from kernels.transformations import NumberArray
from kernels.transformations.graphs import words

Word = tuple[int, ...]
Rule = tuple[Word, Word]
T = TypeVar("T")

_AT_ONCE = 4096


class _Lazy(Sequence[T]):
    """Makes several items of a sequence at once, when they are asked for."""

    def __init__(self, count: int) -> None:
        self._count = count

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> list[T]: ...
    def __getitem__(self, index: int | slice) -> T | list[T]:
        if isinstance(index, slice):
            return self._made(np.arange(self._count)[index])
        return self._made(np.array([range(self._count)[index]]))[0]

    def __iter__(self) -> Iterator[T]:
        for start in range(0, self._count, _AT_ONCE):
            yield from self._made(np.arange(start, min(start + _AT_ONCE, self._count)))

    def _made(self, indices: npt.NDArray[np.int64]) -> list[T]:
        raise NotImplementedError


class Words(_Lazy[Word]):
    """Lists the least word of each element, a tuple of numbers of generators.

    starts, first, suffix: as in kernels.transformations.CayleyTables. begin: number of the first
    element.
    """

    def __init__(
        self, starts: Sequence[int], first: NumberArray, suffix: NumberArray, begin: int
    ) -> None:
        super().__init__(len(first) - begin)
        self._tables = (list(starts), first, suffix)
        self._begin = begin

    def of(self, numbers: npt.NDArray[np.integer]) -> list[Word]:
        """Return the words of numbers that count from the empty word."""
        starts, first, suffix = self._tables
        letters, offsets = words(numbers, starts, first, suffix)
        flat, ends = letters.tolist(), offsets.tolist()
        return [tuple(flat[a:b]) for a, b in pairwise(ends)]

    def _made(self, indices: npt.NDArray[np.int64]) -> list[Word]:
        return self.of(indices + self._begin)

    def __repr__(self) -> str:
        return f"<words of {many(len(self), 'element')}>"


class RewritingRules(_Lazy[Rule]):
    """Lists (word, lesser word of the same element): a presentation, complete for rewriting.

    words, letters, others: as rules() of kernels.transformations.graphs makes them.
    """

    def __init__(
        self, of: Words, words: NumberArray, letters: NumberArray, others: NumberArray
    ) -> None:
        super().__init__(len(words))
        self._of, self._words, self._letters, self._others = of, words, letters, others

    def _made(self, indices: npt.NDArray[np.int64]) -> list[Rule]:
        left = self._of.of(self._words[indices])
        right = self._of.of(self._others[indices])
        letters = self._letters[indices].tolist()
        return [((*u, g), r) for u, g, r in zip(left, letters, right, strict=True)]

    def __repr__(self) -> str:
        return f"<{many(len(self), 'rule')}>"
