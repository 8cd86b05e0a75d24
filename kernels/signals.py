"""Make signals wait, and come again where Python has dropped them."""

from __future__ import annotations

import _thread
import contextlib
import signal
import sys
import threading
import time
from collections.abc import Iterator
from types import FrameType
from typing import Any

_PAUSE = 0.005  # seconds in which the callback that dropped an interrupt comes to its end


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Make Ctrl-C and other signals wait for the end of the block, which is to be short.

    This is for code where Python must not be interrupted between any two lines: amid h5py a file
    could stay open, and what is raised where an object of a device goes, or where a module is
    imported that catches everything, is lost.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # signals interrupt the main thread only
        return
    came: list[tuple[int, FrameType | None]] = []
    before: dict[int, Any] = {}
    numbers: tuple[int, ...] = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM)
    try:
        for number in numbers:
            handler = signal.getsignal(number)
            if callable(handler):
                before[number] = handler
                signal.signal(number, lambda *call: came.append(call))
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for number, frame in came:  # also where the block has failed
            before[number](number, frame)


def redeliver_dropped_interrupts() -> None:
    """Have KeyboardInterrupt raised again where Python drops it, for the rest of the process.

    What is raised in a callback of a weak reference, as each import has one, or in `__del__()` is
    printed and dropped, so that a process which was to end at Ctrl-C would go on.
    """
    earlier = sys.unraisablehook

    def say_or_send_again(dropped: sys.UnraisableHookArgs) -> None:
        if dropped.exc_type is KeyboardInterrupt:
            # From a thread, as it would be raised here, and dropped again, if it came at once.
            _thread.start_new_thread(_interrupt_soon, ())
        else:
            earlier(dropped)

    sys.unraisablehook = say_or_send_again


def _interrupt_soon() -> None:
    """Send the main thread a signal after a moment, as the terminal does: it ends waits as well."""
    time.sleep(_PAUSE)
    main = threading.main_thread().ident
    heard = [number for number in (signal.SIGINT, signal.SIGTERM) if _is_heard(number)]
    if main is not None and heard and hasattr(signal, "pthread_kill"):  # not on Windows
        signal.pthread_kill(main, heard[0])
    elif heard:
        _thread.interrupt_main(heard[0])


def _is_heard(number: int) -> bool:
    """Tell whether a signal raises something here, not ignored as Ctrl-C is in the background."""
    return callable(signal.getsignal(number))
