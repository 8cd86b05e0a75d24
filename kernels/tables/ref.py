"""Rules of tables as the definition reads, a byte a cell: the oracle for other implementations."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from kernels.life.bytewise import BytewiseEngine, States
from kernels.tables.diagram import Level, levels_of
from kernels.tables.rules import CELLS, TableRule


class ReferenceTablesEngine(BytewiseEngine[TableRule]):
    """Rules of tables by their levels, with no more than numpy."""

    copies = 14

    def step(self, cells: States, rule: TableRule, torus: bool) -> States:
        """Return the next generation: a path through the levels for each cell."""
        padded = np.pad(cells, 1, mode="wrap" if torus else "constant")
        height, width = cells.shape
        nodes = np.zeros(cells.shape, np.uint32)
        for level, (down, right) in zip(_levels(rule), CELLS, strict=True):
            nodes = level[nodes, padded[1 + down :, 1 + right :][:height, :width]]
        return nodes.astype(np.uint8)


@lru_cache(maxsize=8)
def _levels(rule: TableRule) -> list[Level]:
    return levels_of(rule)
