"""A universe in a backend's memory that one thread moves on while others look at it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from kernels.life.contract import LifeShape, LifeUniverse, Words
from kernels.life.settling.universe import settling
from kernels.targets.contract import Target
from lifesim.engines import engine_of
from lifesim.grid import BitGrid, Box, GridError, bytes_of, check_size, shape_of
from lifesim.rule import Rule
from lifesim.topology import Topology
from ui.cells.edits import overwrite

SLICE = 0.02  # seconds between two looks at what is asked, where passes are that short
_LATELY = 1.0  # seconds that rates are taken over, at least half of it
_FREE = 1.6  # times as long as the shortest pass may one take that makes more generations
_OVERLAPPED = 2.5  # times as long may those be that nobody waits for who looks
_BRIEF = 0.05  # seconds of a pass while somebody works with the cells, where that is possible
_LOOK = 0.01  # seconds between two looks at what is asked, where others read
_LONGEST = 1 << 30
_FAR = 1 << 62  # cells; further out is nothing
_BAND = 1 << 23  # bytes of rows that are copied at once
_REFERENCE_COPIES = 40  # a byte a cell, in five arrays


@dataclass(frozen=True, slots=True)
class Setting:
    """The facts of a universe beside its cells: size, rule and edges.

    x, y: coordinates of its top-left cell. grows: whether it has no bounds along an axis, columns
    and rows: then it is the part of that plane that is held, outside of which nothing lives.
    """

    width: int
    height: int
    rule: Rule
    topology: Topology
    x: int = 0
    y: int = 0
    grows: tuple[bool, bool] = (False, False)

    @property
    def at(self) -> tuple[int, int]:
        """Return the coordinates of the top-left cell."""
        return self.x, self.y

    @property
    def box(self) -> Box:
        """Return the cells that are held."""
        return Box(self.x, self.y, self.width, self.height)

    @property
    def bounds(self) -> tuple[int, int]:
        """Return width and height, 0 along an axis without bounds."""
        return 0 if self.grows[0] else self.width, 0 if self.grows[1] else self.height

    @property
    def limits(self) -> Box:
        """Return what cells may live in: the box, or where it grows all that can be counted."""
        (x, width), (y, height) = (
            (-_FAR, 2 * _FAR) if grows else (start, length)
            for grows, start, length in zip(self.grows, self.box[:2], self.box[2:], strict=True)
        )
        return Box(x, y, width, height)

    def holds(self, box: Box) -> bool:
        """Tell whether a box lies within what is held."""
        inside = box.x >= self.x and box.y >= self.y and min(box.width, box.height) > 0
        right, bottom = self.x + self.width, self.y + self.height
        return inside and box.x + box.width <= right and box.y + box.height <= bottom


class Gate:
    """Readers at once, or a writer alone. A writer lets those read first who wait."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._reading = self._waiting = 0
        self._writing = False

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Read in a block, after a writer that is there has left."""
        with self._changed:
            self._waiting += 1
            while self._writing:
                self._changed.wait()
            self._waiting -= 1
            self._reading += 1
        try:
            yield
        finally:
            with self._changed:
                self._reading -= 1
                self._changed.notify_all()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Write in a block, alone, after all readers have left."""
        with self._changed:
            while self._reading or self._waiting:
                self._changed.wait()
            self._writing = True
        try:
            yield
        finally:
            with self._changed:
                self._writing = False
                self._changed.notify_all()

    def pass_by(self, stopped: Callable[[], bool]) -> bool:
        """Wait until nobody reads; False where it is stopped before."""
        with self._changed:
            while self._reading:
                if stopped():
                    return False
                self._changed.wait(_LOOK)
        return True


class ClosedError(Exception):
    """Raised where another machine has taken the place of this one."""


class Machine:
    """One thread changes it: advance(), write(). Any may read(), also meanwhile.

    As in lifesim.engine.Life, a universe that has settled is computed where it changes. A pass of
    the CPU reads one array and writes another, so that what is there can be read
    while it is under way; only before the next pass it waits for those who still read. Other
    backends are read between their steps.

    seconds: spent on steps lately, and updates: of cells made in them. spent: all seconds.
    """

    def __init__(self, backend: Target, setting: Setting, words: Words, generation: int) -> None:
        """Takes a copy of words. Raises GridError and MemoryError for too large a universe, and
        what else a backend raises."""
        planes = setting.rule.planes
        check_size(setting.width, setting.height, 2 * planes)
        if backend.is_reference:
            check_size(setting.width, setting.height, _REFERENCE_COPIES)
        self.setting, self.backend = setting, backend
        torus, cells = setting.topology is Topology.TORUS, setting.rule.cells
        shape = LifeShape(setting.width, setting.height, torus, planes)
        self._arena = engine_of(setting.rule, backend).arena([shape], 1, cells)
        universe = self._arena.open(0, shape)
        universe.put(0, words)
        self._universe: LifeUniverse | None = settling(universe, backend, cells, torus=torus)
        self._first = generation
        self._gate = Gate()
        self._closed = False
        self._span = 1  # generations of a step
        self._each = 0.0  # seconds for a generation, of the last step
        self._took: dict[int, float] = {}  # seconds for steps of so many generations
        self._seen, self._one = 0, 0.0  # steps of one generation, and how long the shortest took
        self.seconds, self.updates, self.spent = 0.0, 0.0, 0.0

    @property
    def universe(self) -> LifeUniverse:
        """The cells in the backend; only for the thread that changes them. Raises ClosedError."""
        if self._universe is None:
            raise ClosedError
        return self._universe

    @property
    def generation(self) -> int:
        """Return the generation of the cells."""
        universe = self._universe
        return self._first + (universe.generation if universe else 0)

    # --- stepping --------------------------------------------------------------

    def advance(
        self,
        at_most: int,
        seconds: float = SLICE,
        *,
        brief: bool = False,
        stopped: Callable[[], bool] = lambda: False,
    ) -> int:
        """Move on by 1 to at_most generations, for about so long, or one pass. Returns how many.

        brief: rather a short pass than a fast one. stopped: is asked many times a second, where
        the backend can do that; where it is true, a pass is broken off, and there may be none.
        """
        universe, before = self.universe, self.universe.generation
        universe.ahead = before  # who has made so many will make as many again
        wanted = self.brief_span if brief else self.span
        span = min(wanted, at_most)
        if span > universe.stride:
            span -= span % universe.stride
        alone = True
        if universe.reads_beside_steps and self._each * span >= seconds / 4:
            # One pass only: a second one overwrites what may still be read.
            alone, span = False, universe.first_pass(span)
        if alone:
            with self._gate.writing():
                began = time.perf_counter()
                universe.step_until(stopped, span)
        elif self._gate.pass_by(stopped):
            began = time.perf_counter()
            universe.step_until(stopped, span)
        made = universe.generation - before
        if made < span:
            return made
        took = time.perf_counter() - began
        self._each = took / span
        if not brief and at_most >= self._span == wanted:
            self._learn(span, took, seconds)
        self.updates += span * universe.width * universe.height
        self.seconds += took
        self.spent += took
        if self.seconds > _LATELY:
            self.seconds, self.updates = self.seconds / 2, self.updates / 2
        return made

    @property
    def brief_span(self) -> int:
        """Generations that take so short a time that what is asked can wait for them."""
        return max((span for span, took in self._took.items() if took <= _BRIEF), default=1)

    @property
    def span(self) -> int:
        """Generations that take about the time of a step, or that are due at once."""
        return max(self._span, self.universe.due)

    def _learn(self, span: int, took: float, wanted: float) -> None:
        """Choose how many generations come next, by how long these have taken."""
        self._took[span] = took
        if span == 1:
            self._seen += 1
            if self._seen == 1:
                return  # it has taken its memory, too
            self._one = took if self._seen == 2 else min(took, self._one)
        if self.universe.reads_beside_steps and self._one >= wanted / 4:
            wanted *= _OVERLAPPED
        # The time of a pass over much memory hardly depends on its generations.
        limit = max(wanted, _FREE * self._one)
        more = max(took / 8, (took - self._one) / max(1, span - 1) * span)
        if took + more <= limit:
            self._span = min(2 * span, _LONGEST)
        elif took > 1.5 * limit:
            self._span = max(1, span // 2)

    # --- reading and writing ---------------------------------------------------

    def read(self, box: Box) -> tuple[BitGrid, int]:
        """The cells in box, and their generation. Raises GridError and ClosedError."""
        if not self.setting.holds(box):
            raise GridError(
                f"region {box.width}x{box.height} at ({box.x}, {box.y}) leaves the "
                f"{self.setting.width}x{self.setting.height} universe"
            )
        with self._gate.reading():
            while True:
                if self._closed:
                    raise ClosedError
                generation = self.generation
                grid = self._copy(self._inner(box))
                # A pass that ended meanwhile is the last one until this is left.
                if generation == self.generation:
                    return grid, generation

    def _inner(self, box: Box) -> Box:
        """A box as cells are counted in the backend: from 0."""
        return box._replace(x=box.x - self.setting.x, y=box.y - self.setting.y)

    def _copy(self, box: Box) -> BitGrid:
        width, height = self.setting.width, self.setting.height
        first, end = box.x >> 6, -(-(box.x + box.width) // 64)
        words_only = box.x % 64 == 0 and (box.width % 64 == 0 or box.x + box.width == width)
        held = self.universe.view()
        if held is not None:
            if words_only:
                words = held[box.y : box.y + box.height, ..., first:end].copy()
                return BitGrid(box.width, box.height, words)
            return BitGrid(width, height, held).crop(box)
        grid = BitGrid(box.width, box.height, planes=self.setting.rule.planes)
        for y, rows in self._bands(box.y, box.height):
            target = grid.words[y - box.y : y - box.y + len(rows)]
            if words_only:
                target[:] = rows[..., first:end]
            else:
                band = BitGrid(width, len(rows), rows)
                target[:] = band.crop(Box(box.x, 0, box.width, len(rows))).words
        return grid

    def _bands(self, y: int, height: int) -> Iterator[tuple[int, Words]]:
        width, planes = self.setting.width, self.setting.rule.planes
        step = max(1, _BAND // bytes_of(width, 1, planes))
        for top in range(y, y + height, step):
            rows = np.empty(shape_of(width, min(step, y + height - top), planes), np.uint64)
            self.universe.get(top, rows)
            yield top, rows

    def whole(self) -> BitGrid | None:
        """Return all cells as they lie in host memory, None where they do not.

        Only for the thread that changes them.
        """
        words = self.universe.view()
        return None if words is None else BitGrid(self.setting.width, self.setting.height, words)

    def write(self, cells: BitGrid, x: int, y: int) -> None:
        """Replace the cells from x, y on."""
        with self._gate.writing():
            self._put(cells, x - self.setting.x, y - self.setting.y)

    def _put(self, cells: BitGrid, x: int, y: int) -> None:
        if (x, cells.width) == (0, self.setting.width):
            self.universe.put(y, np.ascontiguousarray(cells.words))
            return
        for top, rows in self._bands(y, cells.height):
            band = BitGrid(self.setting.width, len(rows), rows)
            part = BitGrid(cells.width, len(rows), cells.words[top - y : top - y + len(rows)])
            overwrite(band, part, x, 0)
            self.universe.put(top, band.words)

    def replay(
        self,
        cells: BitGrid,
        generation: int,
        written: Iterable[tuple[int, Box, BitGrid]],
        end: int,
    ) -> None:
        """Replace all cells by what those of a generation are in another, the end.

        written: what replaces cells on the way, in the order of the generations where it does.
        Nobody reads what is between.
        """
        with self._gate.writing():
            self._first = generation - self.universe.generation
            self._put(cells, 0, 0)
            for at, box, part in written:
                self.universe.step(at - self.generation)
                inner = self._inner(box)
                self._put(part, inner.x, inner.y)
            self.universe.step(end - self.generation)

    def close(self) -> None:
        """Give the memory back. Whoever reads later gets ClosedError."""
        with self._gate.writing():
            self._closed = True
            self._first, self._universe = self.generation, None
            self._arena.close()
