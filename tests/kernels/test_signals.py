"""Signals that wait for the end of a block, and that come again where Python drops them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from kernels.signals import undisturbed

ROOT = Path(__file__).parents[2]


def test_an_interrupt_comes_after_the_block() -> None:
    done = []

    def work() -> None:
        with undisturbed():
            os.kill(os.getpid(), signal.SIGINT)
            done.append(1)
            os.kill(os.getpid(), signal.SIGINT)
            done.append(2)

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == [1, 2]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_none_is_lost_where_the_block_fails() -> None:
    def work() -> None:
        with undisturbed():
            os.kill(os.getpid(), signal.SIGINT)
            raise MemoryError

    with pytest.raises(KeyboardInterrupt) as caught:
        work()
    assert isinstance(caught.value.__context__, MemoryError)
    with pytest.raises(MemoryError), undisturbed():
        raise MemoryError


def test_other_threads_have_nothing_to_wait_for() -> None:
    seen = []

    def work() -> None:
        with undisturbed():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]


DROPPED = """
import os, signal, time
from kernels.signals import redeliver_dropped_interrupts

class Interrupted:
    def __del__(self):
        os.kill(os.getpid(), signal.{sent})
        for _ in range(100): pass

signal.signal(signal.SIGTERM, signal.default_int_handler)
signal.signal(signal.SIGINT, {handler})
redeliver_dropped_interrupts()
thing = Interrupted()
try:
    del thing
    time.sleep(60)
except KeyboardInterrupt:
    print("came")
"""


@pytest.mark.parametrize(
    ("sent", "handler"),
    [("SIGINT", "signal.default_int_handler"), ("SIGTERM", "signal.SIG_IGN")],
)
def test_what_python_drops_comes_again(sent: str, handler: str) -> None:
    program = DROPPED.format(sent=sent, handler=handler)
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=50
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "came\n", "")


def test_other_dropped_exceptions_are_printed_as_ever() -> None:
    program = """
from kernels.signals import redeliver_dropped_interrupts

class Wrong:
    def __del__(self): raise ValueError("wrong")

redeliver_dropped_interrupts()
Wrong()
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0
    assert "Exception ignored in" in done.stderr
    assert "ValueError: wrong" in done.stderr
