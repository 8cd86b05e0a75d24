"""CKY parsing with weights: numbers of parses, probabilities, best parses; string by string."""

from __future__ import annotations

from kernels.targets.contract import Target

from ..rules import Rules
from .contract import WeightedCky
from .primes import MAX_PRIMES, primes, primes_needed
from .semirings import INSIDE, VITERBI, Semiring
from .tables import Weights

__all__ = [
    "INSIDE",
    "MAX_PRIMES",
    "VITERBI",
    "Semiring",
    "WeightedCky",
    "Weights",
    "primes",
    "primes_needed",
    "weighted_for",
]


def weighted_for(target: Target, rules: Rules, memory: int | None = None) -> WeightedCky:
    """Return the engine that computes weighted parses on a target.

    memory: bytes for charts, on each device; by default what the target has to spare, and
        not more than pays.
    """
    from kernels.targets.cpu import CpuTarget
    from kernels.targets.reference import ReferenceTarget
    from kernels.targets.several import SeveralDevices

    if isinstance(target, CpuTarget):
        from .cpu.engine import CpuWeighted

        return CpuWeighted.of(target, rules, memory)
    if isinstance(target, ReferenceTarget):
        from .ref import ReferenceWeighted

        return ReferenceWeighted(rules) if memory is None else ReferenceWeighted(rules, memory)
    if isinstance(target, SeveralDevices):
        from ..costs import WEIGHTED_PART_COSTS
        from .several import SeveralWeighted

        engines = [weighted_for(one, rules, memory) for one in target.backends]
        return SeveralWeighted(engines, worth=WEIGHTED_PART_COSTS.worth)
    from .cuda.engine import CudaWeighted

    return CudaWeighted.of(target, rules, memory)
