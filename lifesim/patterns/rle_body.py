"""The body of an RLE file: run counts and tags, decoded and encoded in bulk."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lifesim.grid import BitGrid, Box, GridError
from lifesim.patterns.files import STEP, go_on
from lifesim.patterns.pattern import PatternError
from lifesim.patterns.runs import Ints, Runs, live_runs, paint
from lifesim.patterns.text import error_at, shown

LINE = 70  # the longest line that the format allows

_BLANKS = b" \t\r\n\v\f"
_FOREIGN = re.compile(rb"[^0-9bo.A$ \t\r\n\v\f]")
_STATES = re.compile(rb"[B-Xp-y]")
_ZERO, _ROW, _LIVE, _MARKED = (np.uint8(ord(tag)) for tag in "0$oA")
_STEP = 1 << 19  # characters decoded in one step: bounds the temporaries
_MOST_DIGITS = 18
_MOST_CELLS = 1 << 62  # all counts together stay below it, so that int64 is exact


class Body(NamedTuple):
    """Where a body lies in its file: data[start:end], up to and without its `!`."""

    data: bytes
    start: int
    end: int
    name: str

    def error(self, what: str, index: int) -> PatternError:
        """A PatternError that points at the body's index-th character that is not blank."""
        offset = self.start
        while True:
            piece = np.frombuffer(self.data, np.uint8, min(_STEP, self.end - offset), offset)
            inked = np.flatnonzero(~np.isin(piece, np.frombuffer(_BLANKS, np.uint8)))
            if index < len(inked):
                return error_at(what, self.name, self.data, offset + int(inked[index]))
            index, offset = index - len(inked), offset + len(piece)


def find_body(data: bytes, start: int, name: str) -> Body:
    """Check a body's characters and find its end. Raises PatternError."""
    end = data.find(b"!", start)
    stop = len(data) if end < 0 else end
    for at in range(start, stop, STEP):  # other threads wait for a search
        go_on()
        match = _FOREIGN.search(data, at, min(at + STEP, stop))
        if match is None:
            continue
        what = f"unknown character {shown(match[0])}"
        if _STATES.match(match[0]):
            what = f"state {shown(match[0])}: only patterns of two states (b and o) can be read"
        raise error_at(what, name, data, match.start())
    if end < 0:
        raise error_at("the pattern is cut off: no '!' ends it", name, data, len(data))
    return Body(data, start, end, name)


def decode(body: Body) -> tuple[BitGrid, Box | None]:
    """The cells in the smallest grid, and where it lies in the body; None without cells.

    Raises PatternError for a count of 0, counts beyond 2^62, and a pattern too large
    for memory (nothing is allocated before its true size is known).
    """
    text = bytearray()
    for at in range(body.start, body.end, STEP):
        text += body.data[at : min(at + STEP, body.end)].translate(None, _BLANKS)
    left = right = top = bottom = None
    widest = lowest = 0
    for (y, start, end), places in _runs(text, body):
        if top is None:
            top = int(y[0])
        bottom, lowest = int(y[-1]), int(places[-1])
        low, high = int(start.min()), int(end.max())
        left = low if left is None else min(left, low)
        if right is None or high > right:
            right, widest = high, int(places[end.argmax()])
    if left is None or right is None or top is None or bottom is None:
        return BitGrid(1, 1), None
    box = Box(left, top, right - left, bottom - top + 1)
    try:
        grid = BitGrid(box.width, box.height)
    except GridError as error:
        place = widest if box.width > box.height else lowest
        raise body.error(str(error), place) from None
    for (y, start, end), _ in _runs(text, body):
        paint(grid, (y - top, start - left, end - left))
    return grid, box


def _runs(text: bytearray, body: Body) -> Iterator[tuple[Runs, Ints]]:
    """Live runs in order, with the index in `text` of each one's tag; no step is empty."""
    x = y = total = 0
    for tags, counts, places in _tokens(text, body):
        sums = np.cumsum(counts, dtype=np.float64)
        if total + sums[-1] >= _MOST_CELLS:
            past = int(np.argmax(total + sums >= _MOST_CELLS))
            raise body.error("the run counts add up to more than 2^62", int(places[past]))
        total += int(counts.sum())
        rows, live = tags == _ROW, (tags == _LIVE) | (tags == _MARKED)
        column = np.cumsum(np.where(rows, 0, counts))  # as if all were one row from x on
        row = np.cumsum(rows)
        row_starts = np.concatenate([[-x], column[rows]])
        row_y = np.concatenate([[y], y + np.cumsum(counts[rows])])
        x, y = int(column[-1] - row_starts[-1]), int(row_y[-1])
        if live.any():
            in_row = row[live]
            end = column[live] - row_starts[in_row]
            yield (row_y[in_row], end - counts[live], end), places[live]


def _tokens(text: bytearray, body: Body) -> Iterator[tuple[npt.NDArray[np.uint8], Ints, Ints]]:
    """Tags, their counts and their indices in `text`; digits that end the text are dropped."""
    characters = np.frombuffer(text, np.uint8)
    start = 0
    while start < len(characters):
        go_on()
        piece = characters[start : start + _STEP]
        digits = piece - _ZERO  # wraps: a tag is above 9
        at = np.flatnonzero(digits > 9)
        if not len(at):
            if len(piece) == _STEP:
                raise body.error(f"a run count has at most {_MOST_DIGITS} digits", start)
            return
        length = np.diff(at, prepend=-1) - 1
        longest = int(length.max())
        if longest > _MOST_DIGITS:
            first = int(np.argmax(length > _MOST_DIGITS))
            place = start + int(at[first] - length[first])
            raise body.error(f"a run count has at most {_MOST_DIGITS} digits", place)
        counts = np.ones(len(at), np.int64)
        counted = np.flatnonzero(length)
        value = np.zeros(len(counted), np.int64)
        for place in range(longest):
            more = np.flatnonzero(length[counted] > place)
            value[more] += digits[at[counted[more]] - 1 - place].astype(np.int64) * 10**place
        counts[counted] = value
        if not value.all():
            first = counted[np.argmin(value != 0)]
            raise body.error("a run count of 0", start + int(at[first] - length[first]))
        yield piece[at], counts, at + start
        start += int(at[-1]) + 1


def encode(grid: BitGrid, box: Box) -> Iterator[bytes]:
    """The body for the live cells of `grid`, all in `box`: lines of at most 70 characters."""
    x, y, rest = box.x, box.y, b""
    for row, start, end in live_runs(grid):
        counts = np.empty((len(row), 3), np.int64)
        counts[:, 0] = np.diff(row, prepend=y)
        before = np.concatenate([[x], end[:-1]])
        counts[:, 1] = start - np.where(counts[:, 0] > 0, box.x, before)
        counts[:, 2] = end - start
        x, y = int(end[-1]), int(row[-1])
        tags = np.broadcast_to(np.frombuffer(b"$bo", np.uint8), counts.shape)
        kept = counts > 0
        wrapped, rest = _wrap(rest + _text(counts[kept], tags[kept]))
        yield wrapped
    wrapped, rest = _wrap(rest + b"!")
    yield wrapped + rest + b"\n"


def _text(counts: Ints, tags: npt.NDArray[np.uint8]) -> bytes:
    """Counts above 1 in decimal, each before its tag."""
    width = 1 + (counts > 1)
    bound = 10
    while bound <= counts.max():
        width += counts >= bound
        bound *= 10
    last = np.cumsum(width) - 1
    out = np.empty(int(last[-1]) + 1, np.uint8)
    out[last] = tags
    long = np.flatnonzero(counts > 1)
    at, value = last[long], counts[long]
    while len(at):
        at = at - 1
        value, digit = np.divmod(value, 10)
        out[at] = digit + ord("0")
        more = np.flatnonzero(value)
        at, value = at[more], value[more]
    return out.tobytes()


def _wrap(text: bytes) -> tuple[bytes, bytes]:
    """Full lines, each ended after a tag, and the rest of the text (at most 70 characters)."""
    lines = []
    start = 0
    while len(text) - start > LINE:
        end = start + LINE
        while text[end - 1] in b"0123456789":
            end -= 1
        lines.append(text[start:end] + b"\n")
        start = end
    return b"".join(lines), text[start:]
