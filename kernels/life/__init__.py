"""Game of Life and its like, in bulk: one circuit for CPU and CUDA, and the slow reference."""

from __future__ import annotations

from kernels.targets.contract import Target

from .contract import LifeArena, LifeChain, LifeEngine, LifeUniverse
from .rules import NineCellRule

__all__ = ["LifeArena", "LifeChain", "LifeEngine", "LifeUniverse", "engine_for"]


def engine_for(target: Target) -> LifeEngine[NineCellRule]:
    """Return the engine of rules of two states and nine cells for a target."""
    # Imported only now: whoever asks for help, or for the CPU, is not to wait for the others.
    if len(target.devices) > 1:
        from .several import SeveralLifeEngine

        return SeveralLifeEngine(target.devices)
    if target.devices:
        from .cuda.engine import CudaLifeEngine

        return CudaLifeEngine(target.devices[0])
    from kernels.targets.cpu import CpuTarget

    if isinstance(target, CpuTarget):
        from .cpu.engine import CpuLifeEngine

        return CpuLifeEngine(target)
    from .ref import ReferenceLifeEngine

    return ReferenceLifeEngine()
