"""Signals that wait for the end of a block."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from kernels.signals import undisturbed


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
