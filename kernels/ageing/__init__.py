"""Generations: rules whose cells age, state by state, before they are dead, in bit planes."""

from __future__ import annotations

from kernels.life.contract import LifeEngine
from kernels.life.rules import AgeingRule
from kernels.targets.contract import Target

__all__ = ["engine_for"]


def engine_for(target: Target, planes: int) -> LifeEngine[AgeingRule]:
    """Return the engine of rules of the Generations family for a target, its first device if it has
    several.

    planes: the bit planes of the rules that it computes, as AgeingRule.planes, 2 to 8.
    """
    # Imported only now: whoever asks for help, or for the CPU, is not to wait for the others.
    if target.devices:
        from .cuda.engine import CudaAgeingEngine

        return CudaAgeingEngine(target.devices[0], planes)
    from kernels.targets.cpu import CpuTarget

    if isinstance(target, CpuTarget):
        from .cpu.engine import CpuAgeingEngine

        return CpuAgeingEngine(target, planes)
    from .ref import ReferenceAgeingEngine

    return ReferenceAgeingEngine(planes)
