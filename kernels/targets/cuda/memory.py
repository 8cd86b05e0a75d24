"""Device memory that was freed, kept for the next that asks for as much.

Taking memory from a driver and giving it back waits for the device: longer than many a
kernel runs.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Hashable
from typing import Any


class Reserve:
    """Keeps freed memory by stream and size, at most `most` bytes; the oldest goes first.

    Memory goes back only to the stream that all its users were on, whose order then
    keeps the old use from the new one.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._held = 0
        self._kept: dict[tuple[Hashable, int], list[Any]] = {}
        self._lock = threading.Lock()
        # Objects are collected at any moment, in take() too: there they only queue up.
        self._returned: deque[tuple[Hashable, int, Any]] = deque()

    def give(self, stream: Hashable, nbytes: int, memory: Any) -> None:
        """Take memory in, for the next that asks for as much on that stream."""
        self._returned.append((stream, nbytes, memory))

    def take(self, stream: Hashable, nbytes: int) -> Any | None:
        """Return memory of exactly this size, or None."""
        with self._lock:
            self._sort()
            kept = self._kept.get((stream, nbytes))
            if not kept:
                return None
            self._held -= nbytes
            memory = kept.pop()
            if not kept:
                del self._kept[stream, nbytes]
            return memory

    def held(self) -> int:
        """Return the bytes that are kept."""
        with self._lock:
            self._sort()
            return self._held

    def surplus(self, most: int | None = None) -> list[Any]:
        """Give up memory until no more than `most` bytes are kept, by default the limit: return
        it."""
        most = self._most if most is None else most
        freed: list[Any] = []
        with self._lock:
            self._sort()
            while self._held > most:
                key = next(iter(self._kept))
                freed.append(self._kept[key].pop(0))
                self._held -= key[1]
                if not self._kept[key]:
                    del self._kept[key]
        return freed

    def _sort(self) -> None:
        while self._returned:
            stream, nbytes, memory = self._returned.popleft()
            # To the end: what was used last is kept longest.
            kept = self._kept.pop((stream, nbytes), [])
            self._kept[stream, nbytes] = [*kept, memory]
            self._held += nbytes
