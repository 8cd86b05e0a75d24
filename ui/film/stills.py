"""What is recorded of a universe at a generation: all cells, or what is seen of it from afar."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lifesim.grid import Box
from lifesim.render import RenderError, block_sizes, format_scale, image_size
from lifesim.rule import Rule
from lifesim.topology import Topology
from ui.cells.saving import Whole
from ui.picture.sources import Levels

_BAND = 32  # rows of pixels

Counts = npt.NDArray[np.int64]
Rows = npt.NDArray[np.uint64] | npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True, eq=False)
class Afar:
    """A universe as seen from afar: how densely blocks of 2^scale x 2^scale cells live.

    pixels: uint8 (ceil(height / 2^scale), ceil(width / 2^scale)), as lifesim.render draws. scale: 1
    or more.
    """

    pixels: Levels
    scale: int
    width: int
    height: int
    rule: Rule
    topology: Topology
    generation: int
    at: tuple[int, int] = (0, 0)


Still = Whole | Afar


def rows_of(still: Still) -> Rows:
    """Return packed cells, or pixels."""
    return still.cells.words if isinstance(still, Whole) else still.pixels


def scale_of(still: Still) -> int:
    """Return the scale of the pixels of a still; 0 is all cells."""
    return 0 if isinstance(still, Whole) else still.scale


def grows_of(still: Still) -> tuple[bool, bool]:
    """Return along which axes, columns and rows, a still has no bounds."""
    return still.grows if isinstance(still, Whole) else (False, False)


class AfarSource:
    """A source of what is seen from afar; nearer, its pixels are enlarged.

    finest: the scale of the pixels, below which nothing is known. missing: whether the last
    picture was to be nearer than that.
    """

    def __init__(self, still: Afar) -> None:
        self._still = still
        self.width, self.height = still.width, still.height
        self.generation, self.finest, self.at = still.generation, still.scale, still.at
        self.missing = 0
        self._levels = {still.scale: still.pixels}

    def levels(self, box: Box, scale: int) -> Levels:
        """Return how densely cells live, as PictureSource.levels() does, but as means of pixels
        where it is coarser than they are."""
        own = self.finest
        self.missing = int(scale < own)
        if scale >= own:
            top, left = box.y >> scale, box.x >> scale
            rows, columns = -(-box.height >> scale), -(-box.width >> scale)
            return self._level(scale)[top : top + rows, left : left + columns]
        rows_at = (np.arange(-(-box.height >> scale)) + (box.y >> scale)) >> (own - scale)
        columns_at = (np.arange(-(-box.width >> scale)) + (box.x >> scale)) >> (own - scale)
        near = self._still.pixels[rows_at[0] : rows_at[-1] + 1].take(columns_at, 1)
        picture: Levels = near[rows_at - rows_at[0]]
        return picture

    def _level(self, scale: int) -> Levels:
        """Return all of it at the scale of its pixels or a coarser one."""
        level = self._levels.get(scale)
        if level is None:
            level = self._levels[scale] = self._coarser(scale)
        return level

    def _coarser(self, scale: int) -> Levels:
        pixels, own = self._still.pixels, self.finest
        level = np.empty((-(-self.height >> scale), -(-self.width >> scale)), np.uint8)
        rows, columns, group = self.height >> scale, self.width >> scale, 1 << (scale - own)
        step = max(1, _BAND // group)  # rows of sums at a time: they stay in the cache
        for row in range(0, rows, step):
            end = min(row + step, rows)
            band = pixels[row * group : end * group, : columns * group]
            level[row:end, :columns] = _mean(_sums(band, group), group * group)
        # Blocks at the far edges are of fewer cells, and so may their pixels be.
        heights, widths = block_sizes(self.height, own), block_sizes(self.width, own)
        for down, across in ((rows, 0), (0, columns)):
            part = pixels[down * group :, across * group :]
            if part.size:
                cells = heights[down * group :, None] * widths[across * group :]
                level[down:, across:] = _mean(_grouped(part * cells, group), _grouped(cells, group))
        return level

    def picture(self, region: Box, scale: int) -> Levels:
        """Draw as lifesim.render.density_levels does, but the corner of the region is moved to a
        multiple of the scale. Raises RenderError for a scale that is nearer than what is known,
        too."""
        across, down = image_size(region.width, region.height, scale)
        check_scale(scale, self.finest)
        side = 1 << scale
        left, top = (region.x - self.at[0]) // side, (region.y - self.at[1]) // side
        picture = np.zeros((down, across), np.uint8)
        cells = Box(left * side, top * side, across * side, down * side)
        inside = cells.common(Box(0, 0, self.width, self.height))
        if inside is not None:
            levels = self.levels(inside, scale)
            x, y = inside.x // side - left, inside.y // side - top
            picture[y : y + levels.shape[0], x : x + levels.shape[1]] = levels
        return picture


def check_scale(scale: int, finest: int) -> None:
    """Raise RenderError for a scale that is nearer than what is known from afar."""
    if scale < finest:
        raise RenderError(f"recorded at {format_scale(finest)}: choose that scale or a coarser one")


def _sums(pixels: Levels, group: int) -> Counts:
    """Return sums of blocks of group x group pixels, of which there are whole ones only."""
    narrow = np.uint16 if group <= 256 else np.uint32
    rows = np.zeros((len(pixels) // group, pixels.shape[1]), narrow)
    for at in range(group):
        rows += pixels[at::group]
    sums = np.zeros((len(rows), pixels.shape[1] // group), np.int64)
    for at in range(group):
        sums += rows[:, at::group]
    return sums


def _grouped(values: Counts, group: int) -> Counts:
    """Return sums of blocks of which the last ones may be parts."""
    rows, columns = (np.arange(0, length, group) for length in values.shape)
    by_row = np.add.reduceat(values, rows, axis=0)
    sums: Counts = np.add.reduceat(by_row, columns, axis=1)
    return sums


def _mean(sums: Counts, weights: Counts | int) -> Levels:
    """Return means, a half rounded up; 0 only where nothing lives, 255 only where all does."""
    rounded = (2 * sums + weights) // (2 * weights)
    inner = np.minimum(np.maximum(rounded, sums > 0), 255 - (sums < 255 * weights))
    return np.asarray(inner, np.uint8)
