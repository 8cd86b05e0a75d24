"""Rules that a table gives: the next state of a cell for all that its nine cells may be."""

from __future__ import annotations

from dataclasses import dataclass

from kernels.life.rules import CellRule

CELLS = ((-1, -1), (0, -1), (1, -1), (-1, 0), (0, 0), (1, 0), (-1, 1), (0, 1), (1, 1))
"""Rows down and columns right of each of the nine cells, in the order in which levels ask for them.

They are column by column, so that the cells that two neighbours share stand together."""

CENTRE = CELLS.index((0, 0))
ENTRIES = 1 << 22  # in all levels of a rule


@dataclass(frozen=True, slots=True)
class TableRule(CellRule):
    """A rule that may be any function of a cell and its eight neighbours, as a decision diagram.

    levels: nine byte strings, one for each cell of CELLS. Each is a little-endian uint32 array
    (nodes, states), in C order. One starts at the only node of the first level. The state of a
    level's cell chooses an entry of the node; it is the number of a node in the next level, or, in
    the last level, the cell's next state. What kernels.tables.diagram makes of equal functions
    are equal levels. states: 2 to 256. Raises ValueError for anything else, and for more than
    ENTRIES entries.
    """

    reach = 1

    states: int
    levels: tuple[bytes, ...]

    def __post_init__(self) -> None:
        if not 2 <= self.states <= 256:
            raise ValueError(f"a table has 2 to 256 states, not {self.states}")
        if len(self.levels) != len(CELLS):
            raise ValueError(f"{len(self.levels)} levels for {len(CELLS)} cells")
        if sum(map(len, self.levels)) > 4 * ENTRIES:
            raise ValueError(f"a table with more than {ENTRIES} entries")
        rows = [len(level) // (4 * self.states) for level in self.levels]
        if [4 * self.states * count for count in rows] != [len(level) for level in self.levels]:
            raise ValueError(f"a node of a level has an entry for each of {self.states} states")
        if rows[0] != 1 or not all(rows):
            raise ValueError("the first level of a table has one node, and the others some")
        import numpy as np  # not loaded by those who only name rules

        for level, below in zip(self.levels, (*rows[1:], self.states), strict=True):
            if int(np.frombuffer(level, "<u4").max()) >= below:
                raise ValueError("an entry of a level names a node that is not there")

    @property
    def stays_empty(self) -> bool:
        """Tell whether nine cells of state 0 give state 0."""
        node = 0
        for level in self.levels:
            start = 4 * self.states * node
            node = int.from_bytes(level[start : start + 4], "little")
        return not node
