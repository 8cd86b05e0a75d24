"""Pictures of a plane that another thread moves on, which is asked for them between its steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from lifesim.grid import BitGrid, Box
from ui.picture.pyramid import FIRST
from ui.picture.request import FrameRequest
from ui.picture.sources import Levels, MemorySource
from ui.planes.universe import SeenUniverse

FURTHEST = 1 << 320  # cells from the origin: further than any plane is wide, or any view goes
_WORD = 64
# Scales up to which levels are densities, and over how many more the logarithm takes over.
_PLAIN, _LIFTED = 5, 16
_FAINTEST, _GAMMA = 0.25, 2.2  # of what is seen from afar, where one cell lives

T = TypeVar("T")
Now = Callable[[], tuple[SeenUniverse, int]]


class Ask(Protocol):
    """Has a function called by the thread whose the plane is."""

    def __call__(self, question: Callable[[], T]) -> T:
        """Return what the function returns there."""


class PlaneSource:
    """A source of a plane without bounds. Its cells are counted from a corner that is further out
    than anything lives. The generation is that of what was read last.

    grows: it is a part of a plane without bounds.
    """

    width = height = 2 * FURTHEST
    at = -FURTHEST, -FURTHEST
    grows = True

    def __init__(self, now: Now, ask: Ask, generation: int) -> None:
        """Read nothing yet. now: returns the plane and its generation. ask: as it says."""
        self._now, self._ask = now, ask
        self.generation = generation
        self._near: tuple[Box, MemorySource] | None = None  # a region, by coordinates

    def read(self, box: Box) -> None:
        """Copy the cells of a box, by coordinates."""
        left, right = box.x // _WORD, -(-(box.x + box.width) // _WORD)
        region = Box(_WORD * left, box.y, _WORD * (right - left), box.height)

        def look() -> tuple[BitGrid, int]:
            universe, generation = self._now()
            return universe.part(region), generation

        cells, self.generation = self._ask(look)
        self._near = region, MemorySource(cells, self.generation)

    def levels(self, box: Box, scale: int) -> Levels:
        """Return how densely cells live, as PictureSource.levels() does."""
        x, y = box.x - FURTHEST, box.y - FURTHEST
        if scale < FIRST:
            here = box._replace(x=x, y=y)
            if self._near is None or not _holds(self._near[0], here):
                self.read(here)
            assert self._near is not None
            region, cells = self._near
            inner = box._replace(x=x - region.x, y=y - region.y)
            return cells.levels(inner, scale)
        shape = -(-box.height >> scale), -(-box.width >> scale)

        def look() -> tuple[npt.NDArray[np.float64], int]:
            universe, generation = self._now()
            return universe.counts(x >> scale, y >> scale, scale, shape), generation

        counts, self.generation = self._ask(look)
        return brightness(counts, scale)

    def count(self, box: Box) -> int | None:
        """Return how many cells live in a block of 2^k cells a side that begins at a multiple of
        that; None where there may be so many that they are not counted exactly."""
        k = box.width.bit_length() - 1

        def look() -> float:
            universe, self.generation = self._now()
            x, y = box.x - FURTHEST, box.y - FURTHEST
            return float(universe.counts(x >> k, y >> k, k, (1, 1))[0, 0])

        found = self._ask(look)
        return int(found) if found < 2**53 else None

    def live_box(self) -> Box | None:
        """Return the smallest box of all live cells, None where none lives."""

        def look() -> Box | None:
            universe, self.generation = self._now()
            return universe.box()

        box = self._ask(look)
        return box and box._replace(x=box.x + FURTHEST, y=box.y + FURTHEST)


def _holds(region: Box, box: Box) -> bool:
    across, down = box.x - region.x, box.y - region.y
    wide, high = region.width - box.width, region.height - box.height
    return 0 <= across <= wide and 0 <= down <= high


def brightness(counts: npt.NDArray[np.float64], scale: int) -> Levels:
    """Return the level of blocks of 2^scale x 2^scale cells, by their live ones: 0 only where no
    cell lives, 255 only where all do.

    Up to blocks of 32 x 32 cells it is as lifesim.render has it. From further away hardly any
    plane has a density that could be seen: there the logarithm of the count counts more and more.
    """
    cells = 4.0**scale
    levels = counts / cells * 255
    lift = min(max((scale - _PLAIN) / _LIFTED, 0.0), 1.0)
    if lift:
        # In terms of what is seen: palettes lift levels by the inverse of gamma.
        lively = _FAINTEST + (1 - _FAINTEST) * np.log2(counts + 1) / (2 * scale)
        seen = (1 - lift) * (counts / cells) ** (1 / _GAMMA) + lift * lively
        levels = np.where(counts > 0, 255 * np.minimum(seen, 1.0) ** _GAMMA, 0.0)
    inner = np.minimum(np.maximum(np.floor(levels + 0.5), counts > 0), 255 - (counts < cells))
    return np.asarray(inner, np.uint8)


class PlanePictures:
    """Makes what requests are drawn from. Any thread may call source().

    version: a number that grows whenever something else is to be seen.
    """

    def __init__(self, now: Now, ask: Ask) -> None:
        """Make no picture yet. now: returns the plane and its generation, for the thread that
        `ask` asks."""
        self._now, self._ask = now, ask
        self.version = 0

    def changed(self) -> None:
        """Take note that something else is to be seen."""
        self.version += 1

    def source(self, request: FrameRequest) -> PlaneSource:
        """Return what to draw a request from. Waits for the stride under way, or breaks it off."""
        source = PlaneSource(self._now, self._ask, self._now()[1])
        if request.viewport.scale < FIRST:
            source.read(request.viewport.box)  # ages want to know the generation before
        return source

    def bounding_box(self, exactly: bool) -> Box | None:
        """Return the box of the live cells, None where none lives; exactly, always."""
        return self._ask(lambda: self._now()[0].box())
