"""What takes long and is not drawing, off the main thread, in two lanes.

What is done with what is open, as saving it, is done one thing after another. Something else is
opened beside that: of openings the last one counts, and it can be cancelled.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal

IsCancelled = Callable[[], bool]


@dataclass(eq=False, slots=True)
class _Opening:
    title: str
    cancelled: threading.Event = field(default_factory=threading.Event)


class Background(QObject):
    """busy: what is being done, '' for nothing, and whether it can be cancelled. Results land
    on the main thread."""

    busy = Signal(str, bool)
    _ended = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._titles: list[str] = []
        self._lasting: list[bool] = []
        self._opening: _Opening | None = None
        self._closed = False
        self._ended.connect(self._land, Qt.ConnectionType.QueuedConnection)
        self._thread = threading.Thread(target=self._work, name="files", daemon=True)
        self._thread.start()

    @property
    def is_busy(self) -> bool:
        return bool(self._titles) or self.is_opening

    @property
    def is_lasting(self) -> bool:
        """Whether close() would wait."""
        return any(self._lasting)

    @property
    def is_opening(self) -> bool:
        return self._opening is not None

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
            result, error = _outcome(job)

            def landing() -> None:
                if self._closed:
                    return
                self._titles.pop(0)
                self._lasting.pop(0)
                self._tell()
                if error is None:
                    done(result)
                else:
                    failed(error)

            self._ended.emit(landing)

        self._titles.append(title)
        self._lasting.append(lasting)
        self._jobs.put(work)
        self._tell()

    def open(
        self,
        title: str,
        job: Callable[[IsCancelled], Any],
        done: Callable[[Any], None],
        failed: Callable[[Exception], None],
        drop: Callable[[Any], None] = lambda made: None,
    ) -> None:
        """In place of what is being opened. job: may look whether it is cancelled, and then
        raise what it likes; drop: is given what it returns all the same, in any thread."""
        self.cancel()
        opening = self._opening = _Opening(title)

        def work() -> None:
            made, error = _outcome(lambda: job(opening.cancelled.is_set))

            def landing() -> None:
                if not opening.cancelled.is_set():
                    self._opening = None
                    self._tell()
                    if error is None:
                        done(made)
                    else:
                        failed(error)
                elif error is None:
                    drop(made)

            if opening.cancelled.is_set():
                landing()
            else:
                self._ended.emit(landing)

        threading.Thread(target=work, name="opening", daemon=True).start()
        self._tell()

    def cancel(self) -> None:
        """Open nothing, after all."""
        if self._opening is not None:
            self._opening.cancelled.set()
            self._opening = None
            self._tell()

    def close(self) -> None:
        """Waits for what must not be broken off; what has not landed yet does not any more."""
        self.cancel()
        self._closed = True
        self._jobs.put(None)
        if self.is_lasting:
            self._thread.join()

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()

    def _land(self, landing: Callable[[], None]) -> None:
        landing()

    def _tell(self) -> None:
        titles = [title for title in self._titles[:1] if title]
        if self._opening is not None:
            titles.append(self._opening.title)
        self.busy.emit("  ".join(titles), self.is_opening)


def _outcome(job: Callable[[], Any]) -> tuple[Any, Exception | None]:
    """What a job returns, or what it raises."""
    try:
        return job(), None
    except Exception as error:
        return None, error
