"""Loads pyqtgraph beside the window: importing it takes seconds, on a cold disk several."""

from __future__ import annotations

import importlib
import threading
from functools import cache
from typing import Any

from PySide6 import QtCore, QtGui, QtWidgets
from PySide6.QtCore import QObject, Signal


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

    def begin(self) -> None:
        """Load it, in a thread of its own; nothing where that has been begun."""
        if self._thread is None:
            _make_types()
            self._thread = threading.Thread(target=self._load, name="plots", daemon=True)
            self._thread.start()

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


def _make_types() -> None:
    """Have PySide make all types of Qt now, on the thread of the window.

    It makes each when it is first asked for. pyqtgraph asks for all of them as it is imported, and
    a window that is painted while one is half made crashes.
    """
    for module in (QtCore, QtGui, QtWidgets):
        for name in dir(module):
            getattr(module, name)


@cache
def shared() -> Loading:
    """Return the one of this process."""
    return Loading()
