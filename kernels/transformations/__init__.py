"""Enumeration of the semigroups that transformations generate: maps of a finite set into itself."""

from __future__ import annotations

from kernels.targets.contract import Target

from .contract import (
    NONE,
    CayleyTables,
    EnumerationProblem,
    Enumerator,
    HashCollisionError,
    NumberArray,
    ProductCounts,
    SemigroupEngine,
    TooLittleMemoryError,
    all_points,
)
from .maps import MAX_DEGREE, Map, Maps, as_maps, image_dtype

__all__ = [
    "MAX_DEGREE",
    "NONE",
    "CayleyTables",
    "EnumerationProblem",
    "Enumerator",
    "HashCollisionError",
    "Map",
    "Maps",
    "NumberArray",
    "ProductCounts",
    "SemigroupEngine",
    "TooLittleMemoryError",
    "all_points",
    "as_maps",
    "engine_for",
    "image_dtype",
]


def engine_for(target: Target) -> SemigroupEngine:
    """Return the engine that enumerates on a target. Raises TypeError where there is none."""
    from kernels.targets.cpu import CpuTarget

    if isinstance(target, CpuTarget):
        from .cpu.engine import CpuSemigroupEngine

        return CpuSemigroupEngine(target)
    from kernels.targets.reference import ReferenceTarget

    if isinstance(target, ReferenceTarget):
        from .ref import ReferenceSemigroupEngine

        return ReferenceSemigroupEngine()
    from .cuda.engine import CudaSemigroupEngine

    return CudaSemigroupEngine.of(target)
