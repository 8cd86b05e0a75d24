"""What takes long and is not drawing, off the main thread, in two lanes.

What is done with what is open, as saving it, is done one thing after another. Something else is
opened beside that: of openings the last one counts, and it can be cancelled.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal

IsCancelled = Callable[[], bool]


class Opening:
    """One opening, as its job sees it: asks whether it is cancelled, and tells what share of a
    file has been read."""

    def __init__(self, title: str, told: Callable[[Opening], None]) -> None:
        self.title = title
        self.share: float | None = None
        self.cancelled = threading.Event()
        self._told = told

    def __call__(self) -> bool:
        """Tell whether it has been cancelled."""
        return self.cancelled.is_set()

    def tell(self, share: float) -> None:
        """Tell the share that has been read; any thread may."""
        self.share = share
        self._told(self)

    @property
    def text(self) -> str:
        """Return what is being opened, and how far that is."""
        return self.title if self.share is None else f"{self.title} {100 * self.share:.0f} % read"


class Background(QObject):
    """Does what takes long, off the main thread, where its results land.

    busy: what is being done, '' for nothing, and whether it can be cancelled.
    """

    busy = Signal(str, bool)
    _ended = Signal(object)
    _read = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._titles: list[str] = []
        self._lasting: list[bool] = []
        self._opening: Opening | None = None
        self._closed = False
        queued = Qt.ConnectionType.QueuedConnection
        self._ended.connect(self._land, queued)
        self._read.connect(self._hear, queued)
        self._thread = threading.Thread(target=self._work, name="files", daemon=True)
        self._thread.start()

    @property
    def is_busy(self) -> bool:
        """Tell whether anything is being done."""
        return bool(self._titles) or self.is_opening

    @property
    def is_lasting(self) -> bool:
        """Tell whether close() would wait."""
        return any(self._lasting)

    @property
    def is_opening(self) -> bool:
        """Tell whether something is being opened."""
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
        """Do a job.

        done: is given what the job returns, failed: what it raises. lasting: close() waits until it
        is done.
        """

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
        job: Callable[[Opening], Any],
        done: Callable[[Any], None],
        failed: Callable[[Exception], None],
        drop: Callable[[Any], None] = lambda made: None,
    ) -> None:
        """Open something in place of what is being opened. job: may tell how much it has read,
        and look whether it is cancelled, and then raise what it likes; drop: is given what it
        returns all the same, in any thread."""
        self.cancel()
        opening = self._opening = Opening(title, self._read.emit)

        def work() -> None:
            made, error = _outcome(lambda: job(opening))

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
        """Wait for what must not be broken off; what has not landed yet does not any more."""
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

    def _hear(self, opening: Opening) -> None:
        if opening is self._opening:
            self._tell()

    def _tell(self) -> None:
        titles = [title for title in self._titles[:1] if title]
        if self._opening is not None:
            titles.append(self._opening.text)
        self.busy.emit("  ".join(titles), self.is_opening)


def _outcome(job: Callable[[], Any]) -> tuple[Any, Exception | None]:
    """Return what a job returns, or what it raises."""
    try:
        return job(), None
    except Exception as error:
        return None, error
