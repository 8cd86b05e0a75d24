"""Pictures that one page is sent while a universe changes, without asking for each of them.

A page says which blocks it looks at. Whenever the universe is another one it is sent those of them
that have changed, as a *frame*, and says when it has drawn it. So a slow line costs no round trip a
picture, and a line or a page that cannot keep up misses pictures, but is never behind: frames that
it has not drawn yet are few, and fewer as soon as they take longer than they might.
"""

from __future__ import annotations

import json
import struct
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ui.web.blocks import PictureBlock
from ui.web.orders import BlockKey, Look

MOST_FRAMES = 16  # that a page has not drawn yet
MOST_BYTES = 4 << 20  # of these, unless there is one only
PART = 8  # blocks that are drawn before they are sent
_FIRST_FRAMES = 2  # that may be under way before anything is known of a line
_LATE = 0.1  # seconds that a frame may take more than half as long again as the quickest one


class _UnderWay(NamedTuple):
    """A frame that a page has not drawn yet. since: seconds of the feed's clock."""

    since: float
    size: int


class Frame:
    """The pictures of one version on their way to a page, part by part."""

    def __init__(self, feed: Feed, number: int, version: int, keys: Sequence[BlockKey]) -> None:
        """Begin a frame of some blocks, at least one."""
        self.number, self.version = number, version
        self.parts = [tuple(keys[n : n + PART]) for n in range(0, len(keys), PART)]
        self._feed, self._size = feed, 0

    def part(
        self,
        keys: Sequence[BlockKey],
        blocks: Sequence[PictureBlock],
        facts: dict[str, Any] | None = None,
    ) -> tuple[dict[str, Any], list[bytes]]:
        """Return a part as a message and the bytes of those of its blocks that the page has not.

        facts: those of the universe, with the last part: the page shows all parts when it has them.
        """
        told, bodies = [], []
        for key, block in zip(keys, blocks, strict=True):
            body = b"" if self._feed.has(key, block.tag) else block.body
            told.append(
                {
                    "address": [key.scale, str(key.x), str(key.y)],
                    "version": block.version,
                    "channels": block.channels,
                    "whole": block.is_whole,
                    "tag": block.tag,
                    "size": len(body),
                }
            )
            if body:
                bodies.append(body)
        self._size += sum(map(len, bodies))
        if facts is not None:
            self._feed.sent(self, self._size)
        return {"frame": self.number, "facts": facts, "blocks": told}, bodies


class Feed:
    """The blocks that one page looks at, and the frames that it has not drawn yet.

    Only one thread at a time may call it.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin with a page that looks at nothing. clock: seconds."""
        self._clock = clock
        self._keys: tuple[BlockKey, ...] = ()
        self._tags: dict[BlockKey, str] = {}  # of the blocks that the page has
        self._under_way: dict[int, _UnderWay] = {}
        self._number = 0
        self._window = _FIRST_FRAMES
        self._was_late = False  # whether a frame has ever been
        self._in_time = 0  # frames that were drawn in time since the window was changed
        self._quickest = float("inf")  # seconds
        self.version = 0  # that the page was told of last

    def look(self, look: Look) -> None:
        """Send other blocks from now on."""
        self._keys = look.keys()
        self._tags = {key: self._tags[key] for key in self._keys if key in self._tags}
        self._quickest = float("inf")  # frames of another size take another time

    @property
    def has_room(self) -> bool:
        """Tell whether one more frame may be sent."""
        under_way = self._under_way
        if not under_way:
            return True
        if len(under_way) >= self._window:
            return False
        return sum(frame.size for frame in under_way.values()) < MOST_BYTES

    def begin(self, version: int) -> Frame | None:
        """Return a new frame of a version; None where the page looks at nothing or has it."""
        if not self._keys or version == self.version:
            return None
        self._number += 1
        return Frame(self, self._number, version, self._keys)

    def has(self, key: BlockKey, tag: str) -> bool:
        """Tell whether the page has the block already. If it has not, it has from now on."""
        if self._tags.get(key) == tag:
            return True
        if key in self._keys:
            self._tags[key] = tag
        return False

    def sent(self, frame: Frame, size: int) -> None:
        """Take note of a frame whose last part is sent. size: bytes of all parts."""
        self._under_way[frame.number] = _UnderWay(self._clock(), size)
        self.version = frame.version

    def seen(self, number: int) -> None:
        """Take note that the page has drawn this frame, and with it all before it. Frames that are
        not under way are no matter."""
        frame = self._under_way.get(number)
        if frame is None:
            return
        was_full = not self.has_room
        self._under_way = {n: one for n, one in self._under_way.items() if n > number}
        took = self._clock() - frame.since
        self._quickest = min(self._quickest, took)
        self._in_time += was_full
        if took > 1.5 * self._quickest + _LATE:
            self._was_late = True
            self._window, self._in_time = max(1, self._window - 1), 0
        elif self._in_time >= (self._window if self._was_late else 1):
            self._window, self._in_time = min(MOST_FRAMES, self._window + 1), 0


def packed(message: dict[str, Any], bodies: Sequence[bytes]) -> bytes:
    """Return a message and its bytes as one: the length of its JSON in four bytes, the JSON, and
    the bytes."""
    text = json.dumps(message).encode()
    return b"".join((struct.pack(">I", len(text)), text, *bodies))
