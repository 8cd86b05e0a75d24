"""Takes pictures of a session for a recording, while it runs.

A picture is taken where the session tells of it, so that it is of the very generation that
was to be seen; a thread of its own compresses and writes. Where that cannot keep up, pictures
are left out; the last one never is.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Protocol

from lifesim.errors import LifesimError
from ui.film.recording import Recording
from ui.film.stills import Still
from ui.session import Event, Status

_WAITING = 2  # pictures


class Recordable(Protocol):
    """The part of a session that is needed to record it: see Session."""

    def status(self) -> Status:
        """Return the status."""

    def listen(self, listener: Callable[[Event], None]) -> None:
        """Call a function with each event."""

    def forget(self, listener: Callable[[Event], None]) -> None:
        """Stop calling a function."""

    def still(self) -> Still | None:
        """Return what is to be recorded now."""


class Recorder:
    """Records from now on, until stop(). left_out: pictures that there was no time for.
    problem: why it has stopped by itself, else ''."""

    def __init__(
        self,
        session: Recordable,
        recording: Recording,
        every: int = 0,
        told: Callable[[], None] = lambda: None,
    ) -> None:
        """Begin to record.

        every: generations between two pictures at least; 0 is every picture that the session tells
        of. told: is called, from any thread, when something has been recorded or not.
        """
        self.recording, self.every = recording, every
        self.left_out, self.problem = 0, ""
        self._session, self._tell = session, told
        self._changed = threading.Condition()
        self._waiting: deque[Still] = deque()
        self._taken: Still | None = None
        self._late = True  # a picture is due: the first one
        self._last: int | None = None
        self._skipped: int | None = None
        self._ended = False
        self._thread = threading.Thread(target=self._work, name="lifesim-recorder", daemon=True)
        self._thread.start()
        session.listen(self._hear)

    @property
    def is_recording(self) -> bool:
        """Tell whether it has not been stopped, nor has stopped by itself."""
        return not self._ended

    def stop(self) -> None:
        """Stop recording; waits until what has been seen is written, and the last picture of a run
        that is over."""
        status = self._session.status()
        if self.is_recording and not _runs(status) and status.generation != self._last:
            self._take()  # a moment before it is told of
        with self._changed:
            self._ended = True
            self._changed.notify_all()
        self._session.forget(self._hear)
        self._thread.join()

    def _hear(self, event: Event) -> None:
        if event is not Event.CELLS or self._ended:
            return
        status = self._session.status()
        if _runs(status) and not self._is_due(status.generation):
            return
        with self._changed:
            if len(self._waiting) >= _WAITING:
                if status.generation not in (self._last, self._skipped):
                    self.left_out += 1
                self._skipped, self._late = status.generation, True
                return
        self._take()

    def _is_due(self, generation: int) -> bool:
        last = self._last
        return last is None or not 0 < generation - last < self.every

    def _take(self) -> None:
        try:
            still = self._session.still()
        except (LifesimError, MemoryError) as error:
            self._fail(error)
            return
        with self._changed:
            if still is None or still is self._taken:
                return  # the next generation will be told of
            self._taken, self._last = still, still.generation
            self._waiting.append(still)
            self._changed.notify_all()

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._late or self._ended)
                still = self._waiting.popleft() if self._waiting else None
                late, self._late = self._late and still is None, self._late and still is not None
                if still is None and not late:
                    return
            if still is None:
                self._take()
                continue
            try:
                if self.recording.add(still):
                    self._tell()
            except (LifesimError, OSError, MemoryError) as error:
                self._fail(error)

    def _fail(self, error: Exception) -> None:
        with self._changed:
            self.problem = " ".join(str(error).split()) or "out of memory"
            self._ended, self._late = True, False
            self._waiting.clear()
            self._changed.notify_all()
        self._tell()


def _runs(status: Status) -> bool:
    """Tell whether the universe runs, here or in another process."""
    return status.running or status.progress is not None
