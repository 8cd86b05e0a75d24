"""A grammar in binary normal form, by numbers: what the engines compute with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int32]

MAX_SYMBOLS = 1 << 20


@dataclass(frozen=True, eq=False)
class Rules:
    """Holds rules in Chomsky normal form, and beside them unit rules that are closed already.

    A symbol derives a string of one or more terminals. The empty string is the caller's.

    symbols: their number N; a symbol is one of 0 .. N - 1.
    terminals: their number; any other terminal is unknown, and derived from nothing.
    binary: int32 (rules, 3): A, B, C of A → B C.
    units: int32 (rules, 2): A, B where A ⇒+ B, A != B. Transitively closed: whatever is B
        over a span is also A.
    lexical: int32 (rules, 2): A, a of A → a.

    Rows are sorted and distinct, as make() sees to.
    """

    symbols: int
    terminals: int
    binary: Numbers
    units: Numbers
    lexical: Numbers

    @classmethod
    def make(
        cls,
        symbols: int,
        terminals: int,
        binary: Iterable[Sequence[int]],
        lexical: Iterable[Sequence[int]],
        units: Iterable[Sequence[int]] = (),
    ) -> Rules:
        """Return rules given in any order, some perhaps twice; units need not be closed.

        Raises ValueError for a number out of range.
        """
        if not 1 <= symbols <= MAX_SYMBOLS:
            raise ValueError(f"{symbols} symbols: 1 to {MAX_SYMBOLS} are possible")
        if terminals < 0:
            raise ValueError(f"{terminals} terminals")
        return cls(
            symbols,
            terminals,
            sorted_rows(binary, (symbols,) * 3),
            sorted_rows(_closure(sorted_rows(units, (symbols,) * 2)), (symbols,) * 2),
            sorted_rows(lexical, (symbols, terminals)),
        )

    @cached_property
    def pairs(self) -> Numbers:
        """The distinct (A, B) of the binary rules, sorted: int32 (pairs, 2)."""
        pairs = self.binary[:, :2]
        first = np.ones(len(pairs), np.bool_)
        first[1:] = (pairs[1:] != pairs[:-1]).any(axis=1)
        return pairs[first]


def cells(length: int) -> int:
    """Return the number of spans of a string of so many tokens."""
    return length * (length + 1) // 2


def cell(start: int, end: int) -> int:
    """Return the place in a chart of the span of tokens start .. end - 1: column by column.

    A column is what ends at the same token. So the chart of a prefix is a prefix of the
    chart, and strings of different lengths can share the words of a group.
    """
    return end * (end - 1) // 2 + start


def sorted_rows(rows: Iterable[Sequence[int]], below: tuple[int, ...]) -> Numbers:
    """Return distinct rows in order, each column below a bound: int32 (rows, columns), read-only.

    Raises ValueError for a number out of range.
    """
    array = np.array(rows if isinstance(rows, np.ndarray) else list(rows), np.int64)
    array = array.reshape(-1, len(below))
    if array.size and ((array < 0) | (array >= np.array(below))).any():
        row = array[((array < 0) | (array >= np.array(below))).any(axis=1)][0]
        raise ValueError(f"rule {tuple(int(x) for x in row)} has a number out of range")
    # As single numbers, which sort many times quicker than rows; MAX_SYMBOLS**3 < 2**63.
    keys = array[:, 0]
    for column, bound in zip(array.T[1:], below[1:], strict=True):
        keys = keys * bound + column
    keys = np.unique(keys)
    columns = []
    for bound in reversed(below[1:]):
        columns.append(keys % max(bound, 1))
        keys = keys // max(bound, 1)
    result = np.stack([keys, *reversed(columns)], axis=1).astype(np.int32)
    result.setflags(write=False)
    return result


def _closure(units: Numbers) -> Numbers:
    """Return the transitive closure, without the pairs (A, A)."""
    below: dict[int, list[int]] = {}
    for a, b in units.tolist():
        below.setdefault(a, []).append(b)
    closed = []
    for a in below:
        reached, waiting = {a}, [a]
        while waiting:
            for b in below.get(waiting.pop(), ()):
                if b not in reached:
                    reached.add(b)
                    waiting.append(b)
        closed += [(a, b) for b in reached if b != a]
    return np.array(closed, np.int32).reshape(-1, 2)
