"""Dispatch the parts of a batch to threads, which take one after the other."""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import CancelledError
from queue import SimpleQueue

from .plan import Piece

PartWork = Callable[[int, int], None]  # does a piece
Progress = Callable[[int], None]


def unless(stop: threading.Event) -> Progress:
    """Return what work calls now and then: raises CancelledError where no result is wanted any
    more."""

    def look(_: int) -> None:
        if stop.is_set():
            raise CancelledError

    return look


def each_part(
    works: Sequence[PartWork],
    pieces: Iterable[Piece],
    stop: threading.Event,
    progress: Progress | None,
    engines: Sequence[int] | None = None,
) -> None:
    """Have all pieces done, each by whichever work is free; a thread calls always the same one.

    It is long as its threads share what it counts, which nothing else is to see.

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

    def run(work: PartWork, engine: int) -> None:
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
