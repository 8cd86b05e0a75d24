"""A session whose universe is a directory: seen at any size, and run by another process."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from itertools import count
from typing import ClassVar

from bulkbits.plurals import many
from kernels.targets.contract import Target
from lifesim.errors import LifesimError
from lifesim.grid import BitGrid, Box
from lifesim.outputs import is_directory_name
from lifesim.pattern_of import pattern_of
from lifesim.patterns import write
from lifesim.rule import Rule
from lifesim.store import editing
from lifesim.store.make import from_universe, make_universe
from lifesim.store.undo import EditLog
from lifesim.store.universe import Universe
from lifesim.topology import Topology
from lifesim.until import Condition
from lifesim.until.stored import EVERY
from ui.cells.saving import Whole
from ui.disk.colour_parts import snapshot_of
from ui.disk.coloured import tile_source
from ui.disk.control import RunControl
from ui.disk.directory import done_share, owner_of, state_of
from ui.disk.editor import DiskEditor, EditedDisk, limits_of
from ui.disk.part_cache import BUDGET, PartCache
from ui.disk.parts import Snapshot
from ui.disk.stills import Stills, whole_of
from ui.disk.tiles import TileSource
from ui.film.stills import Still
from ui.picture.live import live_box
from ui.picture.request import FrameRequest
from ui.session import Event, SessionError, Status

_POLL = {False: 0.2, True: 0.1}  # seconds between two looks at the directory; in a run
_RESTS = 5  # times as long as a look takes, to the next one
_AGAIN = 2.0  # seconds to the next try to read what could not be read
# Seconds that a source may wait for what it draws: as long as the universe has just been
# opened, of a single pixel, and else.
_OPENING, _PIXEL, _FRAME = 0.4, 0.1, 0.012
_SEARCHING = 5.0
_TRIES = 5  # to read what has grown meanwhile


class DiskSession(EditedDisk):
    """A session whose universe is a directory: looked at here, and run by another process.

    A thread of its own looks for changes in the directory. Any thread may call listen(), source(),
    status(), whole() and still(); listeners are called from several threads.

    _parts: what is drawn. _runs: the process. _edits: changes cells. _watching: the thread that
    looks.
    """

    can_edit: ClassVar[bool] = False
    looks: ClassVar[int | None] = EVERY

    @classmethod
    def open(
        cls, path: str, *, backend: Target | str = "auto", budget: int = BUDGET
    ) -> DiskSession:
        """Open a directory. backend: for runs. budget: bytes of parts of files that are kept.

        Raises LifesimError."""
        path = os.path.abspath(path)
        state = state_of(path)
        return cls(Universe.open(path), state, backend, budget)

    def __init__(
        self, universe: Universe, state: object, backend: Target | str, budget: int
    ) -> None:
        self.path: str = universe.path
        self._listeners: list[Callable[[Event], None]] = []
        name = backend if isinstance(backend, str) else backend.name
        self._runs = RunControl(self.path, name, self._look, self._tell, self._run_begun)
        self._lock = threading.Lock()  # of _problem
        self._looking = threading.Lock()
        self._state = state
        self._other = ""  # another process that has locked the universe
        self._problem = ""  # why the directory cannot be read
        self._stills = Stills()
        self._closed = threading.Event()
        self._edits = DiskEditor(self.path, lambda: self._tell(Event.STATUS), self._edited)
        self._parts = PartCache(
            snapshot_of(universe),
            lambda: self._tell(Event.CELLS),
            self._unreadable,
            self._look,
            budget,
        )
        self._adopt(self._parts.view)
        self._opened = time.monotonic()
        self._watching = threading.Thread(target=self._watch, name="watching", daemon=True)
        self._watching.start()

    def _adopt(self, view: Snapshot) -> None:
        self._box = Box(*view.at, view.width, view.height)
        self._bounded = view.universe.manifest.corner is None
        self._rule: Rule = view.universe.rule
        self._topology: Topology = view.universe.topology

    def _run_begun(self) -> None:
        self._other = self._edits.problem = ""

    # --- what it says ----------------------------------------------------------

    @property
    def where(self) -> str:
        """Return what computes: another process, or the one of the run."""
        return self._other or self._runs.runner or "on disk: nothing runs"

    @property
    def box(self) -> Box:
        """Return the cells that there are, or that are held of a plane without bounds."""
        return self._box

    @property
    def limits(self) -> Box:
        """Return where cells may be put: a plane without bounds gets some room for them."""
        return limits_of(self._box, grows=not self._bounded)

    @property
    def is_bounded(self) -> bool:
        """Tell whether the universe has a size."""
        return self._bounded

    @property
    def rule(self) -> Rule:
        """Return the rule."""
        return self._rule

    @property
    def topology(self) -> Topology:
        """Return how the edges are joined."""
        return self._topology

    def status(self) -> Status:
        """Return the status; any thread may ask."""
        view = self._parts.view
        # Of the last whole generation, where some tiles are of the next one already.
        manifest = view.universe.manifest
        run, share = self._runs.facts(), self._edits.share
        if share is None and not run.running:
            share = done_share(view) if self._other else None
        return Status(
            generation=manifest.generation,
            population=manifest.population,
            counted=manifest.generation,
            running=run.running,
            rate=run.rate,
            modified=False,
            progress=run.share if run.running else share,
            problem=self._problem or self._edits.problem or run.problem,
            left=run.left if run.running else None,
            found=run.found,
        )

    def source(self, request: FrameRequest) -> TileSource:
        """Return what to draw a request from; any thread may ask."""
        view = request.viewport
        patience = _PIXEL if view.width == view.height == 1 else _FRAME
        opening = self._opened + _OPENING - time.monotonic()
        return tile_source(self._parts, max(patience, opening))

    def tiles(self, patience: float) -> TileSource:
        """Return what pictures are drawn from, which together may wait for what they ask for as
        many seconds; any thread may ask."""
        return tile_source(self._parts, patience)

    def listen(self, listener: Callable[[Event], None]) -> None:
        """Call a function with each event, from any of several threads."""
        self._listeners.append(listener)

    def forget(self, listener: Callable[[Event], None]) -> None:
        """Stop calling a function. Raises ValueError for one that does not listen."""
        self._listeners.remove(listener)

    def _tell(self, event: Event) -> None:
        for listener in tuple(self._listeners):
            listener(event)

    # --- running ---------------------------------------------------------------

    def start(self) -> None:
        """Run to the end of the run that was broken off, if one was; else until stop()."""
        self._edits.then(self._runs.start)

    def stop(self) -> None:
        """End the run when what is under way is safe; asked for again, at once."""
        self._runs.stop()

    def step(self, generations: int) -> None:
        """Move on by so many; on the way to a later generation, to that one."""
        if generations < 0:
            raise SessionError(f"a universe cannot go back {many(-generations, 'generation')}")
        if generations == 0:
            self.stop()
            return
        self._edits.then(lambda: self._runs.begin({"by": generations}))

    def set_speed(self, generations: int, frames_per_second: float | None) -> None:
        """Make so many generations between two pictures; more where one takes longer than a
        second. Raises SessionError out of range."""
        if not 1 <= generations <= self.most_speed:
            raise SessionError(
                f"1 to {self.most_speed:,} generations a picture, not {generations:,}"
            )
        if frames_per_second is not None and not frames_per_second > 0:
            raise SessionError(f"no run has {frames_per_second} pictures a second")
        self._runs.set_speed(generations, frames_per_second)

    def see_every(self, generations: int) -> None:
        """Let at most so many generations lie between two pictures, from the next run or the next
        leap of this one on; 0 is any number."""
        self._runs.see_every(generations)

    def go_to(self, generation: int) -> None:
        """Run to a later generation. Raises SessionError for one that is gone, or that lies within
        what is under way."""
        universe = self._parts.view.universe
        now, phase = universe.generation, universe.phase
        if generation < now:
            raise SessionError(
                f"generation {generation:,} is gone: a universe on disk keeps only the last one, "
                f"which is {now:,}"
            )
        if phase and generation < phase.stop:
            raise SessionError(
                f"the universe is on its way to generation {phase.stop:,}, "
                f"and cannot be at {generation:,} any more"
            )
        if generation > now:
            self._edits.then(lambda: self._runs.begin({"to": generation}))

    def run_until(self, condition: Condition, most: int | None, looks: int | None = None) -> None:
        """Run until a condition is true in a generation that is looked at, or for so many
        generations, as lifesim.stream.run.StreamedLife.run_until() does. Raises SessionError for
        fewer than 0, and for looks that are not every 1 or more."""
        if most is not None and most < 0:
            raise SessionError(f"a universe cannot go back {many(-most, 'generation')}")
        looks = EVERY if looks is None else looks
        if looks < 1:
            raise SessionError(f"a universe is looked at every 1 or more generations, not {looks}")
        order = {"until": str(condition), "most": most, "looks": looks}
        self._edits.then(lambda: self._runs.begin(order))

    def reset(self) -> None:
        """Raise SessionError: there is no way back."""
        raise SessionError("a universe on disk keeps only its last generation: it cannot go back")

    # --- what others do --------------------------------------------------------

    def _watch(self) -> None:
        rest, tried = _POLL[False], 0.0
        while not self._closed.wait(rest):
            began = time.monotonic()
            self._look()
            if began > tried + _AGAIN and self._problem:
                tried = began
                self._try_again()
            ours = self._runs.is_running or self._edits.is_busy
            other = "" if ours else owner_of(self.path)
            if other != self._other:
                self._other = other
                self._tell(Event.STATUS)
            rest = max(_POLL[self._runs.is_running], _RESTS * (time.monotonic() - began))

    def _look(self) -> None:
        """Take over what has changed in the directory."""
        with self._looking:
            state = state_of(self.path)
            if state == self._state:
                return
            try:
                view = snapshot_of(Universe.open(self.path), self._parts.view)
                error = None
            except LifesimError as refused:
                error = refused
            else:
                self._state = state
                self._parts.show(view)
                self._adopt(view)
        if error:
            self._unreadable(error)
            return
        self._tell(Event.CELLS)
        self._tell(Event.STATUS)

    def _unreadable(self, error: LifesimError) -> None:
        """Tell of a problem once, until the universe can be read again."""
        with self._lock:
            if self._problem:
                return
            self._problem = " ".join(str(error).split())
        self._tell(Event.STATUS)
        self._tell(Event.FAILED)

    def _try_again(self) -> None:
        """Try to read what could not be read."""
        if state_of(self.path) != self._state:
            return  # _look() tries that
        if self._parts.forgive():
            self._tell(Event.CELLS)
        else:
            self._problem = ""
            self._tell(Event.STATUS)

    # --- changes ---------------------------------------------------------------

    @property
    def refusal(self) -> str:
        """Return why cells cannot be changed now, in a sentence; '' where they can."""
        universe = self._parts.view.universe
        if self._runs.is_running:
            return "The universe is being run: stop it first."
        if self._other:
            return f"The universe is in use by {self._other}."
        if phase := universe.phase:
            return (
                f"The universe is between generations {phase.start:,} and {phase.stop:,}: run it "
                f"to the later one first."
            )
        return ""

    @property
    def _log(self) -> EditLog | None:
        return None if self.refusal else self._parts.view.universe.manifest.edits

    def _edited(self, failed: bool) -> None:
        self._look()
        self._tell(Event.STATUS)
        if failed:
            self._tell(Event.FAILED)

    # --- cells -----------------------------------------------------------------

    def cells(self, box: Box) -> BitGrid:
        """Return a copy of a region; between two generations, the newest cells of each tile. Raises
        LifesimError."""
        for tries in count(1):
            universe = Universe.open(self.path)
            tiling = universe.tiling
            try:
                return editing.cells(universe, box)
            except LifesimError:
                # A plane that has grown meanwhile has other tiles.
                if tries == _TRIES or universe.tiling == tiling:
                    raise
        raise AssertionError

    def whole(self) -> Whole:
        """Return a copy of all cells, as whole_of() does."""
        return whole_of(self.path)

    def still(self) -> Still | None:
        """Return what is to be recorded of this generation, as Stills.of() does."""
        return self._stills.of(self._parts.view.universe)

    def bounding_box(self) -> Box | None:
        """Return the box of all live cells in blocks of 8 x 8 cells, or larger ones where that
        would take too long; None where none lives."""
        source = TileSource(self._parts, _SEARCHING)
        box = live_box(source)
        return box and box._replace(x=box.x + source.at[0], y=box.y + source.at[1])

    def save(self, path: str) -> None:
        """Write a copy: to a pattern file, if memory holds the cells, or another directory.

        The universe stays where it is, where nothing of it is to be saved. Raises LifesimError
        between two generations, and where a process changes it.
        """
        if os.path.abspath(path) == self.path:
            return
        with Universe.open(self.path, still=True) as universe:
            if not is_directory_name(path):
                write(pattern_of(universe), path)
                return
            universe.population()  # which needs a whole generation
            form = universe.manifest.form
            make_universe(
                path,
                universe.tiling,
                from_universe(universe),
                rule=universe.rule,
                generation=universe.generation,
                compression=form.compression,
                pyramid=bool(form.top),
                origin=universe.manifest.origin,
                corner=universe.manifest.corner,
                edge=universe.manifest.edge,
            ).close()

    def close(self) -> None:
        """Do the changes that have been asked for, and end the run and the threads; a run that
        does not stop soon is killed: it can be resumed."""
        self._edits.close()
        self._closed.set()
        self._runs.close()
        self._watching.join()
        self._parts.close()
