"""The runs of a universe on disk, one after the other, each by a process of its own."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from lifesim.errors import LifesimError
from lifesim.store.lock import Lock
from lifesim.store.universe import LOCK
from lifesim.until import Found
from ui.disk.process import DiskProcess
from ui.session import Event, SessionError

_PICTURES = 1 / 60  # seconds between two generations at least that a run waits to be seen at
_CLOSING = 1.0  # seconds that a run has to stop in, at the end, before it is killed


class RunFacts(NamedTuple):
    """Facts of the run under way or the last one: see ui.session.Status."""

    running: bool
    rate: float
    share: float | None
    problem: str
    left: float | None
    found: Found | None


class RunControl:
    """Starts, stops and follows the process that moves a universe on; there is one at most.

    Any thread may call any method, as a lock guards all state. Listeners are told by the thread
    that calls, or by the one that hears the process.
    """

    def __init__(
        self,
        path: str,
        backend: str,
        look: Callable[[], None],
        tell: Callable[[Event], None],
        begun: Callable[[], None],
    ) -> None:
        """Start nothing yet. look: takes over what has changed in the directory. tell: tells
        listeners. begun: is called when a process has been started."""
        self._path, self.backend = path, backend
        self._look, self._tell, self._begun = look, tell, begun
        self._lock = threading.RLock()
        self.process: DiskProcess | None = None
        self._next: dict[str, Any] | None = None  # once the run has stopped
        self._speed: tuple[int, float | None] = (1, None)
        self._every = 0
        self._ran = ""  # what has computed the last run
        self._rate = 0.0
        self._share: float | None = None
        self._seen: tuple[float, float] | None = None  # the first share, and when it was told
        self._left: float | None = None
        self._problem = ""
        self._found: Found | None = None
        self._paused = -_PICTURES
        self._closed = False

    @property
    def is_running(self) -> bool:
        """Tell whether there is a process."""
        return self.process is not None

    @property
    def runner(self) -> str:
        """Return what computes, or has computed the last run; '' before the first one."""
        return self._ran or ("a process that is starting" if self.process else "")

    def facts(self) -> RunFacts:
        """Return what is known, of one moment."""
        with self._lock:
            return RunFacts(
                self.is_running, self._rate, self._share, self._problem, self._left, self._found
            )

    # --- what is asked ---------------------------------------------------------

    def start(self) -> None:
        """Run to the end of the run that was broken off, if one was; else until stop(). Raises
        SessionError as begin() does."""
        with self._lock:
            if self.process is None or self.process.stopping:
                self.begin({"on": self._speed})

    def stop(self) -> None:
        """End the run when what is under way is safe; asked for again, at once."""
        with self._lock:
            self._next = None
            if self.process:
                self.process.stop()

    def set_speed(self, generations: int, frames_per_second: float | None) -> None:
        """Make so many generations between two pictures, from now on."""
        with self._lock:
            self._speed = generations, frames_per_second
            if self.process:
                self.process.send({"on": self._speed})

    def see_every(self, generations: int) -> None:
        """Let at most so many generations lie between two pictures, from the next run or the next
        leap of this one on; 0 is any number."""
        with self._lock:
            self._every = generations
            if self.process:
                self.process.send({"every": generations})

    def begin(self, order: dict[str, Any]) -> None:
        """Start a run; where one is under way, when that has stopped.

        Raises SessionError where the universe is closed or in use, or no process can be started.
        """
        with self._lock:
            if self._closed:
                raise SessionError("the universe has been closed")
            if self.process:
                self._next = order
                if not self.process.stopping:
                    self.process.stop()
                return
            try:
                # Whoever moves it on would be told by a process that fails, but later.
                Lock(os.path.join(self._path, LOCK), shared=True).close()
                order = {**order, "every": self._every}
                heard, ended = self._hear, self._ended
                self.process = DiskProcess(self._path, self.backend, order, heard, ended)
            except LifesimError as error:
                raise SessionError(str(error)) from None
            except OSError as error:
                raise SessionError(f"{self._path}: no run: {error.strerror or error}") from None
            self._rate, self._share, self._problem = 0.0, None, ""
            self._seen = self._left = self._found = None
            self._begun()
        self._tell(Event.STATUS)

    def close(self) -> None:
        """Stop the run, and start none any more; one that does not stop soon is killed."""
        with self._lock:
            self._closed = True
            self._next, process = None, self.process
        if process:
            process.close(_CLOSING)

    # --- what the process says -------------------------------------------------

    def _hear(self, facts: dict[str, Any]) -> None:
        if "generation" in facts:
            self._pause()
            return
        with self._lock:
            if "where" in facts:
                self._ran = facts["where"]
            if "rate" in facts:
                self._rate, self._share = facts["rate"], facts["share"]
                self._estimate(time.monotonic())
            if "found" in facts:
                self._found = Found.from_facts(facts["found"])
            if "error" in facts:
                self._problem = facts["error"]
        self._tell(Event.STATUS)

    def _estimate(self, now: float) -> None:
        """Find out how long it will still take, by how long it took since the first share."""
        share, self._left = self._share, None
        if share is None or (self._seen and share < self._seen[0]):
            self._seen = None
        elif self._seen is None:
            self._seen = share, now
        elif share > self._seen[0]:
            self._left = (now - self._seen[1]) * (1 - share) / (share - self._seen[0])

    def _pause(self) -> None:
        """Tell of a generation that is whole, and stays so until the process is let go on: whoever
        records it has it before it is gone."""
        now = time.monotonic()
        try:
            if now >= self._paused + _PICTURES:
                self._paused = now
                self._look()
                self._tell(Event.CELLS)  # another thread that has looked may not have told yet
        finally:
            with self._lock:
                if self.process:
                    self.process.send({"seen": True})

    def _ended(self) -> None:
        """Take note that nothing is left of the process, and start the next one if one is due."""
        self._look()
        with self._lock:
            self.process = None
            order, self._next = self._next, None
            failed, found = bool(self._problem), self._found is not None
            closed = self._closed
        if order and not failed and not closed:
            try:
                self.begin(order)
            except SessionError as error:
                self._problem, failed = str(error), True
        self._tell(Event.CELLS)  # the last ones: who records has them, however few lie between
        self._tell(Event.STATUS)
        if failed:
            self._tell(Event.FAILED)
        elif found:
            self._tell(Event.FOUND)
