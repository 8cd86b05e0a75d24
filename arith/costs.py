"""Costs of arithmetic, measured on one machine (anew: `python -m benchmarks.costs gpu`)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RedundantCosts:
    """Costs of additions without carries. gpu_bits: of a number from which on a GPU adds, as
    a launch costs little of it."""

    gpu_bits: int


REDUNDANT_COSTS = RedundantCosts(gpu_bits=1 << 25)  # of an H200: 4 MiB
