"""MCell files (.mcl), as far as their rule can be run; they are read, and not written.

`#GAME` and `#RULE` name the rule, `#BOARD` and `#WRAP` the universe, `#L` lines are the cells:
RLE with `.` for a dead cell, `A` to `X` for states 1 to 24, `aA` to `jO` for others, and no `!`.
As in Golly the universe is a torus, or a plane with `#WRAP 0`, with the live cells in its middle.
"""

from __future__ import annotations

import re
from bisect import bisect

from kernels import runs
from kernels.runs.states import StateWalk
from lifesim.cancelling import go_on
from lifesim.grid import BitGrid, GridError
from lifesim.patterns.pattern import Pattern, PatternError
from lifesim.patterns.room import grid_for
from lifesim.patterns.text import decoded, error_at, lines, shown
from lifesim.rule import LIFE, Rule, RuleError
from lifesim.topology import Topology

NAME = "mcell"
EXTENSIONS = (".mcl",)

_MAGIC = b"#mcell"
_BOARD = re.compile(rb"([0-9]{1,9})[xX]([0-9]{1,9})")
_GAMES = (
    "",
    "life",
    "conway",
    "generations",
    "larger than life",
)  # whose rules are written as we do
# Its first letters of two are others than RLE's; what RLE has besides is no letter here.
_AS_RLE = bytes.maketrans(b"abcdefghijopqrstuvwxy!", b"pqrstuvwxy????????????")
_FAULTS = {
    runs.DIGITS: f"a run count has at most {runs.MOST_DIGITS} digits",
    runs.ZERO: "a run count of 0",
    runs.CELLS: "the run counts add up to more than 2^62",
}


def sniff(head: bytes) -> bool:
    """Tell whether a file that begins with `head` says that it is MCell's."""
    return head[: len(_MAGIC)].lower() == _MAGIC


def read(data: bytes, name: str) -> Pattern:
    """Decode an MCell file. Raises PatternError, also for a game whose rules are not known."""
    if not sniff(data):
        raise PatternError("an MCell file begins with '#MCell'", name, 1, 1)
    rule, topology, size = LIFE, Topology.TORUS, None
    game, comments, named = "", [], False
    for offset, line in lines(data):
        key, _, value = line.partition(b" ")
        value = value.strip()
        try:
            if key == b"#GAME":
                game = decoded(value)
            elif key == b"#GOLLY" or (key == b"#RULE" and game.lower() != "rules table"):
                # Golly's own name of what MCell has as a table of several states.
                rule = Rule.parse(decoded(value), beside=name)
                named = key == b"#GOLLY"
        except RuleError as error:
            raise error_at(str(error), name, data, offset) from None
        if key in (b"#L", b"#RULE") and not named and game.lower() not in _GAMES:
            what = f"MCell's game {shown(game.encode())} is not supported"
            raise error_at(what, name, data, offset)
        if key == b"#BOARD":
            board = _BOARD.fullmatch(value)
            if board is None or not (int(board[1]) and int(board[2])):
                raise error_at(f"{shown(line)} is not #BOARD WIDTHxHEIGHT", name, data, offset)
            size = int(board[1]), int(board[2])
        elif key == b"#WRAP":
            topology = Topology.PLANE if value == b"0" else Topology.TORUS
        elif key in (b"#D", b"#N"):
            comments.append(decoded(value))
        elif line and not line.startswith(b"#"):
            raise error_at(f"{shown(line)} is no line of an MCell file", name, data, offset)
    grid, x, y = _cells(data, name) if rule.states == 2 else _states(data, name, rule)
    if size is not None:
        x, y = -(grid.width // 2), -(grid.height // 2)
    return Pattern(grid, x, y, rule, topology if size else None, size, comments=tuple(comments))


def _cells(data: bytes, name: str) -> tuple[BitGrid, int, int]:
    """Return the cells of all `#L` lines, and where the first of them stands."""
    walk = runs.Walk()
    _through(walk, data, name)
    if not walk.live:
        return BitGrid(1, 1), 0, 0
    x, y = walk.left_most, walk.top_most
    width, height = walk.right - x, walk.bottom - y + 1
    try:
        grid = grid_for(width, height, len(data))
    except GridError as error:
        place = walk.widest_at if width > height else walk.lowest_at
        raise error_at(str(error), name, data, place) from None
    _through(runs.Walk(grid.words, width, x, y), data, name)
    return grid, x, y


def _through(walk: runs.Walk, data: bytes, name: str) -> None:
    for offset, line in lines(data):
        if not line.startswith(b"#L "):
            continue
        go_on()
        fault, at = walk.go(data, offset + 3, offset + len(line))
        if fault in _FAULTS:
            raise error_at(_FAULTS[fault], name, data, at)
        if fault:
            what = f"{shown(data[at : at + 1])} is no cell by a rule of two states"
            raise error_at(what, name, data, at)
    if walk.counting:
        raise error_at("the pattern is cut off: it ends in a run count", name, data, len(data))


def _states(data: bytes, name: str, rule: Rule) -> tuple[BitGrid, int, int]:
    """Return the cells of all `#L` lines by a rule of several states, and where the first of them
    stands."""
    places, parts = [], []  # of each line where it begins among all, and in the file
    length = 0
    for offset, line in lines(data):
        if line.startswith(b"#L "):
            places.append((length, offset + 3))
            parts.append(line[3:].translate(_AS_RLE))
            length += len(parts[-1])
    text = b"".join(parts)

    def through(walk: StateWalk) -> None:
        at = 0
        while at < len(text):
            go_on()
            fault, at = walk.go(text, at)
            if fault != runs.NONE:
                first, offset = places[bisect(places, (at, len(data))) - 1]
                place = at - first + offset
                raise error_at(why(fault, place), name, data, place)
        if walk.counting:
            raise error_at("the pattern is cut off: it ends in a run count", name, data, len(data))

    def why(fault: int, at: int) -> str:
        if fault in _FAULTS:
            return _FAULTS[fault]
        tag = shown(data[at : at + 1 + (data[at : at + 1].islower())])
        return f"{tag} is no cell: rule {rule} has states 0 to {rule.states - 1}"

    walk = StateWalk(rule.states)
    through(walk)
    if not walk.live:
        return BitGrid(1, 1, planes=rule.planes), 0, 0
    x, y = walk.left_most, walk.top_most
    try:
        grid = grid_for(walk.right - x, walk.bottom - y + 1, len(data), planes=rule.planes)
    except GridError as error:
        raise PatternError(str(error), name) from None
    words = grid.words.reshape(grid.height, rule.planes, -1)
    through(StateWalk(rule.states, words, x, y))
    return grid, x, y
