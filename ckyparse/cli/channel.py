"""Hand items from one thread to the next: in order, few at a time."""

from __future__ import annotations

from collections.abc import Iterator
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

T = TypeVar("T")

# Seconds. Waits are short ones in a row: a signal that comes right before a wait would
# otherwise be noticed after it only.
_LOOK = 0.1


class StoppedError(Exception):
    """The receiver takes no more."""


class Channel(Generic[T]):
    """One thread puts and closes, another iterates; either may stop it.

    room: items that wait at most. An interrupt of either thread leaves the other one able
    to go on and to end: queues are changed in one step.
    """

    def __init__(self, room: int) -> None:
        self._items: SimpleQueue[T | None] = SimpleQueue()  # None wakes the receiver
        self._room: SimpleQueue[None] = SimpleQueue()
        for _ in range(room):
            self._room.put(None)
        self._stopped = self._waiting = False
        self._error: BaseException | None = None

    @property
    def hungry(self) -> bool:
        """The receiver waits and there is nothing for it. Raises StoppedError."""
        if self._stopped:
            raise StoppedError
        return self._waiting and self._items.empty()

    def put(self, item: T) -> None:
        """Waits for room. Raises StoppedError."""
        while not self._stopped:
            try:
                self._room.get(timeout=_LOOK)
            except Empty:
                continue
            break
        if self._stopped:
            raise StoppedError
        self._items.put(item)

    def close(self, error: BaseException | None = None) -> None:
        """Say that no more come. error: raised by the receiver's iteration at its end."""
        self._error = error
        self._items.put(None)

    def stop(self) -> None:
        """Stop: what waits is not received any more, nor anything put."""
        self._stopped = True
        self._items.put(None)
        self._room.put(None)

    def __iter__(self) -> Iterator[T]:
        while not self._stopped:
            self._waiting = True
            try:
                item = self._items.get(timeout=_LOOK)
            except Empty:
                continue
            self._waiting = False
            if item is None:
                break
            self._room.put(None)
            yield item
        if self._error is not None:
            raise self._error
