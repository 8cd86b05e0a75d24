"""Plaintext: `.` dead, `O` or `*` live, `!` before a comment.

The format holds no position, rule or generation.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import BinaryIO

import numpy as np

from lifesim.patterns.pattern import Pattern
from lifesim.patterns.rows import Row, grid_of_rows
from lifesim.patterns.text import decoded, encoded, error_at, lines, one_line, shown

NAME = "cells"
EXTENSIONS = (".cells",)


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
    """Encode the live cells' bounding box; name and comments stand above it."""
    if pattern.name:
        out.write(b"!Name: " + one_line(pattern.name) + b"\n")
    for comment in pattern.comments:
        for text in encoded(comment):
            out.write(b"!" + text + b"\n")
    grid = pattern.trimmed().grid
    for words in grid.words:
        live = np.unpackbits(words.view(np.uint8), count=grid.width, bitorder="little")
        out.write(np.where(live, ord("O"), ord(".")).astype(np.uint8).tobytes() + b"\n")
