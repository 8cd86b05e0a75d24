"""A batch over several engines: parts of it go to whichever is free."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor, as_completed
from queue import SimpleQueue
from typing import TypeVar

import numpy as np

from .batch import Batch, Indices

E = TypeVar("E")
Progress = Callable[[int], None]

_SHARE = 2  # of what is left a part is this fraction of an engine's even share
_TOKENS = 64  # what a string's way to the engine costs, as split points of each token


def parts(lengths: Indices, engines: int, least: int) -> list[tuple[int, int]]:
    """Strings start .. stop - 1 of each part, in order: large ones first, small ones last.

    An engine that is slower, or has got more work than was thought, takes fewer of them; in
    the end none waits for long for another. Costs are those of the charts, n**3.

    least: typical strings that are worth a part.
    """
    if lengths.size <= least:
        return [(0, lengths.size)] if lengths.size else []
    n = lengths.astype(np.float64)
    cost = np.concatenate(([0.0], np.cumsum(n * (n + 1) * (n + _TOKENS) + 1)))
    floor = cost[-1] * min(1.0, least / max(1, lengths.size))
    found, start = [], 0
    while start < lengths.size:
        left = cost[-1] - cost[start]
        stop = lengths.size
        if left > 1.5 * floor:
            # Whole multiples: what keeps an engine busy takes as long as a little more of it.
            share = max(1, round(left / (_SHARE * engines * floor))) if floor else 1
            enough = cost[start] + share * floor
            stop = max(start + 1, int(np.searchsorted(cost, enough, "right")) - 1)
        found.append((start, stop))
        start = stop
    return found


def worth_a_part(lengths: Indices, rules: int, worth: float) -> int:
    """Strings whose split points, times rules, are so many."""
    if not lengths.size or not worth:
        return 1
    shortest, longest = float(lengths.min()), float(lengths.max())
    cubes = longest**3  # of most batches: all are as long
    if shortest < longest:
        cubes = float((lengths.astype(np.float64) ** 3).mean())
    return int(worth / max(1.0, cubes / 6 * rules)) + 1


def each_part(
    engines: Sequence[E],
    batch: Batch,
    least: int,
    work: Callable[[E, Batch, slice, Progress | None], None],
    progress: Progress | None,
) -> None:
    """Has all parts done, by a thread for each engine.

    work: does one part, that slice of the whole batch, and calls the function that it gets
    now and then. That one raises CancelledError where no result is wanted any more: after
    an error of another part, or an interrupt.
    """
    cut = parts(batch.lengths, len(engines), least)
    if len(cut) <= 1:
        work(engines[0], batch, slice(0, len(batch)), progress)
        return
    free: SimpleQueue[E] = SimpleQueue()
    for engine in engines:
        free.put(engine)
    stop = threading.Event()

    def look(_: int) -> None:
        if stop.is_set():
            raise CancelledError

    def run(start: int, end: int) -> int:
        look(start)
        ends = batch.offsets[start : end + 1]
        part = Batch(batch.terminals[ends[0] : ends[-1]], ends - ends[0])
        engine = free.get()
        try:
            work(engine, part, slice(start, end), look)
        finally:
            free.put(engine)
        return end - start

    done = 0
    pool = ThreadPoolExecutor(len(engines))
    try:
        for future in as_completed([pool.submit(run, *part) for part in cut]):
            done += future.result()
            if progress is not None:
                progress(done)
    finally:
        stop.set()
        pool.shutdown(wait=True, cancel_futures=True)
