"""Colours of states, and pictures of cells of several states.

A pixel is the mean of the colours of its cells, dead ones and those outside of the universe
included: of red, of green and of blue by itself, as the numbers 0 to 255 that files have, rounded
to the nearest, a half up.
"""

from __future__ import annotations

import colorsys
from collections.abc import Iterator
from typing import Protocol

import numpy as np
import numpy.typing as npt

from kernels.life.rules import AgeingRule
from kernels.ranges.rules import RangeRule
from lifesim.grid import BitGrid, Box
from lifesim.render import Levels, RenderError, block_sizes, image_size, palette_table
from lifesim.rule import Rule

Colours = npt.NDArray[np.uint8]  # (n, 3): red, green and blue of each
Pixels = npt.NDArray[np.uint8]  # (rows, columns, 3)

_YOUNG, _OLD = (255, 236, 64), (150, 0, 16)  # yellow, dark red: of cells that age
_ALIVE = (242, 246, 255)
_TURN = 0.381966  # of the circle of hues: the golden section, so that neighbours differ
_CHUNK = 1 << 20  # cells that are looked at at a time: about 32 bytes each
_CUBES = 6, 5, 4, 3  # shades of each of three colours


def state_colours(rule: Rule, palette: str = "dark") -> Colours | None:
    """Return the colours of a rule's states, uint8 (states, 3); None where it has two states and
    names none: then pictures show how densely cells live.

    State 0 has the palette's colour of dead cells. Others have those that the rule names; else
    cells that age go from yellow to dark red, and states of other rules have colours far from those
    of their neighbours. Raises RenderError for an unknown palette.
    """
    given = rule.colours
    if rule.states == 2 and not given:
        return None
    table = np.zeros((rule.states, 3), np.uint8)
    table[0] = palette_table(palette)[0]
    ages = isinstance(rule.cells, AgeingRule | RangeRule)
    for state in range(1, rule.states):
        table[state] = _aged(state, rule.states) if ages else _hue(state)
    for state, colour in given.items():
        table[state] = colour
    return table


def colours_of(rule: Rule, palette: str) -> Colours:
    """Return state_colours(). Raises RenderError also for a rule that has none."""
    colours = state_colours(rule, palette)
    if colours is None:
        raise RenderError(f"rule {rule} has no colours: its cells live or do not")
    return colours


def _aged(state: int, states: int) -> tuple[int, ...]:
    """Return a colour on the way from the first live state's to the last one's."""
    last = max(states - 2, 1)
    return tuple(
        round(young + (old - young) * (state - 1) / last)
        for young, old in zip(_YOUNG, _OLD, strict=True)
    )


def _hue(state: int) -> tuple[int, ...]:
    """Return the colour of a state among others that mean something by themselves."""
    if state == 1:
        return _ALIVE
    lightness = (0.6, 0.45, 0.72)[state % 3]
    return tuple(round(255 * c) for c in colorsys.hls_to_rgb(state * _TURN % 1, lightness, 0.85))


class CellSource(Protocol):
    """Cells of which regions can be had, as of a BitGrid."""

    width: int
    height: int

    def crop(self, box: Box) -> BitGrid:
        """Return a copy of the cells in box, all of which there are."""


def pixels_of(grid: CellSource, box: Box | None, scale_log2: int, colours: Colours) -> Pixels:
    """Return the mean colours of the cells under each pixel: uint8 (rows, columns, 3).

    The arguments and errors are those of lifesim.render.density_levels(); colours: of the states,
    as state_colours() gives them.
    """
    box = Box(0, 0, grid.width, grid.height) if box is None else box
    across, down = image_size(box.width, box.height, scale_log2, far=True)
    pixels = np.empty((down, across, 3), np.uint8)
    pixels[:] = colours[0]
    inside = box.common(Box(0, 0, grid.width, grid.height))
    if inside is None:
        return pixels
    if scale_log2 <= 0:
        _enlarge(grid, box, inside, 1 << -scale_log2, colours, pixels)
    else:
        _average(grid, box, inside, scale_log2, colours, pixels)
    return pixels


def _enlarge(
    grid: CellSource, box: Box, inside: Box, side: int, colours: Colours, pixels: Pixels
) -> None:
    """Paint each cell as a square of pixels."""
    rows = max(1, _CHUNK // inside.width)
    first = side * (inside.x - box.x)
    for y in range(inside.y, inside.y + inside.height, rows):
        count = min(rows, inside.y + inside.height - y)
        cells = colours[grid.crop(Box(inside.x, y, inside.width, count)).states()]
        wide = np.repeat(cells, side, axis=1)
        start = side * (y - box.y)
        for line in range(side):
            target = pixels[start + line : start + side * count : side]
            target[:, first : first + wide.shape[1]] = wide


def _average(
    grid: CellSource, box: Box, inside: Box, scale: int, colours: Colours, pixels: Pixels
) -> None:
    """Paint each block of cells that has any of the grid's as their mean."""
    first_row, first_column = (inside.y - box.y) >> scale, (inside.x - box.x) >> scale
    last_row = (inside.y - box.y + inside.height - 1) >> scale
    last_column = (inside.x - box.x + inside.width - 1) >> scale
    background = colours[0].astype(np.int64)
    # What a cell adds to the sum of a block that is all background.
    beyond = colours.astype(np.int64) - background
    sums = np.zeros((last_row - first_row + 1, last_column - first_column + 1, 3), np.int64)
    for part in _parts(inside):
        states = grid.crop(part).states()
        starts, row = _starts(part.y - box.y, part.height, scale)
        columns, column = _starts(part.x - box.x, part.width, scale)
        down = slice(row - first_row, row - first_row + len(starts))
        across = slice(column - first_column, column - first_column + len(columns))
        for channel in range(3):
            counted = np.add.reduceat(beyond[:, channel][states], columns, axis=1)
            sums[down, across, channel] += np.add.reduceat(counted, starts, axis=0)
    heights = block_sizes(box.height, scale)[first_row : last_row + 1]
    widths = block_sizes(box.width, scale)[first_column : last_column + 1]
    if max(heights.max(), widths.max()) >> 24:  # products are Python's integers then
        heights, widths, sums = heights.astype(object), widths.astype(object), sums.astype(object)
    cells = (heights[:, None] * widths)[..., None]
    means = (2 * (sums + cells * background) + cells) // (2 * cells)
    target = pixels[first_row : last_row + 1, first_column : last_column + 1]
    target[:] = means.astype(np.uint8)


def _parts(box: Box) -> Iterator[Box]:
    """Yield parts of a box that have no more cells than are looked at at a time, rows from the top
    on."""
    wide = min(box.width, _CHUNK)
    high = _CHUNK // wide
    for y in range(box.y, box.y + box.height, high):
        for x in range(box.x, box.x + box.width, wide):
            yield Box(x, y, min(wide, box.x + box.width - x), min(high, box.y + box.height - y))


def _starts(first: int, length: int, scale: int) -> tuple[npt.NDArray[np.intp], int]:
    """Return where blocks of 2^scale begin in `length` cells, the first of which is cell `first`,
    and the number of the first block."""
    block = first >> scale
    last = (first + length - 1) >> scale
    starts = [max((number << scale) - first, 0) for number in range(block, last + 1)]
    return np.array(starts, np.intp), block


class GifColours:
    """The 256 colours of a GIF: those of all states, and shades for means of them.

    table: uint8 (256, 3). A mean that is none of them is shown as the nearest.
    """

    def __init__(self, colours: Colours) -> None:
        self.table = np.zeros((256, 3), np.uint8)
        count = len(colours)
        self.table[:count] = colours
        side = next((side for side in _CUBES if count + side**3 <= 256), 0)
        if side:
            shades = np.rint(np.linspace(0, 255, side)).astype(np.uint8)
            cube = np.stack(np.meshgrid(shades, shades, shades), axis=-1).reshape(-1, 3)
            self.table[count : count + len(cube)] = cube
            count += len(cube)
        self._known = self.table[:count].astype(np.int64)
        self._nearest: dict[int, int] = {}

    def indices(self, pixels: Pixels) -> Levels:
        """Return which colour each pixel is shown in, uint8 (rows, columns)."""
        codes = pixels.astype(np.int64) @ np.array([1 << 16, 1 << 8, 1])
        found, where = np.unique(codes, return_inverse=True)
        chosen = np.array([self._index(int(code)) for code in found], np.uint8)
        return chosen[where].reshape(codes.shape)

    def _index(self, code: int) -> int:
        if code not in self._nearest:
            colour = np.array([code >> 16, code >> 8 & 255, code & 255])
            away = ((self._known - colour) ** 2).sum(axis=1)
            self._nearest[code] = int(away.argmin())
        return self._nearest[code]
