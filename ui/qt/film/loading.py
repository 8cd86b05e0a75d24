"""Loads pyqtgraph beside the window: importing it takes seconds, on a cold disk several."""

from __future__ import annotations

import importlib
import threading
import time
from collections.abc import Iterator
from functools import cache
from typing import Any

from PySide6 import QtCore, QtGui, QtWidgets
from PySide6.QtCore import QObject, QTimer, Signal

_SLICE = 0.008  # seconds that types are made for in one turn of Qt's loop


class Loading(QObject):
    """Loads pyqtgraph on a thread of its own.

    module: pyqtgraph, once it is there. problem: why it cannot be, else ''. ended: emitted on the
    thread that loads; connect it queued.
    """

    ended = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.module: Any = None
        self.problem = ""
        self._thread: threading.Thread | None = None
        self._types: Iterator[object] | None = None
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._make_types)

    def begin(self) -> None:
        """Load it, in a thread of its own, when the types of Qt have been made; nothing where that
        has been begun."""
        if self._types is None:
            self._types = _types()
            self._timer.start(0)

    def _make_types(self) -> None:
        """Make some types, so that the window is not held up; after the last one, begin."""
        assert self._types is not None
        end = time.monotonic() + _SLICE
        while time.monotonic() < end:
            if next(self._types, None) is None:
                self._timer.stop()
                self._thread = threading.Thread(target=self._load, name="plots", daemon=True)
                self._thread.start()
                return

    @property
    def is_busy(self) -> bool:
        """Tell whether it is being loaded."""
        return self._thread is not None and self._thread.is_alive()

    def _load(self) -> None:
        try:
            self.module = importlib.import_module("pyqtgraph")
        except Exception as error:  # what is installed may be broken in any way
            self.problem = " ".join(str(error).split()) or type(error).__name__
        self.ended.emit()


def _types() -> Iterator[object]:
    """Have PySide make all types of Qt, one at a time, on the thread of the window.

    It makes each when it is first asked for. pyqtgraph asks for all of them as it is imported, and
    a window that is painted while one is half made crashes.
    """
    for module in (QtCore, QtGui, QtWidgets):
        for name in dir(module):
            yield (getattr(module, name),)


@cache
def shared() -> Loading:
    """Return the one of this process."""
    return Loading()
