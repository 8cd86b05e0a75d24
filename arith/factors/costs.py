"""Costs of shared factors, measured on one machine (anew: `python -m benchmarks.costs numbers`)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FactorCosts:
    """Costs of the two ways to find moduli that share a factor.

    Pairs grow with the square of the length, trees hardly faster than it.

    pair: seconds of a pair of 1024 bits on a GPU (benchmarks/gcd_device.py).
    bit: seconds of a bit on a level of the trees on one core (benchmarks/factors.py).
    parallel_bits: below them an operation is over before another thread has taken the GIL.
    """

    pair: float
    bit: float
    parallel_bits: int


COSTS = FactorCosts(pair=0.35e-9, bit=1.0e-8, parallel_bits=1 << 14)  # of an H200 and a Xeon
