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

from kernels.life.contract import Words
from kernels.targets.contract import Target
from lifesim import notebook
from lifesim.colours import colours_of
from lifesim.edge import EdgeWatch
from lifesim.engines import cells_for
from lifesim.grid import BitGrid, Box, check_size
from lifesim.growing import REFERENCE_COPIES, never
from lifesim.held import HeldUniverse
from lifesim.kept import Kept
from lifesim.pauses import Progress, chunk_of, periods_of, stops
from lifesim.pictured import Pictured
from lifesim.rule import LIFE, Rule
from lifesim.topology import Edges, Topology, topology_of
from lifesim.unbounded import ENGINES, target_of

if TYPE_CHECKING:
    from kernels.plane.hashlife.listing import SquareList
    from kernels.targets.cuda.array import DeviceArray
    from lifesim.patterns import Pattern
    from lifesim.start import Start
    from lifesim.until import Condition, Found


class Life(Pictured):
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
        what became of it, on the CPU; "auto", in whichever is quickest, which is
        found out while it runs (with bounds, in a rectangle).
        Raises RuleError, TopologyError (also a ValueError), ValueError for an unknown backend
        name, BackendUnavailableError, and GridError or MemoryError for too large a universe.
        """
        self.rule = rule if isinstance(rule, Rule) else Rule.parse(rule)
        grid = cells_for(self.rule, grid)
        self.topology, self.bounds = topology_of(topology, bounds, (grid.width, grid.height))
        if engine not in ENGINES:
            raise ValueError(f"{engine!r} is no engine: {' or '.join(ENGINES)}")
        if engine == "auto" and all(self.bounds):
            engine = "dense"
        alone = backend == "cuda"
        backend = target_of(engine, backend, device, threads, grid.width * grid.height)
        if backend.is_reference:
            check_size(grid.width, grid.height, REFERENCE_COPIES * grid.planes)
        self.backend = backend
        self._held = HeldUniverse(
            engine,
            backend,
            grid,
            at,
            self.bounds,
            self.rule,
            self.topology,
            generation=generation,
            memory=memory,
            alone=alone,
        )
        self._watch = None
        if watch and any(self.bounds):
            self._watch = EdgeWatch(self.rule, (bool(self.bounds[0]), bool(self.bounds[1])))
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

        wide = options.get("engine", "auto") in ("auto", "tiles", "hashlife")
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
            made._held.take(start.squares)
        return made

    @property
    def engine(self) -> str:
        """Return how the universe is kept just now: "dense", "tiles" or "hashlife"."""
        return self._held.engine

    @property
    def leaps(self) -> bool:
        """Tell whether any number of generations may be made, as by HashLife."""
        return self._held.sets_pace

    @property
    def made(self) -> dict[str, int]:
        """Return how many generations each engine has made so far, of those that made any."""
        return self._held.made

    @property
    def generation(self) -> int:
        """Return the generation that the universe is at."""
        return self._held.generation

    @property
    def changes(self) -> int:
        """Return how often change() and go_back() have replaced the cells so far: where it and the
        generation are what they were, so are the cells."""
        return self._held.changes

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
        return self._held.bounding_box()

    def frame(self) -> Box:
        """Return the rectangle that grid() holds: the universe, or where it has no bounds, what
        lives."""
        return self._held.frame()

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
        return self._watch.reached(self._held.cells, self.generation)

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
        return self._held.updates / self.seconds if self.seconds > 0 else 0.0

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
        self._held.check_run(generations, *(periods if on_snapshot else ()))
        with self._running:
            self._held.expect(generations + ahead)
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
        self._held.check_run(None)
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
            return self._held.keep()

    def go_back(self, kept: Kept) -> None:
        """Take the cells and the generation of a copy that keep() made, earlier or later."""
        with self._running, self._stepping:
            self._held.go_back(kept)

    def whole(self) -> Kept:
        """Return a copy of the cells of frame() with its corner, all of one generation: a grid, or
        where cells lie too far apart for one a list of squares. go_back() takes it, too."""
        with self._stepping:
            frame, far = self._held.frame(), self._held.far_squares()
            grid = BitGrid(1, 1) if far else self._held.grid()
            return Kept(self.generation, grid, (frame.x, frame.y), far)

    def change(self, changed: Callable[[Kept], Kept]) -> None:
        """Replace the cells by what a function makes of whole(): between two runs, so that nothing
        comes between. Where it raises nothing is changed."""
        with self._running, self._stepping:
            self._held.go_back(changed(self.whole()))

    def live_cells(self) -> npt.NDArray[np.int64]:
        """Return the live cells of a universe without bounds as rows (x, y), ordered by y, then x.

        Raises GridError for too many, and for some that are too far away."""
        with self._stepping:
            return self._held.live_cells()

    def _run(
        self,
        generations: int,
        periods: Sequence[int],
        progress: Callable[[Progress], None] | None,
        on_snapshot: Callable[[Life], None] | None,
        stopped: Callable[[], bool],
    ) -> None:
        held = self._held
        start, began, updates = held.generation, self.seconds, held.updates
        for stop in stops(generations, periods if on_snapshot else []):
            while (done := held.generation - start) < stop:
                self._advance(min(stop - done, self._chunk()), stopped)
                if progress:
                    done = held.generation - start
                    seconds = self.seconds - began
                    cells = max(held.updates - updates, 0)
                    rate = cells / seconds if seconds else 0.0
                    progress(Progress(held.generation, done, generations, seconds, rate))
                if stopped():
                    return
            if on_snapshot and stop and any(stop % period == 0 for period in periods):
                on_snapshot(self)

    def grid(self) -> BitGrid:
        """Return a copy of the cells as they are now; of frame()."""
        with self._stepping:
            return self._held.grid()

    def words(self) -> Words | DeviceArray:
        """Return a copy of the cells of frame(), packed as BitGrid.words, where they lie.

        Of a torus or a plane with bounds on one GPU it is a DeviceArray there, which PyTorch,
        CuPy and JAX take by DLPack without a copy (torch.from_dlpack(life.words())); else an
        array of numpy's. It is the caller's, and stays as it is when the universe moves on.
        Raises MemoryError.
        """
        with self._stepping:
            return self._held.words()

    def population(self) -> int:
        """Return the number of live cells."""
        with self._stepping:
            return self._held.population()

    def populations(self) -> list[int]:
        """Return how many cells of frame() are in each state of the rule, 0 first."""
        with self._stepping:
            if self.rule.states > 2:
                return self._held.grid().populations()[: self.rule.states]
            frame, live = self._held.frame(), self._held.population()
            return [frame.width * frame.height - live, live]

    def squares(self) -> SquareList | None:
        """Return the cells as a list of squares in which equal ones stand once, as macrocell files
        have them; None without HashLife, and where no cell lives."""
        with self._stepping:
            return self._held.squares()

    def far_squares(self) -> SquareList | None:
        """Return the cells as squares() does, of whatever engine, where they lie too far apart for
        grid(); None where a grid holds them."""
        with self._stepping:
            return self._held.far_squares()

    def density(self) -> Fraction:
        """Return the share of the cells of frame() that live, exactly."""
        with self._stepping:
            frame = self._held.frame()
            return Fraction(self._held.population(), frame.width * frame.height)

    def digest(self) -> str:
        """Return the content digest of the cells (lifesim.digests).

        Raises GridError for a plane that is too wide, or holds too much, for one.
        """
        with self._stepping:
            return self._held.digest()

    def levels(self, box: Box, scale_log2: int) -> npt.NDArray[np.uint8]:
        """Tell how densely the cells of a region live (lifesim.render.density_levels)."""
        with self._stepping:
            return self._held.levels(box, scale_log2)

    def pixels(self, box: Box, scale_log2: int, palette: str = "dark") -> npt.NDArray[np.uint8]:
        """Return a region of cells of several states in colours (lifesim.colours.pixels_of).

        Raises RenderError for an unknown palette, and a rule of two states without colours, of
        which levels() tells.
        """
        colours = colours_of(self.rule, palette)
        with self._stepping:
            return self._held.pixels(box, scale_log2, colours)

    # What notebooks show of it and offer with it.
    __repr__ = notebook.represented
    _facts, _sketch = notebook.facts, notebook.sketch
    animate, show = notebook.animate, notebook.show

    def _advance(self, generations: int, stopped: Callable[[], bool]) -> None:
        with self._stepping:
            began = time.perf_counter()
            try:
                if self._watch is None:
                    self._held.step(generations, stopped)
                    return
                stop = self.generation + generations
                while (left := stop - self.generation) > 0:
                    most = self._watch.horizon(self._held.cells, self.generation)
                    self._held.step(min(left, most), never)
            finally:
                self.seconds += time.perf_counter() - began

    def _chunk(self) -> int:
        """Return how many generations to ask for at once."""
        held = self._held
        if held.sets_pace:
            return held.stride
        return chunk_of(held.stride, held.passed, self.seconds)
