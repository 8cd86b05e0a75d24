"""Life 1.05: blocks of rows (`#P x y`, then `.` dead and `*` live).

A block without a place, `#P` alone, goes on where the last one ended, the first at 0, 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import BinaryIO

import numpy as np

from lifesim.errors import LifesimError
from lifesim.grid import BitGrid, Words
from lifesim.patterns.pattern import Pattern, PatternError
from lifesim.patterns.rows import Row, grid_of_rows
from lifesim.patterns.text import decoded, encoded, error_at, lines, one_line, shown
from lifesim.rule import LIFE, Rule, RuleError

NAME = "life105"
EXTENSIONS = (".lif", ".l")

_MAGIC = b"#life 1.05"
_POSITION = re.compile(rb"#P\s+([+-]?\d{1,30})\s+([+-]?\d{1,30})\s*")


def sniff(head: bytes) -> bool:
    """Tell whether a file that begins with `head` says that it is Life 1.05."""
    return head[: len(_MAGIC)].lower() == _MAGIC


def read(data: bytes, name: str) -> Pattern:
    """Decode a Life 1.05 file; blocks may overlap. Raises PatternError."""
    if not sniff(data):
        raise PatternError("a Life 1.05 file begins with '#Life 1.05'", name, 1, 1)
    rule: Rule | None = None
    title, comments = "", []
    for offset, line in lines(data):
        if offset == 0 or not line.startswith(b"#"):
            continue
        key, text = line[1:2], decoded(line[2:])
        if line.rstrip() == b"#N":
            rule = LIFE
        elif key == b"R":
            try:
                rule = Rule.parse(text, beside=name)
            except RuleError as error:
                raise error_at(str(error), name, data, offset) from None
        elif key in (b"D", b"C", b"O"):
            if text.startswith("Name:") and not title:
                title = text[5:].strip()
            else:
                comments.append(text)
        elif key != b"P":
            raise error_at(f"unknown line {shown(line)}", name, data, offset)
    grid, x, y = grid_of_rows(partial(_rows, data, name), name, data)
    return Pattern(grid, x, y, rule, name=title, comments=tuple(comments))


def _rows(data: bytes, name: str) -> Iterator[Row]:
    x = y = 0
    for offset, line in lines(data):
        row = line.rstrip()
        if row.startswith(b"#P"):
            match = _POSITION.fullmatch(row)
            if match is not None:
                x, y = int(match[1]), int(match[2])
            elif row != b"#P":  # which has the block go on, as in Golly
                raise error_at("a block begins with #P X Y", name, data, offset)
        elif row and not row.startswith(b"#"):
            foreign = row.translate(None, b".*")
            if foreign:
                what = f"{shown(foreign[:1])} is no cell: a cell is '.' or '*'"
                raise error_at(what, name, data, offset + row.index(foreign[:1]))
            yield Row(x, y, row, offset)
            y += 1


def write(pattern: Pattern, out: BinaryIO) -> None:
    """Encode the live cells in blocks; generation and bounds have no place here.

    Raises LifesimError for cells that no grid holds.
    """
    if pattern.squares is not None:
        raise LifesimError(
            "Life 1.05 is written of patterns that fit in memory: RLE (.rle), Life 1.06 (.life) or "
            "macrocell (.mc) holds wider ones"
        )
    pattern = pattern.trimmed()
    out.write(b"#Life 1.05\n")
    if pattern.name:
        out.write(b"#D Name: " + one_line(pattern.name) + b"\n")
    for comment in pattern.comments:
        for text in encoded(comment):
            out.write((b"#D " + text).rstrip() + b"\n")
    if pattern.rule is not None:
        born, kept = str(pattern.rule)[1:].split("/S")
        line = "#N" if pattern.rule == LIFE else f"#R {kept}/{born}"
        out.write(line.encode() + b"\n")
    for column, top, words in _blocks(pattern.grid):
        out.write(b"#P %d %d\n" % (pattern.x + 64 * column, pattern.y + top))
        cells = np.unpackbits(words.view(np.uint8).reshape(-1, 8), axis=1, bitorder="little")
        for row in np.where(cells, ord("*"), ord(".")).astype(np.uint8):
            out.write((row.tobytes().rstrip(b".") or b".") + b"\n")


def _blocks(grid: BitGrid) -> Iterator[tuple[int, int, Words]]:
    """Yield word column, first row and words of each stretch of rows with live cells.

    A block is one word wide, as lines may not pass 80 characters.
    """
    for column in range(grid.words.shape[1]):
        words = np.ascontiguousarray(grid.words[:, column])
        rows = np.flatnonzero(words)
        for part in np.split(rows, np.flatnonzero(np.diff(rows) > 1) + 1):
            if len(part):
                yield column, int(part[0]), words[part[0] : part[-1] + 1]
