"""Choose how universes are folded (kernels/life/cpu/folded.hpp): pure functions of sizes."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from kernels.life.costs import FOLD_COSTS, FoldCosts

STRIPS = 32  # the width is a multiple of so many cells


class FoldPlan(NamedTuple):
    """Parameters of a folded run, in the order in which compiled code takes them.

    pieces: the universe is cut into. halo: rows that they have of each other, 0 where one piece is
    the whole universe. stretch: generations between two looks whether to go on, and at which halos
    are renewed.
    """

    pieces: int
    halo: int
    stretch: int


@lru_cache(maxsize=256)
def choose_fold(
    width: int,
    height: int,
    torus: bool,
    generations: int,
    vector_bits: int,
    cache_bytes: int,
    threads: int,
    costs: FoldCosts = FOLD_COSTS,
) -> FoldPlan | None:
    """Return how a universe is best folded for a run of `generations`; None where it cannot be, or
    where passes over its rows are quicker.

    cache_bytes: of the level 2 cache of one core, 7/8 of which one piece may take, and of
    several each the half.
    """
    lanes = vector_bits // 32
    if width % STRIPS or width // STRIPS * vector_bits // 8 > cache_bytes // 4:
        return None
    pieces = 1
    if generations >= costs.several:
        pieces = max(1, min(threads, height // costs.rows_each))
    halo = 0
    if pieces > 1 or height % lanes:
        if pieces == 1 and not torus:
            return None  # its lower edge would be within a band
        halo = min(costs.halo, height // pieces)
    rows = -(-(-(-height // pieces) + 2 * halo) // lanes)
    part = 7 if pieces == 1 else 4
    if 2 * (rows | 1) * (width // STRIPS) * vector_bits // 8 > cache_bytes * part // 8:
        return None
    at_once = max(1, (vector_bits << 21) // (width * height))  # some milliseconds
    return FoldPlan(pieces, halo, min(halo, at_once) if halo else at_once)


def most_folded(width: int, height: int, vector_bits: int) -> int:
    """Return how many generations to make at most in one call: some hundredths of a second's."""
    return max(1, (vector_bits << 25) // (width * height))
