"""A rule as tables of columns: three cells above each other at a time, as compiled code takes it.

Three columns beside each other are the nine cells. Columns that no rule tells apart count as one,
so that tables are small: of WireWorld's 64 columns 4 differ as the left one of three, 6 as the
middle one and 4 as the right one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from kernels.tables.diagram import Level, levels_of, unique_rows
from kernels.tables.rules import TableRule

Numbers = npt.NDArray[np.uint32]

FIELD = 21  # bits of each of the three numbers of a column
_MOST_COLUMNS = 1 << 21
_MOST_TRIPLES = 1 << 20  # finals of all triples of columns, else of pairs and a column
_MOST_PAIRS = 1 << 21
_MOST_LISTED = 1 << 23


@dataclass(frozen=True, slots=True)
class ColumnTables:
    """The tables of a rule.

    maps: uint32 (3, 256): what a state adds, as the upper, middle and lower cell, to the number of
    a column. columns: uint64, for each column its numbers as the left one of three, as the middle
    one and as the right one, FIELD bits each from the lowest on. finals: uint8, the next
    state by the sum of the numbers of three columns; or, where pairs (uint32) is not empty, by
    pairs[left + middle] + right. Where there are too many columns these are empty, and walk has the
    levels of the rule, one after the other, as uint32, with `counts` nodes in each.
    """

    maps: Numbers
    columns: npt.NDArray[np.uint64]
    pairs: Numbers
    finals: npt.NDArray[np.uint8]
    walk: Numbers
    counts: Numbers
    corners: bool


@lru_cache(maxsize=8)
def columns_of(rule: TableRule) -> ColumnTables:
    """Return the tables of a rule."""
    levels = levels_of(rule)
    corners = any((levels[i] != levels[i][:, :1]).any() for i in (0, 2, 6, 8))
    cells = [_alike([levels[row], levels[row + 3], levels[row + 6]]) for row in range(3)]
    kinds = [len(first) for first, _ in cells]
    if np.prod(kinds) > _MOST_COLUMNS:
        return _walked(rule, levels, corners)
    few = [level[:, cells[i % 3][0]] for i, level in enumerate(levels)]
    left = few[2][few[1][few[0][0]]].ravel()
    second, third = _distinct(few[3:6]), _distinct(few[6:9])
    columns = None if second is None or third is None else _numbered(left, second, third)
    if columns is None:
        return _walked(rule, levels, corners)
    maps = np.zeros((3, 256), np.uint32)
    for row, (_, kind) in enumerate(cells):
        maps[row, : rule.states] = kind * int(np.prod(kinds[row + 1 :]))
    none = np.empty(0, np.uint32)
    return ColumnTables(maps, *columns, walk=none, counts=none, corners=corners)


def _alike(levels: list[Level]) -> tuple[npt.NDArray[np.intp], Numbers]:
    """Return a state of each kind that levels tell apart, and the kind of each state."""
    states = np.concatenate(levels).T
    found, kinds = unique_rows(states)
    first = np.zeros(len(found), np.intp)
    first[kinds] = np.arange(len(states))
    return first, kinds


def _distinct(levels: list[Level]) -> tuple[Numbers, Numbers] | None:
    """Return the number of each column, and what each number leads to from each node.

    levels: the three of a column's cells. What it leads to is (nodes, numbers). None where there
    is too much to list.
    """
    upper, middle, lower = levels
    # Of the upper and middle cell first, so that few columns have all their nodes listed.
    if upper.size * middle.shape[1] > _MOST_LISTED:
        return None
    pairs, of_two = unique_rows(middle[upper].reshape(len(upper), -1).T)
    if pairs.size * lower.shape[1] > _MOST_LISTED:
        return None
    three = lower[pairs].transpose(0, 2, 1).reshape(-1, len(upper))
    found, of_three = unique_rows(three)
    return of_three.reshape(len(pairs), -1)[of_two].ravel(), found.T


def _numbered(
    left: Numbers, second: tuple[Numbers, Numbers], third: tuple[Numbers, Numbers]
) -> tuple[npt.NDArray[np.uint64], Numbers, npt.NDArray[np.uint8]] | None:
    """Return columns, pairs and finals of ColumnTables; None where they are too large.

    left: the numbers of columns. second, third: those of _distinct(), from the nodes that the left
    column leads to, and from those that two columns lead to.
    """
    (middle, pairs), (right, finals) = second, third
    count, width = pairs.shape[1], finals.shape[1]
    if pairs.size * width <= _MOST_TRIPLES:
        numbers = left * np.uint32(count * width), middle * np.uint32(width)
        ends, table = finals[pairs].ravel(), np.empty(0, np.uint32)
    elif max(pairs.size, finals.size) <= _MOST_PAIRS:
        numbers = left * np.uint32(count), middle
        ends, table = finals.ravel(), (pairs * np.uint32(width)).ravel()
    else:
        return None
    columns = np.zeros(len(left), np.uint64)
    for place, values in enumerate((*numbers, right)):
        columns |= values.astype(np.uint64) << np.uint64(FIELD * place)
    return columns, table.astype(np.uint32), ends.astype(np.uint8)


def _walked(rule: TableRule, levels: list[Level], corners: bool) -> ColumnTables:
    none = np.empty(0, np.uint32)
    return ColumnTables(
        maps=np.zeros((3, 256), np.uint32),
        columns=np.empty(0, np.uint64),
        pairs=none,
        finals=np.empty(0, np.uint8),
        walk=np.concatenate([level.ravel() for level in levels]),
        counts=np.array([len(level) for level in levels], np.uint32),
        corners=corners,
    )
