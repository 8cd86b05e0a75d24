"""Threads that compute with GMP at the same time, and say how far they are."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from types import TracebackType
from typing import Any, TypeVar

import gmpy2

Result = TypeVar("Result")
Progress = Callable[[float], object]

# Below this many bits an operation is over before another thread has taken the GIL.
PARALLEL_BITS = 1 << 14


def release_gil(bits: int) -> None:
    """Whether this thread's next operations, on numbers of about `bits`, let others run."""
    gmpy2.get_context().allow_release_gil = bits >= PARALLEL_BITS


class Workers:
    """A pool of threads for one piece of work. A context: leaving it waits until none computes.

    threads: all cores by default. progress: called in the caller's thread with the
    share of the work that is done, 0 to 1; what it raises ends the work.
    """

    def __init__(self, threads: int | None = None, progress: Progress | None = None) -> None:
        self.threads = threads or len(os.sched_getaffinity(0))
        self._pool = ThreadPoolExecutor(self.threads)
        self.progress = progress
        self._total, self._done = 0.0, 0.0

    def __enter__(self) -> Workers:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._pool.shutdown(cancel_futures=True)
        if error is None and self.progress is not None:
            self.progress(1.0)

    def expect(self, work: float) -> None:
        """There will be that much work, in the units of map()."""
        self._total += work

    def map(
        self, function: Callable[..., Result], columns: Sequence[Iterable[Any]], work: float = 0.0
    ) -> list[Result]:
        """function(*row) for the rows of the columns; all of it is `work` of what is expected."""
        futures = [
            self._pool.submit(function, *row) for row in zip(*columns, strict=True)
        ]  # one after the other, so that the first are begun first
        try:
            if self.progress is not None:
                for future in as_completed(futures):
                    future.result()
                    self._done += work / len(futures)
                    self.progress(min(self._done / self._total, 1.0) if self._total else 0.0)
            return [future.result() for future in futures]
        finally:
            for future in futures:
                future.cancel()
