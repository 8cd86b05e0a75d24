"""Pictures of a universe that another thread moves on."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import numpy as np

from lifesim.colours import Colours, Pixels
from lifesim.grid import BitGrid, Box, bytes_of
from lifesim.states import live_words
from ui.cells.machine import ClosedError, Machine, Setting
from ui.picture.coloured import ColourSums, StatesSource, in_colours, source_of, window_colours
from ui.picture.pyramid import FIRST, Levels, Pyramid
from ui.picture.request import FrameRequest
from ui.picture.sources import MemorySource, PictureSource

SMALL = 1 << 20  # bytes of cells that are simply copied for a picture
_SHARE = 4  # a pyramid may take one part of time in so many and one
_SELDOM = 20  # the same, where nobody looks at it
_LOOKED = 1.0  # seconds that a look at what is far counts


class Interrupted(Exception):
    """Raised where something else has to be done first."""


class RegionSource:
    """A source of the cells of a region, copied; and what is far of a pyramid, of its own
    generation."""

    def __init__(self, setting: Setting, generation: int, box: Box, cells: BitGrid | None) -> None:
        """Draw from copied cells.

        box: as cells are counted here, from the top-left one of the universe. cells: None is a
        region that holds none.
        """
        self.width, self.height, self.generation = setting.width, setting.height, generation
        self.at, self.grows = setting.at, any(setting.grows)
        self._box = box
        self._cells = source_of(cells, setting.rule, generation) if cells else None

    def levels(self, box: Box, scale: int) -> Levels:
        """Return how densely cells live in a box within the region."""
        if self._cells is None:
            return np.zeros((-(-box.height >> scale), -(-box.width >> scale)), np.uint8)
        return self._cells.levels(self._inside(box), scale)

    def _inside(self, box: Box) -> Box:
        """Return a box as the region counts its cells."""
        return box._replace(x=box.x - self._box.x, y=box.y - self._box.y)


class ColouredRegion(RegionSource):
    """The same, of cells that have colours."""

    def __init__(self, setting: Setting, generation: int, box: Box, cells: BitGrid | None) -> None:
        super().__init__(setting, generation, box, cells)
        self.colours = window_colours(setting.rule)

    def coloured(self, box: Box, scale: int) -> Levels | Pixels:
        """Return states, or mean colours, of a box within the region, as ColouredSource says."""
        assert isinstance(self._cells, StatesSource)  # who sees nothing asks for nothing
        return self._cells.coloured(self._inside(box), scale)


class FarSource:
    """A source of what is far, of a pyramid alone."""

    def __init__(self, pyramid: Pyramid, generation: int, at: tuple[int, int] = (0, 0)) -> None:
        self.width, self.height, self.at = pyramid.width, pyramid.height, at
        self.generation, self._pyramid = generation, pyramid
        self.population = pyramid.population

    def levels(self, box: Box, scale: int) -> Levels:
        """Return how densely cells live. scale: FIRST or more."""
        k = min(scale, self._pyramid.top)
        if k < scale:
            return self._pyramid.level(k)[:1, :1]
        y, x = box.y >> k, box.x >> k
        return self._pyramid.level(k)[y : y + -(-box.height >> k), x : x + -(-box.width >> k)]


class ColouredFar(FarSource):
    """The same, of cells that have colours, whose sums are known beside the pyramid."""

    def __init__(
        self,
        pyramid: Pyramid,
        sums: ColourSums,
        colours: Colours,
        generation: int,
        at: tuple[int, int] = (0, 0),
    ) -> None:
        super().__init__(pyramid, generation, at)
        self.colours, self._sums = colours, sums

    def coloured(self, box: Box, scale: int) -> Levels | Pixels:
        """Return mean colours, as ColouredSource says. scale: FIRST or more."""
        return self._sums.means(box, scale)


def far_source(
    grid: BitGrid,
    setting: Setting,
    generation: int,
    progress: Callable[[int], None] | None = None,
) -> tuple[FarSource, Pyramid]:
    """Read all cells once, and return a source of what is far of them, and its pyramid. progress:
    is called with a number of rows, from any thread, and may raise."""
    live = BitGrid(grid.width, grid.height, live_words(grid.words))
    pyramid = Pyramid(live, progress)
    if not in_colours(setting.rule):
        return FarSource(pyramid, generation, setting.at), pyramid
    colours = window_colours(setting.rule)
    sums = ColourSums(grid, colours, progress)
    return ColouredFar(pyramid, sums, colours, generation, setting.at), pyramid


class Pictures:
    """Makes what requests are drawn from.

    The engine's thread calls changed(), show(), due() and refresh(); any thread may call the rest.
    small: bytes of cells up to which all are copied.
    """

    def __init__(self, machine: Machine, small: int = SMALL) -> None:
        self._small = small
        self._lock = threading.Lock()
        self._version = 0
        self._looked = -_LOOKED
        self._took = 0.0  # by the last pyramid
        self._failed = -1  # the version that none could be made of
        self.show(machine)

    def show(self, machine: Machine) -> None:
        """Show another universe; the engine's thread calls it."""
        with self._lock:
            self.machine = machine
            self._copy: tuple[int, MemorySource] | None = None
            self._pyramid: tuple[int, FarSource, Pyramid] | None = None
            self._next = 0.0  # when a pyramid may be made again
        self.changed()

    def changed(self) -> None:
        """Take note that something else is to be seen; the engine's thread calls it."""
        self._version += 1

    @property
    def version(self) -> int:
        """Return a number that grows whenever something else is to be seen."""
        return self._version

    @property
    def are_copies(self) -> bool:
        """Tell whether all cells are simply copied for a picture."""
        setting = self.machine.setting
        return bytes_of(setting.width, setting.height, setting.rule.planes) <= self._small

    def source(self, request: FrameRequest) -> PictureSource:
        """Return what to draw a request from; any thread may ask. Raises ClosedError."""
        while True:
            machine = self.machine
            try:
                if self.are_copies:
                    return self.copied()
                if request.viewport.scale >= FIRST:
                    return self._far(machine)
                return self._near(machine, request)
            except ClosedError:
                if machine is self.machine:
                    raise

    def copied(self) -> MemorySource:
        """Return all cells as they are now. Raises GridError and ClosedError."""
        with self._lock:
            version = self._version
            if self._copy is None or self._copy[0] != version:
                setting = self.machine.setting
                grid, generation = self.machine.read(setting.box)
                about = grid, setting.rule, generation
                source = source_of(*about, at=setting.at, grows=any(setting.grows))
                self._copy = version, source
            return self._copy[1]

    def _near(self, machine: Machine, request: FrameRequest) -> PictureSource:
        setting = machine.setting
        width, (x, y) = setting.width, setting.at
        kind = ColouredRegion if in_colours(setting.rule) else RegionSource
        inside = Box(0, 0, setting.width, setting.height)
        box = request.viewport.seen_from(x, y).box.common(inside)
        if box is None:
            return kind(setting, machine.generation, Box(0, 0, 1, 1), None)
        # Whole words are copied faster than cells.
        left, right = box.x >> 6 << 6, min(width, -(-(box.x + box.width) >> 6 << 6))
        box = Box(left, box.y, right - left, box.height)
        cells, generation = machine.read(box._replace(x=x + box.x, y=y + box.y))
        return kind(setting, generation, box, cells)

    def _far(self, machine: Machine) -> PictureSource:
        self._looked = time.monotonic()
        with self._lock:
            if self._pyramid is None:
                # The first one is waited for.
                grid, generation = machine.read(machine.setting.box)
                made = far_source(grid, machine.setting, generation)
                self._pyramid = self._version, *made
            return self._pyramid[1]

    # --- of the engine's thread ------------------------------------------------

    def due(self, running: bool) -> float | None:
        """Return when refresh() should be called, by time.monotonic(); None if there is no need."""
        made = self._pyramid[0] if self._pyramid else -1
        if self.are_copies or self._version in (made, self._failed):
            return None
        if not running:
            return 0.0
        looked = time.monotonic() - self._looked < _LOOKED
        return self._next if looked else self._next + (_SELDOM - _SHARE) * self._took

    def refresh(self, interrupted: Callable[[], bool]) -> bool:
        """Make a pyramid of what is now; False where it was interrupted before it was done."""
        began = time.monotonic()

        def look(_: int) -> None:
            if interrupted():
                raise Interrupted

        try:
            grid = self.machine.whole()
            if grid is None:
                grid, _ = self.machine.read(self.machine.setting.box)
                look(0)
            made = far_source(grid, self.machine.setting, self.machine.generation, look)
        except Interrupted:
            return False
        except BaseException:
            self._failed = self._version
            raise
        now = time.monotonic()
        self._took = now - began
        self._next = now + _SHARE * self._took
        with self._lock:
            self._pyramid = self._version, *made
        return True

    @property
    def is_made(self) -> bool:
        """Tell whether the newest pyramid is of what is now."""
        newest = self._pyramid
        return newest is not None and newest[0] == self._version

    @property
    def population(self) -> tuple[int | None, int]:
        """Return the population of the newest pyramid, None if there is none, and its
        generation."""
        newest = self._pyramid
        if newest is None:
            return None, self.machine.generation
        return newest[2].population, newest[1].generation

    def bounding_box(self, exactly: bool) -> Box | None:
        """Return the box of the live cells, None where none lives.

        exactly: else, where all are not copied, in blocks of the newest pyramid, if there is one.
        """
        setting = self.machine.setting
        box = self._box(exactly)
        return box and box._replace(x=box.x + setting.x, y=box.y + setting.y)

    def _box(self, exactly: bool) -> Box | None:
        if self.are_copies:
            return self.copied().grid.bounding_box()
        newest = self._pyramid
        if exactly or newest is None:
            return self.machine.read(self.machine.setting.box)[0].bounding_box()
        pyramid, side = newest[2], 1 << FIRST
        blocks = BitGrid.from_bool(pyramid.level(FIRST)).bounding_box()
        if blocks is None:
            return None
        box = Box(*(side * length for length in blocks))
        return box.common(Box(0, 0, pyramid.width, pyramid.height))
