"""What pages ask for: messages that are read as if an enemy had written them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from lifesim.errors import LifesimError
from ui.picture.viewport import FARTHEST

SIDE = 256  # pixels of a tile
MOST_TILES = 4  # of a block, a side
LOOKED_TILES = 2  # of a block that a page looks at, a side
MOST_LOOKED = 96  # blocks that a page looks at
MOST_POINTS = 4096  # of a message that draws
MOST_GENERATIONS = 1 << 60  # of a step, or between two pictures
MOST_MESSAGE = 1 << 17  # bytes
_FAR = 1 << 320  # tiles or cells from the origin: further than any plane is wide
_NUMBER = re.compile(r"-?[0-9]{1,97}")
_NAMES = ("play", "pause", "step", "speed", "draw", "undo", "reset")


class OrderError(LifesimError):
    """Raised for a message or an address that no page sends."""


@dataclass(frozen=True, slots=True)
class PageOrder:
    """A thing to do to a universe.

    do: play, pause, step, speed, draw, undo or reset. count: generations of a step, or between two
    pictures. points: of a line that is drawn, with cells of this state. stroke: lines of one number
    that follow one another are undone at once; 0 is none.
    """

    do: str
    count: int = 1
    points: tuple[tuple[int, int], ...] = field(default=())
    state: int = 1
    stroke: int = 0


@dataclass(frozen=True, slots=True)
class BlockKey:
    """The place of a block of tiles: width x height tiles of 256 x 256 pixels from tile x, y on.

    scale: the binary logarithm of cells a pixel. Tile 0, 0 begins at cell 0, 0.
    """

    scale: int
    x: int
    y: int
    width: int
    height: int

    def __post_init__(self) -> None:
        if not 0 <= self.scale <= FARTHEST:
            raise OrderError(f"tiles have scales 0 to {FARTHEST}")
        if not (1 <= self.width <= MOST_TILES and 1 <= self.height <= MOST_TILES):
            raise OrderError(f"a block has 1 to {MOST_TILES} tiles a side")
        if max(abs(self.x), abs(self.y)) > _FAR:
            raise OrderError("so far out is nothing")


@dataclass(frozen=True, slots=True)
class Look:
    """The blocks that a page looks at: columns x rows of them, of 2 x 2 tiles, from tile x, y on.
    None where there are no columns. scale: as a block's."""

    scale: int = 0
    x: int = 0
    y: int = 0
    columns: int = 0
    rows: int = 0

    def __post_init__(self) -> None:
        if self.columns * self.rows > MOST_LOOKED:
            raise OrderError(f"a page looks at {MOST_LOOKED} blocks at most")
        self.keys()

    def keys(self) -> tuple[BlockKey, ...]:
        """Return the blocks, row by row."""
        side = LOOKED_TILES
        return tuple(
            BlockKey(self.scale, self.x + side * across, self.y + side * down, side, side)
            for down in range(self.rows)
            for across in range(self.columns)
        )


@dataclass(frozen=True, slots=True)
class Seen:
    """The message of a page that has drawn a frame, and so all before it. frame: its number."""

    frame: int


def read_message(message: str | bytes) -> PageOrder | Look | Seen:
    """Read the message of a page. Raises OrderError for anything that is none."""
    if len(message) > MOST_MESSAGE:
        raise OrderError("the message is too long")
    try:
        made = json.loads(message)
    except (ValueError, RecursionError):
        raise OrderError("the message is no JSON") from None
    if isinstance(made, dict) and "look" in made:
        return look_of(made["look"])
    if isinstance(made, dict) and "seen" in made:
        return seen_of(made["seen"])
    return order_of(made)


def look_of(made: Any) -> Look:
    """Read what a page looks at. Raises OrderError for anything that it does not say."""
    if not isinstance(made, dict):
        raise OrderError("what is looked at is no object")
    sizes = (whole_number(made.get(name), 0, MOST_LOOKED) for name in ("columns", "rows"))
    return Look(*(whole_number(made.get(name)) for name in ("scale", "x", "y")), *sizes)


def seen_of(made: Any) -> Seen:
    """Read which frame a page has drawn. Raises OrderError for none."""
    return Seen(whole_number(made, 0, 1 << 53))


def order_of(made: Any) -> PageOrder:
    """Read a message that is an object already. Raises OrderError as read_order() does."""
    if not isinstance(made, dict) or made.get("do") not in _NAMES:
        raise OrderError(f"a message does one of {', '.join(_NAMES)}")
    points = made.get("points", [])
    if not isinstance(points, list) or len(points) > MOST_POINTS:
        raise OrderError(f"a line has at most {MOST_POINTS} points")
    for point in points:
        if not isinstance(point, list) or len(point) != 2:
            raise OrderError("a point is two numbers")
    return PageOrder(
        made["do"],
        whole_number(made.get("count", 1), 1, MOST_GENERATIONS),
        tuple((whole_number(x), whole_number(y)) for x, y in points),
        whole_number(made.get("state", 1), 0, 255),
        whole_number(made.get("stroke", 0), 0, 1 << 53),
    )


def whole_number(value: Any, least: int = -_FAR, most: int = _FAR) -> int:
    """Return a number of a message or an address. Raises OrderError for none, or one out of
    range."""
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise OrderError("a number is out of range")
    return value
