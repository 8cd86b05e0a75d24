"""CKY parsing in bulk, one bit a string, over grammars in binary normal form."""

from __future__ import annotations

from kernels.targets.contract import Target

from .batch import Batch, ChartGroup
from .contract import Cky, TooLongError
from .rules import Rules, cell, cells

__all__ = ["Batch", "ChartGroup", "Cky", "Rules", "TooLongError", "cell", "cells", "engine_for"]


def engine_for(target: Target, rules: Rules, memory: int | None = None) -> Cky:
    """Return the engine that parses on a target.

    memory: bytes for charts, on each device; by default what the target has to spare, and
        not more than pays.
    """
    from kernels.targets.cpu import CpuTarget
    from kernels.targets.reference import ReferenceTarget
    from kernels.targets.several import SeveralDevices

    if isinstance(target, CpuTarget):
        from .cpu.engine import CpuCky

        return CpuCky.of(target, rules, memory)
    if isinstance(target, ReferenceTarget):
        from .ref import ReferenceCky

        return ReferenceCky(rules) if memory is None else ReferenceCky(rules, memory)
    if isinstance(target, SeveralDevices):
        from .costs import PART_COSTS
        from .several import SeveralCky

        engines = [engine_for(one, rules, memory) for one in target.backends]
        return SeveralCky(engines, worth=PART_COSTS.worth)
    from .cuda.engine import CudaCky

    return CudaCky.of(target, rules, memory)
