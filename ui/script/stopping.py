"""Threads whose work can be stopped at any moment, but for functions that must not be broken off.

Another thread stops the work by raising KeyboardInterrupt in it. Python does that between any two
steps, in the middle of `threading.Condition` too, whose lock then stays locked for ever: whoever
else wants it, such as the window, waits for ever. So whatever takes locks that others take as well
is `uninterrupted`.
"""

from __future__ import annotations

import ctypes
import functools
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from inspect import isfunction
from typing import ParamSpec, TypeVar

T = TypeVar("T")
P = ParamSpec("P")

_LOOK = 0.02  # seconds between two looks at whether a thread that waits is to stop


class StoppableThread(threading.Thread):
    """A thread that does work which any thread may stop.

    stopped: set by stop().

    Who raises holds a lock, and looks first whether the thread is open to that. To close, the
    thread says so, then takes the lock once: who was about to raise has done so by then, and what
    was raised comes up when the lock is given back, in a place where it does no harm. From then on
    nothing comes until the thread is open again.
    """

    def __init__(self, name: str) -> None:
        """Start nothing yet."""
        super().__init__(name=name, daemon=True)
        self.stopped = threading.Event()
        self._raising = threading.Lock()
        self.is_open = False  # to exceptions that other threads raise in it

    def stop(self) -> None:
        """Raise KeyboardInterrupt in the work, or at the end of the function that is not to be
        interrupted; nothing happens where the work has ended."""
        self.stopped.set()
        with self._raising:
            if self.is_open:
                thread = ctypes.c_ulong(self.ident or 0)
                error = ctypes.py_object(KeyboardInterrupt)
                ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, error)

    def await_raised(self) -> None:
        """Let an exception come up that another thread is about to raise here."""
        with self._raising:
            pass

    def work(self, job: Callable[[], object]) -> BaseException | None:
        """Do a job that can be stopped, and return what it raises, None if nothing; this thread
        calls it. Once it has returned, stop() raises nothing any more."""
        raised = self._do(job)
        # One exception may wait to come up now, and one stop() may be about to raise another.
        try:
            try:
                self.await_raised()
            except KeyboardInterrupt:
                self.await_raised()
        except KeyboardInterrupt:
            pass
        return raised

    def _do(self, job: Callable[[], object]) -> BaseException | None:
        try:
            self.is_open = True
            check_stopped()
            job()
            self.is_open = False  # before Python looks whether there is something to be raised
            return None
        except BaseException as error:
            self.is_open = False
            return error


def uninterrupted(call: Callable[P, T]) -> Callable[P, T]:
    """Have a function be left alone by stop(): on a thread that has been stopped it raises
    KeyboardInterrupt before it begins, or when it has ended.

    Any thread may call it; on others than StoppableThread it is as it was. If it waits for long, it
    looks at check_stopped() itself.
    """

    @functools.wraps(call)
    def whole(*args: P.args, **kwargs: P.kwargs) -> T:
        thread = threading.current_thread()
        if not isinstance(thread, StoppableThread) or not thread.is_open:
            return call(*args, **kwargs)
        try:
            thread.is_open = False
            thread.await_raised()
            check_stopped()  # of a script that has caught what was raised, and goes on
            return call(*args, **kwargs)
        finally:
            thread.is_open = True
            check_stopped()  # a stop() that came before has raised nothing

    return whole


def uninterrupted_methods(*but: str) -> Callable[[type[T]], type[T]]:
    """Have all methods and properties of a class that people call be uninterrupted, but some: those
    that run code of whoever calls, which may take as long as it likes, and call others for all
    else."""

    def decorate(kind: type[T]) -> type[T]:
        for name, member in list(vars(kind).items()):
            special = name.startswith("__") and name != "__init__"
            if name in but or (name.startswith("_") and not special):
                continue
            if isinstance(member, property):
                setter = member.fset and uninterrupted(member.fset)
                assert member.fget is not None
                setattr(kind, name, property(uninterrupted(member.fget), setter))
            elif isfunction(member):
                setattr(kind, name, uninterrupted(member))
        return kind

    return decorate


def check_stopped() -> None:
    """Raise KeyboardInterrupt on a thread that has been stopped."""
    thread = threading.current_thread()
    if isinstance(thread, StoppableThread) and thread.stopped.is_set():
        raise KeyboardInterrupt


@uninterrupted
def pause() -> None:
    """Wait a moment; a thread that is stopped meanwhile gives up."""
    thread = threading.current_thread()
    if isinstance(thread, StoppableThread):
        thread.stopped.wait(_LOOK)
        check_stopped()
    else:
        time.sleep(_LOOK)


@uninterrupted
def wait_for(future: Future[T]) -> T:
    """Wait for a result; a thread that is stopped meanwhile gives up. Raises what the future
    holds."""
    while True:
        check_stopped()
        try:
            return future.result(_LOOK)
        except FutureTimeout:
            if future.done():  # it holds such an error itself
                return future.result()
