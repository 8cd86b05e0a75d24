"""Draws what a request asks for: a pure function of the request and a source."""

from __future__ import annotations

import numpy as np

from lifesim.grid import Box
from ui.picture.request import Frame, FrameRequest
from ui.picture.sources import Levels, Source


def draw(request: FrameRequest, source: Source) -> Frame:
    """The frame of a request."""
    view = request.viewport
    universe = Box(0, 0, source.width, source.height)
    left, top, right, bottom = view.rectangle(universe)
    left, right = (min(max(edge, 0), view.width) for edge in (left, right))
    top, bottom = (min(max(edge, 0), view.height) for edge in (top, bottom))
    pixels = np.zeros((view.height, view.width), np.uint8)
    if left < right and top < bottom:
        first, last = view.cells_at(left, top), view.cells_at(right - 1, bottom - 1)
        width = min(last.x + last.width, source.width) - first.x
        height = min(last.y + last.height, source.height) - first.y
        levels = source.levels(Box(first.x, first.y, width, height), max(view.scale, 0))
        if request.any_cell and view.scale > 0:
            levels = np.where(levels > 0, np.uint8(255), np.uint8(0))
        target = pixels[top:bottom, left:right]
        if view.scale >= 0:
            target[:] = levels
        else:
            # Of the first cell only a part may be seen.
            side = 1 << -view.scale
            _enlarge(levels, side, (view.left + left) % side, (view.top + top) % side, target)
    inside = (left, top, right, bottom)
    return Frame(request, pixels, inside, source.generation, source.facts())


def _enlarge(cells: Levels, side: int, skip_x: int, skip_y: int, target: Levels) -> None:
    """A cell becomes side x side pixels; of the first column and row some are skipped."""
    wide = np.repeat(cells, side, axis=1)[:, skip_x : skip_x + target.shape[1]]
    for row, line in enumerate(wide):
        first = row * side - skip_y
        target[max(first, 0) : first + side] = line
