"""A thread that executes what other threads ask of it, one thing after the other."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import TypeVar

from ui.cells.snapshots import Interrupted
from ui.session import SessionError

T = TypeVar("T")
Command = Callable[[], None]


class CommandThread:
    """Executes commands in the order in which they come, and between them work of its own.

    Any thread may call post(), is_asked() and is_stopped(); ask() and close() wait for this
    thread, and so are for others only.
    """

    def __init__(self, name: str) -> None:
        """Make a thread of this name, which does nothing before start()."""
        self._changed = threading.Condition()
        self._commands: deque[Command] = deque()
        self._stops = 0  # posted stops that have not been heard
        self._closed = False
        self._own_work: Callable[[], tuple[float, Command | None]] = lambda: (0.0, None)
        self._failed: Callable[[Exception], None] = lambda error: None
        self._ended: Command = lambda: None
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)

    def start(
        self,
        own_work: Callable[[], tuple[float, Command | None]],
        failed: Callable[[Exception], None],
        ended: Command,
    ) -> None:
        """Begin to execute commands. The thread calls all three.

        own_work: returns when, by time.monotonic(), there is something to do that nobody has
        asked for, and what. failed: is told what a command or such work has raised, but
        Interrupted, which says that something else is asked for. ended: is called at the end.
        """
        self._own_work, self._failed, self._ended = own_work, failed, ended
        self._thread.start()

    @property
    def is_alive(self) -> bool:
        """Tell whether the thread executes commands."""
        return self._thread.is_alive()

    @property
    def is_closed(self) -> bool:
        """Tell whether commands are not accepted any more."""
        return self._closed

    def post(self, command: Command, *, stops: bool = False) -> None:
        """Have a command executed, unless closed. stops: is_stopped() is true before."""

        def heard() -> None:
            with self._changed:
                self._stops -= 1
            command()

        with self._changed:
            if not self._closed:
                self._stops += stops
                self._commands.append(heard if stops else command)
                self._changed.notify_all()

    def ask(self, question: Callable[[], T]) -> T:
        """Return what a function returns on the thread, which may ask as well; raises what it
        raises, and SessionError once closed."""
        if threading.current_thread() is self._thread:
            return question()
        answer: Future[T] = Future()

        def command() -> None:
            try:
                answer.set_result(question())
            except Exception as error:
                answer.set_exception(error)

        with self._changed:
            if self._closed:
                raise SessionError("the universe has been closed")
            self._commands.append(command)
            self._changed.notify_all()
        return answer.result()

    def is_asked(self) -> bool:
        """Tell whether somebody waits for anything."""
        return bool(self._commands) or self._closed

    def is_stopped(self) -> bool:
        """Tell whether somebody waits for a run to end."""
        return self._stops > 0 or self._closed

    def close(self) -> None:
        """Execute what has been posted, then end the thread; waits for that."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._thread.join()

    # --- the thread ------------------------------------------------------------

    def let_in(self) -> None:
        """Execute what has been asked for by now, and a piece of own work that is due: for work of
        the thread itself that takes long."""
        while self._commands:
            self._execute(self._commands.popleft())
        at, work = self._own_work()
        if work and at <= time.monotonic():
            self._execute(work)

    def _execute(self, command: Command) -> None:
        try:
            command()
        except Interrupted:
            pass  # whoever did it has something else to ask
        except Exception as error:
            self._failed(error)

    def _work(self) -> None:
        try:
            while True:
                command = self._next()
                if command is None:
                    return
                self._execute(command)
        finally:
            with self._changed:
                self._closed = True
            for command in self._commands:  # there are none but after a fault of this thread
                with suppress(Exception):
                    command()
            self._ended()

    def _next(self) -> Command | None:
        """Return what to do now; None at the end."""
        with self._changed:
            while True:
                if self._commands:
                    return self._commands.popleft()
                if self._closed:
                    return None
                at, work = self._own_work()
                wait = at - time.monotonic()
                if work and wait <= 0:
                    return work
                self._changed.wait(wait if work else None)
