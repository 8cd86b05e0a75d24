"""Takes pictures of a session for a recording, while it runs.

A picture is copied where the session tells of it, so that it is of the very generation that
was to be seen; a thread of its own compresses and writes. Where that cannot keep up, pictures
are left out; the last one never is.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Protocol, runtime_checkable

from lifesim.errors import LifesimError
from ui.cells.saving import Whole
from ui.film.recording import Recording
from ui.session import Event, Status

_WAITING = 2  # pictures


@runtime_checkable
class Recordable(Protocol):
    """A session whose cells can be copied at once, from any thread."""

    def status(self) -> Status: ...

    def listen(self, listener: Callable[[Event], None]) -> None: ...

    def whole(self) -> Whole: ...


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
        """every: generations between two pictures at least; 0 is every picture that the session
        tells of. told: is called, from any thread, when something has been recorded or not."""
        self.recording, self.every = recording, every
        self.left_out, self.problem = 0, ""
        self._session, self._tell = session, told
        self._changed = threading.Condition()
        self._waiting: deque[Whole] = deque()
        self._late = True  # a picture is due: the first one
        self._last: int | None = None
        self._ended = False
        self._thread = threading.Thread(target=self._work, name="lifesim-recorder", daemon=True)
        self._thread.start()
        session.listen(self._hear)

    @property
    def is_recording(self) -> bool:
        return not self._ended

    def stop(self) -> None:
        """Waits until what has been seen is written."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()
        self._thread.join()

    def _hear(self, event: Event) -> None:
        if event is not Event.CELLS or self._ended:
            return
        status = self._session.status()
        if status.running and not self._is_due(status.generation):
            return
        with self._changed:
            if len(self._waiting) >= _WAITING:
                self.left_out += 1
                self._late = True
                return
        self._take()

    def _is_due(self, generation: int) -> bool:
        last = self._last
        return last is None or not 0 < generation - last < self.every

    def _take(self) -> None:
        try:
            whole = self._session.whole()
        except (LifesimError, MemoryError) as error:
            self._fail(error)
            return
        self._last = whole.generation
        with self._changed:
            self._waiting.append(whole)
            self._changed.notify_all()

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._late or self._ended)
                whole = self._waiting.popleft() if self._waiting else None
                late, self._late = self._late and whole is None, self._late and whole is not None
                if whole is None and not late:
                    return
            if whole is None:
                self._take()
                continue
            try:
                if self.recording.add(whole):
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
