"""Cells as text, as Golly and the forums exchange them: RLE out; any pattern format in."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass

from lifesim import patterns
from lifesim.errors import LifesimError
from lifesim.grid import BitGrid, Box
from lifesim.patterns.rle_body import encode
from lifesim.rule import Rule
from ui.session import SessionError

_HEADER = re.compile(r"^[ \t]*x\s*=\s*(\d{1,9})\s*,\s*y\s*=\s*(\d{1,9})", re.IGNORECASE | re.M)
_NAMED = r"^[ \t]*x\s*=\s*\d+\s*,\s*y\s*=\s*\d+(\s*,\s*rule\s*=\s*{})\s*$"
_SHORT, _LARGE = 1 << 16, re.compile(r"\d{5}")  # characters; a number
_MARGIN = 1 << 26  # cells that dead margins may add


@dataclass(frozen=True, slots=True)
class ClipboardCells:
    """Cells of a text, and its rule.

    cells: with the dead margins that they were copied with. rule: None if none is named.
    """

    cells: BitGrid
    rule: Rule | None


def text_of(cells: BitGrid, rule: Rule | None = None) -> str:
    """Return all of a region as RLE, its dead margins included."""
    head = f"x = {cells.width}, y = {cells.height}{f', rule = {rule}' if rule else ''}\n"
    box = Box(0, 0, cells.width, cells.height)
    return head + b"".join(encode(cells, box)).decode()


def is_small(text: str) -> bool:
    """Tell whether a text is parsed before anybody notices: it is short, and makes no long runs."""
    return len(text) <= _SHORT and not _LARGE.search(text)


def parse(text: str, known: Rule | None = None) -> ClipboardCells:
    """Return the cells of a text in any pattern format. known: a rule that need not be looked up
    where the text names it, as its file may lie anywhere. Raises SessionError for other texts."""
    if not text.strip():
        raise SessionError("the clipboard holds no text")
    named = known and re.search(_NAMED.format(re.escape(known.name)), text, re.M)
    if named:
        text = text[: named.start(1)] + text[named.end(1) :]
    try:
        # UTF-8 has no place for halves of characters, which clipboards may hold.
        data = text.encode("utf-8", "replace")
        pattern = patterns.read(io.BytesIO(data), name="clipboard")
    except MemoryError:
        raise SessionError("clipboard: too large a pattern for the memory that is free") from None
    except LifesimError as error:
        raise SessionError(" ".join(str(error).split())) from None
    if pattern.notes:  # part of a text was copied, most likely: nothing shows a note on a paste
        raise SessionError(f"clipboard: {pattern.notes[0]}")
    cells = pattern.grid
    header = _HEADER.search(text)
    if header and pattern.size is None:
        width, height = int(header[1]), int(header[2])
        fits = pattern.x + cells.width <= width and pattern.y + cells.height <= height
        if min(pattern.x, pattern.y) >= 0 and fits and width * height <= _MARGIN:
            wide = BitGrid(width, height, planes=cells.planes)
            wide.paste(cells, pattern.x, pattern.y)
            cells = wide
    return ClipboardCells(cells, known if named else pattern.rule)
