"""CKY parsing with weights: numbers of parses, probabilities, best parses; string by string."""

from __future__ import annotations

from kernels.backend import Backend

from ..rules import Rules
from .engine import Kind, WeightedCky, Weights
from .primes import MAX_PRIMES, primes, primes_needed

__all__ = [
    "MAX_PRIMES",
    "Kind",
    "WeightedCky",
    "Weights",
    "primes",
    "primes_needed",
    "weighted_for",
]


# As in kernels.cky.
_WORTH = 2e9


def weighted_for(backend: Backend, rules: Rules, memory: int | None = None) -> WeightedCky:
    """The engine of a backend.

    memory: bytes for charts, on each device; by default what the backend has to spare, and
        not more than pays.
    """
    if backend.name == "cuda":
        from kernels.several import SeveralDevices

        from .cuda import CudaWeighted
        from .several import SeveralWeighted

        if isinstance(backend, SeveralDevices):
            engines = [weighted_for(one, rules, memory) for one in backend.backends]
            return SeveralWeighted(engines, worth=_WORTH)
        return CudaWeighted.of(backend, rules, memory)
    if backend.name == "cpu":
        from .cpu import CpuWeighted

        return CpuWeighted.of(backend, rules, memory)
    from .ref import ReferenceWeighted

    return ReferenceWeighted(rules) if memory is None else ReferenceWeighted(rules, memory)
