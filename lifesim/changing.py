"""A plane without bounds that moves, while it runs, to the engine that is quickest for it.

Which engine that is depends on the pattern, on its age and on how far it is to be run, and cannot
be told from the cells. So it is measured (lifesim.race). Tiles come first, as they are never far
from the quickest, of large patterns those of a GPU. An engine on another device is another way.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from kernels.plane.contract import Places, Words
from kernels.plane.hashlife.cpu.engine import LEAST_MEMORY
from kernels.targets.contract import Target
from kernels.targets.cpu import CpuTarget
from lifesim.grid import BitGrid, Box, GridError
from lifesim.growing import GrowingUniverse, OutgrownError, never
from lifesim.planes import MANY, HashedUniverse, TiledUniverse
from lifesim.race import Race
from lifesim.rule import Rule

if TYPE_CHECKING:
    from kernels.plane.hashlife.listing import SquareList

_Kept = GrowingUniverse | TiledUniverse | HashedUniverse
_Way = Callable[[BitGrid, tuple[int, int]], _Kept]

_STEP = 0.05  # seconds of a step, about
_CAUTION = 4  # the first step in an engine is so many times shorter than its stride
_GROWTH = 8  # a step has at most so many times the generations of the one before
_MOVES = 5  # the time so far is at least so many times what it takes to move
_COPIED = 3e9  # cells a second that move to another engine, about
_SPEED, _DEVICE_SPEED = 1.5e11, 2e13  # updates of cells a second: of a thread, of a GPU
_WIDEST = 1 << 36  # cells of the widest rectangle that is tried
_MOST = 1 << 40  # cells that live where cells are moved


class ChangingUniverse:
    """A universe without any bounds, in whichever engine is quickest just now.

    Else as lifesim.unbounded.UnboundedUniverse says.
    """

    sets_pace = True

    def __init__(
        self,
        backend: Target,
        planes: CpuTarget | None,
        grid: BitGrid,
        at: tuple[int, int],
        rule: Rule,
        memory: int | None,
    ) -> None:
        """Put a grid into a plane, its top-left cell at `at`.

        backend: what computes rectangles, and if it is one GPU tiles too. planes: what computes
        trees, and tiles on the CPU; None for no such. memory: bytes that it may take, by default
        what is free. Raises GridError (OutgrownError), and MemoryError.
        """
        self._backend, self._planes, self._rule, self._memory = backend, planes, rule, memory
        self._ways: dict[str, _Way] = {}  # in the order in which they are tried
        if planes is not None:
            self._ways |= {"hashlife": self._hashlife, "tiles": self._tiles}
        if len(backend.devices) == 1:
            self._ways["device tiles"] = self._device_tiles
        self._ways["dense"] = self._dense
        self._before = 0  # generations before those of the engine that it is in
        self.target = 0
        self._last = 0  # generations of the last step in this engine
        # Updates of cells a second in a rectangle, as far as is known.
        self._speed = _DEVICE_SPEED if backend.devices else _SPEED * backend.threads
        self._stuck: tuple[int, set[str]] = -1, set()  # a generation, and who cannot leave it
        self._made = dict.fromkeys(("tiles", "hashlife", "dense"), 0)  # by what it was in before
        self._way, self._now = self._first(grid, at)
        self._race = Race(tuple(self._ways), self._way)

    def _first(self, grid: BitGrid, at: tuple[int, int]) -> tuple[str, _Kept]:
        """Return the way in which it begins, and the universe."""
        way = "tiles" if "tiles" in self._ways else "dense"
        if "device tiles" in self._ways and (way == "dense" or grid.width * grid.height >= MANY):
            way = "device tiles"
        try:
            return way, self._ways[way](grid, at)
        except OutgrownError:  # a rectangle may be smaller
            return "dense", self._dense(grid, at)

    @property
    def now(self) -> _Kept:
        """Return the universe in the engine that it is in."""
        return self._now

    @property
    def engine(self) -> str:
        """Return the name of the engine that it is in."""
        return self._now.engine

    @property
    def made(self) -> dict[str, int]:
        """Return how many generations each engine has made, of those that made any."""
        made = dict(self._made)
        made[self.engine] += self._now.generation
        return {name: generations for name, generations in made.items() if generations}

    @property
    def generation(self) -> int:
        """Return how many generations it has been moved on."""
        return self._before + self._now.generation

    @property
    def stride(self) -> int:
        """Return how many generations are best made at once."""
        stride = self._now.stride
        if self._now.sets_pace:
            return stride
        if not self._last:
            return max(stride // _CAUTION, 1)
        seconds = min(_STEP, self._race.left_of_turn)
        wanted = min(int(self._race.pace * seconds), _GROWTH * self._last)
        return max(wanted // stride, 1) * stride

    @property
    def work(self) -> int:
        """Return the number of updates of cells, 0 where some were made in another engine than a
        rectangle."""
        return 0 if self._before else self._now.work

    def step(self, generations: int, stopped: Callable[[], bool] = never) -> None:
        """Move on. Stopped or interrupted it stands at a whole generation, and so where no engine
        has memory for it (OutgrownError)."""
        stop = self.generation + generations
        self.target = max(self.target, stop)
        while (left := stop - self.generation) > 0 and not stopped():
            self._change()
            try:
                self._step(min(left, self.stride), stopped)
            except OutgrownError as error:
                self._escape(error)

    def _step(self, generations: int, stopped: Callable[[], bool]) -> None:
        """Move on in the present engine, less far if it is on trial and takes too long."""
        self._now.target = self.target - self._before
        before, work = self._now.generation, self._now.work
        began = time.perf_counter()
        limit = began + self._race.patience
        self._now.step(generations, lambda: stopped() or time.perf_counter() > limit)
        took = time.perf_counter() - began
        self._last = self._now.generation - before
        self._race.add(self._last, took)
        if self._now.work:
            self._speed = (self._now.work - work) / max(took, 1e-9)

    def _change(self) -> None:
        """Move to another engine, where the race says so."""
        name = self._race.choose(self.target - self.generation, self._is_worth)
        if name == self._way:
            return
        began = time.perf_counter()
        if self._move(name):
            self._race.moved(name, time.perf_counter() - began)
        else:
            self._race.refused(name, time.perf_counter() - began)

    def _is_worth(self, name: str, rate: float) -> bool:
        """Tell whether an engine may be as fast as `rate` generations a second, and moving there
        takes little beside the time so far."""
        box = self._now.box()
        if box is None:
            return False  # nothing lives: all are as fast
        cells = box.width * box.height
        if name == "dense" and (cells > _WIDEST or self._speed < rate * cells):
            return False  # it grows, too, so it would only become slower
        if name == "device tiles" and cells < MANY:
            return False
        copied = cells if "dense" in (name, self._way) else self._now.population()
        return copied / _COPIED * _MOVES < self._race.seconds

    def _escape(self, error: OutgrownError) -> None:
        """Move to any engine that holds the universe, as the present one does no longer. Raises the
        error where none does."""
        if self._stuck[0] != self.generation:
            self._stuck = self.generation, set()
        self._stuck[1].add(self._way)
        for name in self._race.gave_up():
            if name in self._stuck[1]:
                continue
            began = time.perf_counter()
            if self._move(name):
                self._race.lead(name, time.perf_counter() - began)
                return
        raise error

    def _move(self, name: str) -> bool:
        """Put the cells into another engine. Returns False where it cannot hold them."""
        if name != "dense" and self._now.population() > _MOST:
            return False
        try:
            moved = self._opened(name)
        except (GridError, MemoryError, OverflowError):
            return False
        before, made = self.generation, {**self._made, self.engine: self.made.get(self.engine, 0)}
        # No call, and so no interrupt, between these.
        self._before, self._made, self._last = before, made, 0
        self._now, self._way = moved, name
        return True

    def _opened(self, name: str) -> _Kept:
        """Return the same cells in another engine."""
        if name == "dense" or isinstance(self._now, GrowingUniverse):
            box = self._now.box() or Box(0, 0, 1, 1)
            return self._ways[name](self._now.part(box), (box.x, box.y))
        plane = self._ways[name](BitGrid(1, 1), (0, 0))
        assert not isinstance(plane, GrowingUniverse)
        plane.put_all(self._now.all_squares())
        return plane

    def take(self, squares: SquareList) -> None:
        """Replace all cells by those of a macrocell file, by HashLife. Raises OutgrownError, and
        GridError where that is not there."""
        if "hashlife" not in self._ways:
            raise GridError("a list of squares is for HashLife")
        tree = self._hashlife(BitGrid(1, 1), (0, 0))
        tree.take(squares)
        self._way, self._now = "hashlife", tree
        self._race = Race(tuple(self._ways), self._way)

    def squares(self) -> SquareList | None:
        """Return the cells as macrocell files have them, None without HashLife or live cells."""
        return self._now.squares()

    def box(self) -> Box | None:
        """Return the smallest rectangle that holds every live cell, None where none lives."""
        return self._now.box()

    def part(self, box: Box) -> BitGrid:
        """Return the cells of any rectangle. Raises GridError for one too large for memory."""
        return self._now.part(box)

    def population(self) -> int:
        """Return the number of live cells."""
        return self._now.population()

    @property
    def nbytes(self) -> int:
        """Return the bytes of memory that its cells take just now."""
        return self._now.nbytes

    def counts(self, x: int, y: int, level: int, shape: tuple[int, int]) -> npt.NDArray[np.float64]:
        """Return how many cells live in each of many blocks, as PlaneUniverse.counts() does."""
        return self._now.counts(x, y, level, shape)

    def all_squares(self) -> Iterator[tuple[Places, Words]]:
        """Yield all squares with live cells (kernels.plane.contract). Raises OverflowError where
        some are too far from the origin for that."""
        return self._now.all_squares()

    def put_all(self, squares: Iterable[tuple[Places, Words]]) -> None:
        """Set all cells of squares, as all_squares() gives them: not in a rectangle. Raises
        OutgrownError."""
        if isinstance(self._now, GrowingUniverse) and not self._leave():
            raise OutgrownError("there is no memory for the cells in another engine")
        assert not isinstance(self._now, GrowingUniverse)
        self._now.put_all(squares)

    def _leave(self) -> bool:
        """Move from a rectangle to another engine. Returns False where none holds the cells."""
        for name in self._ways:
            if name == "dense":
                continue
            began = time.perf_counter()
            if self._move(name):
                self._race.lead(name, time.perf_counter() - began)
                return True
        return False

    def digest(self, frame: Box) -> str:
        """Return the digest of a rectangle that holds all that lives (lifesim.digests)."""
        return self._now.digest(frame)

    def _dense(self, grid: BitGrid, at: tuple[int, int]) -> GrowingUniverse:
        return GrowingUniverse(
            self._backend, grid, at, (0, 0), self._rule, torus=False, memory=self._memory
        )

    def _device_tiles(self, grid: BitGrid, at: tuple[int, int]) -> TiledUniverse:
        return TiledUniverse(self._backend, grid, at, self._rule, self._memory)

    def _tiles(self, grid: BitGrid, at: tuple[int, int]) -> TiledUniverse:
        assert self._planes
        return TiledUniverse(self._planes, grid, at, self._rule, self._memory)

    def _hashlife(self, grid: BitGrid, at: tuple[int, int]) -> HashedUniverse:
        assert self._planes
        if self._memory is not None and self._memory < LEAST_MEMORY:
            raise MemoryError("too little memory for a tree")
        return HashedUniverse(self._planes, grid, at, self._rule, self._memory)
