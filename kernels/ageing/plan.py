"""Choices how a pass over ageing cells is cut up: pure functions of sizes, with no device call."""

from __future__ import annotations

from functools import lru_cache

from kernels.ageing.costs import cpu_costs
from kernels.life.contract import LifeShape
from kernels.life.costs import CpuCosts
from kernels.life.plan import CpuPlan, Plans, best_of, quickest, strip_plans
from kernels.targets.cpu import Machine


def age_planes(states: int) -> int:
    """Return how many planes ages take in cache, beside the one of live cells (ages.hpp)."""
    return (states - 2).bit_length() if states > 4 else states - 2


@lru_cache(maxsize=256)
def choose_cpu(
    shape: LifeShape, generations: int, machine: Machine, states: int, *, chained: bool = False
) -> CpuPlan:
    """Return the plan that should finish `generations` soonest, by a model of its cost.

    chained: as of kernels.life.plan.choose_cpu().
    """
    return quickest(
        generations,
        shape.height,
        lambda steps: _plans(shape, steps, machine, states),
        _costs(states).whole_pass,
        chained=chained,
    )


@lru_cache(maxsize=256)
def cpu_plan(shape: LifeShape, steps: int, machine: Machine, states: int) -> CpuPlan:
    """Return the best plan of a pass of `steps` generations, at most 128."""
    return best_of(_plans(shape, steps, machine, states))


def _plans(shape: LifeShape, steps: int, machine: Machine, states: int) -> Plans:
    """Yield plans of one pass by strips, whose rows hold all planes in cache."""
    part = machine.cache_bytes // (1 + age_planes(states))
    return strip_plans(shape, steps, machine._replace(cache_bytes=part), _costs(states))


def _costs(states: int) -> CpuCosts:
    return cpu_costs((states - 1).bit_length(), age_planes(states))
