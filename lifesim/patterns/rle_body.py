"""The body of an RLE file: run counts and tags, decoded and encoded in bulk."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from kernels import runs
from kernels.runs.states import TOO_LARGE, StateWalk, StateWriter
from lifesim.cancelling import go_on
from lifesim.grid import BitGrid, Box, GridError
from lifesim.patterns.files import STEP
from lifesim.patterns.pattern import PatternError
from lifesim.patterns.room import grid_for, is_dense, may_pass_header
from lifesim.patterns.text import error_at, shown
from lifesim.states import pieces
from lifesim.tree.rows import Runs

_STATES = re.compile(rb"[B-Xp-y]")
_MOST_STATES = 256


class Body(NamedTuple):
    """The place where a body begins in its file, and what the header says: width, height, its
    offset.

    rule: its text. states: how many it has; 0 where the file names no rule.
    """

    data: bytes
    start: int
    name: str
    header: tuple[int, int] | None = None
    header_at: int = 0
    rule: str = ""
    states: int = 2

    def error(self, what: str, offset: int) -> PatternError:
        """Return a PatternError that points at data[offset]."""
        return error_at(what, self.name, self.data, offset)


class Decoded(NamedTuple):
    """The cells of a body in the smallest grid that holds them, 1x1 where none lives.

    box: where that grid lies in the body; None where none lives. ended: whether a `!` ended the
    body.
    """

    grid: BitGrid
    box: Box | None
    ended: bool


class Measured(NamedTuple):
    """The facts of a body that has been read to its end without a grid.

    walk: that of all of it. box, ended: as of Decoded. planes: as many as its cells need.
    """

    walk: runs.Walk | StateWalk
    box: Box | None
    ended: bool
    planes: int


def decode(body: Body) -> Decoded:
    """Return the cells of a body.

    They have the bit planes of the body's rule; where the file names none, those that the largest
    state needs. As in Golly cells may lie outside of what the header says, and the `!` may be
    missing. Raises PatternError for a body without runs or that ends in a count where no `!` ends
    it, for foreign characters, states that the rule does not have, a count of 0, counts beyond
    2^62, and a pattern too large for the file or for memory (nothing is allocated before that is
    known).
    """
    return decode_at_once(body) or paint(body, measure(body))


def decode_at_once(body: Body) -> Decoded | None:
    """Return the cells of a body of two states whose header says hardly more cells than it has
    text, without measuring it first; None for another, and where cells lie outside of what the
    header says. Raises PatternError as decode() does."""
    header = body.header
    if header is None or body.states > 2 or not is_dense(*header, len(body.data) - body.start):
        return None
    grid = BitGrid(*header)
    walk = runs.Walk(grid.words, grid.width)
    fault = through(walk, body)
    if fault in (runs.FOREIGN, runs.OUTSIDE):
        return None
    box = _box(walk)
    if box is None:
        return Decoded(BitGrid(1, 1), None, fault == runs.END)
    whole = box == (0, 0, grid.width, grid.height)
    return Decoded(grid if whole else grid.crop(box), box, fault == runs.END)


def measure(body: Body) -> Measured:
    """Read a body to its end, without a grid. Raises PatternError as decode() does for what is
    wrong in the text."""
    if body.states <= 2:
        walk = runs.Walk()
        fault = through(walk, body)
        if fault != runs.FOREIGN:
            return Measured(walk, _box(walk), fault == runs.END, 1)
    states = StateWalk(body.states or _MOST_STATES)
    fault = _through_states(states, body)
    largest = body.states - 1 if body.states else max(states.largest, 1)
    return Measured(states, _box(states), fault == runs.END, largest.bit_length())


def paint(body: Body, measured: Measured) -> Decoded:
    """Return the cells of a body that has been measured. Raises PatternError for a pattern too
    large for the file or for memory."""
    walk, box, ended, planes = measured
    if box is None:
        return Decoded(BitGrid(1, 1, planes=planes), None, ended)
    grid = _grid(body, box, walk, planes)
    if isinstance(walk, StateWalk):
        words = grid.words.reshape(grid.height, planes, -1)
        _through_states(StateWalk(walk.states, words, box.x, box.y), body)
    else:
        through(runs.Walk(grid.words, grid.width, box.x, box.y), body)
    return Decoded(grid, box, ended)


def _box(walk: runs.Walk | StateWalk) -> Box | None:
    if not walk.live:
        return None
    width, height = walk.right - walk.left_most, walk.bottom - walk.top_most + 1
    return Box(walk.left_most, walk.top_most, width, height)


def _grid(body: Body, box: Box, walk: runs.Walk | StateWalk, planes: int) -> BitGrid:
    """Return an empty grid of a box's size, where the file may have one so large."""
    size, header = len(body.data), body.header
    width, height = box.x + box.width, box.y + box.height
    try:
        if header is None:
            return grid_for(box.width, box.height, size, planes=planes)
        fits = width <= header[0] and height <= header[1]
        if not fits and not may_pass_header(box.width, box.height * planes, size):
            what = f"the header says {header[0]}x{header[1]} cells, the body has {width}x{height}"
            raise body.error(what, body.header_at)
        return BitGrid(box.width, box.height, planes=planes)
    except GridError as error:
        place = walk.widest_at if box.width > box.height else walk.lowest_at
        raise body.error(str(error), place) from None


def through(walk: runs.Walk, body: Body) -> int:
    """Read a body to its end: END, NONE without a `!`, or OUTSIDE; or FOREIGN at the letter of a
    state above 1 where the file names no rule. Raises PatternError."""
    data = body.data
    for start in range(body.start, len(data), STEP):
        go_on()
        fault, at = walk.go(data, start, min(start + STEP, len(data)))
        match fault:
            case runs.NONE:
                continue
            case runs.END | runs.OUTSIDE:
                return fault
            case runs.FOREIGN if not body.states and _STATES.match(data, at):
                return fault
        raise _fault(fault, at, body)
    if not walk.started or walk.counting:
        raise body.error("the pattern is cut off: no '!' ends it", len(data))
    return runs.NONE


def _through_states(walk: StateWalk, body: Body) -> int:
    """Read a body of several states to its end, as through()."""
    data, at = body.data, body.start
    while at < len(data):
        go_on()
        fault, at = walk.go(data, at)
        if fault == runs.END:
            return fault
        if fault != runs.NONE:
            raise _fault(fault, at, body)
    if not walk.started or walk.counting:
        raise body.error("the pattern is cut off: no '!' ends it", len(data))
    return runs.NONE


def _fault(fault: int, at: int, body: Body) -> PatternError:
    """Return the error that says what is wrong in a body, and where."""
    match fault:
        case runs.DIGITS:
            return body.error(f"a run count has at most {runs.MOST_DIGITS} digits", at)
        case runs.ZERO:
            return body.error("a run count of 0", at)
        case runs.CELLS:
            return body.error("the run counts add up to more than 2^62", at)
    letter = _STATES.match(body.data, at)
    if letter and (fault == TOO_LARGE or body.states == 2):
        tag = shown(body.data[at : at + 1 + (letter[0] >= b"p")])
        known = "0 and 1" if body.states == 2 else f"0 to {body.states - 1}"
        return body.error(f"state {tag}: rule {body.rule} has states {known}", at)
    return body.error(f"unknown character {shown(body.data[at : at + 1])}", at)


def encode(grid: BitGrid, box: Box) -> Iterator[bytes]:
    """Return the body for the live cells of `grid`, all in `box`: lines of at most 70
    characters."""
    line = 0
    if grid.planes > 1:
        states = StateWriter()
        for rows in pieces(grid.words[box.y : box.y + box.height], grid.width):
            yield states.write(rows[:, box.x : box.x + box.width])
        line = states.line
    elif box.width and box.height:
        writer = runs.Writer(box.x, box.width)
        step = writer.rows_at_once(grid.words.shape[1])
        bottom = box.y + box.height
        for y in range(box.y, bottom, step):
            yield writer.write(np.ascontiguousarray(grid.words[y : min(y + step, bottom)]))
        line = writer.line
    yield b"\n!\n" if line == runs.LINE else b"!\n"


def encode_runs(parts: Iterable[Runs]) -> Iterator[bytes]:
    """Return the body for runs of live cells of any length: the same as of a grid that has them.

    A count of 70 digits or more stands in a line of its own, which is longer.
    """
    x = y = line = 0
    for part in parts:
        text = bytearray()
        rows = (part.rows.tolist(), part.starts.tolist(), part.lengths.tolist())
        for row, start, length in zip(*rows, strict=True):
            down = part.row + row - y
            if down:
                x, y = 0, part.row + row
            for count, tag in ((down, b"$"), (start - x, b"b"), (length, b"o")):
                if count:
                    token = tag if count == 1 else b"%d%b" % (count, tag)
                    if line and line + len(token) > runs.LINE:
                        text += b"\n"
                        line = 0
                    text += token
                    line += len(token)
            x = start + length
        yield bytes(text)
    yield b"\n!\n" if line >= runs.LINE else b"!\n"
