"""Life: a universe, its rule and topology, moved on by a backend."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kernels.life import engine_for
from kernels.life.contract import LifeShape, LifeUniverse
from kernels.targets.choose import pick
from kernels.targets.contract import Target
from lifesim.digest import digest
from lifesim.edge import EdgeWatch
from lifesim.grid import BitGrid, Box, GridError, check_size
from lifesim.growing import REFERENCE_COPIES, GrowingUniverse
from lifesim.live_box import common, live_box
from lifesim.pauses import Progress, periods_of, stops
from lifesim.render import density_levels
from lifesim.rule import LIFE, Rule
from lifesim.topology import Topology
from lifesim.unbounded import ENGINES, UnboundedUniverse, open_unbounded

if TYPE_CHECKING:
    from kernels.plane.hashlife.listing import SquareList
    from lifesim.patterns import Pattern
    from lifesim.start import Start

_CHUNK_SECONDS = 0.2  # between two calls of a progress function


class Life:
    """A universe that evolves: a torus, a plane, or a plane without bounds.

    bounds: width and height of the universe, 0 along an axis without bounds. A universe that
    has none grows as what lives in it does, so that no cell ever meets an edge. What grid(),
    digest(), width and height then are about is the smallest rectangle that holds every live
    cell (1x1 where none lives), which frame() tells.

    Every method may be called from any thread at any time: runs of several threads come one
    after another, and whoever asks for cells during a run gets those of one generation.

    >>> life = Life(grid, rule="B36/S23", topology="torus")
    >>> life.run(1000)
    >>> life.generation, life.grid().population()
    """

    def __init__(
        self,
        grid: BitGrid,
        *,
        rule: Rule | str = LIFE,
        topology: Topology | str = Topology.TORUS,
        generation: int = 0,
        bounds: tuple[int, int] | None = None,
        at: tuple[int, int] = (0, 0),
        watch: bool = False,
        backend: Target | str = "auto",
        device: int | Sequence[int] = 0,
        threads: int | None = None,
        memory: int | None = None,
        engine: str = "dense",
    ) -> None:
        """Take a copy of grid, which is of that generation.

        Its options are many, as each is one thing that a caller may say, by name, of a universe
        or of where it is computed.

        bounds: of the universe, by default the size of the grid; 0 along an axis for none,
        else the grid's length. at: coordinates of the grid's top-left cell, 0 along an axis
        with bounds. watch: whether to find out when live cells meet an edge (`edge`).
        backend: "auto", "cuda", "cpu", "reference" or an object of kernels.targets.contract.
        device: a GPU's number, or those of several, each of which takes a part of the rows.
        memory: bytes that a universe without bounds may take, by default what is free.
        engine: of one without any bounds, how it is kept: "dense", in a rectangle that grows;
        "tiles", which are computed where something changes, on the CPU or one GPU (which "auto"
        takes only for a large grid); "hashlife", in a tree that shares what is equal and remembers
        what became of it, on one thread of the CPU.
        Raises RuleError, ValueError for an unknown topology or backend name,
        BackendUnavailableError, and GridError or MemoryError for too large a universe.
        """
        self.rule = rule if isinstance(rule, Rule) else Rule.parse(rule)
        self.topology = Topology(topology)
        self.bounds = (grid.width, grid.height) if bounds is None else bounds
        if engine not in ENGINES:
            raise ValueError(f"{engine!r} is no engine: {' or '.join(ENGINES)}")
        self.engine = engine
        backend = _target(engine, backend, device, threads, grid.width * grid.height)
        if backend.is_reference:
            check_size(grid.width, grid.height, REFERENCE_COPIES)
        self.backend = backend
        self._first = generation
        self._unbounded: UnboundedUniverse | None = None
        self._fixed: LifeUniverse | None = None
        if engine != "dense" or not all(self.bounds):
            self._unbounded = open_unbounded(
                engine, backend, grid, at, self.bounds, self.rule, self.topology, memory
            )
        else:
            if self.bounds != (grid.width, grid.height) or at != (0, 0):
                raise ValueError("the grid of a universe with bounds is all of it")
            torus = self.topology is Topology.TORUS
            self._fixed = engine_for(backend).universe(
                grid.words, LifeShape(grid.width, grid.height, torus), self.rule
            )
        self._watch = None
        if watch and any(self.bounds):
            self._watch = EdgeWatch(self.rule, (bool(self.bounds[0]), bool(self.bounds[1])))
        self._box: tuple[int, Box | None] | None = None  # with its generation
        self.seconds = 0.0  # spent in the backend's steps
        self._running = threading.RLock()  # a callback of a run may run it too
        self._stepping = threading.RLock()  # the universe is asked by one thread at a time

    @classmethod
    def from_pattern(
        cls,
        pattern: Pattern | str | os.PathLike[str],
        *,
        margin: int | None = None,
        size: tuple[int, int] | None = None,
        at: tuple[int, int] | None = None,
        rule: Rule | str | None = None,
        topology: Topology | str | None = None,
        **options: Any,
    ) -> Life:
        """Make the universe of a pattern, or of a pattern file, as `lifesim run` does.

        It is a plane without bounds, unless the file names others. margin: dead cells to put
        around the pattern in a plane of that size. size: of the universe, in which the
        pattern lies in the middle or at `at`. topology, rule: by default the file's, else a
        plane and Life. options: watch, backend, device, threads and memory of Life(). Raises
        as that does, PatternError, LifesimError for files that cannot be read, and GridError
        where the pattern does not fit.
        """
        from lifesim import patterns
        from lifesim.start import place

        if isinstance(pattern, (str, os.PathLike)):
            pattern = patterns.read(pattern)
        if margin is not None:
            if size is not None or margin < 0:
                raise ValueError("a margin is at least 0, and stands in place of a size")
            size = pattern.grid.width + 2 * margin, pattern.grid.height + 2 * margin
        start = place(
            pattern,
            size,
            at,
            Rule.parse(rule) if isinstance(rule, str) else rule,
            None if topology is None else Topology(topology),
            centre=margin is not None and at is None,
        )
        return cls.from_start(start, **options)

    @classmethod
    def from_start(cls, start: Start, **options: Any) -> Life:
        """Make the universe of a start. options: as of from_pattern(), and engine of Life().

        Raises GridError for squares that are for another engine than HashLife.
        """
        made = cls(
            start.grid,
            rule=start.rule,
            topology=start.topology,
            generation=start.generation,
            bounds=start.bounds,
            at=start.at,
            **options,
        )
        if start.squares is not None:
            if made._unbounded is None:
                raise GridError("a list of squares is for planes without bounds")
            made._unbounded.take(start.squares)
        return made

    @property
    def _universe(self) -> LifeUniverse | UnboundedUniverse:
        universe = self._fixed or self._unbounded
        assert universe
        return universe

    @property
    def _cells(self) -> LifeUniverse:
        """Return the universe that is in the backend just now, where there are bounds."""
        if self._fixed:
            return self._fixed
        assert isinstance(self._unbounded, GrowingUniverse)
        return self._unbounded.cells

    @property
    def generation(self) -> int:
        """Return the generation that the universe is at."""
        return self._first + self._universe.generation

    @property
    def width(self) -> int:
        """Return the width of frame()."""
        return self.frame().width

    @property
    def height(self) -> int:
        """Return the height of frame()."""
        return self.frame().height

    def bounding_box(self) -> Box | None:
        """Return the smallest rectangle that holds every live cell, None where none lives."""
        if self._box is None or self._box[0] != self.generation:
            box = self._unbounded.box() if self._unbounded else live_box(self._cells)
            self._box = self.generation, box
        return self._box[1]

    def frame(self) -> Box:
        """Return the rectangle that grid() holds: the universe, or where it has no bounds, what
        lives."""
        if all(self.bounds):
            return Box(0, 0, *self.bounds)
        box = self.bounding_box() or Box(0, 0, 1, 1)
        x, width = (0, self.bounds[0]) if self.bounds[0] else (box.x, box.width)
        y, height = (0, self.bounds[1]) if self.bounds[1] else (box.y, box.height)
        return Box(x, y, width, height)

    @property
    def is_watched(self) -> bool:
        """Tell whether `edge` is found out."""
        return self._watch is not None

    def edge_known(self) -> tuple[int, int | None] | None:
        """Return what a universe directory says of the edge (store.manifest.Manifest)."""
        if self._watch is None:
            return None
        met = self.edge
        return (self.generation, None) if met is None else (met - 1, met)

    @property
    def edge(self) -> int | None:
        """Return the first generation in which a live cell was in an outermost row or column of a
        universe that is watched; None where none has been."""
        if self._watch is None:
            return None
        met = self._watch.reached(self._cells, self._universe.generation)
        return None if met is None else self._first + met

    @property
    def is_whole(self) -> bool:
        """Tell whether all of the generation can be read, which in memory it always can."""
        return True

    def where(self) -> str:
        """Say at which generation the universe is."""
        return f"at generation {self.generation}"

    @property
    def rate(self) -> float:
        """Return the cell updates per second over all steps so far; 0 before the first, and always
        with other engines than "dense", which make few of those that they tell the results of."""
        return self._updates() / self.seconds if self.seconds > 0 else 0.0

    def _updates(self) -> int:
        """Return the number of updates of cells so far."""
        if self._unbounded:
            return self._unbounded.work
        return self._cells.width * self._cells.height * self._cells.generation

    def run(
        self,
        generations: int,
        *,
        every: int | Sequence[int] | None = None,
        progress: Callable[[Progress], None] | None = None,
        on_snapshot: Callable[[Life], None] | None = None,
    ) -> None:
        """Move on by `generations`, calling on_snapshot after every `every` of them, or
        where any of several numbers says so.

        progress is called a few times a second. KeyboardInterrupt, also one that a
        callback raises, leaves the universe at a whole generation, from which it can
        go on. While another thread runs it, this waits for the end of that run.
        """
        if generations < 0:
            raise ValueError(f"a universe cannot go back {-generations} generations")
        periods = periods_of(every)
        with self._running:
            self._run(generations, periods, progress, on_snapshot)

    def _run(
        self,
        generations: int,
        periods: Sequence[int],
        progress: Callable[[Progress], None] | None,
        on_snapshot: Callable[[Life], None] | None,
    ) -> None:
        start, began, updates = self._universe.generation, self.seconds, self._updates()
        if self._unbounded:
            self._unbounded.target = start + generations
        for stop in stops(generations, periods if on_snapshot else []):
            while (done := self._universe.generation - start) < stop:
                self._advance(min(stop - done, self._chunk()))
                if progress:
                    done = self._universe.generation - start
                    seconds = self.seconds - began
                    cells = self._updates() - updates
                    progress(
                        Progress(
                            self.generation,
                            done,
                            generations,
                            seconds,
                            cells / seconds if seconds else 0.0,
                        )
                    )
            if on_snapshot and stop and any(stop % period == 0 for period in periods):
                on_snapshot(self)

    def grid(self) -> BitGrid:
        """Return a copy of the cells as they are now; of frame()."""
        with self._stepping:
            if self._unbounded:
                return self._unbounded.part(self.frame())
            return BitGrid(*self.bounds, self._cells.words())

    def population(self) -> int:
        """Return the number of live cells."""
        with self._stepping:
            if self._unbounded:
                return self._unbounded.population()
        return self.grid().population()

    def squares(self) -> SquareList | None:
        """Return the cells as a list of squares in which equal ones stand once, as macrocell files
        have them; None without HashLife, and where no cell lives."""
        with self._stepping:
            return self._unbounded.squares() if self._unbounded else None

    def density(self) -> Fraction:
        """Return the share of the cells of frame() that live, exactly."""
        return self.grid().density()

    def digest(self) -> str:
        """Return the content digest of the cells (lifesim.digest).

        Raises GridError for a plane that is too wide, or holds too much, for one.
        """
        with self._stepping:
            if self._unbounded:
                return self._unbounded.digest(self.frame())
        return digest(self.grid())

    def levels(self, box: Box, scale_log2: int) -> npt.NDArray[np.uint8]:
        """Tell how densely the cells of a region live (lifesim.render.density_levels)."""
        if self._unbounded:
            with self._stepping:
                held = common(box, self.frame())
                part = self._unbounded.part(held)
            box = Box(box.x - held.x, box.y - held.y, box.width, box.height)
            return density_levels(part, box, scale_log2)
        return density_levels(self.grid(), box, scale_log2)

    def _advance(self, generations: int) -> None:
        with self._stepping:
            began = time.perf_counter()
            try:
                if self._watch is None:
                    self._universe.step(generations)
                    return
                stop = self._universe.generation + generations
                while (left := stop - self._universe.generation) > 0:
                    most = self._watch.horizon(self._cells, self._universe.generation)
                    self._universe.step(min(left, most))
            finally:
                self.seconds += time.perf_counter() - began

    def _chunk(self) -> int:
        """Return how many generations to ask for at once: whole strides, some tenths of a
        second."""
        stride = self._universe.stride
        if self._unbounded and self._unbounded.sets_pace:
            return stride
        if not self._universe.generation or not self.seconds:
            return stride
        wanted = _CHUNK_SECONDS * self._universe.generation / self.seconds
        return max(1, int(wanted / stride)) * stride


def _target(
    engine: str,
    backend: Target | str,
    device: int | Sequence[int],
    threads: int | None,
    cells: int,
) -> Target:
    """Return what computes. Raises BackendUnavailableError, and LifesimError where the engine does
    not run there."""
    if not isinstance(backend, str):
        return backend
    if engine == "dense":
        return pick(backend, device=device, threads=threads)
    from lifesim.planes import plane_target

    return plane_target(engine, backend, threads, device, cells)
