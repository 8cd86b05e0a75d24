"""RLE: Golly's and LifeWiki's run length encoded format, of 2 to 256 states."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO

from lifesim.grid import BitGrid, Box
from lifesim.patterns.pattern import Pattern
from lifesim.patterns.rle_body import (
    Body,
    Decoded,
    decode,
    decode_at_once,
    encode,
    encode_runs,
    measure,
    paint,
)
from lifesim.patterns.text import (
    decoded,
    encoded,
    error_at,
    lines,
    one_line,
    parse_rule,
    rule_text,
    shown,
)
from lifesim.rule import Rule, RuleError
from lifesim.topology import Edges
from lifesim.tree.quadtree import Quadtree
from lifesim.tree.rows import live_runs

if TYPE_CHECKING:
    from kernels.plane.hashlife.listing import SquareList

NAME = "rle"
EXTENSIONS = (".rle",)

_AUTHOR = "Author: "
_HEADER_LIKE = re.compile(rb"\s*x\s*=", re.IGNORECASE)
_HEADER = re.compile(
    rb"\s*x\s*=\s*(\d{1,90})\s*,\s*y\s*=\s*(\d{1,90})\s*(?:,\s*(?:rule\s*=\s*(.*))?)?",
    re.IGNORECASE,
)
_POSITION = re.compile(rb"\s*([+-]?\d{1,30})\s+([+-]?\d{1,30})\s*")
_EXTENDED_POSITION = re.compile(rb"Pos\s*=\s*([+-]?\d{1,90})\s*,\s*([+-]?\d{1,90})(?!\d)")
_EXTENDED_AGE = re.compile(rb"Gen\s*=\s*(\d{1,1000})(?!\d)")


def sniff(head: bytes) -> bool:
    """Tell whether a file that begins with `head` looks like RLE, with a header or without."""
    if head[:5].lower() == b"#life":
        return False
    for _, line in lines(head):
        text = line.strip()
        if text and not text.startswith(b"#"):
            return _HEADER_LIKE.match(text) is not None or _is_body(text)
    return head.lstrip().startswith(b"#")


def _is_body(text: bytes) -> bool:
    """Tell whether this can be a body's first line, and not one of a plaintext file."""
    foreign = text.translate(None, b"0123456789bo.A$! \t")
    return (
        not foreign and not text.startswith(b"!") and not text.isdigit() and bool(text.strip(b"."))
    )


@dataclass(slots=True)
class _Preamble:
    """The facts above the body; `body` is the body's offset."""

    name: str = ""
    comments: list[str] = field(default_factory=list)
    rule: Rule | None = None
    topology: Edges | None = None
    size: tuple[int, int] | None = None
    position: tuple[int, int] | None = None
    generation: int = 0
    header: tuple[int, int] | None = None
    header_at: int = 0
    body: int = 0


def read(data: bytes, name: str) -> Pattern:
    """Decode an RLE file. Raises PatternError, with line and column.

    As Golly does, it takes a body without `!` and one larger than its header, but notes it. A
    bounded pattern without a position lies where Golly puts it: centred, or from the universe's
    top-left cell on where the header's size is 0 or too large.
    """
    says = _preamble(data, name)
    return _of_grid(says, decode(_body(says, data, name)))


def read_squares(data: bytes, name: str) -> Pattern:
    """Decode as read() does, but leave cells that lie far apart as a list of squares
    (Pattern.squares), where a plane without bounds is to hold them by a rule that planes have."""
    says = _preamble(data, name)
    if says.size is not None or not (says.rule is None or says.rule.is_of_planes):
        return read(data, name)
    from lifesim.patterns.rle_far import is_far, squares_of

    body = _body(says, data, name)
    decoded = decode_at_once(body)
    if decoded is None:
        measured = measure(body)
        if measured.planes == 1 and measured.box is not None and is_far(body, measured.box):
            squares = squares_of(body, _origin(says))
            if squares is not None:
                notes = _notes(says, measured.box, measured.ended)
                return _pattern(says, BitGrid(1, 1), (0, 0), notes, squares)
        decoded = paint(body, measured)
    return _of_grid(says, decoded)


def _body(says: _Preamble, data: bytes, name: str) -> Body:
    rule, states = (str(says.rule), says.rule.states) if says.rule else ("", 0)
    return Body(data, says.body, name, says.header, says.header_at, rule, states)


def _of_grid(says: _Preamble, decoded: Decoded) -> Pattern:
    grid, box, ended = decoded
    x, y = _origin(says)
    if box is not None:
        x, y = x + box.x, y + box.y
    return _pattern(says, grid, (x, y), _notes(says, box, ended))


def _pattern(
    says: _Preamble,
    grid: BitGrid,
    at: tuple[int, int],
    notes: tuple[str, ...],
    squares: SquareList | None = None,
) -> Pattern:
    """Return such cells with what the file says about them."""
    return Pattern(
        grid,
        *at,
        says.rule,
        says.topology,
        says.size,
        says.generation,
        says.name,
        tuple(says.comments),
        notes,
        squares,
    )


def _notes(says: _Preamble, box: Box | None, ended: bool) -> tuple[str, ...]:
    notes = []
    if says.header is not None and box is not None:
        width, height = box.x + box.width, box.y + box.height
        if width > says.header[0] or height > says.header[1]:
            said = f"{says.header[0]}x{says.header[1]}"
            notes.append(f"the header says {said} cells, the body has {width}x{height}")
    if not ended:
        notes.append("no '!' ends the pattern: it may be cut off")
    return tuple(notes)


def _preamble(data: bytes, name: str) -> _Preamble:
    says = _Preamble(body=len(data))
    for offset, line in lines(data):
        text = line.strip()
        if text.startswith(b"#"):
            _hash_line(says, text, data, offset, name)
        elif says.header is None and _HEADER_LIKE.match(text):
            match = _HEADER.fullmatch(line)
            if match is None:
                what = f"{shown(text)} is not 'x = WIDTH, y = HEIGHT, rule = RULE'"
                raise error_at(what, name, data, offset)
            says.header = int(match[1]), int(match[2])
            says.header_at = offset
            rule = (match[3] or b"").rstrip(b" \t,")
            if rule:
                _set_rule(says, rule, data, offset + match.start(3), name)
        elif text:
            says.body = offset
            break
    return says


def _hash_line(says: _Preamble, text: bytes, data: bytes, offset: int, name: str) -> None:
    key, value = text[1:2], text[2:]
    if text.startswith(b"#CXRLE"):
        if match := _EXTENDED_POSITION.search(text):
            says.position = int(match[1]), int(match[2])
        elif b"Pos" in text:
            raise error_at("#CXRLE Pos is not Pos=X,Y", name, data, offset)
        if match := _EXTENDED_AGE.search(text):
            says.generation = int(match[1])
        elif b"Gen" in text:
            raise error_at("#CXRLE Gen is not Gen=NUMBER", name, data, offset)
    elif key in (b"P", b"R"):
        match = _POSITION.fullmatch(value)
        if match is None:
            raise error_at(f"{shown(text)} is not #{key.decode()} X Y", name, data, offset)
        says.position = int(match[1]), int(match[2])
    elif key == b"r":
        if says.header is None:  # a header's rule is the one that counts
            _set_rule(says, value.strip(), data, offset, name)
    elif key == b"N" and not says.name:
        says.name = decoded(value)
    else:
        says.comments.append((_AUTHOR if key == b"O" else "") + decoded(value))


def _set_rule(says: _Preamble, text: bytes, data: bytes, offset: int, name: str) -> None:
    try:
        says.rule, says.topology, says.size = parse_rule(decoded(text), name)
    except RuleError as error:
        raise error_at(str(error), name, data, offset) from None


def _origin(says: _Preamble) -> tuple[int, int]:
    """Return the coordinates of the body's first cell."""
    if says.position is not None:
        return says.position
    if says.size is None:
        return 0, 0
    if says.header and all(
        given > 0 and (given <= most or not most)
        for given, most in zip(says.header, says.size, strict=True)
    ):
        return -(says.header[0] // 2), -(says.header[1] // 2)
    return -(says.size[0] // 2), -(says.size[1] // 2)


def write(pattern: Pattern, out: BinaryIO) -> None:
    """Encode everything a Pattern holds; cells from their bounding box's top-left on.

    Raises LifesimError where more cells live than can be written one by one.
    """
    if pattern.squares is not None:
        tree = Quadtree(pattern.squares)
        box = tree.box() or Box(0, 0, 0, 0)
        x, y, body = box.x, box.y, encode_runs(live_runs(tree))
    else:
        box = pattern.grid.bounding_box() or Box(0, 0, 0, 0)
        x, y, body = pattern.x + box.x, pattern.y + box.y, encode(pattern.grid, box)
    if (x, y) != (0, 0) or pattern.generation or pattern.size is not None:
        # Golly heeds this line only where it is the first.
        age = f" Gen={pattern.generation}" if pattern.generation else ""
        out.write(f"#CXRLE Pos={x},{y}{age}\n".encode())
    if pattern.name:
        out.write(b"#N " + one_line(pattern.name) + b"\n")
    for comment in pattern.comments:
        key = b"#O " if comment.startswith(_AUTHOR) else b"#C "
        for part in encoded(comment.removeprefix(_AUTHOR)):
            out.write((key + part).rstrip() + b"\n")
    rule = rule_text(pattern)
    out.write(f"x = {box.width}, y = {box.height}{f', rule = {rule}' if rule else ''}\n".encode())
    for part in body:
        out.write(part)
