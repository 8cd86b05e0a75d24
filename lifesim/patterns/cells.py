"""Plaintext: `.` dead, `O` or `*` live, `!` before a comment.

The format holds no position, rule or generation.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import BinaryIO

import numpy as np

from lifesim.errors import LifesimError
from lifesim.grid import Box
from lifesim.patterns.pattern import Pattern
from lifesim.patterns.rows import Row, grid_of_rows
from lifesim.patterns.text import decoded, encoded, error_at, lines, one_line, shown
from lifesim.tree.quadtree import Quadtree
from lifesim.tree.rows import live_runs

NAME = "cells"
EXTENSIONS = (".cells",)

_MOST_TEXT = 1 << 36  # bytes of rows
_PIECE = 1 << 20


def sniff(head: bytes) -> bool:
    """Tell whether a file that begins with `head` looks like plaintext."""
    for _, line in lines(head):
        text = line.strip()
        if text:
            return text.startswith(b"!") or not text.translate(None, b".O*")
    return False


def read(data: bytes, name: str) -> Pattern:
    """Decode a plaintext file. The first row of cells has y = 0. Raises PatternError."""
    title, comments = "", []
    for _, line in lines(data):
        if line.startswith(b"!"):
            text = decoded(line[1:])
            if text.startswith("Name:") and not title:
                title = text[5:].strip()
            else:
                comments.append(text)
    grid, x, y = grid_of_rows(partial(_rows, data, name), name, data)
    return Pattern(grid, x, y, name=title, comments=tuple(comments))


def _rows(data: bytes, name: str) -> Iterator[Row]:
    y = 0
    for offset, line in lines(data):
        if line.startswith(b"!"):
            continue
        row = line.rstrip()
        foreign = row.translate(None, b".O*")
        if foreign:
            what = f"{shown(foreign[:1])} is no cell: a cell is '.' or 'O'"
            raise error_at(what, name, data, offset + row.index(foreign[:1]))
        yield Row(0, y, row.replace(b"O", b"*"), offset)
        y += 1


def write(pattern: Pattern, out: BinaryIO) -> None:
    """Encode the live cells' bounding box; name and comments stand above it.

    Raises LifesimError for a box of more than 64 GiB of text.
    """
    tree = None if pattern.squares is None else Quadtree(pattern.squares)
    if tree is not None:
        _check_size(tree.box())
    if pattern.name:
        out.write(b"!Name: " + one_line(pattern.name) + b"\n")
    for comment in pattern.comments:
        for text in encoded(comment):
            out.write(b"!" + text + b"\n")
    if tree is not None:
        for part in _lines_of(tree):
            out.write(part)
        return
    grid = pattern.trimmed().grid
    for words in grid.words:
        live = np.unpackbits(words.view(np.uint8), count=grid.width, bitorder="little")
        out.write(np.where(live, ord("O"), ord(".")).astype(np.uint8).tobytes() + b"\n")


def _check_size(box: Box | None) -> None:
    size = (box.width + 1) * box.height if box else 0
    if box and size > _MOST_TEXT:
        raise LifesimError(
            f"{box.width}x{box.height} cells are too many for plaintext, which has a character for "
            "each: RLE (.rle) or macrocell (.mc) holds them"
        )


def _lines_of(tree: Quadtree) -> Iterator[bytes]:
    """Yield the rows of the smallest box of a tree, dead ones too, in pieces."""
    box = tree.box() or Box(0, 0, 1, 1)
    x = y = 0
    for part in live_runs(tree):
        rows = (part.rows.tolist(), part.starts.tolist(), part.lengths.tolist())
        for row, start, length in zip(*rows, strict=True):
            while y < part.row + row:
                yield from _repeated(b".", box.width - x)
                yield b"\n"
                x, y = 0, y + 1
            yield from _repeated(b".", start - x)
            yield from _repeated(b"O", length)
            x = start + length
    yield from _repeated(b".", box.width - x)
    yield b"\n"


def _repeated(character: bytes, count: int) -> Iterator[bytes]:
    while count > 0:
        yield character * min(count, _PIECE)
        count -= _PIECE
