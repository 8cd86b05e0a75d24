"""What pictures are drawn from: a universe in memory, or one on disk."""

from __future__ import annotations

import threading
from typing import Protocol

import numpy as np
import numpy.typing as npt

from kernels.cells import densities
from lifesim.grid import BitGrid, Box
from lifesim.render import block_sizes, level_of
from ui.picture.pyramid import FIRST, Pyramid

Levels = npt.NDArray[np.uint8]


class Source(Protocol):
    """A universe at one generation. Any thread may ask."""

    width: int
    height: int
    generation: int

    def levels(self, box: Box, scale: int) -> Levels:
        """How densely cells live: uint8 (ceil(box.height / 2^scale), ceil(box.width / 2^scale)).

        box: within the universe; its corner is a multiple of 2^scale, its far sides are too or
        are those of the universe. scale: 0, a cell 0 or 255, or more. As lifesim.render.
        """


def lacks(source: Source) -> bool:
    """Whether the last picture was not of all that was asked for: the rest is being read, and
    announced when it is there. Of sources on disk."""
    return bool(getattr(source, "missing", 0))


class MemorySource:
    """A grid that nobody changes any more. Its pyramid is made when it is first needed."""

    def __init__(self, grid: BitGrid, generation: int = 0, pyramid: Pyramid | None = None) -> None:
        self.grid, self.generation = grid, generation
        self.width, self.height = grid.width, grid.height
        self._pyramid = pyramid
        self._making = threading.Lock()

    def levels(self, box: Box, scale: int) -> Levels:
        if scale == 0:
            return self._cells(box)
        if scale < FIRST:
            return self._near(box, scale)
        pyramid = self.pyramid
        if scale > pyramid.top:
            return pyramid.level(pyramid.top)[:1, :1]
        y, x = box.y >> scale, box.x >> scale
        rows, columns = -(-box.height >> scale), -(-box.width >> scale)
        return pyramid.level(scale)[y : y + rows, x : x + columns]

    @property
    def pyramid(self) -> Pyramid:
        with self._making:
            if self._pyramid is None:
                self._pyramid = Pyramid(self.grid)
            return self._pyramid

    def _cells(self, box: Box) -> Levels:
        first = box.x >> 6
        words = self.grid.words[box.y : box.y + box.height, first : -(-(box.x + box.width) // 64)]
        bits = np.unpackbits(np.ascontiguousarray(words).view(np.uint8), axis=1, bitorder="little")
        bits = bits[:, box.x - 64 * first : box.x - 64 * first + box.width]
        return np.negative(bits)  # 1 becomes 255

    def _near(self, box: Box, scale: int) -> Levels:
        """Counted from the cells; blocks at the far edges of the universe may be parts."""
        side = 1 << scale
        words = self.grid.words[box.y : box.y + box.height]
        rows, columns = box.height >> scale, box.width >> scale
        result = np.empty((-(-box.height >> scale), -(-box.width >> scale)), np.uint8)
        whole = result if result.shape == (rows, columns) else np.empty((rows, columns), np.uint8)
        densities(words[: rows * side], box.x, scale, whole)
        if whole is result:
            return result
        result[:rows, :columns] = whole
        widths, heights = block_sizes(box.width, scale), block_sizes(box.height, scale)
        if columns < result.shape[1]:
            at = box.width - widths[-1]
            edge = self._cells(Box(box.x + at, box.y, int(widths[-1]), box.height)) > 0
            live = np.add.reduceat(edge.sum(axis=1), np.arange(0, box.height, side))
            result[:, -1] = level_of(live, heights * widths[-1])
        if rows < result.shape[0]:
            at = box.height - heights[-1]
            edge = self._cells(Box(box.x, box.y + at, box.width, int(heights[-1]))) > 0
            live = np.add.reduceat(edge.sum(axis=0), np.arange(0, box.width, side))
            result[-1] = level_of(live, heights[-1] * widths)
        return result
