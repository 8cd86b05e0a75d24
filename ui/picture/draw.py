"""Draws what a request asks for: a pure function of the request and a source."""

from __future__ import annotations

import numpy as np

from lifesim.colours import Pixels
from lifesim.grid import Box
from ui.picture.coloured import as_coloured
from ui.picture.request import Frame, FrameRequest
from ui.picture.sources import Levels, PictureSource, corner


def draw(request: FrameRequest, source: PictureSource) -> Frame:
    """Draw the frame of a request."""
    view = request.viewport.seen_from(*corner(source))
    universe = Box(0, 0, source.width, source.height)
    left, top, right, bottom = view.rectangle(universe)
    left, right = (min(max(edge, 0), view.width) for edge in (left, right))
    top, bottom = (min(max(edge, 0), view.height) for edge in (top, bottom))
    inside = (left, top, right, bottom)
    coloured = as_coloured(source)
    colours = None if coloured is None else coloured.colours
    if left >= right or top >= bottom:
        pixels = np.zeros((view.height, view.width), np.uint8)
        return Frame(request, pixels, inside, source.generation, colours)
    first, last = view.cells_at(left, top), view.cells_at(right - 1, bottom - 1)
    width = min(last.x + last.width, source.width) - first.x
    height = min(last.y + last.height, source.height) - first.y
    box, scale = Box(first.x, first.y, width, height), max(view.scale, 0)
    if coloured is not None:
        levels = coloured.coloured(box, scale)
    else:
        levels = source.levels(box, scale)
        if request.any_cell and scale > 0 and not request.shows_ages:
            levels = np.where(levels > 0, np.uint8(255), np.uint8(0))
    if view.scale >= 0 and levels.shape[:2] == (view.height, view.width):
        # Nothing is copied: fresh pages cost as much as the picture does.
        pixels = np.ascontiguousarray(levels)
    else:
        pixels = np.zeros((view.height, view.width, *levels.shape[2:]), np.uint8)
        target = pixels[top:bottom, left:right]
        if view.scale >= 0:
            target[:] = levels
        else:
            # Of the first cell only a part may be seen.
            side = 1 << -view.scale
            _enlarge(levels, side, (view.left + left) % side, (view.top + top) % side, target)
    since = getattr(source, "aged_since", None)
    return Frame(request, pixels, inside, source.generation, colours, since)


def painted(frame: Frame) -> Levels | Pixels:
    """Return the pixels of a frame: of cells that have colours these, uint8 (height, width, 3),
    also where the universe is not, which looks as dead cells do; else the levels as they are."""
    pixels, colours = frame.pixels, frame.colours
    if colours is None:
        return pixels
    if pixels.ndim == 2:
        return colours[pixels]
    left, top, right, bottom = frame.inside
    for outside in pixels[:top], pixels[bottom:], pixels[:, :left], pixels[:, right:]:
        if outside.size:
            outside[:] = colours[0]
    return pixels


def _enlarge(cells: Levels, side: int, skip_x: int, skip_y: int, target: Levels) -> None:
    """Make each cell side x side pixels; of the first column and row some are skipped."""
    if cells.ndim == 3:
        rows_at = (np.arange(target.shape[0]) + skip_y) // side
        columns_at = (np.arange(target.shape[1]) + skip_x) // side
        target[:] = cells[rows_at[:, None], columns_at]
        return
    unit = min(side, 8)
    words = cells.astype(f"u{unit}") * int.from_bytes(unit * b"\1", "little")
    if side > unit:
        words = np.repeat(words, side // unit, axis=1)
    wide = words.view(np.uint8)[:, skip_x : skip_x + target.shape[1]]
    for line in range(side):  # of a cell
        rows = target[(line - skip_y) % side :: side]
        rows[:] = wide[int(line < skip_y) :][: len(rows)]
