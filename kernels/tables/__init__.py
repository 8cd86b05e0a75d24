"""Cellular automata whose rules are tables: any function of nine cells, of up to 256 states."""

from __future__ import annotations

from kernels.life.contract import LifeEngine
from kernels.targets.contract import Target

from .rules import TableRule

__all__ = ["TableRule", "engine_for"]


def engine_for(target: Target, planes: int) -> LifeEngine[TableRule]:
    """Return the engine of tables whose states fill so many bit planes, for a target, its first
    device if it has several."""
    # Imported only now: whoever asks for help is not to wait for the others.
    if target.devices:
        from .cuda.engine import CudaTablesEngine

        return CudaTablesEngine(target.devices[0], planes)
    from kernels.targets.cpu import CpuTarget

    if isinstance(target, CpuTarget):
        from .cpu.engine import CpuTablesEngine

        return CpuTablesEngine(target, planes)
    from .ref import ReferenceTablesEngine

    return ReferenceTablesEngine(planes)
