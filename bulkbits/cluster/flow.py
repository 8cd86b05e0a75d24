"""A function over many items on the workers of a cluster, however many come and go."""

from __future__ import annotations

import itertools
import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .client import Cluster


class Flow:
    """The items of one Cluster.map() on their way."""

    def __init__(
        self,
        cluster: Cluster,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        ahead: int,
        ordered: bool,
    ) -> None:
        self._cluster, self._function, self._args = cluster, function, args
        self._ahead, self._ordered = ahead, ordered
        self._workers = cluster.size  # that there is room for
        self._room = threading.Semaphore(ahead * self._workers)
        self._ended = threading.Event()
        # (place, future) that is done; (how many there are, what ended them) at the end.
        self._news: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()
        self._under_way: dict[int, Any] = {}  # futures by place

    def run(self, items: Iterable[Any]) -> Iterator[Any]:
        """Yield the results, as Cluster.map() promises."""
        threading.Thread(target=self._feed, args=(items,), daemon=True).start()
        done: dict[int, Any] = {}
        total, error, given = -1, None, 0
        try:
            while given != total:
                place, news = self._cluster.wait_for(self._news, looked=self._make_room)
                if news is None or isinstance(news, BaseException):
                    total, error = place, news
                else:
                    done[place] = news
                for at in self._ready(done, given):
                    result = self._cluster.result(done.pop(at))
                    del self._under_way[at]
                    given += 1
                    self._room.release()
                    yield result if self._ordered else (at, result)
            if error is not None:
                raise error
        finally:
            self._ended.set()
            self._room.release()
            self._cluster.cancel(list(self._under_way.values()))

    def _make_room(self) -> None:
        """Let more items be sent where workers have come."""
        while self._workers < self._cluster.size:
            self._workers += 1
            self._room.release(self._ahead)

    def _ready(self, done: dict[int, Any], given: int) -> list[int]:
        """Return the places of results to give now."""
        if not self._ordered:
            return list(done)
        return list(itertools.takewhile(done.__contains__, itertools.count(given)))

    def _feed(self, items: Iterable[Any]) -> None:
        place, error = 0, None
        try:
            source = iter(items)
            while True:
                self._room.acquire()
                if self._ended.is_set():
                    return
                try:
                    item = next(source)
                except StopIteration:
                    break
                future = self._cluster.submit(self._function, (item, *self._args))
                self._under_way[place] = future
                if self._ended.is_set():  # since then: nobody else would cancel it
                    self._cluster.cancel([future])
                future.add_done_callback(partial(self._tell, place))
                place += 1
        except BaseException as raised:
            error = raised
        self._news.put((place, error))

    def _tell(self, place: int, future: Any) -> None:
        self._news.put((place, future))
