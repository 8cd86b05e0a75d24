"""Macrocell files of several states, as Golly writes them: all lines are `LEVEL NW NE SW SE`,
and nodes of level 1 have states in place of children.

They are read into one list of squares for each bit plane, whose leaves have 8x8 cells, as those of
two states have.
"""

from __future__ import annotations

import re
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from kernels.plane.hashlife.listing import LEAF, SquareList
from lifesim.cancelling import go_on
from lifesim.grid import BitGrid, Box
from lifesim.patterns.pattern import PatternError
from lifesim.patterns.quadtree import build_states
from lifesim.patterns.room import grid_for
from lifesim.patterns.text import error_at, lines, shown
from lifesim.states import States, as_planes
from lifesim.tree.quadtree import Quadtree

Ints = npt.NDArray[np.int64]

_NODE = re.compile(rb"(\d{1,3})[ \t]+(\d{1,18})[ \t]+(\d{1,18})[ \t]+(\d{1,18})[ \t]+(\d{1,18})")
_STATES = 256
_TOP = 64
_OFTEN = 1 << 12  # lines between two questions whether to go on


class StateTree:
    """The nodes of a file of several states.

    largest: the largest state. last: where the line of the last node begins.
    """

    def __init__(self, data: bytes, start: int, name: str, rule: str, states: int) -> None:
        """Read all lines from `start` on. rule, states: the rule's text and its number of states, 0
        where the file names none. Raises PatternError."""
        self.largest, self.last = 0, start
        self._data, self._name = data, name
        self._rule, self._most = rule, states or _STATES
        # Of each number of a node its level, and its number among those of that level.
        self._levels, self._ranks = bytearray(1), [0]
        self._nodes: dict[int, list[tuple[int, ...]]] = {}
        for count, (offset, line) in enumerate(lines(data, start)):
            if count % _OFTEN == 0:
                go_on()
            text = line.strip()
            if text and not text.startswith(b"#"):
                self._add(text, offset)
        if len(self._levels) == 1:
            raise PatternError("no node stands in the file", name)
        while self._levels[-1] < LEAF:
            self._lift()

    def grid(self, planes: int, size: int) -> tuple[BitGrid, Box | None]:
        """Return the live cells' bounding box as a grid of so many bit planes, and where it lies.

        size: bytes of the file. Raises GridError for a grid that is too large for it, or for
        memory.
        """
        nodes = {level: _with_empty(found) for level, found in self._nodes.items()}
        cells = _leaf_cells(nodes)
        box = Quadtree(_squares(nodes, cells != 0)).box()
        if box is None:
            return BitGrid(1, 1, planes=planes), None
        grid = grid_for(box.width, box.height, size, tree=True, planes=planes)
        words = as_planes(grid.words)
        for plane in range(self.largest.bit_length()):
            part = BitGrid(box.width, box.height)
            Quadtree(_squares(nodes, cells >> plane & 1)).paint(part, box)
            words[:, plane] = part.words
        return grid, box

    def _lift(self) -> None:
        """Put the root in the middle of a node that is twice as wide."""
        level = self._levels[-1]
        known = self._nodes[level]
        four = known[self._ranks[-1] - 1]
        ranks = []
        for quarter, child in enumerate(four):
            inner = [0, 0, 0, 0]
            inner[3 - quarter] = child
            known.append(tuple(inner))
            ranks.append(len(known))
        above = self._nodes.setdefault(level + 1, [])
        above.append(tuple(ranks))
        self._levels.append(level + 1)
        self._ranks.append(len(above))

    def _add(self, text: bytes, offset: int) -> None:
        match = _NODE.fullmatch(text)
        if match is None:
            raise self._error(f"{shown(text)} is not LEVEL NW NE SW SE", offset)
        level, *four = map(int, match.groups())
        if not 1 <= level <= _TOP:
            raise self._error(f"level {level}: nodes have level 1 to {_TOP}", offset)
        self._check_four(level, four, match, offset)
        known = self._nodes.setdefault(level, [])
        if level == 1:
            self.largest = max(self.largest, *four)
            known.append(tuple(four))
        else:
            known.append(tuple(self._ranks[child] for child in four))
        self._levels.append(level)
        self._ranks.append(len(known))
        self.last = offset

    def _check_four(self, level: int, four: list[int], match: re.Match[bytes], offset: int) -> None:
        for group, child in enumerate(four, 2):
            at = offset + match.start(group)
            if level == 1:
                if child >= self._most:
                    whose = f"rule {self._rule} has states" if self._rule else "states are"
                    raise self._error(f"state {child}: {whose} 0 to {self._most - 1}", at)
            elif child >= len(self._levels):
                raise self._error(f"node {child} is used before it stands in the file", at)
            elif child and self._levels[child] != level - 1:
                what = f"node {child} has level {self._levels[child]}"
                raise self._error(f"{what}, a child here has {level - 1}", at)

    def _error(self, what: str, offset: int) -> PatternError:
        return error_at(what, self._name, self._data, offset)


def _with_empty(nodes: list[tuple[int, ...]]) -> Ints:
    """Return nodes with the empty one in front."""
    return np.array([(0, 0, 0, 0), *nodes], np.int64)


def _leaf_cells(nodes: dict[int, Ints]) -> States:
    """Return the states of the nodes of level 3, (nodes, 8, 8)."""
    cells = nodes.get(1, _with_empty([])).astype(np.uint8).reshape(-1, 2, 2)
    for level in (2, 3):
        nw, ne, sw, se = (cells[part] for part in nodes.get(level, _with_empty([])).T)
        upper, lower = np.concatenate([nw, ne], axis=2), np.concatenate([sw, se], axis=2)
        cells = np.concatenate([upper, lower], axis=1)
    return cells


def _squares(nodes: dict[int, Ints], live: npt.NDArray[Any]) -> SquareList:
    """Return the list of squares in which these cells of the nodes of level 3 live, 0 or 1."""
    counts = {level: len(nodes[level]) - 1 for level in sorted(nodes) if level > LEAF}
    count = len(live) + sum(counts.values())
    levels, children = np.zeros(count, np.uint8), np.zeros((count, 4), np.int64)
    levels[1 : len(live)] = LEAF
    first, below = len(live), 1
    for level, more in counts.items():
        four = nodes[level][1:]
        levels[first : first + more] = level
        children[first : first + more] = np.where(four > 0, four + below - 1, 0)
        first, below = first + more, first
    leaves = np.zeros(count, np.uint64)
    bits = np.packbits(live, axis=2, bitorder="little")
    leaves[: len(live)] = np.ascontiguousarray(bits[:, :, 0]).view("<u8")[:, 0]
    return SquareList(levels, children, leaves)


def write_states(grid: BitGrid, x: int, y: int, out: BinaryIO) -> None:
    """Write the nodes of a grid whose top-left cell is (x, y). Raises LifesimError for cells
    farther than 2^63 from the origin."""
    leaves, levels = build_states(grid, x, y)
    for level, nodes in enumerate([leaves, *levels], 1):
        for first in range(0, len(nodes), _OFTEN):
            go_on()
            four = nodes[first : first + _OFTEN].tolist()
            out.write(b"".join(b"%d %d %d %d %d\n" % (level, *each) for each in four))
