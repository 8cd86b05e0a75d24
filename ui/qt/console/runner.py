"""Runs scripts one at a time, each on a thread of its own, and tells the main thread of them."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from ui.script.output import ScriptOutput
from ui.script.stopping import check_stopped
from ui.script.thread import ScriptThread

_PATIENCE = 150  # milliseconds that a stopped script has to end in, before it is left alone
_STUCK = (
    "Stopped. The script still waits for a call of the system, and ends with it; nothing that it "
    "asks of the window is done any more.\n"
)


class ScriptRunner(QObject):
    """Runs scripts. Its signals come on the main thread, which alone may call it.

    changed: a script has begun or ended. printed: output has something to take. said: a text, and
    its style, that follows all output.
    """

    changed = Signal()
    printed = Signal()
    said = Signal(str, str)
    _ended = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.output = ScriptOutput(self.printed.emit, check_stopped)
        self._thread: ScriptThread | None = None
        self._left: list[ScriptThread] = []  # stopped, and not ended yet
        self._ended.connect(self._end, Qt.ConnectionType.QueuedConnection)

    @property
    def is_running(self) -> bool:
        """Tell whether a script runs."""
        return self._thread is not None

    def start(self, job: Callable[[], None]) -> None:
        """Run a job. Only where none runs."""
        assert self._thread is None
        self._thread = ScriptThread(job, self.output, self._ended.emit)
        self._thread.start()
        self.changed.emit()

    def stop(self) -> None:
        """Stop the script that runs; in a moment none does, whatever it waits for."""
        for left in self._left:
            left.stop()
        thread = self._thread
        if thread is not None:
            thread.stop()
            QTimer.singleShot(_PATIENCE, self, lambda: self._leave(thread))

    def close(self) -> None:
        """Stop the script that runs; what it prints is dropped. Waits for a moment."""
        self.output.close()
        self.stop()
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.join(_PATIENCE / 1000)

    def _leave(self, thread: ScriptThread) -> None:
        """Go on without a script that does not end."""
        if thread is self._thread:
            self._left.append(thread)
            self._thread = None
            self.said.emit(_STUCK, "error")
            self.changed.emit()

    def _end(self, thread: ScriptThread) -> None:
        if thread in self._left:
            self._left.remove(thread)
        if thread is not self._thread:
            return
        self._thread = None
        if thread.stopped.is_set():
            self.said.emit("Stopped.\n", "error")
        elif thread.problem:
            self.said.emit(thread.problem, "error")
        self.changed.emit()
