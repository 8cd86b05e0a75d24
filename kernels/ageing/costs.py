"""Costs of ageing cells, measured on one machine; as of kernels/life/costs.py."""

from __future__ import annotations

from dataclasses import replace

from kernels.life.costs import CPU_COSTS, CUDA_TUNING, CpuCosts, CudaTuning

# How long a vector of cells takes for a generation, where one of Life takes 1: of rules of three
# states, and more for each plane more that ages take.
VECTOR = (1.7, 0.8)

# Of a lane, that the stages of a pass and the two rows on their way may take on a device: of rules
# of up to four planes, and of more.
REGISTERS = (204, 184)


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


def cuda_tuning(planes: int) -> CudaTuning:
    """Return the sizes at which ageing.cu runs fastest, of rules of as many planes.

    A stage keeps five words for each word of a row, one for each bit of its age, and two: as many
    stages as fit the registers of two warps a scheduler. Rows of many bits are narrow, or there
    would be few stages.
    """
    wide = planes <= 4

    def longest(words: int) -> tuple[int, int]:
        room = REGISTERS[0 if wide else 1] - 2 * words * (1 + planes)
        return words, room // (words * (5 + planes) + 2)

    aligned = longest(4 if wide else 2)
    return replace(CUDA_TUNING, aligned=aligned, ragged=longest(3), parts=1 + planes)
