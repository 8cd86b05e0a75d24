"""What a session publishes of itself: its status, and events for those who listen."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from ui.session import Event, HistoryLines, Status

SELDOM = 0.1  # seconds between two changes of the status that are told


class Reach(NamedTuple):
    """Says what can be undone and what redone, in a few words (None where there is nothing), the
    first generation that can be gone to, and the history."""

    undo: str | None
    redo: str | None
    first: int
    history: HistoryLines


class News:
    """Publishes the status, what can be undone, and events.

    One thread tells; listeners are called by it. Any thread may read `status` and `reach`, which
    are values, and call listen() and forget().

    problem: why the last run stopped, or what else a person should know; '' if nothing.
    """

    def __init__(self, status: Callable[[], Status], reach: Callable[[], Reach]) -> None:
        """Publish what the two functions return, from begin() on; the thread that tells calls
        them."""
        self._newest_status, self._newest_reach = status, reach
        self._listeners: list[Callable[[Event], None]] = []
        self._told = 0.0
        self.problem = ""
        self.status: Status
        self.reach: Reach

    def begin(self) -> None:
        """Publish for the first time, and tell nobody."""
        self.status, self.reach = self._newest_status(), self._newest_reach()

    def report(self, problem: str) -> None:
        """Set the problem, which the next status has; '' is none."""
        self.problem = problem

    @property
    def listeners(self) -> tuple[Callable[[Event], None], ...]:
        """Return who listens."""
        return tuple(self._listeners)

    def listen(self, listener: Callable[[Event], None]) -> None:
        """Call a function with each event, until forget()."""
        self._listeners.append(listener)

    def forget(self, listener: Callable[[Event], None]) -> None:
        """Stop calling a function; it may still be told what is being told now."""
        with suppress(ValueError):  # one that has failed is gone already
            self._listeners.remove(listener)

    def tell(self, event: Event) -> None:
        """Publish the newest status and tell all listeners; those that fail are forgotten."""
        if event is Event.STATUS:
            self._told = time.monotonic()
            self.reach = self._newest_reach()
        self.status = self._newest_status()
        for listener in tuple(self._listeners):
            try:
                listener(event)
            except Exception as error:
                # A window that has gone is no reason for the universe to go.
                self.forget(listener)
                where = threading.current_thread()
                args = type(error), error, error.__traceback__, where
                threading.excepthook(threading.ExceptHookArgs(args))

    def tell_all(self) -> None:
        """Tell that cells and status are others."""
        self.tell(Event.CELLS)
        self.tell(Event.STATUS)

    def tell_seldom(self, now: float) -> None:
        """Publish the newest status, and tell it if the last one was told some time ago."""
        if now - self._told >= SELDOM:
            self.tell(Event.STATUS)
        else:
            self.status = self._newest_status()
