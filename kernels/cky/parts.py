"""A batch in parts, that several threads take one after the other."""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import CancelledError
from queue import SimpleQueue
from typing import Any

import numpy as np
import numpy.typing as npt

from .batch import Indices

Piece = tuple[int, int]  # strings start .. stop - 1
Work = Callable[[int, int], None]  # does a piece
Progress = Callable[[int], None]

_SHARE = 2  # of what is left a part is this fraction of a worker's even share
_TOKENS = 64  # what a string's way to the engine costs, as split points of each token


def parts(lengths: Indices, workers: int, least: int) -> list[Piece]:
    """Parts for so many workers, in order: large ones first, small ones last.

    One that is slower, or has got more work than was thought, takes fewer of them; in
    the end none waits for long for another. Costs are those of the charts, n**3.

    least: typical strings that are worth a part.
    """
    if lengths.size <= least:
        return [(0, lengths.size)] if lengths.size else []
    cost = _costs(lengths)
    whole = cost[lengths.size]
    floor = whole * min(1.0, least / lengths.size)
    found, start = [], 0
    while start < lengths.size:
        left = whole - cost[start]
        stop = lengths.size
        if left > 1.5 * floor:
            # Whole multiples: what keeps an engine busy takes as long as a little more of it.
            share = max(1, round(left / (_SHARE * workers * floor))) if floor else 1
            stop = max(start + 1, bisect_right(cost, cost[start] + share * floor) - 1)
        found.append((start, stop))
        start = stop
    return found


def _costs(lengths: Indices) -> Any:
    """A sequence of what strings 0 .. s - 1 cost."""
    longest = int(lengths.max())
    if longest == lengths.min():
        return range(lengths.size + 1)
    cost = _cost(np.arange(longest + 1))[lengths] if longest < lengths.size else _cost(lengths)
    return np.concatenate(([0.0], np.cumsum(cost)))


def _cost(lengths: Indices) -> npt.NDArray[np.float64]:
    n = lengths.astype(np.float64)
    return n * (n + 1) * (n + _TOKENS) + 1


def worth_a_part(lengths: Indices, rules: int, worth: float) -> int:
    """Strings whose split points, times rules, are so many."""
    if not lengths.size or not worth:
        return 1
    shortest, longest = float(lengths.min()), float(lengths.max())
    cubes = longest**3  # of most batches: all are as long
    if shortest < longest:
        cubes = float((lengths.astype(np.float64) ** 3).mean())
    return int(worth / max(1.0, cubes / 6 * rules)) + 1


def unless(stop: threading.Event) -> Progress:
    """For work to call now and then: raises CancelledError where no result is wanted any more."""

    def look(_: int) -> None:
        if stop.is_set():
            raise CancelledError

    return look


def each_part(
    works: Sequence[Work],
    pieces: Iterable[Piece],
    stop: threading.Event,
    progress: Progress | None,
    engines: Sequence[int] | None = None,
) -> None:
    """Have all pieces done, each by whichever work is free; a thread calls always the same one.

    stop: is set where no result is wanted any more: after an error or an interrupt.
    progress: called by this thread with the number of strings that are done.
    engines: of which engine each work is. The last pieces are left to those that had fewer:
        works of one engine end at about the same time, and would take them all.
    """
    pieces = deque(pieces)
    works = works[: len(pieces)]
    engines = range(len(works)) if engines is None else engines[: len(works)]
    done = 0
    if len(works) <= 1:
        for piece in pieces:
            works[0](*piece)
            done += piece[1] - piece[0]
            if progress is not None:
                progress(done)
        return
    said: SimpleQueue[int | BaseException] = SimpleQueue()
    whole = sum(end - start for start, end in pieces)
    turn, taken, live = threading.Lock(), dict.fromkeys(engines, 0), Counter(engines)

    def take(engine: int) -> Piece | None:
        with turn:
            last = len(pieces) < len(taken)
            least = min(strings for other, strings in taken.items() if live[other])
            if not pieces or (last and taken[engine] > least):
                live[engine] -= 1
                return None
            piece = pieces.popleft()
            taken[engine] += piece[1] - piece[0]
            return piece

    def run(work: Work, engine: int) -> None:
        try:
            while not stop.is_set():
                piece = take(engine)
                if piece is None:
                    return
                work(*piece)
                said.put(piece[1] - piece[0])
        except BaseException as error:
            said.put(error)

    threads = [
        threading.Thread(target=run, args=each, name="parsing")
        for each in zip(works, engines, strict=True)
    ]
    try:
        for thread in threads:
            thread.start()
        while done < whole:
            strings = said.get()
            if isinstance(strings, BaseException):
                raise strings
            done += strings
            if progress is not None:
                progress(done)
    finally:
        stop.set()
        for thread in threads:
            if thread.ident is not None:
                thread.join()
