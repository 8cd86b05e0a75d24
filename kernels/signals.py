"""Make signals wait."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any


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
