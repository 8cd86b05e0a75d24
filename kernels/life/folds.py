"""Choose how universes are folded (kernels/life/cpu/folded.hpp): pure functions of sizes."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from kernels.life.contract import LifeShape
from kernels.life.costs import FOLD_COSTS, FoldCosts
from kernels.targets.cpu import Machine

STRIPS = 32  # that a universe is cut into: its least width


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
    shape: LifeShape, generations: int, machine: Machine, costs: FoldCosts = FOLD_COSTS
) -> FoldPlan | None:
    """Return how a universe is best folded for a run of `generations`; None where it cannot be, or
    where passes over its rows are quicker.

    One piece may take 7/8 of a core's level 2 cache, of several each the half.
    """
    width, height = shape.width, shape.height
    lanes, columns = machine.vector_bits // 32, -(-width // STRIPS)
    vector = machine.vector_bits // 8  # bytes
    if width < STRIPS or columns * vector > machine.cache_bytes // 4:
        return None
    pieces = 1
    if generations >= costs.several:
        pieces = max(1, min(machine.threads, height // costs.rows_each))
    halo = 0
    if pieces == 1 and height % lanes and not shape.torus:
        if height == 1:
            return None
        pieces = 2  # of one, the lower edge would be within a band
    if pieces > 1 or height % lanes:
        halo = min(costs.halo, height // pieces)
    rows = -(-(-(-height // pieces) + 2 * halo) // lanes)
    part = 7 if pieces == 1 else 4
    if 2 * (rows | 1) * columns * vector > machine.cache_bytes * part // 8:
        return None
    at_once = max(1, (machine.vector_bits << 21) // (width * height))  # some milliseconds
    return FoldPlan(pieces, halo, min(halo, at_once) if halo else at_once)


def most_folded(shape: LifeShape, machine: Machine) -> int:
    """Return how many generations to make at most in one call: some hundredths of a second's."""
    return max(1, (machine.vector_bits << 25) // (shape.width * shape.height))
