"""Plaintext: `.` dead, `O` or `*` live, `!` before a comment.

The format holds no position, rule or generation.
"""

from __future__ import annotations

import re
from typing import BinaryIO

import numpy as np

from lifesim.patterns.pattern import Pattern
from lifesim.patterns.rows import Row, grid_of_rows
from lifesim.patterns.text import decoded, encoded, error_at, lines, one_line, shown

NAME = "cells"
EXTENSIONS = (".cells",)

_ROW = re.compile(rb"[.O*]*")


def sniff(head: bytes) -> bool:
    """Whether a file that begins with `head` looks like plaintext."""
    for _, line in lines(head):
        text = line.strip()
        if text:
            return text.startswith(b"!") or _ROW.fullmatch(text) is not None
    return False


def read(data: bytes, name: str) -> Pattern:
    """Decode a plaintext file. The first row of cells has y = 0. Raises PatternError."""
    rows: list[Row] = []
    title, comments, y = "", [], 0
    for offset, line in lines(data):
        if line.startswith(b"!"):
            text = decoded(line[1:])
            if text.startswith("Name:") and not title:
                title = text[5:].strip()
            else:
                comments.append(text)
            continue
        row = line.rstrip()
        match = _ROW.match(row)
        if match is None or match.end() < len(row):
            at = 0 if match is None else match.end()
            what = f"{shown(row[at : at + 1])} is no cell: a cell is '.' or 'O'"
            raise error_at(what, name, data, offset + at)
        rows.append(Row(0, y, row.replace(b"O", b"*"), offset))
        y += 1
    grid, x, top = grid_of_rows(rows, name, data)
    return Pattern(grid, x, top, name=title, comments=tuple(comments))


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
