"""Enumeration of semigroups of maps."""

from __future__ import annotations

from kernels.backend import Backend

from .engine import (
    NONE,
    Counts,
    Enumerator,
    HashCollisionError,
    Numbers,
    Problem,
    Tables,
    Transf,
)
from .maps import MAX_DEGREE, Map, Maps, as_maps, image_dtype

__all__ = [
    "MAX_DEGREE",
    "NONE",
    "Counts",
    "Enumerator",
    "HashCollisionError",
    "Map",
    "Maps",
    "Numbers",
    "Problem",
    "Tables",
    "Transf",
    "as_maps",
    "image_dtype",
    "transf_for",
]


def transf_for(backend: Backend) -> Transf:
    """The engine of a backend."""
    if backend.name == "cuda":
        from .cuda import CudaTransf

        return CudaTransf.of(backend)
    if backend.name == "cpu":
        from .cpu import CpuTransf

        return CpuTransf.of(backend)
    from .reference import ReferenceTransf

    return ReferenceTransf()
