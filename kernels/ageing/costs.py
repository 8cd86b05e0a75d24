"""Costs of ageing cells, measured on one machine; as of kernels/life/costs.py."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kernels.life import costs as life
from kernels.life.costs import CpuCosts, CudaTuning


@dataclass(frozen=True, slots=True)
class AgeingCosts:
    """Costs of ageing cells beside those of Life.

    vector: how long a vector of cells takes for a generation on the CPU, where one of Life takes
    1: of rules of three states, and more for each plane more that ages take. registers: of a lane,
    that the stages of a pass and the two rows on their way may take on a device: of rules of up to
    four planes, and of more.
    """

    vector: tuple[float, float]
    registers: tuple[int, int]


AGEING_COSTS = AgeingCosts(vector=(1.7, 0.8), registers=(204, 184))


def cpu_costs(planes: int, ages: int) -> CpuCosts:
    """Return the costs of passes in units of one vector of cells moved on by one generation.

    planes: of cells in memory, each of which a row is turned into vectors and back for. ages: the
    planes that ages take in cache.
    """
    unit = AGEING_COSTS.vector[0] + AGEING_COSTS.vector[1] * (ages - 1)

    def rows(cost: tuple[float, float]) -> tuple[float, float]:
        return cost[0] * planes / unit, cost[1] * planes / unit

    return replace(
        life.CPU_COSTS,
        row=rows(life.CPU_COSTS.row),
        narrow_row=rows(life.CPU_COSTS.narrow_row),
        ragged_row=rows(life.CPU_COSTS.ragged_row),
        task=life.CPU_COSTS.task / unit,
        whole_pass=life.CPU_COSTS.whole_pass / unit,
    )


def cuda_tuning(planes: int) -> CudaTuning:
    """Return the sizes at which ageing.cu runs fastest, of rules of as many planes.

    A stage keeps five words for each word of a row, one for each bit of its age, and two: as many
    stages as fit the registers of two warps a scheduler. Rows of many bits are narrow, or there
    would be few stages.
    """
    wide = planes <= 4

    def longest(words: int) -> tuple[int, int]:
        room = AGEING_COSTS.registers[0 if wide else 1] - 2 * words * (1 + planes)
        return words, room // (words * (5 + planes) + 2)

    aligned = longest(4 if wide else 2)
    return replace(life.CUDA_TUNING, aligned=aligned, ragged=longest(3), parts=1 + planes)
