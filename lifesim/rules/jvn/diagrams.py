"""The automata as rules of tables: decision diagrams, made from what cells hear."""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np
import numpy.typing as npt

from kernels.tables.diagram import Level, reordered, rule_of, unique_rows
from kernels.tables.rules import CELLS, TableRule
from lifesim.rules.jvn.automata import AUTOMATA, Automaton, Heard
from lifesim.rules.jvn.states import SIDES

# Rows down and columns right: the corners, which nothing depends on, the cell, and its four sides.
_ORDER = ((-1, -1), (-1, 1), (1, -1), (1, 1), (0, 0), (0, 1), (-1, 0), (0, -1), (1, 0))


@cache
def table_of(name: str) -> TableRule:
    """Return the rule of the automaton of a name, as AUTOMATA has it."""
    return compiled(next(one for one in AUTOMATA if one.name == name))


def compiled(automaton: Automaton) -> TableRule:
    """Return the rule of an automaton.

    States of a neighbour that sound alike to a cell count as one, so that some thousand cases are
    decided, not all 32^5.
    """
    states = automaton.states
    cells = [_Cell(automaton, state) for state in range(states)]
    levels: list[Level] = []
    # From the last side up: nodes that lead to equal rows below are one.
    tables = [cell.decided for cell in cells]
    for side in reversed(SIDES):
        rows = [
            table.reshape(-1, table.shape[-1])[:, cell.kinds[side]]
            for cell, table in zip(cells, tables, strict=True)
        ]
        level, numbers = unique_rows(np.concatenate(rows))
        levels.append(level)
        ends = np.cumsum([len(part) for part in rows])[:-1]
        parts = np.split(numbers, ends)
        tables = [part.reshape(table.shape[:-1]) for part, table in zip(parts, tables, strict=True)]
    levels.append(np.array([[int(table) for table in tables]], np.uint32))
    corners = [np.zeros((1, states), np.uint32) for _ in range(len(_ORDER) - len(levels))]
    order = [_ORDER.index(cell) for cell in CELLS]
    return rule_of(reordered([*corners, *reversed(levels)], order), states)


class _Cell:
    """A cell of one state, and all that may become of it.

    kinds: for each side, which kind of neighbour each state is there. decided: the next states,
    with an axis of kinds for each side.
    """

    def __init__(self, automaton: Automaton, state: int) -> None:
        heard: list[list[Heard]] = []
        self.kinds: list[npt.NDArray[np.intp]] = []
        for side in SIDES:
            found = [automaton.heard(state, side, one) for one in range(automaton.states)]
            different = list(dict.fromkeys(found))
            self.kinds.append(np.array([different.index(one) for one in found]))
            heard.append(different)
        following = [automaton.decided(state, near) for near in product(*heard)]
        self.decided = np.array(following, np.uint32).reshape([len(one) for one in heard])
