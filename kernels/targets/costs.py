"""Costs of a target whatever it computes (anew: `python -m benchmarks.costs gpu`)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StartCosts:
    """Costs of beginning with a GPU. seconds: until it has begun: its context, kernels from the
    cache."""

    seconds: float


START_COSTS = StartCosts(seconds=0.3)  # of an H200
