"""Pictures of a universe that another thread moves on."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import numpy as np

from lifesim.grid import BitGrid, Box, bytes_of
from ui.cells.machine import ClosedError, Machine
from ui.picture.pyramid import FIRST, Levels, Pyramid
from ui.picture.request import FrameRequest, clipped
from ui.picture.sources import MemorySource, Source

SMALL = 1 << 20  # bytes of cells that are simply copied for a picture
_SHARE = 4  # a pyramid may take one part of time in so many and one
_SELDOM = 20  # the same, where nobody looks at it
_LOOKED = 1.0  # seconds that a look at what is far counts


class Interrupted(Exception):
    """Something else has to be done first."""


class RegionSource:
    """Cells of a region, copied; and what is far of a pyramid, of its own generation."""

    def __init__(
        self, width: int, height: int, generation: int, box: Box, cells: BitGrid | None
    ) -> None:
        self.width, self.height, self.generation = width, height, generation
        self._box = box
        self._cells = MemorySource(cells, generation) if cells else None

    def levels(self, box: Box, scale: int) -> Levels:
        """box: within the region."""
        if self._cells is None:
            return np.zeros((-(-box.height >> scale), -(-box.width >> scale)), np.uint8)
        inside = box._replace(x=box.x - self._box.x, y=box.y - self._box.y)
        return self._cells.levels(inside, scale)


class FarSource:
    """What is far, of a pyramid alone."""

    def __init__(self, pyramid: Pyramid, generation: int) -> None:
        self.width, self.height = pyramid.width, pyramid.height
        self.generation, self._pyramid = generation, pyramid

    def levels(self, box: Box, scale: int) -> Levels:
        """scale: FIRST or more."""
        k = min(scale, self._pyramid.top)
        if k < scale:
            return self._pyramid.level(k)[:1, :1]
        y, x = box.y >> k, box.x >> k
        return self._pyramid.level(k)[y : y + -(-box.height >> k), x : x + -(-box.width >> k)]


class Pictures:
    """What to draw requests from. The engine's thread says changed() and refresh(); any thread
    may ask for the rest. small: bytes of cells up to which all are copied."""

    def __init__(self, machine: Machine, small: int = SMALL) -> None:
        self._small = small
        self._lock = threading.Lock()
        self._version = 0
        self._looked = -_LOOKED
        self._took = 0.0  # by the last pyramid
        self._failed = -1  # the version that none could be made of
        self.show(machine)

    def show(self, machine: Machine) -> None:
        """Another universe."""
        with self._lock:
            self.machine = machine
            self._copy: tuple[int, MemorySource] | None = None
            self._pyramid: tuple[int, FarSource, Pyramid] | None = None
            self._next = 0.0  # when a pyramid may be made again
        self.changed()

    def changed(self) -> None:
        self._version += 1

    @property
    def version(self) -> int:
        """Grows whenever something else is to be seen."""
        return self._version

    @property
    def are_copies(self) -> bool:
        setting = self.machine.setting
        return bytes_of(setting.width, setting.height) <= self._small

    def source(self, request: FrameRequest) -> Source:
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
        """All cells as they are now. Raises GridError and ClosedError."""
        with self._lock:
            version = self._version
            if self._copy is None or self._copy[0] != version:
                grid, generation = self.machine.read(self.machine.setting.box)
                self._copy = version, MemorySource(grid, generation)
            return self._copy[1]

    def _near(self, machine: Machine, request: FrameRequest) -> Source:
        width, height = machine.setting.width, machine.setting.height
        box = clipped(request.viewport.box, width, height)
        if box is None:
            return RegionSource(width, height, machine.generation, Box(0, 0, 1, 1), None)
        # Whole words are copied faster than cells.
        left, right = box.x >> 6 << 6, min(width, -(-(box.x + box.width) >> 6 << 6))
        box = Box(left, box.y, right - left, box.height)
        cells, generation = machine.read(box)
        return RegionSource(width, height, generation, box, cells)

    def _far(self, machine: Machine) -> Source:
        self._looked = time.monotonic()
        with self._lock:
            if self._pyramid is None:
                # The first one is waited for.
                grid, generation = machine.read(machine.setting.box)
                self._put(self._version, Pyramid(grid), generation)
            assert self._pyramid is not None
            return self._pyramid[1]

    def _put(self, version: int, pyramid: Pyramid, generation: int) -> None:
        self._pyramid = version, FarSource(pyramid, generation), pyramid

    # --- of the engine's thread ------------------------------------------------

    def due(self, running: bool) -> float | None:
        """When refresh() should be called, by time.monotonic(); None if there is no need."""
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
            pyramid = Pyramid(grid, look)
        except Interrupted:
            return False
        except BaseException:
            self._failed = self._version
            raise
        now = time.monotonic()
        self._took = now - began
        self._next = now + _SHARE * self._took
        with self._lock:
            self._put(self._version, pyramid, self.machine.generation)
        return True

    @property
    def population(self) -> tuple[int | None, int]:
        """Of the newest pyramid, if there is one, and its generation."""
        newest = self._pyramid
        if newest is None:
            return None, self.machine.generation
        return newest[2].population, newest[1].generation

    def bounding_box(self, exactly: bool) -> Box | None:
        """Of the live cells. Not exactly: where all are not copied, in blocks of the newest
        pyramid, if there is one."""
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
        return clipped(box, pyramid.width, pyramid.height)
