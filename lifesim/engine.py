"""Life: a universe, its rule and topology, moved on by a backend."""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kernels.life.contract import LifeUniverse, Words
from kernels.targets.choose import pick
from kernels.targets.contract import Target
from lifesim.digests import digest
from lifesim.edge import EdgeWatch
from lifesim.grid import BitGrid, Box, GridError, check_size
from lifesim.growing import REFERENCE_COPIES, GrowingUniverse, never
from lifesim.joined import open_bounded
from lifesim.kept import Kept, give_back, kept_of, live_cells
from lifesim.live_box import common, live_box
from lifesim.pauses import Progress, periods_of, stops
from lifesim.render import density_levels
from lifesim.rule import LIFE, Rule
from lifesim.topology import Edges, Topology, topology_of
from lifesim.unbounded import ENGINES, UnboundedUniverse, open_unbounded

if TYPE_CHECKING:
    from kernels.plane.hashlife.listing import SquareList
    from kernels.targets.cuda.array import DeviceArray
    from lifesim.patterns import Pattern
    from lifesim.start import Start
    from lifesim.until import Condition, Found

_CHUNK_SECONDS = 0.2  # between two calls of a progress function


class Life:
    """A universe that evolves: a torus, a plane, another bounded grid of Golly's, or a plane
    without bounds.

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
        topology: Edges | str = Topology.TORUS,
        generation: int = 0,
        bounds: tuple[int, int] | None = None,
        at: tuple[int, int] = (0, 0),
        watch: bool = False,
        backend: Target | str = "auto",
        device: int | Sequence[int] = 0,
        threads: int | None = None,
        memory: int | None = None,
        engine: str = "auto",
    ) -> None:
        """Take a copy of grid, which is of that generation.

        Its options are many, as each is one thing that a caller may say, by name, of a universe
        or of where it is computed.

        topology: a Topology, JoinedEdges, or a name: "torus", "plane", "unbounded", "klein",
        "cross-surface", "sphere", or Golly's bounds in one word, as "T30+5,20".
        bounds: of the universe, by default the size of the grid; 0 along an axis for none,
        else the grid's length. at: coordinates of the grid's top-left cell, 0 along an axis
        with bounds. watch: whether to find out when live cells meet an edge (`edge`).
        backend: "auto", "cuda", "cpu", "reference" or an object of kernels.targets.contract.
        device: a GPU's number, or those of several, each of which takes a part of the rows.
        memory: bytes that a universe without bounds may take, by default what is free.
        engine: of one without any bounds, how it is kept: "dense", in a rectangle that grows;
        "tiles", which are computed where something changes, on the CPU or one GPU (which "auto"
        takes only for a large grid); "hashlife", in a tree that shares what is equal and remembers
        what became of it, on one thread of the CPU; "auto", in whichever is quickest, which is
        found out while it runs (with bounds, in a rectangle).
        Raises RuleError, TopologyError (also a ValueError), ValueError for an unknown backend
        name, BackendUnavailableError, and GridError or MemoryError for too large a universe.
        """
        self.rule = rule if isinstance(rule, Rule) else Rule.parse(rule)
        self.topology, self.bounds = topology_of(topology, bounds, (grid.width, grid.height))
        if engine not in ENGINES:
            raise ValueError(f"{engine!r} is no engine: {' or '.join(ENGINES)}")
        if engine == "auto" and all(self.bounds):
            engine = "dense"
        alone = backend == "cuda"
        backend = _target(engine, backend, device, threads, grid.width * grid.height)
        if backend.is_reference:
            check_size(grid.width, grid.height, REFERENCE_COPIES)
        self.backend = backend
        self._first = generation
        self._unbounded: UnboundedUniverse | None = None
        self._fixed: LifeUniverse | None = None
        self._open = partial(
            open_unbounded,
            engine,
            backend,
            bounds=self.bounds,
            rule=self.rule,
            topology=self.topology,
            memory=memory,
            alone=alone,
        )
        self._before = 0  # updates of cells in universes that were left to go back
        if engine != "dense" or not all(self.bounds):
            self._unbounded = self._open(grid, at)
        else:
            if self.bounds != (grid.width, grid.height) or at != (0, 0):
                raise ValueError("the grid of a universe with bounds is all of it")
            self._fixed = open_bounded(backend, grid, self.topology, self.rule)
        self._watch = None
        if watch and any(self.bounds):
            self._watch = EdgeWatch(self.rule, (bool(self.bounds[0]), bool(self.bounds[1])))
        self._made: Counter[str] = Counter()  # by universes before this one
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
        topology: Edges | str | None = None,
        **options: Any,
    ) -> Life:
        """Make the universe of a pattern, or of a pattern file, as `lifesim run` does.

        It is a plane without bounds, unless the file names others. margin: dead cells to put
        around the pattern in a plane of that size. size: of the universe, in which the
        pattern lies in the middle or at `at`. topology, rule: by default the file's, else a
        plane and Life. options: watch, backend, device, threads, memory and engine of Life().
        Raises as that does, PatternError, LifesimError for files that cannot be read, and GridError
        where the pattern does not fit.
        """
        from lifesim.start import start_of_pattern

        wide = options.get("engine", "auto") in ("auto", "hashlife")
        start = start_of_pattern(pattern, margin, size, at, rule, topology, wide=wide)
        return cls.from_start(start, **options)

    @classmethod
    def from_start(cls, start: Start, **options: Any) -> Life:
        """Make the universe of a start. options: as of from_pattern().

        Raises GridError for squares, which only HashLife holds, with another engine.
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
    def engine(self) -> str:
        """Return how the universe is kept just now: "dense", "tiles" or "hashlife"."""
        return self._unbounded.engine if self._unbounded else "dense"

    @property
    def leaps(self) -> bool:
        """Tell whether any number of generations may be made, as by HashLife."""
        return bool(self._unbounded and self._unbounded.sets_pace)

    @property
    def made(self) -> dict[str, int]:
        """Return how many generations each engine has made so far, of those that made any."""
        if self._fixed:
            return {"dense": self._fixed.generation}
        assert self._unbounded
        return dict(self._made + Counter(self._unbounded.made))

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
        return self._watch.reached(self._cells, self.generation)

    @property
    def is_whole(self) -> bool:
        """Tell whether all of the generation can be read, which in memory it always can."""
        return True

    def where(self) -> str:
        """Say at which generation the universe is."""
        return f"at generation {self.generation}"

    @property
    def rate(self) -> float:
        """Return the cell updates per second over all steps so far; 0 before the first, and where
        another engine than "dense" made some, as it computes few of those that it tells of."""
        return self._updates() / self.seconds if self.seconds > 0 else 0.0

    def _updates(self) -> int:
        """Return the number of updates of cells so far."""
        if self._unbounded:
            return self._before + self._unbounded.work
        return self._cells.width * self._cells.height * self._cells.generation

    def run(
        self,
        generations: int,
        *,
        every: int | Sequence[int] | None = None,
        progress: Callable[[Progress], None] | None = None,
        on_snapshot: Callable[[Life], None] | None = None,
        stopped: Callable[[], bool] | None = None,
        ahead: int = 0,
    ) -> None:
        """Move on by `generations`, calling on_snapshot after every `every` of them, or
        where any of several numbers says so.

        ahead: generations that are likely to follow these, for which room may be made.
        progress is called a few times a second. stopped is asked again and again, by this
        thread: the run ends early, at a whole generation, once it says so. KeyboardInterrupt,
        also one that a callback raises, leaves the universe at a whole generation, from which
        it can go on. While another thread runs it, this waits for the end of that run.
        """
        if generations < 0:
            raise ValueError(f"a universe cannot go back {-generations} generations")
        periods = periods_of(every)
        with self._running:
            if self._unbounded:
                self._unbounded.target = self._unbounded.generation + generations + ahead
            self._run(generations, periods, progress, on_snapshot, stopped or never)

    def run_until(
        self,
        condition: Condition | str,
        generations: int | None = None,
        *,
        every: int | Sequence[int] | None = None,
        progress: Callable[[Progress], None] | None = None,
        on_snapshot: Callable[[Life], None] | None = None,
        stopped: Callable[[], bool] | None = None,
    ) -> Found:
        """Move on to the first generation for which a condition is true, and tell what was found.

        condition: of lifesim.until, or its text: "stable", "empty", "period:30" or
        "population:>1000". generations: the most that are made, or looked at; without it the
        condition must come true. Where it does not, the universe stands after so many. every,
        on_snapshot: as of run(); the snapshots are taken when it is known where the run ends.
        stopped: as of run(), but the search then ends by KeyboardInterrupt. Interrupted, the
        universe stands at a generation that was looked at. Raises ConditionError, and GridError
        where cells to be compared are too many.
        """
        from lifesim.until.search import search

        periods = periods_of(every) if on_snapshot else []
        with self._running:
            start = self.keep() if periods else None
            found = search(self, condition, generations, progress, stopped or never)
            if start:
                self.go_back(start)
                ahead = found.generation - start.generation
                self._run(ahead, periods, progress, on_snapshot, stopped or never)
                if self.generation < found.generation:
                    raise KeyboardInterrupt
        return found

    def keep(self) -> Kept:
        """Return a copy of the cells as they are now, for go_back()."""
        with self._stepping:
            if self._unbounded:
                return kept_of(self._unbounded, self.frame(), self.generation)
            return Kept(self.generation, self.grid())

    def go_back(self, kept: Kept) -> None:
        """Take the cells and the generation of a copy that keep() made, earlier or later."""
        with self._running, self._stepping:
            if self._fixed:
                self._fixed.put(0, kept.grid.words)
            else:
                assert self._unbounded
                opened = self._open(kept.grid, kept.at)
                give_back(opened, kept)
                self._before += self._unbounded.work
                self._made += Counter(self._unbounded.made)
                self._unbounded = opened
            self._first, self._box = kept.generation - self._universe.generation, None

    def live_cells(self) -> npt.NDArray[np.int64]:
        """Return the live cells of a universe without bounds as rows (x, y), ordered by y, then x.

        Raises GridError for too many, and for some that are too far away."""
        assert self._unbounded
        with self._stepping:
            return live_cells(self._unbounded, self.frame())

    def _run(
        self,
        generations: int,
        periods: Sequence[int],
        progress: Callable[[Progress], None] | None,
        on_snapshot: Callable[[Life], None] | None,
        stopped: Callable[[], bool],
    ) -> None:
        start, began, updates = self._universe.generation, self.seconds, self._updates()
        for stop in stops(generations, periods if on_snapshot else []):
            while (done := self._universe.generation - start) < stop:
                self._advance(min(stop - done, self._chunk()), stopped)
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
                            max(cells, 0) / seconds if seconds else 0.0,
                        )
                    )
                if stopped():
                    return
            if on_snapshot and stop and any(stop % period == 0 for period in periods):
                on_snapshot(self)

    def grid(self) -> BitGrid:
        """Return a copy of the cells as they are now; of frame()."""
        with self._stepping:
            if self._unbounded:
                return self._unbounded.part(self.frame())
            return BitGrid(*self.bounds, self._cells.words())

    def words(self) -> Words | DeviceArray:
        """Return a copy of the cells of frame(), packed as BitGrid.words, where they lie.

        Of a torus or a plane with bounds on one GPU it is a DeviceArray there, which PyTorch,
        CuPy and JAX take by DLPack without a copy (torch.from_dlpack(life.words())); else an
        array of numpy's. It is the caller's, and stays as it is when the universe moves on.
        Raises MemoryError.
        """
        with self._stepping:
            if self._fixed:
                words = self._fixed.device_words()
                return self._fixed.words() if words is None else words
            return self.grid().words

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
        """Return the content digest of the cells (lifesim.digests).

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

    def _advance(self, generations: int, stopped: Callable[[], bool]) -> None:
        with self._stepping:
            began = time.perf_counter()
            try:
                if self._watch is None:
                    if self._unbounded:
                        self._unbounded.step(generations, stopped)
                    else:
                        self._universe.step(generations)
                    return
                stop = self._universe.generation + generations
                while (left := stop - self._universe.generation) > 0:
                    most = self._watch.horizon(self._cells, self.generation)
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
    if engine in ("auto", "dense"):
        return pick(backend, device=device, threads=threads)
    from lifesim.planes import plane_target

    return plane_target(engine, backend, threads, device, cells)
