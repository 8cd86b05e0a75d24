"""Choices how a pass over ageing cells is cut up: pure functions of sizes, with no device call."""

from __future__ import annotations

from functools import lru_cache

from kernels.ageing.costs import cpu_costs
from kernels.life.plan import CpuPlan, Plans, best_of, quickest, strip_plans


def age_planes(states: int) -> int:
    """Return how many planes ages take in cache, beside the one of live cells (ages.hpp)."""
    return (states - 2).bit_length() if states > 4 else states - 2


@lru_cache(maxsize=256)
def choose_cpu(
    width: int,
    height: int,
    torus: bool,
    generations: int,
    vector_bits: int,
    cache_bytes: int,
    threads: int,
    states: int,
    *,
    chained: bool = False,
) -> CpuPlan:
    """Return the plan that should finish `generations` soonest, by a model of its cost.

    Its parameters are as of kernels.life.plan.choose_cpu().
    """
    costs = cpu_costs((states - 1).bit_length(), age_planes(states))
    return quickest(
        generations,
        height,
        lambda steps: _plans(
            width, height, torus, steps, vector_bits, cache_bytes, threads, states
        ),
        costs.whole_pass,
        chained=chained,
    )


@lru_cache(maxsize=256)
def cpu_plan(
    width: int,
    height: int,
    torus: bool,
    steps: int,
    vector_bits: int,
    cache_bytes: int,
    threads: int,
    states: int,
) -> CpuPlan:
    """Return the best plan of a pass of `steps` generations, at most 128."""
    return best_of(_plans(width, height, torus, steps, vector_bits, cache_bytes, threads, states))


def _plans(
    width: int,
    height: int,
    torus: bool,
    steps: int,
    vector_bits: int,
    cache_bytes: int,
    threads: int,
    states: int,
) -> Plans:
    """Yield plans of one pass by strips, whose rows hold all planes in cache."""
    ages = age_planes(states)
    costs = cpu_costs((states - 1).bit_length(), ages)
    return strip_plans(
        width, height, torus, steps, vector_bits, cache_bytes // (1 + ages), threads, costs
    )
