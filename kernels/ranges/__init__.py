"""Larger than Life: rules that count the live cells of a large neighbourhood."""

from __future__ import annotations

from kernels.life.contract import LifeEngine
from kernels.targets.contract import Target

from .rules import RangeRule

__all__ = ["RangeRule", "engine_for"]


def engine_for(target: Target, planes: int) -> LifeEngine[RangeRule]:
    """Return the engine of such rules for a target and cells of so many bit planes.

    Raises ValueError for a target with devices: GPUs compute none of these rules.
    """
    # Imported only now: whoever asks for help is not to wait for numpy.
    if target.devices:
        raise ValueError("rules of large neighbourhoods are computed on the CPU only")
    from kernels.targets.cpu import CpuTarget

    if isinstance(target, CpuTarget):
        from .cpu.engine import CpuRangeEngine

        return CpuRangeEngine(target, planes)
    from .ref import ReferenceRangeEngine

    return ReferenceRangeEngine(planes)
