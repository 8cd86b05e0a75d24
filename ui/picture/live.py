"""Where cells live and how many, exactly, from what pictures are drawn from.

Pictures at scale 3 tell the live cells of every block of 8 x 8 apart, and at any scale whether
a block has any: so neither counting nor searching looks at single cells but at their edges.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lifesim.grid import Box
from lifesim.render import block_sizes
from ui.picture.sources import CountingSource, MemorySource, PictureSource, corner
from ui.picture.viewport import Viewport

MOST_COUNTED = 1 << 28  # cells; more would take longer than a glance
_MOST_SINGLE = 1 << 22  # where single cells must be looked at
_SCALE = 3
_COARSE = 512  # a side of the first picture that is searched
_WIDE = 8192  # a side of the nearest picture of all of a universe that is not in memory
_MARGIN = 256  # cells


def population(source: PictureSource, box: Box) -> int | None:
    """Count the live cells of a box within the universe; None where it is too large to count: much
    sooner if its corner is no multiple of 8."""
    if isinstance(source, CountingSource):
        return source.count(box)
    side = 1 << _SCALE
    cells = box.width * box.height
    ends = ((box.x, box.width, source.width), (box.y, box.height, source.height))
    if any(at % side or (length % side and at + length != most) for at, length, most in ends):
        return int(np.count_nonzero(source.levels(box, 0))) if cells <= _MOST_SINGLE else None
    if cells > MOST_COUNTED:
        return None
    levels = source.levels(box, _SCALE).astype(np.uint16)
    sizes = block_sizes(box.height, _SCALE)[:, None] * block_sizes(box.width, _SCALE)
    return int(((levels * sizes.astype(np.uint16) + np.uint16(127)) // np.uint16(255)).sum())


def live_box(source: PictureSource, within: Box | None = None) -> Box | None:
    """Return the smallest box of all live cells, or of those within a box; None where there are
    none. Of sources other than MemorySource, in whole blocks of 8 x 8 or, of large universes and of
    what is known from afar only, coarser ones: nearer pictures of all of it are not at hand. A
    CountingSource finds it itself.

    Looks at a coarse picture first, then at nearer ones of the edges alone.
    """
    finest = 0
    if isinstance(source, CountingSource):
        if within is None:
            return source.live_box()
    elif not isinstance(source, MemorySource):
        finest = max(_SCALE, getattr(source, "finest", 0))
        while max(source.width, source.height) > _WIDE << finest:
            finest += 1
    whole = Box(0, 0, source.width, source.height)
    region = whole if within is None else within.common(whole)
    if region is None:
        return None
    scale = finest
    while max(region.width, region.height) > _COARSE << scale:
        scale += 1
    inner = region
    while True:
        found = _edges(source, inner, scale, region)
        if found is None or scale == finest:
            return found
        inner, scale = found, max(finest, scale - 3)


def _edges(source: PictureSource, box: Box, scale: int, region: Box) -> Box | None:
    """Return the box of the blocks of a scale in which something lives, cut to the region.

    Looks at the edges of a box alone. None where nothing lives.
    """
    side = 1 << scale
    left, top = box.x // side, box.y // side
    right = -(-(box.x + box.width) // side)
    bottom = -(-(box.y + box.height) // side)
    deep = 1 << _SCALE  # edges are found within one block of the scale before

    def live(x0: int, y0: int, x1: int, y1: int) -> npt.NDArray[np.bool_]:
        cells = Box(
            x0 * side,
            y0 * side,
            min(x1 * side, source.width) - x0 * side,
            min(y1 * side, source.height) - y0 * side,
        )
        return source.levels(cells, scale) > 0

    def first(strips: range, lines: bool) -> int | None:
        """Return where the first row or column is that has life, in strips from the edge on."""
        for at in strips:
            if lines:
                rows = live(left, at, right, min(at + deep, bottom)).any(axis=1)
            else:
                rows = live(at, top, min(at + deep, right), bottom).any(axis=0)
            if rows.any():
                where = np.flatnonzero(rows)
                return at + int(where[0 if strips.step > 0 else -1])
        return None

    y0 = first(range(top, bottom, deep), True)
    if y0 is None:
        return None
    y1 = first(range(top + (bottom - 1 - top) // deep * deep, top - 1, -deep), True)
    top, bottom = y0, (y0 if y1 is None else y1) + 1
    x0 = first(range(left, right, deep), False)
    x1 = first(range(left + (right - 1 - left) // deep * deep, left - 1, -deep), False)
    assert x0 is not None
    assert x1 is not None
    found = Box(x0 * side, top * side, (x1 + 1 - x0) * side, (bottom - top) * side)
    # A block at the rim of the region may live by cells outside of it.
    return found.common(region)


@dataclass(frozen=True, slots=True)
class Aim:
    """The place where a view is to look, once it is known where cells live."""

    fit: bool = False
    loose: bool = False
    box: Box | None = None
    generation: int = 0

    def taken(self, source: PictureSource, view: Viewport) -> tuple[Viewport, Aim | None]:
        """Return the view that the aim leads to, and the aim of the next picture."""
        x, y = corner(source)
        if self.fit:
            found = self._fitting(source, view.seen_from(x, y)).seen_from(-x, -y)
            return found, self if self.loose else None
        box = None
        if self.box is not None:
            # Nothing is faster than a cell a generation; what is farther away has another fate.
            reach = min(abs(source.generation - self.generation), _MARGIN) + 1
            left, top, width, height = self.box
            wide, high = width + 2 * reach, height + 2 * reach
            box = live_box(source, Box(left - x - reach, top - y - reach, wide, high))
        tracked = box and box._replace(x=box.x + x, y=box.y + y)
        box = box or live_box(source)
        if box is None:
            return view, self
        centre = x + box.x + box.width // 2, y + box.y + box.height // 2
        return view.centred(*centre), Aim(box=tracked, generation=source.generation)

    def _fitting(self, source: PictureSource, view: Viewport) -> Viewport:
        box = live_box(source) or Box(0, 0, source.width, source.height)
        fitting = Viewport.fitting(box, view.width, view.height)
        left, top, right, bottom = view.rectangle(box)
        shown = left >= 0 and top >= 0 and right <= view.width and bottom <= view.height
        return view if self.loose and shown and view.scale <= fitting.scale + 1 else fitting
