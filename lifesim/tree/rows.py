"""The live cells of a tree row by row, as runs, from few of its squares at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from kernels.plane.hashlife.listing import LEAF
from lifesim.cancelling import go_on
from lifesim.errors import LifesimError
from lifesim.tree.quadtree import Ints, Quadtree, Ranks, UInts, cells_of

Columns = npt.NDArray[Any]  # int64, or Python ints

_CHUNK = 1 << 14  # squares of level 3 that are unpacked at once, or a row of them
_MOST = 1 << 36  # live cells that are gone through one by one
_INTS = 60  # the highest level of a square in which coordinates fit 64 bits


class Runs(NamedTuple):
    """Maximal runs of live cells, ordered by row, then column.

    rows: int64, counted from `row`. starts: the first column of each, int64 or Python ints.
    lengths: int64 or Python ints. Rows and columns are those of the smallest box of all live cells.
    """

    row: int
    rows: Ints
    starts: Columns
    lengths: Columns


class _Strip(NamedTuple):
    """Live squares of a level that lie side by side: their numbers, and their columns of squares.
    row: that in which they lie, of squares of this level."""

    level: int
    row: int
    at: Ranks
    columns: Columns


def live_runs(tree: Quadtree) -> Iterator[Runs]:
    """Yield all runs of live cells, from top to bottom. No row is in two parts.

    Raises LifesimError where more live than can be gone through one by one.
    """
    box = tree.box()
    if box is None:
        return
    if (live := tree.population()) > _MOST:
        raise LifesimError(
            f"{live:,} cells live, too many to be written one by one: a macrocell file (.mc) "
            "holds them"
        )
    x, y = tree.x - box.x, tree.y - box.y
    for leaves, columns, top, rows in _leaves(tree):
        runs = _runs(leaves, columns, rows)
        yield Runs(8 * top + y, runs[0], runs[1] + x, runs[2])


def _leaves(tree: Quadtree) -> Iterator[tuple[UInts, Columns, int, Ints]]:
    """Yield all live squares of level 3: their cells, their columns, and their rows, counted from a
    row; ordered by row, then column. No row is in two parts."""
    weights = _weights(tree)
    columns = np.zeros(1, np.int64 if tree.top <= _INTS else object)
    todo = [_Strip(tree.top, 0, np.array([tree.root]), columns)]
    while todo:
        go_on()
        strip = todo.pop()
        few = strip.level <= _INTS and weights[strip.level][strip.at].sum() <= _CHUNK
        if few or strip.level == LEAF:
            at, columns, rows = _unfolded(tree, strip)
            yield tree.leaves[at], columns, strip.row << strip.level - LEAF, rows
            continue
        children = tree.children[strip.level][strip.at]
        for lower in (1, 0):  # the upper one is taken up first
            at = children[:, 2 * lower : 2 * lower + 2].reshape(-1)
            columns = (2 * strip.columns[:, None] + np.array([0, 1])).reshape(-1)
            live = at != 0
            if live.any():
                row = 2 * strip.row + lower
                todo.append(_Strip(strip.level - 1, row, at[live], columns[live]))


def _weights(tree: Quadtree) -> dict[int, npt.NDArray[np.float64]]:
    """Return, of each level, how many squares of level 3 live in each of its squares, about."""
    now = (tree.leaves != 0).astype(np.float64)
    found = {LEAF: now}
    for level in range(LEAF + 1, tree.top + 1):
        now = now[tree.children[level]].sum(axis=1)
        found[level] = now
    return found


def _unfolded(tree: Quadtree, strip: _Strip) -> tuple[Ranks, Columns, Ints]:
    """Return the squares of level 3 of a strip, their columns, and their rows from the first of
    them; ordered by row, then column."""
    at, columns, rows = strip.at, strip.columns, np.zeros(len(strip.at), np.int64)
    for level in range(strip.level, LEAF, -1):
        at = tree.children[level][at].reshape(-1)
        columns = (2 * columns[:, None] + np.array([0, 1, 0, 1])).reshape(-1)
        rows = (2 * rows[:, None] + np.array([0, 0, 1, 1])).reshape(-1)
        live = at != 0
        at, columns, rows = at[live], columns[live], rows[live]
    order = np.argsort(columns, kind="stable")
    order = order[np.argsort(rows[order], kind="stable")]
    return at[order], columns[order], rows[order]


def _runs(leaves: UInts, columns: Columns, rows: Ints) -> tuple[Ints, Columns, Columns]:
    """Return row, first column and length of the runs of ordered squares of level 3."""
    which, row, bit = np.nonzero(cells_of(leaves))
    y = 8 * rows[which] + row
    order = np.argsort(y, kind="stable")  # within a row the squares are in their order
    y, x = y[order], (8 * columns[which] + bit)[order]
    begins = np.ones(len(y), np.bool_)
    begins[1:] = (y[1:] != y[:-1]) | (x[1:] != x[:-1] + 1)
    first = np.flatnonzero(begins)
    return y[first], x[first], np.diff(first, append=len(y))
