"""Larger than Life on the CPU: a byte a cell between generations, sums that slide within one."""

from __future__ import annotations

import importlib

import numpy as np

from kernels.life.bytewise import BytewiseEngine, States
from kernels.ranges.plan import range_plan
from kernels.ranges.rules import RangeRule
from kernels.targets.cpu import CpuTarget


class CpuRangeEngine(BytewiseEngine[RangeRule]):
    """Computes generations by compiled code, on the target's threads."""

    copies = 1

    def __init__(self, target: CpuTarget, planes: int) -> None:
        super().__init__(planes)
        self._target = target
        self._cpu = importlib.import_module("kernels._cpu")

    def step(self, cells: States, rule: RangeRule, torus: bool) -> States:
        """Return the next generation; an interrupt leaves it unmade."""
        return self.step_into(cells, rule, torus, np.empty_like(cells))

    def step_into(self, cells: States, rule: RangeRule, torus: bool, out: States) -> States:
        """Make the next generation in `out`, and return it."""
        (height, width), threads = cells.shape, self._target.threads
        radius, middle = rule.square or (0, False)
        self._cpu.ranges_step(
            self._target.level,
            np.ascontiguousarray(cells),
            out,
            torus,
            rule.runs,
            radius,
            middle,
            rule.birth,
            rule.survival,
            rule.states,
            *range_plan(width, height, rule.reach, rule.most, threads, square=bool(radius)),
            threads,
        )
        return out
