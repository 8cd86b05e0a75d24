"""The same work by several threads at once, as often changed as can be."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def at_once(work: Callable[[int], T], threads: int = 4) -> list[T]:
    """Return what work(0), work(1), ... give, each of a thread; raises what one of them raised."""
    barrier = threading.Barrier(threads)
    results: dict[int, T] = {}
    errors: list[BaseException] = []

    def one(number: int) -> None:
        try:
            barrier.wait()
            results[number] = work(number)
        except BaseException as error:
            errors.append(error)

    running = [threading.Thread(target=one, args=(i,), daemon=True) for i in range(threads)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in running:
            thread.start()
        for thread in running:
            thread.join(60)
            assert not thread.is_alive(), "it hangs"
    finally:
        sys.setswitchinterval(interval)
    if errors:
        raise errors[0]
    return [results[number] for number in range(threads)]
