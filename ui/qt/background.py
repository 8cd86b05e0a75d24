"""What takes long and is not drawing: files. One thing after another, off the main thread."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal


class Background(QObject):
    """busy: what is being done, '' for nothing. Results land on the main thread."""

    busy = Signal(str)
    _ended = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._titles: list[str] = []
        self._lasting: list[bool] = []
        self._closed = False
        self._ended.connect(self._land, Qt.ConnectionType.QueuedConnection)
        self._thread = threading.Thread(target=self._work, name="files", daemon=True)
        self._thread.start()

    @property
    def is_busy(self) -> bool:
        return bool(self._titles)

    def do(
        self,
        title: str,
        job: Callable[[], Any],
        done: Callable[[Any], None],
        failed: Callable[[Exception], None],
        *,
        lasting: bool = False,
    ) -> None:
        """done: is given what the job returns, failed: what it raises. lasting: close() waits
        until it is done."""

        def work() -> None:
            try:
                result = job()
            except Exception as error:
                # A name of an except clause is gone when it ends.
                self._ended.emit(lambda error=error: failed(error))
            else:
                self._ended.emit(lambda: done(result))

        self._titles.append(title)
        self._lasting.append(lasting)
        self._jobs.put(work)
        self.busy.emit(self._titles[0])

    def close(self) -> None:
        """Waits for what must not be broken off; what has not landed yet does not any more."""
        self._closed = True
        self._jobs.put(None)
        if any(self._lasting):
            self._thread.join()

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()

    def _land(self, landing: Callable[[], None]) -> None:
        if self._closed:
            return
        self._titles.pop(0)
        self._lasting.pop(0)
        self.busy.emit(self._titles[0] if self._titles else "")
        landing()
