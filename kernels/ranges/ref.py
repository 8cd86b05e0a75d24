"""Larger than Life as its definition reads: the oracle, and what works everywhere."""

from __future__ import annotations

import numpy as np

from kernels.life.bytewise import BytewiseEngine, States
from kernels.ranges.rules import Interval, RangeRule


class ReferenceRangeEngine(BytewiseEngine[RangeRule]):
    """Counts of live cells by sums along rows, with no more than numpy."""

    copies = 48  # the sums along rows are of 64 bits, and of rows longer and more than the cells'

    def step(self, cells: States, rule: RangeRule, torus: bool) -> States:
        """Return the next generation."""
        height, width = cells.shape
        reach = rule.reach
        live = np.pad(cells == 1, reach, mode="wrap" if torus else "constant")
        sums = np.zeros((live.shape[0], live.shape[1] + 1), np.int64)
        np.cumsum(live, axis=1, out=sums[:, 1:])
        count = np.zeros(cells.shape, np.int64)
        for row, first, last in rule.runs:
            rows = sums[reach + row : reach + row + height]
            count += rows[:, reach + last + 1 : reach + last + 1 + width]
            count -= rows[:, reach + first : reach + first + width]
        born, kept = _within(count, rule.birth), _within(count, rule.survival)
        older = np.where(cells + 1 < rule.states, cells + 1, 0) if rule.states > 2 else 0
        return np.where(cells == 0, born, np.where((cells == 1) & kept, 1, older)).astype(np.uint8)


def _within(count: np.ndarray, intervals: tuple[Interval, ...]) -> np.ndarray:
    found = np.zeros(count.shape, np.bool_)
    for least, greatest in intervals:
        found |= (count >= least) & (count <= greatest)
    return found
