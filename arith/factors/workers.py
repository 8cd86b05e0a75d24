"""Threads that compute with GMP at the same time, and say how far they are."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from types import TracebackType
from typing import Any, TypeVar

import gmpy2
from gmpy2 import mpz

from kernels.targets.cpu import core_count

from .costs import COSTS, FactorCosts

Result = TypeVar("Result")
Progress = Callable[[float], object]


def release_gil(bits: int, costs: FactorCosts = COSTS) -> None:
    """Set whether gmpy2 lets others run during this thread's next operations, of about `bits`."""
    gmpy2.get_context().allow_release_gil = bits >= costs.parallel_bits


# Freed integers that gmpy2 keeps for a thread's next ones, of up to a KiB each. With a thread that
# ends they would be lost, and nothing of gmpy2's frees them.
_KEPT = 100


class _Thread:
    """Keeps a thread's own integers; where the thread ends, they are handed over."""

    def __init__(self, kept: list[list[mpz]]) -> None:
        self._kept = kept

    def __del__(self) -> None:
        self._kept.append([mpz() for _ in range(_KEPT)])


_of_thread = threading.local()


def _begin(kept: list[list[mpz]]) -> None:
    _of_thread.thread = _Thread(kept)


class Workers:
    """A pool of threads for one piece of work. A context: leaving it waits until none computes.

    threads: all cores by default. progress: called in the caller's thread with the
    share of the work that is done, 0 to 1; what it raises ends the work.
    """

    def __init__(self, threads: int | None = None, progress: Progress | None = None) -> None:
        self.threads = threads or core_count()
        self._kept: list[list[mpz]] = []  # of threads that have ended
        self._pool = ThreadPoolExecutor(self.threads, initializer=_begin, initargs=(self._kept,))
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
        self._kept.clear()  # this thread lives on, and so what it keeps is used
        if error is None and self.progress is not None:
            self.progress(1.0)

    def expect(self, work: float) -> None:
        """There will be that much work, in the units of map()."""
        self._total += work

    def map(
        self, function: Callable[..., Result], columns: Sequence[Iterable[Any]], work: float = 0.0
    ) -> list[Result]:
        """Return function(*row) for the rows of the columns; all is `work` of what is expected."""
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
