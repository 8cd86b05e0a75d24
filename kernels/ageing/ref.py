"""Ageing cells as their definition reads, a byte a cell: the oracle for every other implementation,
and the slow engine that always works."""

from __future__ import annotations

import numpy as np

from kernels.life.bytewise import BytewiseEngine, States
from kernels.life.ref import step_by_table
from kernels.life.rules import AgeingRule


def step(cells: States, rule: AgeingRule, torus: bool) -> States:
    """Return the next generation of a (height, width) uint8 array of states.

    Outside is the other side on a torus and dead for ever otherwise.
    """
    found = step_by_table(cells == 1, rule.table, torus)
    new = found.view(np.uint8).copy()
    new[(cells == 1) & ~found] = 2
    old = cells > 1
    new[old] = cells[old] + np.uint8(1)  # 256 is 0
    new[new >= rule.states] = 0
    return new


class ReferenceAgeingEngine(BytewiseEngine[AgeingRule]):
    """Ageing cells by step(), with no more than numpy."""

    copies = 6

    def step(self, cells: States, rule: AgeingRule, torus: bool) -> States:
        """Return the next generation."""
        return step(cells, rule, torus)
