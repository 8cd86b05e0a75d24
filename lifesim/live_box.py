"""Find where the cells of a universe live, without a copy of all of them at once."""

from __future__ import annotations

import numpy as np

from kernels.life.contract import LifeUniverse
from lifesim.grid import BitGrid, Box, shape_of
from lifesim.states import live_words

_BAND_BYTES = 1 << 19  # what a level 2 cache holds


def live_box(universe: LifeUniverse) -> Box | None:
    """Return the smallest rectangle that holds every live cell; None where none lives."""
    count = -(-universe.width // 64)
    rows = max(1, min(universe.height, _BAND_BYTES // (8 * count * universe.planes)))
    band = np.empty(shape_of(universe.width, rows, universe.planes), np.uint64)
    merged = np.zeros(count, np.uint64)
    top = bottom = -1
    for y in range(0, universe.height, rows):
        part = band[: min(rows, universe.height - y)]
        universe.get(y, part)
        part = live_words(part)
        columns = np.bitwise_or.reduce(part, axis=0)
        if columns.any():
            merged |= columns
            live = BitGrid(universe.width, len(part), part).bounding_box()
            assert live
            top = y + live.y if top < 0 else top
            bottom = y + live.y + live.height
    if top < 0:
        return None
    line = BitGrid(universe.width, 1, merged[None]).bounding_box()
    assert line
    return Box(line.x, top, line.width, bottom - top)


def population_of(universe: LifeUniverse, live: Box) -> int:
    """Return the number of live cells, all of which lie in a box; some rows at a time, so that it
    takes no memory to speak of."""
    count = -(-universe.width // 64)
    first, last = live.x // 64, -(-(live.x + live.width) // 64)
    rows = max(1, min(live.height, _BAND_BYTES // (8 * count * universe.planes)))
    band = np.empty(shape_of(universe.width, rows, universe.planes), np.uint64)
    total = 0
    for y in range(live.y, live.y + live.height, rows):
        part = band[: min(rows, live.y + live.height - y)]
        universe.get(y, part)
        total += int(np.bitwise_count(live_words(part)[:, first:last]).sum(dtype=np.int64))
    return total


def part_of(universe: LifeUniverse, box: Box) -> BitGrid:
    """Return the cells of a region of a universe, which must lie inside it.

    Raises GridError where memory does not hold it.
    """
    count = -(-universe.width // 64)
    first, last = box.x // 64, -(-(box.x + box.width) // 64)
    planes = universe.planes
    wide = BitGrid(min(universe.width, 64 * last) - 64 * first, box.height, planes=planes)
    rows = max(1, min(box.height, _BAND_BYTES // (8 * count * planes)))
    band = np.empty(shape_of(universe.width, rows, planes), np.uint64)
    for y in range(0, box.height, rows):
        part = band[: min(rows, box.height - y)]
        universe.get(box.y + y, part)
        wide.words[y : y + len(part)] = part[..., first:last]
    if (64 * first, wide.width) == (box.x, box.width):
        return wide
    return wide.crop(Box(box.x - 64 * first, 0, box.width, box.height))


def common(box: Box, frame: Box) -> Box:
    """Return the cells of a box that are in a frame; where there are none, one of its own."""
    return box.common(frame) or Box(box.x, box.y, 1, 1)
