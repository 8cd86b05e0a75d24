"""Count how often a pattern occurs among the cells of a grid: gliders, blocks, whatever is drawn.

An occurrence is the pattern's bounding box, live and dead cells as they are, with dead cells all
around it; what lies outside of the grid is dead.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from kernels.life import ref
from lifesim.grid import BitGrid, Box, Words
from lifesim.rule import LIFE, Rule

_BAND_WORDS = 1 << 18  # of a grid that are searched at a time: they stay in a cache


def find(
    grid: BitGrid, pattern: BitGrid, *, period: int = 1, rule: Rule | str = LIFE
) -> npt.NDArray[np.int64]:
    """Return where a pattern occurs, as int64 rows (x, y) of top-left cells, by y, then x,
    each place once.

    It is looked for in all eight orientations, and, with a `period`, in each of so many
    generations under the rule: `period=4` finds gliders in all their phases. A shape that is the
    same in several of these is found once. Raises ValueError for a pattern without a live cell,
    or one that dies within the period, and for cells of several states.
    """
    period = operator.index(period)
    if period < 1:
        raise ValueError(f"a period is at least 1, not {period}")
    chosen = rule if isinstance(rule, Rule) else Rule.parse(rule)
    if max(grid.planes, pattern.planes) > 1:
        raise ValueError("cells of several states are not looked for")
    shapes = {_key(shape): shape for shape in _shapes(pattern.to_bool(), period, chosen)}
    places = [_places(grid, shape) for shape in shapes.values()]
    found = np.concatenate(places) if places else np.empty((0, 2), np.int64)
    # Two shapes may have the same top-left cell.
    return np.ascontiguousarray(np.unique(found[:, ::-1], axis=0)[:, ::-1])


def count(grid: BitGrid, pattern: BitGrid, *, period: int = 1, rule: Rule | str = LIFE) -> int:
    """Return how often a pattern occurs: the number of places that find() returns."""
    return len(find(grid, pattern, period=period, rule=rule))


Cells = npt.NDArray[np.bool_]


def _shapes(cells: Cells, period: int, rule: Rule) -> Iterable[Cells]:
    """Yield the pattern's live cells, cut out, in all orientations and generations."""
    for _ in range(period):
        rows, columns = np.flatnonzero(cells.any(1)), np.flatnonzero(cells.any(0))
        if not len(rows):
            raise ValueError("the pattern has no live cell, or none is left within the period")
        cells = cells[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
        for turned in (cells, cells.T):
            for flipped in (turned, turned[::-1]):
                yield flipped
                yield flipped[:, ::-1]
        cells = ref.step(
            np.pad(cells, 1), rule.life_like.birth, rule.life_like.survival, torus=False
        )


def _key(cells: Cells) -> tuple[tuple[int, ...], bytes]:
    return cells.shape, cells.tobytes()


def _places(grid: BitGrid, shape: Cells) -> npt.NDArray[np.int64]:
    """Return where one shape occurs, in bands of rows."""
    box = np.pad(shape, 1)
    height, width = box.shape
    rows = max(1, _BAND_WORDS // grid.words.shape[1])
    found = []
    for top in range(0, grid.height - shape.shape[0] + 1, rows):
        stop = min(top + rows, grid.height - shape.shape[0] + 1)
        # With a dead column and row on each side, if the grid ends there.
        first, last = max(0, top - 1), min(grid.height, stop + height - 2)
        band = BitGrid(grid.width + 2, stop - top + height - 1)
        part = grid.crop(Box(0, first, grid.width, last - first))
        band.paste(part, 1, first - top + 1)
        here = _matches(band.words, box, stop - top)
        cells = BitGrid(64 * here.shape[1], len(here), here).cells()
        # Where the box would leave the band on the right there is padding, which is dead too.
        cells = cells[cells[:, 0] + width <= band.width]
        found.append(cells + np.array([0, top]))
    return np.concatenate(found) if found else np.empty((0, 2), np.int64)


def _matches(words: Words, box: Cells, count: int) -> Words:
    """Return words whose bits say at which cells the box fits, of `count` rows."""
    height, width = box.shape
    result = np.full((count, words.shape[1]), ~np.uint64(0))
    for x in range(width):
        word, bit = x >> 6, x & 63
        moved = np.zeros_like(words)
        moved[:, : words.shape[1] - word] = words[:, word:] >> np.uint64(bit)
        if bit:
            above = words[:, word + 1 :]
            moved[:, : above.shape[1]] |= above << np.uint64(64 - bit)
        for y in range(height):
            rows = moved[y : y + count]
            result &= rows if box[y, x] else ~rows
    return result
