"""Costs of work on cells, measured on one machine (anew: `python -m benchmarks.costs numbers`)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BandCosts:
    """Costs of sharing rows out to threads. words: of a band, which take a fraction of a
    millisecond: many times as long as handing them to a thread."""

    words: int


BAND_COSTS = BandCosts(words=1 << 18)
