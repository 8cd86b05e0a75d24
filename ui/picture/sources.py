"""What pictures are drawn from: a universe in memory, or one on disk."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from kernels.cells import densities
from lifesim.grid import BitGrid, Box
from lifesim.render import block_sizes, level_of
from ui.picture.pyramid import FIRST, Pyramid

Levels = npt.NDArray[np.uint8]


class PictureSource(Protocol):
    """A universe at one generation. Any thread may ask.

    Its cells are counted from its top-left one here, whatever coordinates that has: see corner().
    """

    width: int
    height: int
    generation: int

    def levels(self, box: Box, scale: int) -> Levels:
        """Return how densely cells live: uint8 (ceil(box.height / 2^scale), ceil(box.width /
        2^scale)).

        box: within the universe; its corner is a multiple of 2^scale, its far sides are too or
        are those of the universe. scale: 0, a cell 0 or 255, or more. As lifesim.render.
        """


@runtime_checkable
class CountingSource(Protocol):
    """A source that tells itself how many cells live and where, however large it is."""

    def count(self, box: Box) -> int | None:
        """Return how many cells live in a block of 2^k cells a side that begins at a multiple of
        that; None where there may be so many that they are not counted exactly."""

    def live_box(self) -> Box | None:
        """Return the smallest box of all live cells, None where none lives."""


def lacks(source: PictureSource) -> bool:
    """Tell whether the last picture was not of all that was asked for: the rest is being read, and
    announced when it is there. Of sources on disk."""
    return bool(getattr(source, "missing", 0))


def corner(source: PictureSource) -> tuple[int, int]:
    """Return the coordinates of a source's top-left cell; 0, 0 unless the source says others."""
    at: tuple[int, int] = getattr(source, "at", (0, 0))
    return at


@dataclass(frozen=True, slots=True)
class Caption:
    """The facts that a picture has to be told of.

    newest: the generation of its newest cells: a universe on disk between two generations has tiles
    of both. population: live cells of the universe at `generation`, None where the source does not
    tell. cells: of the universe. is_old: some of the picture may be of an earlier generation, until
    what is being read is there.
    """

    generation: int
    newest: int
    population: int | None
    cells: int
    is_old: bool = False


def caption_of(source: PictureSource) -> Caption:
    """Say what the last picture of a source is of."""
    return Caption(
        source.generation,
        getattr(source, "newest", source.generation),
        getattr(source, "population", None),
        source.width * source.height,
        bool(getattr(source, "is_old", False)),
    )


class MemorySource:
    """A source of a grid that nobody changes any more. Its pyramid is made when it is first needed.

    at: coordinates of its top-left cell. grows: whether it is a part of a plane without bounds.
    """

    def __init__(
        self,
        grid: BitGrid,
        generation: int = 0,
        pyramid: Pyramid | None = None,
        *,
        at: tuple[int, int] = (0, 0),
        grows: bool = False,
    ) -> None:
        self.grid, self.generation = grid, generation
        self.at, self.grows = at, grows
        self.width, self.height = grid.width, grid.height
        self._pyramid = pyramid
        self._population: int | None = None
        self._making = threading.Lock()

    def levels(self, box: Box, scale: int) -> Levels:
        """Return how densely cells live, as PictureSource.levels() does."""
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
        """Return the pyramid of the cells, made when it is first asked for."""
        with self._making:
            if self._pyramid is None:
                self._pyramid = Pyramid(self.grid)
            return self._pyramid

    @property
    def population(self) -> int:
        """Return the number of live cells, counted once."""
        with self._making:
            if self._population is None:
                made = self._pyramid
                self._population = made.population if made else self.grid.population()
            return self._population

    def _cells(self, box: Box) -> Levels:
        first = box.x >> 6
        words = self.grid.words[box.y : box.y + box.height, first : -(-(box.x + box.width) // 64)]
        bits = np.unpackbits(np.ascontiguousarray(words).view(np.uint8), axis=1, bitorder="little")
        bits = bits[:, box.x - 64 * first : box.x - 64 * first + box.width]
        return np.negative(bits)  # 1 becomes 255

    def _near(self, box: Box, scale: int) -> Levels:
        """Return levels, counted from the cells; blocks at the far edges of the universe may be
        parts."""
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
