"""Life 1.06: one live cell a line, `x y`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from lifesim.cancelling import go_on
from lifesim.grid import BitGrid, GridError
from lifesim.patterns.pattern import Pattern, PatternError
from lifesim.patterns.room import grid_for
from lifesim.patterns.runs import live_runs
from lifesim.patterns.text import decoded, error_at, lines, shown
from lifesim.tree.quadtree import Quadtree
from lifesim.tree.rows import live_runs as far_runs

NAME = "life106"
EXTENSIONS = (".life", ".lif")

_MAGIC = b"#life 1.06"
_CELL = re.compile(rb"[ \t]*([+-]?\d+)[ \t]+([+-]?\d+)[ \t]*")
_NUMBERS = re.compile(rb"(?:[ \t]*[+-]?\d{1,18}[ \t]+[+-]?\d{1,18}[ \t\r]*\n|[ \t\r]*\n)*+")
_BLOCK = 1 << 22  # bytes of text whose numbers are Python objects at one time


def sniff(head: bytes) -> bool:
    """Tell whether a file that begins with `head` says that it is Life 1.06."""
    return head[: len(_MAGIC)].lower() == _MAGIC


def read(data: bytes, name: str) -> Pattern:
    """Decode a Life 1.06 file; a cell may stand twice. Raises PatternError."""
    if not sniff(data):
        raise PatternError("a Life 1.06 file begins with '#Life 1.06'", name, 1, 1)
    parts: list[npt.NDArray[np.int64]] = []
    comments: list[str] = []
    start = (data + b"\n").index(b"\n") + 1
    while start < len(data):
        go_on()
        end = data.rfind(b"\n", start, start + _BLOCK) + 1
        if not end and len(data) - start > _BLOCK:
            raise error_at("a line is X Y", name, data, start)
        end = end if end and start + _BLOCK < len(data) else len(data)
        block = data[start:end]
        if _NUMBERS.fullmatch(block if block.endswith(b"\n") else block + b"\n"):
            numbers = np.fromiter(map(int, block.split()), np.int64)
        else:
            numbers = _exact(block, data, start, name, comments)
        parts.append(numbers.reshape(-1, 2))
        start = end
    cells = np.concatenate(parts) if parts else np.zeros((0, 2), np.int64)
    if not len(cells):
        return Pattern(BitGrid(1, 1), comments=tuple(comments))
    x, y = (int(low) for low in cells.min(axis=0))
    right, bottom = (int(high) for high in cells.max(axis=0))
    try:
        grid = grid_for(right - x + 1, bottom - y + 1, len(data))
    except GridError as error:
        far = int(np.abs(cells - cells[0]).max(axis=1).argmax())
        offset = next(islice(_cell_lines(data), far, None))
        raise error_at(str(error), name, data, offset) from None
    cells -= np.array([x, y])
    bits = np.uint64(1) << (cells[:, 0] & 63).astype(np.uint64)
    np.bitwise_or.at(grid.words, (cells[:, 1], cells[:, 0] >> 6), bits)
    return Pattern(grid, x, y, comments=tuple(comments))


def _exact(
    block: bytes, data: bytes, start: int, name: str, comments: list[str]
) -> npt.NDArray[np.int64]:
    """Read line by line: for blocks with comments in them, and to say where one is wrong."""
    numbers = []
    for offset, line in lines(block):
        if line.lstrip().startswith(b"#"):
            comments.append(decoded(line.lstrip()[2:]))
        elif line.strip():
            match = _CELL.fullmatch(line)
            if match is None:
                raise error_at(f"{shown(line)} is not X Y", name, data, start + offset)
            for group in (1, 2):
                if len(match[group].lstrip(b"+-")) > 18:
                    at = start + offset + match.start(group)
                    raise error_at("a coordinate has at most 18 digits", name, data, at)
                numbers.append(int(match[group]))
    return np.array(numbers, np.int64)


def _cell_lines(data: bytes) -> Iterator[int]:
    """Return the offsets of the lines that hold a cell."""
    for offset, line in lines(data):
        if line.strip() and not line.lstrip().startswith(b"#"):
            yield offset


def write(pattern: Pattern, out: BinaryIO) -> None:
    """Encode the live cells; nothing else has a place in this format."""
    out.write(b"#Life 1.06\n")
    if pattern.squares is not None:
        _write_far(Quadtree(pattern.squares), out)
        return
    for y, starts, ends in live_runs(pattern.grid):
        length = ends - starts
        # Runs are laid out one after the other: a cell's column is its place in that
        # sequence plus what its run's start is ahead of the run's place.
        columns = np.arange(length.sum()) + np.repeat(starts - length.cumsum() + length, length)
        cells = zip(columns.tolist(), np.repeat(y, length).tolist(), strict=True)
        out.write(b"".join(b"%d %d\n" % (pattern.x + x, pattern.y + y) for x, y in cells))


def _write_far(tree: Quadtree, out: BinaryIO) -> None:
    """Encode cells at any distance."""
    box = tree.box()
    for part in far_runs(tree):
        assert box
        rows = (part.rows.tolist(), part.starts.tolist(), part.lengths.tolist())
        for row, start, length in zip(*rows, strict=True):
            x, y = box.x + start, box.y + part.row + row
            out.write(b"".join([b"%d %d\n" % (x + i, y) for i in range(length)]))
