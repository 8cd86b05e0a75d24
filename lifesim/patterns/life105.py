"""Life 1.05: blocks of rows (`#P x y`, then `.` dead and `*` live)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO

import numpy as np

from lifesim.grid import BitGrid, Words
from lifesim.patterns.pattern import Pattern, PatternError
from lifesim.patterns.rows import Row, grid_of_rows
from lifesim.patterns.text import decoded, encoded, error_at, lines, one_line, shown
from lifesim.rule import LIFE, Rule, RuleError

NAME = "life105"
EXTENSIONS = (".lif", ".l")

_MAGIC = b"#life 1.05"
_POSITION = re.compile(rb"#P\s+([+-]?\d{1,30})\s+([+-]?\d{1,30})\s*")
_ROW = re.compile(rb"[.*]*")


def sniff(head: bytes) -> bool:
    """Whether a file that begins with `head` says that it is Life 1.05."""
    return head[: len(_MAGIC)].lower() == _MAGIC


def read(data: bytes, name: str) -> Pattern:
    """Decode a Life 1.05 file; blocks may overlap. Raises PatternError."""
    if not sniff(data):
        raise PatternError("a Life 1.05 file begins with '#Life 1.05'", name, 1, 1)
    rows: list[Row] = []
    rule: Rule | None = None
    title, comments, x, y = "", [], 0, 0
    for offset, line in lines(data):
        row = line.rstrip()
        if offset == 0 or not row:
            continue
        if not row.startswith(b"#"):
            match = _ROW.match(row)
            if match is None or match.end() < len(row):
                at = 0 if match is None else match.end()
                what = f"{shown(row[at : at + 1])} is no cell: a cell is '.' or '*'"
                raise error_at(what, name, data, offset + at)
            rows.append(Row(x, y, row, offset))
            y += 1
            continue
        match, text = _POSITION.fullmatch(row), decoded(row[2:])
        if match:
            x, y = int(match[1]), int(match[2])
        elif row.startswith(b"#P"):
            raise error_at("a block begins with #P X Y", name, data, offset)
        elif row == b"#N":
            rule = LIFE
        elif row.startswith(b"#R"):
            try:
                rule = Rule.parse(text)
            except RuleError as error:
                raise error_at(str(error), name, data, offset) from None
        elif row[1:2] in (b"D", b"C", b"O"):
            if text.startswith("Name:") and not title:
                title = text[5:].strip()
            else:
                comments.append(text)
        else:
            raise error_at(f"unknown line {shown(row)}", name, data, offset)
    grid, left, top = grid_of_rows(rows, name, data)
    return Pattern(grid, left, top, rule, name=title, comments=tuple(comments))


def write(pattern: Pattern, out: BinaryIO) -> None:
    """Encode the live cells in blocks; generation and bounds have no place here."""
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
    """Word column, first row and words of each stretch of rows with live cells.

    A block is one word wide, as lines may not pass 80 characters.
    """
    for column in range(grid.words.shape[1]):
        words = np.ascontiguousarray(grid.words[:, column])
        rows = np.flatnonzero(words)
        for part in np.split(rows, np.flatnonzero(np.diff(rows) > 1) + 1):
            if len(part):
                yield column, int(part[0]), words[part[0] : part[-1] + 1]
