"""The unbounded plane on the CPU, in tiles that the compiled code visits as they change."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import numpy.typing as npt

from kernels.life.cpu.compiled import compiled_rule
from kernels.life.rules import NineCellRule
from kernels.plane.checks import FARTHEST, check_places, check_rule, check_window
from kernels.plane.contract import SIDE, Places, PlaneBox, PlaneEngine, PlaneUniverse, Words
from kernels.targets.cpu import CpuTarget

try:
    from kernels import _cpu
except ImportError:
    _cpu = None  # type: ignore[assignment]

PERIOD = 60  # generations: a plane in which all that lives comes back after them is left as it is
_MOST = 1 << 60  # generations in one call of the compiled code
_FAR = 3 << 61  # cells from the origin: nothing comes as far
_FAR_SQUARES = 1 << 57  # nor so many squares
_SOME = 4096  # squares handed over at a time


class TilesPlane(PlaneUniverse):
    """A plane without an edge, in tiles of 48 x 48 cells."""

    def __init__(self, rule: NineCellRule, memory: int, target: CpuTarget) -> None:
        """Make an empty plane. memory: bytes that it may take."""
        check_rule(rule)
        if memory < 0:
            raise MemoryError(f"{memory} bytes of memory hold nothing")
        self.generation = 0
        self._memory = memory
        counts, circuit = compiled_rule(rule)
        with self._limited():
            self._plane = _cpu.TilesPlane(
                target.level,
                counts.birth,
                counts.survival,
                min(memory, 1 << 60),
                target.threads,
                circuit,
            )
        self._edits = 0

    @contextmanager
    def _limited(self) -> Iterator[None]:
        """Say in a MemoryError how much memory there was to be."""
        try:
            yield
        except MemoryError:
            raise MemoryError(f"tiles of the plane need more than {self._memory} bytes") from None

    def put(self, places: Places, squares: Words) -> None:
        """Set all cells of some squares."""
        check_places(places, squares)
        self._edits += 1
        with self._limited():
            self._plane.put(places, squares)

    def step(self, generations: int) -> None:
        """Move on by any number of generations; of what has settled, at once."""
        self._step(None, generations)

    def step_until(self, stopped: Callable[[], bool], generations: int) -> None:
        """Move on by generations, or until stopped() breaks a round off."""
        self._step(stopped, generations)

    def _step(self, stopped: Callable[[], bool] | None, generations: int) -> None:
        left = generations
        while left > 0:
            part = min(left, _MOST)
            if left > _MOST and self._plane.settled():
                part = left % PERIOD
                self.generation += left - part
                left = part
            before = self._plane.moved()
            self._edits += 1
            try:
                with self._limited():
                    self._plane.step(part, stopped)
            finally:
                moved = (self._plane.moved() - before) % (1 << 64)
                self.generation += moved
            if moved < part:
                return
            left -= part

    def population(self) -> int:
        """Return the number of live cells."""
        return self._plane.population()

    def box(self) -> PlaneBox | None:
        """Return the smallest rectangle that holds every live cell, None where none lives."""
        found = self._plane.box()
        if found is None:
            return None
        left, top, right, bottom = found
        return PlaneBox(left, top, right - left + 1, bottom - top + 1)

    def squares(self, box: PlaneBox | None = None) -> Iterator[tuple[Places, Words]]:
        """Yield the squares that hold live cells. Raises RuntimeError where these have changed."""
        left, top = -_FAR_SQUARES, -_FAR_SQUARES
        right, bottom = _FAR_SQUARES - 1, _FAR_SQUARES - 1
        if box is not None:
            if box.width < 1 or box.height < 1:
                return
            left, top = max(left, box.x // SIDE), max(top, box.y // SIDE)
            right = min(right, (box.x + box.width - 1) // SIDE)
            bottom = min(bottom, (box.y + box.height - 1) // SIDE)
            if left > right or top > bottom:
                return
        cursor: int | None = 0
        edits = self._edits
        while cursor is not None:
            if edits != self._edits:
                raise RuntimeError("the plane was changed while its squares were read")
            places, words = np.empty((_SOME, 2), np.int64), np.empty((_SOME, SIDE), np.uint64)
            count, cursor = self._plane.squares(left, top, right, bottom, cursor, places, words)
            if not count:
                continue
            places, words = places[:count], words[:count]
            if places.min() < -FARTHEST or places.max() >= FARTHEST:
                raise OverflowError("a square lies 2^56 squares from the origin, or farther")
            yield places, words

    def get(self, x: int, y: int, words: Words) -> None:
        """Write the cells of a rectangle."""
        check_window(words)
        words[:] = 0
        if abs(x) <= _FAR and abs(y) <= _FAR:
            self._plane.get(x, y, words)

    def counts(self, x: int, y: int, level: int, shape: tuple[int, int]) -> npt.NDArray[np.float64]:
        """Return how many cells live in each of many blocks."""
        found = np.zeros(shape, np.float64)
        level = min(level, 63)  # all that lives lies in four blocks then
        if abs(x) <= _FAR and abs(y) <= _FAR:
            self._plane.counts(x, y, level, found)
        return found

    @property
    def nbytes(self) -> int:
        """Return the bytes of its tiles, and of the tables to find them."""
        return self._plane.nbytes()


class CpuTilesEngine(PlaneEngine):
    """The unbounded plane in tiles, at the level and with the threads of a CpuTarget."""

    def __init__(self, target: CpuTarget) -> None:
        self.target = target

    def universe(self, rule: NineCellRule, memory: int) -> TilesPlane:
        """Return an empty plane, at generation 0."""
        return TilesPlane(rule, memory, self.target)
