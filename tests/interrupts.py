"""Ctrl-C at some moment, and what may be left of a call after it."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def interrupted_after(seconds: float) -> Iterator[None]:
    """KeyboardInterrupt, as from Ctrl-C, unless the block is done before."""

    def interrupt(signum: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def interrupts() -> Iterator[Callable[[], None]]:
    """Gives what another thread calls to send one; returns when it was taken."""
    taken = threading.Semaphore(0)

    def take(signum: int, frame: FrameType | None) -> None:
        taken.release()
        raise KeyboardInterrupt

    def send() -> None:
        os.kill(os.getpid(), signal.SIGINT)
        assert taken.acquire(timeout=60)

    before = signal.signal(signal.SIGINT, take)
    try:
        yield send
    finally:
        signal.signal(signal.SIGINT, before)


def assert_threads_end(before: int) -> None:
    """Soon there are no more of them again; fewer where some of before were ending."""
    end = time.monotonic() + 60
    while threading.active_count() > before and time.monotonic() < end:
        time.sleep(0.01)
    assert threading.active_count() <= before, threading.enumerate()
