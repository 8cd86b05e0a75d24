"""The engine of a rule: which package of kernels computes it."""

from __future__ import annotations

from typing import Any

from kernels import ageing, life, ranges, tables
from kernels.life.contract import LifeEngine
from kernels.life.rules import AgeingRule, LifeRule, MapRule
from kernels.ranges.rules import RangeRule
from kernels.tables.rules import TableRule
from kernels.targets.contract import BackendUnavailableError, Target
from lifesim.errors import LifesimError
from lifesim.grid import BitGrid, GridError
from lifesim.rule import Rule


def engine_of(rule: Rule, target: Target) -> LifeEngine[Any]:
    """Return the engine that computes a rule on a target; it takes `rule.cells`.

    Raises BackendUnavailableError for several GPUs, over which only universes of two states and
    nine cells are spread, and LifesimError for a class of rules that has no engine.
    """
    if len(target.devices) > 1 and not isinstance(rule.cells, LifeRule | MapRule):
        raise BackendUnavailableError(f"rule {rule} is computed on one GPU, not on several")
    match rule.cells:
        case LifeRule() | MapRule():
            return life.engine_for(target)
        case AgeingRule():
            return ageing.engine_for(target, rule.planes)
        case RangeRule():
            return ranges.engine_for(target, rule.planes)
        case TableRule():
            return tables.engine_for(target, rule.planes)
    raise LifesimError(f"rule {rule} cannot be computed")


def cells_for(rule: Rule, grid: BitGrid) -> BitGrid:
    """Return a grid in as many bit planes as a rule has, the same one where it has them. Raises
    GridError for states that the rule does not have."""
    if rule.states < 1 << grid.planes and (largest := grid.largest_state()) >= rule.states:
        known = "0 and 1" if rule.states == 2 else f"0 to {rule.states - 1}"
        raise GridError(f"a cell has state {largest}: rule {rule} has states {known}")
    return grid if grid.planes == rule.planes else grid.in_planes(rule.planes)
