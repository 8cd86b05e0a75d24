"""Choices how a pass over ageing cells is cut up: pure functions of sizes, with no device call."""

from __future__ import annotations

from functools import lru_cache

from kernels.ageing.costs import cpu_costs
from kernels.life.plan import CpuPlan, Plans, best_of, strip_plans

_LENGTHS = (1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128)  # generations of passes that are tried


def age_planes(states: int) -> int:
    """Return how many planes ages take in cache, beside the one of live cells (circuit.hpp)."""
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
    best: tuple[float, CpuPlan] | None = None
    limit = max(1, generations)
    if chained:
        limit = min(limit, height // 2)
    for steps in sorted({min(limit, length) for length in _LENGTHS}):
        passes = -(-max(1, generations) // steps)
        rows = height + 2 * steps if chained else height
        for fits, cost, plan in _plans(
            width, rows, torus, steps, vector_bits, cache_bytes, threads, states
        ):
            total = passes * (cost + costs.whole_pass)
            if (fits or steps == 1) and (best is None or total < best[0]):
                best = total, plan
    assert best is not None
    return best[1]


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
