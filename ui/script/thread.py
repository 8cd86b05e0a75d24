"""Runs Python code on a thread of its own, which can be stopped at any moment."""

from __future__ import annotations

import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from types import TracebackType

from lifesim.errors import LifesimError
from ui.script import source, stopping
from ui.script.output import ScriptOutput, routed
from ui.script.stopping import StoppableThread

_OURS = (__name__, stopping.__name__, source.__name__)
_CALLED = ("ui.", "lifesim.", "kernels.", "concurrent.")  # modules that scripts call
_SWITCH = 0.001  # seconds after which a busy script lets the window have its turn


class ScriptThread(StoppableThread):
    """A thread that runs a job, such as a script, with its prints going to an output.

    problem: what the job has raised, as Python prints it; '' if nothing.

    A job is trusted as any Python program is: it may do whatever this process may. Code that waits
    in a call of the system does not notice stop() until that returns; from then on nothing that it
    asks of the window is done any more.
    """

    def __init__(
        self, job: Callable[[], None], output: ScriptOutput, ended: Callable[[ScriptThread], None]
    ) -> None:
        """Start nothing yet. ended: is called by this thread when the job has ended."""
        super().__init__("script")
        self._job, self._output, self._ended = job, output, ended
        self.problem = ""

    def run(self) -> None:
        """Do the job, and keep what it raises as text."""
        with routed(self, self._output), _short_turns():
            error = self.work(self._job)
            if isinstance(error, SystemExit):
                if error.code not in (None, 0):
                    self.problem = f"The script has ended: {error.code}\n"
            elif error is not None and not isinstance(error, KeyboardInterrupt):
                self.problem = _traceback(error)
        self._ended(self)


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


def _traceback(error: BaseException) -> str:
    """Return what Python prints of an error, without the frames of this package."""
    frames = list(_walk(error.__traceback__))
    ours = [k for k, trace in enumerate(frames) if _module(trace) == source.__name__]
    first = ours[0] if ours else 0
    while first < len(frames) and _module(frames[first]) in _OURS:
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
