"""Threads that work beside the event loop, and never keep the process from ending."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")

MOST_WAITING = 512  # jobs


class BusyError(Exception):
    """Raised where too much is waiting to be done."""


class Pool:
    """Threads that call functions for an event loop.

    Those of concurrent.futures would be waited for at the end of the process, however long a
    picture takes.
    """

    def __init__(self, name: str, threads: int) -> None:
        """Start so many threads of that name."""
        self._jobs: queue.Queue[Callable[[], None] | None] = queue.Queue(MOST_WAITING)
        self._threads = [
            threading.Thread(target=self._work, name=name, daemon=True) for _ in range(threads)
        ]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """Let the threads end after what they are doing now. What waits, and what is asked for
        later, is not done."""
        with contextlib.suppress(queue.Empty):
            while True:
                self._jobs.get_nowait()
        for _ in self._threads:
            self._jobs.put_nowait(None)

    async def call(self, function: Callable[..., T], *arguments: Any) -> T:
        """Return what a function returns on one of the threads; raises what it raises, and
        BusyError."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()

        def settle(result: T | None, error: Exception | None) -> None:
            if future.done():  # whoever asked has gone
                return
            if error is not None:
                future.set_exception(error)
            else:
                future.set_result(result)  # type: ignore[arg-type]

        def job() -> None:
            if future.cancelled():
                return
            result, failed = None, None
            try:
                result = function(*arguments)
            except Exception as error:
                failed = error
            if not loop.is_closed():
                loop.call_soon_threadsafe(settle, result, failed)

        try:
            self._jobs.put_nowait(job)
        except queue.Full:
            raise BusyError from None
        return await future

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            try:
                job()
            except RuntimeError:
                return  # the loop has been closed meanwhile
            del job
