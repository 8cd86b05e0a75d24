"""A walk over the generations of a universe, forward and back, that looks at its cells."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from kernels.targets.memory import available_memory
from lifesim.grid import BitGrid, Box
from lifesim.growing import never
from lifesim.pauses import FOREVER, MOST_HASHED, MOST_STEPS, Progress
from lifesim.rule import Rule

_TOLD = 0.05  # seconds between two calls of a progress function
_SHARE = 4  # of the memory that is free, copies of grids may take this part
_MOST = 40  # copies


class KeptCells(Protocol):
    """A copy of all cells of a generation. nbytes: of memory that it takes."""

    @property
    def nbytes(self) -> int:
        """Return the bytes of memory that it takes."""


class Walked(Protocol):
    """A universe that a walk moves and looks at: a lifesim.engine.Life, whose members these are,
    or what the viewer shows."""

    rule: Rule

    @property
    def bounds(self) -> tuple[int, int]:
        """Return width and height of the universe, 0 along an axis without bounds."""

    @property
    def generation(self) -> int:
        """Return the generation of the cells."""

    @property
    def leaps(self) -> bool:
        """Tell whether any number of generations may be made, as by HashLife."""

    @property
    def seconds(self) -> float:
        """Return the seconds spent in steps so far."""

    @property
    def rate(self) -> float:
        """Return the cell updates per second."""

    def run(
        self,
        generations: int,
        *,
        progress: Callable[[Progress], None] | None = None,
        stopped: Callable[[], bool] | None = None,
        ahead: int = 0,
    ) -> None:
        """Move on by so many generations. ahead: those that are likely to follow."""

    def keep(self) -> Any:
        """Return a copy of the cells as KeptCells."""

    def go_back(self, kept: Any) -> None:
        """Take the cells and the generation of a copy that keep() made."""

    def population(self) -> int:
        """Return the number of live cells."""

    def frame(self) -> Box:
        """Return the rectangle of grid(): the universe, or where it has no bounds, what lives."""

    def grid(self) -> BitGrid:
        """Return a copy of the cells of frame()."""

    def live_cells(self) -> npt.NDArray[np.int64]:
        """Return the live cells of a universe without bounds as rows (x, y), ordered by y, then
        x. Raises GridError for too many."""


@dataclass(frozen=True, slots=True)
class State:
    """The cells of a generation, to be compared with those of another.

    box: Life.frame(). cells: with bounds both ways the words of a grid, else the live cells as
    rows (x, y), of several states (x, y, state); None where only the others count.
    """

    population: int
    box: Box
    cells: npt.NDArray[np.uint64] | npt.NDArray[np.int64] | None


class Walk:
    """A universe that goes to any generation from its first on, to its last.

    first: the generation at which it was. last: the last generation that may be made.
    """

    def __init__(
        self,
        life: Walked,
        generations: int | None,
        progress: Callable[[Progress], None] | None = None,
        stopped: Callable[[], bool] = never,
    ) -> None:
        """Begin where a universe stands. generations: that may be made; None for no limit but the
        engine's. stopped: what ends the walk by KeyboardInterrupt, asked again and again."""
        self.life, self.first = life, life.generation
        most = MOST_HASHED if life.leaps else MOST_STEPS
        self.last = self.first + (most if generations is None else generations)
        self._total = FOREVER if generations is None else generations
        self._progress, self._stopped = progress, stopped
        self._told = 0.0
        self._began = life.seconds
        self._kept: dict[int, KeptCells] = {}
        self.keep()

    @property
    def now(self) -> int:
        """Return the generation at which it is."""
        return self.life.generation

    @property
    def is_endless(self) -> bool:
        """Tell whether any number of generations may be made."""
        return self._total == FOREVER

    @property
    def is_whole_plane(self) -> bool:
        """Tell whether the universe has no bounds at all."""
        return not any(self.life.bounds)

    def to(self, generation: int) -> None:
        """Go to a generation, from a copy of an earlier one where that is nearest."""
        kept = max((at for at in self._kept if at <= generation), default=self.first)
        if generation < self.now or kept > self.now:
            self.life.go_back(self._kept[kept])
        if left := generation - self.now:
            ahead = max(self.last - generation, 0)
            self.life.run(left, progress=self._tell, ahead=ahead, stopped=self._stopped)
            if self.now < generation:
                raise KeyboardInterrupt
        self.breathe()

    def keep(self) -> None:
        """Keep a copy of the cells, so that it can go back here soon."""
        self._kept[self.now] = self.life.keep()
        while len(self._kept) > 3 and (len(self._kept) > _MOST or not self._fits()):
            del self._kept[sorted(self._kept)[1]]

    def drop(self, generation: int) -> None:
        """Give the copy of a generation away, unless it is the first."""
        if generation != self.first:
            self._kept.pop(generation, None)

    def least(self, holds: Callable[[int], bool], high: int) -> int:
        """Return the first generation for which something holds that stays so; it does at `high`.

        holds: goes anywhere to find out, and leaves copies of generations for which it does not.
        """
        known = [at for at in self.kept() if at < high]
        low, first = -1, len(known)
        while first - low > 1:
            middle = (low + first) // 2
            low, first = (low, middle) if holds(known[middle]) else (middle, first)
        if low < 0:
            return known[0] if known else high
        after, high = known[low], known[first] if first < len(known) else high
        while high - after > 1:
            middle = (after + high) // 2
            after, high = (after, middle) if holds(middle) else (middle, high)
        return high

    def kept(self) -> list[int]:
        """Return the generations of which there are copies, in order."""
        return sorted(self._kept)

    def _fits(self) -> bool:
        held = sum(kept.nbytes for kept in self._kept.values())
        return held < (1 << 20) or held < available_memory() // _SHARE

    def breathe(self) -> None:
        """Tell how far it is, a few times a second; an interrupt may come from there."""
        if self._progress and time.monotonic() - self._told > _TOLD:
            self._told = time.monotonic()
            seconds = self.life.seconds - self._began
            done = max(min(self.now - self.first, self._total - 1), 0)  # it is not the end yet
            self._progress(Progress(self.now, done, self._total, seconds, self.life.rate))

    def _tell(self, progress: Progress) -> None:
        self.breathe()

    def population(self) -> int:
        """Return the number of live cells."""
        return self.life.population()

    def state(self) -> State:
        """Return the cells as they are. Raises GridError where they cannot be listed."""
        life = self.life
        if all(life.bounds):
            grid = life.grid()
            return State(grid.population(), life.frame(), grid.words)
        return State(self.population(), life.frame(), self._listed())

    def _listed(self) -> npt.NDArray[np.int64]:
        """Return the live cells of a universe without bounds, with their states if there are
        several."""
        life = self.life
        if life.rule.states == 2:
            return life.live_cells()
        frame, grid = life.frame(), life.grid()
        cells = grid.cells()
        states = grid.states()[cells[:, 1], cells[:, 0]]
        return np.column_stack([cells + np.array([frame.x, frame.y]), states])

    def cells(self) -> npt.NDArray[np.int64]:
        """Return the live cells of a universe without bounds (Life.live_cells)."""
        return self.life.live_cells()

    def displacement(self, before: State) -> tuple[int, int] | None:
        """Return how far the cells are those of another generation, but moved; None where they are
        others. With bounds along an axis nothing moves along it."""
        life = self.life
        if all(life.bounds):
            assert before.cells is not None
            return (0, 0) if np.array_equal(life.grid().words, before.cells) else None
        box, then = life.frame(), before.box
        if (box.width, box.height) != (then.width, then.height):
            return None
        if self.population() != before.population:
            return None
        moved = box.x - then.x, box.y - then.y
        if not before.population:
            return 0, 0
        if before.cells is None:
            return None
        cells = self._listed()
        cells[:, :2] -= np.array(moved)
        return moved if np.array_equal(cells, before.cells) else None
