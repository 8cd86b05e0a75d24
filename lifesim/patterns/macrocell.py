"""Macrocell: Golly's quadtree format, in which equal squares are written once.

A root of level n covers the columns -2^(n-1) to 2^(n-1) - 1 and, as Golly's rows are
numbered upwards inside, the rows -2^(n-1) + 1 to 2^(n-1).
"""

from __future__ import annotations

import re
from array import array
from dataclasses import replace
from itertools import product
from typing import BinaryIO

import numpy as np

from kernels.plane.hashlife.listing import LEAF, SquareList, plain_lines
from kernels.targets.memory import available_memory
from lifesim.cancelling import go_on
from lifesim.grid import BitGrid, GridError
from lifesim.patterns.macrocell_states import StateTree, write_states
from lifesim.patterns.pattern import Pattern, PatternError
from lifesim.patterns.quadtree import build
from lifesim.patterns.room import grid_for
from lifesim.patterns.text import (
    decoded,
    encoded,
    error_at,
    one_line,
    parse_rule,
    rule_text,
    shown,
)
from lifesim.rule import Rule, RuleError
from lifesim.topology import Edges
from lifesim.tree.quadtree import Quadtree

NAME = "macrocell"
EXTENSIONS = (".mc",)

_MAGIC = b"[M2]"
_NODE = re.compile(rb"(\d{1,9})[ \t]+(\d{1,18})[ \t]+(\d{1,18})[ \t]+(\d{1,18})[ \t]+(\d{1,18})")
_OF_STATES = re.compile(rb"[123][ \t]")  # a node of a level that only those files have
_AGE = re.compile(rb"#G\s*(\d{1,1000})")
_LINES = 1 << 14  # that are written at once
_READ = 1 << 14  # lines that are read at once
_SQUARE = 100  # bytes of memory that a line takes, at most
_FLOOR, _MOST = 64 << 20, 16  # and that all may take: so much, and so often the text
_WIDE = 1 << 30  # cells that are rather left in a tree
_LEVELS = range(4, 65)
_ALL_LEVELS, _LEAST_LEVEL = range(4, 241), 6  # of squares that are left as they stand
# The text of each row of eight cells, dead cells at its end written or not, to its bits.
_ROW_BITS = {
    bytes(cells): sum(1 << x for x, cell in enumerate(cells) if cell == ord("*"))
    for length in range(9)
    for cells in product(b".*", repeat=length)
}
_ROW_TEXT = [
    bytes(b".*"[bits >> x & 1] for x in range(bits.bit_length())) + b"$" for bits in range(256)
]


def sniff(head: bytes) -> bool:
    """Tell whether a file that begins with `head` says that it is a macrocell file."""
    return head.startswith(_MAGIC)


def read(data: bytes, name: str) -> Pattern:
    """Decode a macrocell file; the grid is the cells' bounding box, in the bit planes of its rule.

    Raises PatternError, with the line, for anything but leaves, and nodes of level 4
    to 64 whose children stand before them and are one level lower; and for a pattern
    too large for memory, before anything is allocated for it.
    """
    tree = _Tree(data, name, _LEVELS)
    try:
        if tree.states:
            return _of_states(tree, tree.states, len(data))
        return _as_grid(tree, len(data))
    except GridError as error:
        last = tree.states.last if tree.states else tree.last
        raise error_at(str(error), name, data, last) from None


def _as_grid(tree: _Tree, size: int, most: int | None = None) -> Pattern:
    """Return the pattern of a tree from a file of `size` bytes. Raises GridError, also for more
    than `most` cells in all, live or dead."""
    cells = Quadtree(tree.squares)
    box = cells.box()
    if box is None:
        return tree.pattern
    if most is not None and box.width * box.height > most:
        raise GridError(f"{box.width}x{box.height} cells are more than {most}")
    grid = grid_for(box.width, box.height, size, tree=True)
    cells.paint(grid, box)
    return replace(tree.pattern, grid=grid, x=box.x, y=box.y)


def _of_states(tree: _Tree, states: StateTree, size: int) -> Pattern:
    """Return the pattern of a tree of several states from a file of `size` bytes. Raises
    GridError."""
    rule = tree.pattern.rule
    planes = rule.planes if rule else max(1, states.largest.bit_length())
    grid, box = states.grid(planes, size)
    corner = (0, 0) if box is None else (box.x, box.y)
    return replace(tree.pattern, grid=grid, x=corner[0], y=corner[1])


def read_squares(data: bytes, name: str, *, or_grid: bool = False) -> Pattern:
    """Decode as read() does, but leave the cells as they stand in the file, as Pattern.squares.

    Nodes have any level up to 240. What has no node of level 6 has a grid all the same; with
    or_grid also all that a grid holds.
    """
    tree = _Tree(data, name, _ALL_LEVELS)
    if tree.states:
        return read(data, name)
    levels = tree.squares.levels
    if levels[-1] < _LEAST_LEVEL or (or_grid and levels.max() <= _LEVELS[-1]):
        try:
            return _as_grid(tree, len(data), _WIDE if or_grid else None)
        except GridError:
            pass  # it is too wide
    return replace(tree.pattern, squares=tree.squares)


class _Tree:
    """The lines of a macrocell file: a pattern without cells, and the squares.

    last: where the line of the last node begins.
    """

    def __init__(self, data: bytes, name: str, allowed: range) -> None:
        """Read the lines. allowed: levels that nodes may have. Raises PatternError."""
        if not sniff(data):
            raise PatternError("a macrocell file begins with '[M2]'", name, 1, 1)
        self.states: StateTree | None = None
        need = data.count(b"\n") * _SQUARE
        if need > available_memory():
            raise PatternError("too large a tree for the memory that is free", name)
        if need > _FLOOR + _MOST * len(data):
            raise PatternError("nearly all lines are empty: no tree of cells is written so", name)
        self._data, self._name, self._allowed = data, name, allowed
        # Square 0 is the empty one.
        self._levels, self._children = bytearray(1), array("q", [0] * 4)
        self._leaves = array("Q", [0])
        self.last = 0
        self._rule: tuple[Rule | None, Edges | None, tuple[int, int] | None] = None, None, None
        self._title, self._generation = "", 0
        self._comments: list[str] = []
        start = 0
        while start < len(data):
            go_on()
            start = self._plain_lines(start)
            if start < len(data):
                start = self._line(start)
        self.squares = SquareList(
            np.frombuffer(self._levels, np.uint8),
            np.frombuffer(self._children, np.int64).reshape(-1, 4),
            np.frombuffer(self._leaves, np.uint64),
        )
        comments = tuple(self._comments)
        rule, topology, size = self._rule
        self.pattern = Pattern(
            BitGrid(1, 1), 0, 0, rule, topology, size, self._generation, self._title, comments
        )

    def _plain_lines(self, start: int) -> int:
        """Read lines of squares that are written as usual, and tell where the next line begins."""
        while True:
            found = plain_lines(self._data, start, _READ, self._allowed[-1], self._levels)
            if found is None or found.end == start:
                return start
            self._levels += found.levels
            self._children.frombytes(found.children)
            self._leaves.frombytes(found.leaves)
            self.last, start = found.last, found.end
            go_on()

    def _line(self, offset: int) -> int:
        """Read a line of any kind, and tell where the next one begins. Raises PatternError."""
        data, name = self._data, self._name
        end = data.find(b"\n", offset)
        end = len(data) if end < 0 else end
        text = data[offset:end].rstrip()
        first = text[:1]
        if _OF_STATES.match(text) and len(self._levels) == 1:
            rule = self._rule[0]
            named = (str(rule), rule.states) if rule else ("", 0)
            if not rule or rule.states > 2:
                self.states = StateTree(data, offset, name, *named)
                return len(data)
        if first and first in b"0123456789":
            _add_node(self._levels, self._children, text, data, offset, name, self._allowed)
            self._leaves.append(0)
            self.last = offset
        elif first and first in b".*$":
            self._levels.append(3)
            self._children.extend((0, 0, 0, 0))
            self._leaves.append(_leaf(text, data, offset, name))
            self.last = offset
        elif text.startswith(b"#R"):
            try:
                self._rule = parse_rule(decoded(text[2:]), name)
            except RuleError as error:
                raise error_at(str(error), name, data, offset) from None
        elif text.startswith(b"#G"):
            match = _AGE.fullmatch(text)
            if match is None:
                raise error_at(f"{shown(text)} is not #G NUMBER", name, data, offset)
            self._generation = int(match[1])
        elif text.startswith(b"#N") and not self._title:
            self._title = decoded(text[2:])
        elif text.startswith((b"#C", b"#N")):
            self._comments.append(decoded(text[2:]))
        elif text and offset and not text.startswith(b"#"):
            raise error_at(f"{shown(text)} is neither a leaf nor a node", name, data, offset)
        return end + 1


def _leaf(text: bytes, data: bytes, offset: int, name: str) -> int:
    """Return eight rows of eight cells as 64 bits, bit 8 y + x."""
    rows = text.split(b"$")
    try:
        if len(rows) <= 8 or (len(rows) == 9 and not rows[8]):
            value = 0
            for y, row in enumerate(rows):
                value |= _ROW_BITS[row] << 8 * y
            return value
        what = "a leaf has at most 8 rows"
    except KeyError as error:
        row = error.args[0]
        at = rows.index(row)
        foreign = row.translate(None, b".*")
        if foreign:
            column = sum(len(above) + 1 for above in rows[:at]) + row.index(foreign[:1])
            what = f"{shown(foreign[:1])} stands in a leaf: a cell is '.' or '*'"
            raise error_at(what, name, data, offset + column) from None
        what = "a row of a leaf has at most 8 cells"
    raise error_at(what, name, data, offset)


def _add_node(
    levels: bytearray,
    children: array[int],
    text: bytes,
    data: bytes,
    offset: int,
    name: str,
    allowed: range,
) -> None:
    match = _NODE.fullmatch(text)
    if match is None:
        raise error_at(f"{shown(text)} is not LEVEL NW NE SW SE", name, data, offset)
    level, *four = map(int, match.groups())
    if level not in allowed:
        what = f"level {level}: nodes have level {allowed[0]} to {allowed[-1]}"
        if 0 < level < allowed[0]:
            what += " (lower ones belong to patterns of more than two states)"
        raise error_at(what, name, data, offset)
    for group, child in enumerate(four, 2):
        if child >= len(levels):
            what = f"node {child} is used before it stands in the file"
            raise error_at(what, name, data, offset + match.start(group))
        if child and levels[child] != level - 1:
            what = f"node {child} has level {levels[child]}, a child here has {level - 1}"
            raise error_at(what, name, data, offset + match.start(group))
    levels.append(level)
    children.extend(four)


def write(pattern: Pattern, out: BinaryIO) -> None:
    """Encode everything a Pattern holds. Raises LifesimError for cells farther than 2^63
    from the origin.
    """
    out.write(b"[M2] (lifesim)\n")
    rule = rule_text(pattern)
    if rule:
        out.write(f"#R {rule}\n".encode())
    if pattern.generation:
        out.write(f"#G {pattern.generation}\n".encode())
    if pattern.name:
        out.write(b"#N " + one_line(pattern.name) + b"\n")
    for comment in pattern.comments:
        for text in encoded(comment):
            out.write((b"#C " + text).rstrip() + b"\n")
    if pattern.squares is not None:
        _write_squares(pattern.squares, out)
        return
    if pattern.grid.planes > 1:
        write_states(pattern.grid, pattern.x, pattern.y, out)
        return
    leaves, levels = build(pattern.grid, pattern.x, pattern.y)
    for eight in leaves.view("u1").reshape(-1, 8).tolist():
        while eight and not eight[-1]:
            eight.pop()
        out.write(b"".join([_ROW_TEXT[bits] for bits in eight]) + b"\n")
    for level, nodes in enumerate(levels, 4):
        for nw, ne, sw, se in nodes.tolist():
            out.write(b"%d %d %d %d %d\n" % (level, nw, ne, sw, se))


def _write_squares(squares: SquareList, out: BinaryIO) -> None:
    """Write a list of squares, which are numbered as lines are."""
    cells = squares.leaves.astype("<u8").view(np.uint8).reshape(-1, 8)
    for first in range(1, len(squares.levels), _LINES):
        go_on()
        part = slice(first, first + _LINES)
        lists = (squares.levels[part], squares.children[part], cells[part])
        for level, four, eight in zip(*(each.tolist() for each in lists), strict=True):
            if level > LEAF:
                out.write(b"%d %d %d %d %d\n" % (level, *four))
                continue
            while eight and not eight[-1]:
                eight.pop()
            out.write(b"".join([_ROW_TEXT[bits] for bits in eight]) + b"\n")
