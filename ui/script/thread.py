"""Runs Python code on a thread of its own, which can be stopped at any moment."""

from __future__ import annotations

import ctypes
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from types import TracebackType
from typing import TypeVar

from lifesim.errors import LifesimError
from ui.script import source
from ui.script.output import Output, routed

T = TypeVar("T")

_LOOK = 0.02  # seconds between two looks at whether a script that waits is to stop
_CALLED = ("ui.", "lifesim.", "kernels.", "concurrent.")  # modules that scripts call
_SWITCH = 0.001  # seconds after which a busy script lets the window have its turn


class ScriptThread(threading.Thread):
    """A thread that runs a job, such as a script, with its prints going to an output.

    problem: what the job has raised, as Python prints it; '' if nothing. stopped: set by stop().

    A job is trusted as any Python program is: it may do whatever this process may. stop() raises
    KeyboardInterrupt in it. Code that waits in a call of the system does not notice until that
    returns; from then on nothing that it asks of the window is done any more.
    """

    def __init__(
        self, job: Callable[[], None], output: Output, ended: Callable[[ScriptThread], None]
    ) -> None:
        """Start nothing yet. ended: is called by this thread when the job has ended."""
        super().__init__(name="script", daemon=True)
        self._job, self._output, self._ended = job, output, ended
        self.problem = ""
        self.stopped = threading.Event()
        self._lock = threading.Lock()
        self._working = False

    def stop(self) -> None:
        """Raise KeyboardInterrupt in the job; nothing happens where it has ended."""
        self.stopped.set()
        with self._lock:
            if self._working:
                thread = ctypes.c_ulong(self.ident or 0)
                error = ctypes.py_object(KeyboardInterrupt)
                ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, error)

    def run(self) -> None:
        """Do the job, and keep what it raises as text."""
        with routed(self, self._output), _short_turns():
            try:
                with self._lock:
                    self._working = True
                self._do()
            except KeyboardInterrupt:
                pass
            finally:
                self._rest()
        self._ended(self)

    def _do(self) -> None:
        try:
            check_stopped()
            self._job()
        except SystemExit as end:
            if end.code not in (None, 0):
                self.problem = f"The script has ended: {end.code}\n"
        except Exception as error:
            self.problem = _traceback(error)

    def _rest(self) -> None:
        """Let no stop() come any more; one that is under way may."""
        while self._working:
            try:
                with self._lock:
                    self._working = False
            except KeyboardInterrupt:
                continue


class _short_turns:  # used as a function
    """Has Python's threads take short turns while scripts run, so that the window stays alive."""

    _running, _before = 0, 0.0
    _lock = threading.Lock()

    def __enter__(self) -> None:
        kind = type(self)
        with self._lock:
            if not kind._running:
                kind._before = sys.getswitchinterval()
                sys.setswitchinterval(min(_SWITCH, kind._before))
            kind._running += 1

    def __exit__(self, *_: object) -> None:
        kind = type(self)
        with self._lock:
            kind._running -= 1
            if not kind._running:
                sys.setswitchinterval(kind._before)


def check_stopped() -> None:
    """Raise KeyboardInterrupt on the thread of a script that has been stopped."""
    thread = threading.current_thread()
    if isinstance(thread, ScriptThread) and thread.stopped.is_set():
        raise KeyboardInterrupt


def pause() -> None:
    """Wait a moment; a script that is stopped meanwhile gives up."""
    check_stopped()
    thread = threading.current_thread()
    if isinstance(thread, ScriptThread):
        thread.stopped.wait(_LOOK)
        check_stopped()
    else:
        time.sleep(_LOOK)


def wait_for(future: Future[T]) -> T:
    """Wait for a result; a script that is stopped meanwhile gives up. Raises what the future
    holds."""
    while True:
        check_stopped()
        try:
            return future.result(_LOOK)
        except FutureTimeout:
            if future.done():  # it holds such an error itself
                return future.result()


def _traceback(error: BaseException) -> str:
    """Return what Python prints of an error, without the frames of this package."""
    frames = list(_walk(error.__traceback__))
    ours = [k for k, trace in enumerate(frames) if _module(trace) == source.__name__]
    first = ours[0] if ours else 0
    while first < len(frames) and _module(frames[first]) in (__name__, source.__name__):
        first += 1
    trace = frames[first] if first < len(frames) else None
    if isinstance(error, (LifesimError, IndexError, ValueError)):
        # Where in our code that was found out says nothing to who wrote the script.
        end = len(frames)
        while end > first + 1 and _module(frames[end - 1]).startswith(_CALLED):
            end -= 1
        frames[end - 1].tb_next = None
    return "".join(traceback.format_exception(type(error), error, trace))


def _walk(trace: TracebackType | None) -> Iterator[TracebackType]:
    """Yield a traceback and all that it leads to."""
    while trace is not None:
        yield trace
        trace = trace.tb_next


def _module(trace: TracebackType) -> str:
    return str(trace.tb_frame.f_globals.get("__name__"))
