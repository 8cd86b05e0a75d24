"""Carries calls of scripts to the main thread, which alone may touch the window."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from PySide6.QtCore import QObject, Qt, Signal

from ui.script.stopping import StoppableThread, uninterrupted, wait_for
from ui.session import SessionError

T = TypeVar("T")

_CLOSED = "the window has been closed"


class Carrier(QObject):
    """Has the main thread, which made this, call functions."""

    _asked = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._main = threading.current_thread()
        self._lock = threading.Lock()
        self._closed = False
        self._pending: set[Future[Any]] = set()  # answers to calls that have not begun
        self._asked.connect(self._answer, Qt.ConnectionType.QueuedConnection)

    @uninterrupted
    def call(self, do: Callable[[], T]) -> T:
        """Return what a function returns on the main thread; raises what it raises. Any thread may
        ask; a script that is stopped waits no longer, and what it has asked is not begun."""
        here = threading.current_thread()
        if here is self._main:
            return do()
        answer: Future[T] = Future()
        with self._lock:
            if self._closed:
                raise SessionError(_CLOSED)
            self._pending.add(answer)
        self._asked.emit((here, do, answer))
        return wait_for(answer)

    def close(self) -> None:
        """Call nothing any more: whoever waits for a call that has not begun is told so."""
        with self._lock:
            self._closed = True
            pending, self._pending = self._pending, set()
        for answer in pending:
            answer.set_exception(SessionError(_CLOSED))

    def _answer(self, asked: tuple[threading.Thread, Callable[[], Any], Future[Any]]) -> None:
        thread, do, answer = asked
        with self._lock:
            if answer not in self._pending:
                return  # close() has answered
            self._pending.remove(answer)
        if isinstance(thread, StoppableThread) and thread.stopped.is_set():
            answer.cancel()
        else:
            try:
                answer.set_result(do())
            except BaseException as error:
                answer.set_exception(error)
