"""Larger than Life: rules that count the live cells of a large neighbourhood."""

from __future__ import annotations

from kernels.life.contract import LifeEngine
from kernels.targets.contract import Target

from .rules import RangeRule

__all__ = ["RangeRule", "engine_for"]


def engine_for(target: Target, planes: int) -> LifeEngine[RangeRule]:
    """Return the engine of such rules for a target, its first device if it has several, and cells
    of so many bit planes."""
    # Imported only now: whoever asks for help is not to wait for numpy.
    if target.devices:
        from .cuda.engine import CudaRangeEngine

        return CudaRangeEngine(target.devices[0], planes)
    from kernels.targets.cpu import CpuTarget

    if isinstance(target, CpuTarget):
        from .cpu.engine import CpuRangeEngine

        return CpuRangeEngine(target, planes)
    from .ref import ReferenceRangeEngine

    return ReferenceRangeEngine(planes)
