"""@TREE: a rule as a decision tree whose nodes are shared, as Golly's rule trees have it."""

from __future__ import annotations

import re

import numpy as np

from kernels.tables.diagram import DiagramError, Level, reordered, rule_of
from kernels.tables.rules import CELLS, ENTRIES, TableRule
from lifesim.ruletables.errors import RuleFileError, at, shown
from lifesim.ruletables.sections import Line, without_comment

# Rows down and columns right of the cells, in the order in which a tree asks for them.
_FOUR = ((-1, 0), (0, -1), (0, 1), (1, 0), (0, 0))
_CORNERS = ((-1, -1), (-1, 1), (1, -1), (1, 1))
_ORDER = _CORNERS + _FOUR

_HEAD = re.compile(r"(num_states|num_neighbors|num_nodes)\s*=\s*(\d{1,9})", re.ASCII)


def read_tree(lines: list[Line], path: str) -> TableRule:
    """Return the rule of a tree. Raises RuleFileError with file and line."""
    head: dict[str, int] = {}
    rows: list[tuple[Line, str]] = []
    for line in lines:
        text = without_comment(line.text)
        if not text:
            continue
        if match := _HEAD.fullmatch(text):
            if rows:
                raise at(path, line.number, f"{match[1]} stands behind the first node")
            head[match[1]] = int(match[2])
            _check_value(match[1], int(match[2]), path, line.number)
        else:
            _check_head(head, path, line.number)
            rows.append((line, text))
            if len(rows) > head["num_nodes"]:
                raise at(path, line.number, f"more nodes than num_nodes, {head['num_nodes']}")
    last = lines[-1].number if lines else 1
    _check_head(head, path, last)
    levels = _levels(rows, head["num_states"], head["num_neighbors"] + 1, path, last)
    if len(rows) != head["num_nodes"]:
        raise at(path, last, f"{len(rows)} nodes, where num_nodes is {head['num_nodes']}")
    order = [_ORDER.index(cell) for cell in CELLS]
    try:
        return rule_of(reordered(levels, order), head["num_states"])
    except DiagramError as error:
        raise RuleFileError(f"{path}: {error}") from None


def _check_value(key: str, value: int, path: str, line: int) -> None:
    if key == "num_states" and not 2 <= value <= 256:
        raise at(path, line, f"num_states is 2 to 256, not {value}")
    if key == "num_neighbors" and value not in (4, 8):
        raise at(path, line, f"num_neighbors is 4 or 8, not {value}")
    if key == "num_nodes" and not 1 <= value <= ENTRIES:
        raise at(path, line, f"num_nodes is 1 to {ENTRIES}, not {value}")


def _check_head(head: dict[str, int], path: str, line: int) -> None:
    for key in ("num_states", "num_neighbors", "num_nodes"):
        if key not in head:
            raise at(path, line, f"{key} is missing")
    if head["num_states"] * head["num_nodes"] > ENTRIES:
        raise at(path, line, f"a tree of more than {ENTRIES} entries")


def _levels(
    rows: list[tuple[Line, str]], states: int, depth: int, path: str, last: int
) -> list[Level]:
    """Return the tree as levels, in the order of a tree of eight neighbours."""
    nodes: list[list[list[int]]] = [[] for _ in range(depth)]  # of each level, the last one first
    places: list[tuple[int, int]] = []  # of each node: its depth, its number there
    for line, text in rows:
        numbers = _numbers(text, states + 1, path, line.number)
        level, entries = numbers[0], numbers[1:]
        if not 1 <= level <= depth:
            raise at(path, line.number, f"depth {level}, where 1 to {depth} are")
        if level == 1:
            if max(entries) >= states:
                raise at(path, line.number, f"state {max(entries)}, where {states - 1} is the last")
        else:
            if max(entries) >= len(places):
                raise at(path, line.number, f"node {max(entries)} is not there yet")
            if any(places[entry][0] != level - 1 for entry in entries):
                raise at(path, line.number, f"a node of depth {level} leads to depth {level - 1}")
            entries = [places[entry][1] for entry in entries]
        places.append((level, len(nodes[level - 1])))
        nodes[level - 1].append(entries)
    if len(nodes[-1]) != 1 or rows[-1][1].split()[0] != str(depth):
        raise at(path, last, f"the last node, and no other, has depth {depth}")
    ignored = [np.zeros((1, states), np.uint32) for _ in range(len(_ORDER) - depth)]
    return [*ignored, *(np.array(level, np.uint32) for level in reversed(nodes))]


def _numbers(text: str, count: int, path: str, line: int) -> list[int]:
    words = text.split()
    if len(words) != count:
        raise at(path, line, f"a node has {count} numbers, not {len(words)}")
    for word in words:
        if not re.fullmatch(r"\d{1,9}", word, re.ASCII):
            raise at(path, line, f"{shown(word)} is no number")
    return [int(word) for word in words]
