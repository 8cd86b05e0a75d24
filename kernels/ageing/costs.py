"""Costs of ageing cells, measured on one machine; as of kernels/life/costs.py."""

from __future__ import annotations

from dataclasses import replace

from kernels.life.costs import CPU_COSTS, CpuCosts

# How long a vector of cells takes for a generation, where one of Life takes 1: of rules of three
# states, and more for each plane more that ages take.
VECTOR = (2.0, 0.5)


def cpu_costs(planes: int, ages: int) -> CpuCosts:
    """Return the costs of passes in units of one vector of cells moved on by one generation.

    planes: of cells in memory, each of which a row is turned into vectors and back for. ages: the
    planes that ages take in cache.
    """
    unit = VECTOR[0] + VECTOR[1] * (ages - 1)

    def rows(cost: tuple[float, float]) -> tuple[float, float]:
        return cost[0] * planes / unit, cost[1] * planes / unit

    return replace(
        CPU_COSTS,
        row=rows(CPU_COSTS.row),
        narrow_row=rows(CPU_COSTS.narrow_row),
        ragged_row=rows(CPU_COSTS.ragged_row),
        task=CPU_COSTS.task / unit,
        whole_pass=CPU_COSTS.whole_pass / unit,
    )
