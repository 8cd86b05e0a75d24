"""Work on many rows of words, shared out over all cores."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from kernels.targets.cpu import core_count

from .costs import BAND_COSTS

T = TypeVar("T")


def for_bands(task: Callable[[int, int], T], rows: int, count: int) -> list[T]:
    """Call task(top, bottom) for bands of rows, and return the results in order.

    The bands are whole blocks of 8 rows; together they are `rows` rows of `count` words. Threads
    share them where there are several. A task should be one that releases the GIL. Raises what a
    task raises.
    """
    step = max(8, BAND_COSTS.words // max(1, count) // 8 * 8)
    tops = range(0, rows, step)
    threads = min(core_count(), len(tops))
    if threads <= 1:
        return [task(top, min(top + step, rows)) for top in tops]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(lambda top: task(top, min(top + step, rows)), tops))
