"""Exports, each in a thread of its own, with a dialog that shows how far it is."""

from __future__ import annotations

import threading
from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QProgressDialog, QWidget

from ui.film.export import ExportCancelledError
from ui.film.films import Progress

_STEPS = 1000
_LATE = 400  # milliseconds that are not worth a dialog


class Exporting(QObject):
    """Makes pictures and films on a thread of its own, one at a time.

    title: of the last one.
    """

    _moved = Signal(int)
    _ended = Signal(object)

    def __init__(self, window: QWidget | None) -> None:
        super().__init__(window)
        self._window = window
        self.title = ""
        self._dialog: QProgressDialog | None = None
        self._thread: threading.Thread | None = None
        self._given_up = threading.Event()
        self._share = -1
        queued = Qt.ConnectionType.QueuedConnection
        self._moved.connect(self._move, queued)
        self._ended.connect(self._land, queued)

    @property
    def is_busy(self) -> bool:
        """Tell whether an export is under way."""
        return self._thread is not None

    def start(
        self,
        title: str,
        job: Callable[[Progress], None],
        done: Callable[[], None],
        failed: Callable[[Exception], None],
    ) -> None:
        """Begin an export.

        job: is given what to tell its progress, which raises ExportCancelledError when it is given
        up. done, failed: how it ends, on the main thread; neither is called for one given up.
        """
        if self._thread:
            raise RuntimeError("an export is under way")
        self.title = title
        self._given_up.clear()
        self._share = -1

        def work() -> None:
            end = done
            try:
                job(self._progress)
            except ExportCancelledError:
                end = _nothing
            except Exception as error:

                def end(error: Exception = error) -> None:
                    failed(error)

            self._ended.emit(end)

        dialog = QProgressDialog(title, "Cancel", 0, _STEPS, self._window)
        dialog.setWindowTitle("Export")
        dialog.setAccessibleName(title)
        dialog.setMinimumDuration(_LATE)
        dialog.setAutoClose(False)
        dialog.setAutoReset(False)
        dialog.setValue(0)
        dialog.canceled.connect(self.give_up)
        self._dialog = dialog
        self._thread = threading.Thread(target=work, name="lifesim-export", daemon=True)
        self._thread.start()

    def give_up(self) -> None:
        """Have what is under way end soon, without a file."""
        self._given_up.set()

    def close(self) -> None:
        """Give up what is under way; wait for it."""
        self.give_up()
        if self._thread:
            self._thread.join()

    def _progress(self, share: float) -> None:
        if self._given_up.is_set():
            raise ExportCancelledError
        step = int(share * _STEPS)
        if step > self._share:
            self._share = step
            self._moved.emit(step)

    def _move(self, step: int) -> None:
        if self._dialog and not self._dialog.wasCanceled():
            self._dialog.setValue(step)

    def _land(self, end: Callable[[], None]) -> None:
        if self._thread:
            self._thread.join()
        self._thread = None
        if self._dialog:
            self._dialog.close()
            self._dialog.deleteLater()
            self._dialog = None
        end()


def _nothing() -> None:
    pass
