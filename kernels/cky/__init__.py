"""CKY parsing in bulk, one bit a string, over grammars in binary normal form."""

from __future__ import annotations

from kernels.backend import Backend

from .batch import Batch, ChartGroup
from .engine import Cky, TooLongError
from .rules import Rules, cell, cells

__all__ = ["Batch", "ChartGroup", "Cky", "Rules", "TooLongError", "cell", "cells", "engine_for"]


def engine_for(backend: Backend, rules: Rules, memory: int | None = None) -> Cky:
    """The engine of a backend.

    memory: bytes for charts; by default what the backend has to spare, and not more than
        pays.
    """
    if backend.name == "cuda":
        from .cuda import CudaCky

        return CudaCky.of(backend, rules, memory)
    if backend.name == "cpu":
        from .cpu import CpuCky

        return CpuCky.of(backend, rules, memory)
    from .ref import ReferenceCky

    return ReferenceCky(rules) if memory is None else ReferenceCky(rules, memory)
