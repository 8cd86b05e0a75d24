"""Ctrl-C at some moment, and what may be left of a call after it."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType, FunctionType
from typing import Any


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


@contextmanager
def interrupted_at(
    function: FunctionType, instruction: int, *others: FunctionType
) -> Iterator[list[int]]:
    """KeyboardInterrupt at one instruction of a Python function, or of several, counted over all
    their calls.

    Gives a list that has an item once it has come; nothing comes if fewer are executed.
    """
    left, codes = instruction, {each.__code__ for each in (function, *others)}
    interrupted: list[int] = []

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal left
        if frame.f_code not in codes or interrupted:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            left -= 1
            if left < 0:
                interrupted.append(frame.f_lineno)
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield interrupted
    except KeyboardInterrupt:
        if not interrupted:
            raise
    finally:
        sys.settrace(before)
