"""Strings of terminals, and what an engine finds out about them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from .rules import cells

Mask = npt.NDArray[np.bool_]
Terminals = npt.NDArray[np.uint32]
Indices = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Batch:
    """Holds strings of any lengths, one after another.

    terminals: uint32, C-contiguous. A value that is no terminal of the grammar is unknown.
    offsets: int64 (count + 1): string s is terminals[offsets[s] : offsets[s + 1]].
    """

    terminals: Terminals
    offsets: Indices

    def __post_init__(self) -> None:
        if self.terminals.dtype != np.uint32 or self.offsets.dtype != np.int64:
            raise ValueError(f"{self.terminals.dtype} terminals, {self.offsets.dtype} offsets")
        if self.terminals.ndim != 1 or not self.terminals.flags.c_contiguous:
            raise ValueError("terminals must be one C-contiguous row")
        ends = self.offsets
        if ends.ndim != 1 or not ends.size or ends[0] != 0 or ends[-1] != self.terminals.size:
            raise ValueError("offsets must lead from 0 to the number of terminals")
        if (np.diff(ends) < 0).any():
            raise ValueError("offsets must not fall")

    @classmethod
    def of(cls, strings: Iterable[Sequence[int]]) -> Batch:
        """Return strings given as sequences of terminals."""
        rows = [np.asarray(string, np.uint32) for string in strings]
        offsets = np.zeros(len(rows) + 1, np.int64)
        np.cumsum([row.size for row in rows], out=offsets[1:])
        return cls(np.concatenate(rows) if rows else np.empty(0, np.uint32), offsets)

    @cached_property
    def lengths(self) -> Indices:
        """Terminals of each string: int64 (count,)."""
        return np.diff(self.offsets)

    def __len__(self) -> int:
        return self.offsets.size - 1

    def __getitem__(self, s: int) -> Terminals:
        return self.terminals[self.offsets[s] : self.offsets[s + 1]]

    def between(self, start: int, stop: int) -> Batch:
        """Return strings start .. stop - 1; terminals are not copied."""
        ends = self.offsets[start : stop + 1]
        return Batch(self.terminals[ends[0] : ends[-1]], ends - ends[0])

    def take(self, indices: Indices) -> Batch:
        """Return the strings of these numbers, in this order."""
        lengths = self.lengths[indices]
        offsets = np.zeros(indices.size + 1, np.int64)
        np.cumsum(lengths, out=offsets[1:])
        places = np.repeat(self.offsets[indices] - offsets[:-1], lengths)
        places += np.arange(offsets[-1])
        return Batch(self.terminals[places], offsets)


@dataclass(frozen=True, eq=False)
class ChartGroup:
    """Holds the charts of the strings of one group, one bit a string.

    indices: int64 (strings,): which strings of the batch, in the order of their bits.
    lengths: int64 (strings,): of each.
    words: uint32 (cells, symbols, lanes): bit p % 32 of word [cell(i, j), A, p // 32] says
        whether A derives tokens i .. j - 1 of the string of indices[p]. cells is that of
        the longest of them; cells past the end of a shorter one mean nothing.
    """

    indices: Indices
    lengths: Indices
    words: npt.NDArray[np.uint32]

    def chart(self, p: int) -> Mask:
        """Return the chart of the string of indices[p]: bool (cells of its length, symbols)."""
        words = self.words[: cells(int(self.lengths[p])), :, p // 32]
        return (words >> np.uint32(p % 32) & np.uint32(1)).astype(np.bool_)
