"""Carries calls of scripts to the main thread, which alone may touch the window."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from PySide6.QtCore import QObject, Qt, Signal

from ui.script.thread import ScriptThread, wait_for
from ui.session import SessionError

T = TypeVar("T")


class Carrier(QObject):
    """Has the main thread, which made this, call functions."""

    _asked = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._main = threading.current_thread()
        self._closed = False
        self._asked.connect(self._answer, Qt.ConnectionType.QueuedConnection)

    def call(self, do: Callable[[], T]) -> T:
        """Return what a function returns on the main thread; raises what it raises. Any thread may
        ask; a script that is stopped waits no longer, and what it has asked is not begun."""
        here = threading.current_thread()
        if here is self._main:
            return do()
        if self._closed:
            raise SessionError("the window has been closed")
        answer: Future[T] = Future()
        self._asked.emit((here, do, answer))
        return wait_for(answer)

    def close(self) -> None:
        """Call nothing any more."""
        self._closed = True

    def _answer(self, asked: tuple[threading.Thread, Callable[[], Any], Future[Any]]) -> None:
        thread, do, answer = asked
        if self._closed:
            answer.set_exception(SessionError("the window has been closed"))
        elif isinstance(thread, ScriptThread) and thread.stopped.is_set():
            answer.cancel()
        else:
            try:
                answer.set_result(do())
            except BaseException as error:
                answer.set_exception(error)
