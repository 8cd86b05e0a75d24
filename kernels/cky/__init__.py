"""CKY parsing in bulk, one bit a string, over grammars in binary normal form."""

from __future__ import annotations

from kernels.backend import Backend

from .batch import Batch, ChartGroup
from .engine import Cky, TooLongError
from .rules import Rules, cell, cells

__all__ = ["Batch", "ChartGroup", "Cky", "Rules", "TooLongError", "cell", "cells", "engine_for"]


# Split points times rules: what a GPU does in some milliseconds, as long as handing a part to it.
_WORTH = 6e12


def engine_for(backend: Backend, rules: Rules, memory: int | None = None) -> Cky:
    """The engine of a backend.

    memory: bytes for charts, on each device; by default what the backend has to spare, and
        not more than pays.
    """
    if backend.name == "cuda":
        from kernels.several import SeveralDevices

        from .cuda import CudaCky
        from .several import SeveralCky

        if isinstance(backend, SeveralDevices):
            engines = [engine_for(one, rules, memory) for one in backend.backends]
            return SeveralCky(engines, worth=_WORTH)
        return CudaCky.of(backend, rules, memory)
    if backend.name == "cpu":
        from .cpu import CpuCky

        return CpuCky.of(backend, rules, memory)
    from .ref import ReferenceCky

    return ReferenceCky(rules) if memory is None else ReferenceCky(rules, memory)
