"""A session whose universe is a directory: seen at any size, and run by another process."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Callable
from typing import Any, ClassVar

from kernels.backend import Backend
from lifesim.errors import LifesimError
from lifesim.grid import BitGrid, Box
from lifesim.outputs import is_directory_name, pattern_of
from lifesim.patterns import write
from lifesim.rule import Rule
from lifesim.store import read
from lifesim.store.lock import Lock
from lifesim.store.make import from_universe, make_universe
from lifesim.store.universe import JOURNAL, LOCK, MANIFEST, Universe
from lifesim.topology import Topology
from ui.cells.saving import Whole
from ui.disk.parts import BUDGET, Parts, Snapshot
from ui.disk.process import DiskProcess
from ui.disk.stills import Stills, whole_of
from ui.disk.tiles import TileSource
from ui.film.stills import Still
from ui.picture.live import live_box
from ui.picture.request import FrameRequest
from ui.session import Event, Session, SessionError, Status

MOST_SPEED = 1 << 20
_POLL = {False: 0.2, True: 0.1}  # seconds between two looks at the directory; in a run
_RESTS = 5  # times as long as a look takes, to the next one
_AGAIN = 2.0  # seconds to the next try to read what could not be read
# Seconds that a source may wait for what it draws: as long as the universe has just been
# opened, of a single pixel, and else.
_OPENING, _PIXEL, _FRAME = 0.4, 0.1, 0.012
_SEARCHING = 5.0
_PICTURES = 1 / 60  # seconds between two generations at least that a run waits to be seen at
_CLOSING = 1.0  # seconds that a run has to stop in, at the end, before it is killed


class DiskSession(Session):
    can_edit: ClassVar[bool] = False

    @classmethod
    def open(
        cls, path: str, *, backend: Backend | str = "auto", budget: int = BUDGET
    ) -> DiskSession:
        """backend: for runs. budget: bytes of parts of files that are kept. Raises LifesimError."""
        path = os.path.abspath(path)
        state = _state(path)
        return cls(Universe.open(path), state, backend, budget)

    def __init__(
        self, universe: Universe, state: object, backend: Backend | str, budget: int
    ) -> None:
        self.path: str = universe.path
        self._listeners: list[Callable[[Event], None]] = []
        self._backend = backend if isinstance(backend, str) else backend.name
        self._speed: tuple[int, float | None] = (1, None)
        self._every = 0
        self._lock = threading.RLock()
        self._looking = threading.Lock()
        self._state = state
        self._run: DiskProcess | None = None
        self._next: dict[str, Any] | None = None  # once the run has stopped
        self._ran = ""  # what has computed the last run
        self._other = ""  # another process that has locked the universe
        self._rate = 0.0
        self._share: float | None = None
        self._disk_problem = self._run_problem = ""
        self._paused = -_PICTURES
        self._stills = Stills()
        self._closed = threading.Event()
        self._parts = Parts(
            Snapshot(universe),
            lambda: self._tell(Event.CELLS),
            self._unreadable,
            self._look,
            budget,
        )
        self._adopt(self._parts.view)
        self._set_where()
        self._opened = time.monotonic()
        self._watching = threading.Thread(target=self._watch, name="watching", daemon=True)
        self._watching.start()

    def _adopt(self, view: Snapshot) -> None:
        self.width, self.height = view.width, view.height
        self.rule: Rule = view.universe.rule
        self.topology: Topology = view.universe.topology

    def _set_where(self) -> None:
        own = self._ran or ("a process that is starting" if self._run else "")
        self.where = self._other or own or "on disk: nothing runs"

    # --- what it says ----------------------------------------------------------

    def status(self) -> Status:
        view = self._parts.view
        # Of the last whole generation, where some tiles are of the next one already.
        manifest = view.universe.manifest
        with self._lock:
            running = self._run is not None
            return Status(
                generation=manifest.generation,
                population=manifest.population,
                counted=manifest.generation,
                running=running,
                rate=self._rate,
                modified=False,
                progress=self._share if running else _way(view) if self._other else None,
                problem=self._disk_problem or self._run_problem,
            )

    def source(self, request: FrameRequest) -> TileSource:
        view = request.viewport
        patience = _PIXEL if view.width == view.height == 1 else _FRAME
        opening = self._opened + _OPENING - time.monotonic()
        return TileSource(self._parts, max(patience, opening))

    def listen(self, listener: Callable[[Event], None]) -> None:
        self._listeners.append(listener)

    def forget(self, listener: Callable[[Event], None]) -> None:
        self._listeners.remove(listener)

    def _tell(self, event: Event) -> None:
        for listener in tuple(self._listeners):
            listener(event)

    # --- running ---------------------------------------------------------------

    def start(self) -> None:
        """To the end of the run that was broken off, if one was; else until stop()."""
        with self._lock:
            if self._run is None or self._run.stopping:
                self._begin({"on": self._speed})

    def stop(self) -> None:
        """The run ends when what is under way is safe; asked for again, at once."""
        with self._lock:
            self._next = None
            if self._run:
                self._run.stop()

    def step(self, generations: int) -> None:
        """On the way to a later generation, to that one."""
        if generations < 0:
            raise SessionError(f"a universe cannot go back {-generations} generations")
        if generations == 0:
            self.stop()
            return
        self._begin({"by": generations})

    def set_speed(self, generations: int, frames_per_second: float | None) -> None:
        """More generations lie between two pictures where one takes longer than a second."""
        if not 1 <= generations <= MOST_SPEED:
            raise SessionError(f"1 to {MOST_SPEED:,} generations a picture, not {generations:,}")
        if frames_per_second is not None and not frames_per_second > 0:
            raise SessionError(f"no run has {frames_per_second} pictures a second")
        with self._lock:
            self._speed = generations, frames_per_second
            if self._run:
                self._run.send({"on": self._speed})

    def see_every(self, generations: int) -> None:
        """So many at most lie between two pictures of a run, from the next one or the next leap
        of this one on; 0 is any number."""
        with self._lock:
            self._every = generations
            if self._run:
                self._run.send({"every": generations})

    def go_to(self, generation: int) -> None:
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
            self._begin({"to": generation})

    def reset(self) -> None:
        raise SessionError("a universe on disk keeps only its last generation: it cannot go back")

    def _begin(self, order: dict[str, Any]) -> None:
        """Start a run; where one is under way, when that has stopped."""
        with self._lock:
            if self._closed.is_set():
                raise SessionError("the universe has been closed")
            if self._run:
                self._next = order
                if not self._run.stopping:
                    self._run.stop()
                return
            try:
                # Whoever moves it on would be told by a process that fails, but later.
                Lock(os.path.join(self.path, LOCK), shared=True).close()
                order = {**order, "every": self._every}
                self._run = DiskProcess(self.path, self._backend, order, self._hear, self._ended)
            except LifesimError as error:
                raise SessionError(str(error)) from None
            except OSError as error:
                raise SessionError(f"{self.path}: no run: {error.strerror or error}") from None
            self._rate, self._share, self._run_problem = 0.0, None, ""
            self._other = ""
            self._set_where()
        self._tell(Event.STATUS)

    def _hear(self, facts: dict[str, Any]) -> None:
        """From the process."""
        if "generation" in facts:
            self._pause()
            return
        with self._lock:
            if "where" in facts:
                self._ran = facts["where"]
                self._set_where()
            if "rate" in facts:
                self._rate, self._share = facts["rate"], facts["share"]
            if "error" in facts:
                self._run_problem = facts["error"]
        self._tell(Event.STATUS)

    def _pause(self) -> None:
        """A generation is whole, and stays so until the process is let go on: it is told of, so
        that whoever records it has it before it is gone."""
        now = time.monotonic()
        try:
            if now >= self._paused + _PICTURES:
                self._paused = now
                self._look()
                self._tell(Event.CELLS)  # another thread that has looked may not have told yet
        finally:
            with self._lock:
                if self._run:
                    self._run.send({"seen": True})

    def _ended(self) -> None:
        """Of the process: nothing of it is left."""
        self._look()
        with self._lock:
            self._run = None
            self._set_where()
            order, self._next = self._next, None
            failed = bool(self._run_problem)
        if order and not failed and not self._closed.is_set():
            try:
                self._begin(order)
            except SessionError as error:
                self._run_problem, failed = str(error), True
        self._tell(Event.CELLS)  # the last ones: who records has them, however few lie between
        self._tell(Event.STATUS)
        if failed:
            self._tell(Event.FAILED)

    # --- what others do --------------------------------------------------------

    def _watch(self) -> None:
        rest, tried = _POLL[False], 0.0
        while not self._closed.wait(rest):
            began = time.monotonic()
            self._look()
            if began > tried + _AGAIN and self._disk_problem:
                tried = began
                self._try_again()
            other = "" if self._run else _owner(self.path)
            if other != self._other:
                self._other = other
                self._set_where()
                self._tell(Event.STATUS)
            rest = max(_POLL[self._run is not None], _RESTS * (time.monotonic() - began))

    def _look(self) -> None:
        """Take over what has changed in the directory."""
        with self._looking:
            state = _state(self.path)
            if state == self._state:
                return
            try:
                view = Snapshot(Universe.open(self.path), self._parts.view)
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
        """Told once, until the universe can be read again."""
        with self._lock:
            if self._disk_problem:
                return
            self._disk_problem = " ".join(str(error).split())
        self._tell(Event.STATUS)
        self._tell(Event.FAILED)

    def _try_again(self) -> None:
        """What could not be read, perhaps can be now."""
        if _state(self.path) != self._state:
            return  # _look() tries that
        if self._parts.forgive():
            self._tell(Event.CELLS)
        else:
            self._disk_problem = ""
            self._tell(Event.STATUS)

    # --- cells -----------------------------------------------------------------

    def cells(self, box: Box) -> BitGrid:
        """Of a universe between two generations, those of each tile that are newest."""
        return read.region(Universe.open(self.path), box)

    def whole(self) -> Whole:
        return whole_of(self.path)

    def still(self) -> Still | None:
        return self._stills.of(self._parts.view.universe)

    def bounding_box(self) -> Box | None:
        """In blocks of 8 x 8 cells, or larger ones where that would take too long."""
        return live_box(TileSource(self._parts, _SEARCHING))

    def save(self, path: str) -> None:
        """A copy: to a pattern file, if memory holds the cells, or another directory. The
        universe stays where it is, where nothing of it is to be saved. Raises LifesimError
        between two generations, and where a process changes it."""
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
            ).close()

    def close(self) -> None:
        """A run that does not stop soon is killed: it can be resumed."""
        with self._lock:
            self._closed.set()
            self._next, run = None, self._run
        if run:
            run.close(_CLOSING)
        self._watching.join()
        self._parts.close()


def _way(view: Snapshot) -> float | None:
    """How much of a run, by whomever, is done."""
    universe = view.universe
    phase, run = universe.phase, universe.manifest.run
    if run is None:
        run = (phase.start, phase.stop) if phase else None
    if run is None:
        return None
    made = float(universe.generation - run[0])
    if phase:
        made += phase.generations * len(phase.done) / len(view.records)
    return min(made / (run[1] - run[0]), 1.0)


def _state(path: str) -> object:
    """Is another value once the universe is another."""
    found: list[tuple[int, int, int] | None] = []
    for name in (MANIFEST, JOURNAL):
        try:
            facts = os.stat(os.path.join(path, name))
            found.append((facts.st_ino, facts.st_size, facts.st_mtime_ns))
        except OSError:
            found.append(None)
    return found


def _owner(path: str) -> str:
    """The process that changes the universe, as its lock tells; '' if there seems to be none."""
    try:
        with open(os.path.join(path, LOCK), "rb") as file:
            facts = json.loads(file.read(4096))
        pid, host = int(facts["pid"]), str(facts["host"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""
    if host == socket.gethostname():
        try:
            os.kill(pid, 0)
        except PermissionError:
            pass  # of somebody else, and there
        except (OSError, OverflowError):
            return ""
    return f"process {pid} on {host}"
