"""Deal the strings of a batch to groups and parts: pure functions of their lengths."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .batch import Indices
from .costs import PART_COSTS, PartCosts

Piece = tuple[int, int]  # strings start .. stop - 1

_SHARE = 2  # of what is left a part is this fraction of a worker's even share


@dataclass(frozen=True, eq=False)
class Groups:
    """Holds all strings that are not empty, shortest first, cut into groups.

    order: int64, numbers of strings; those of equal length in the order of the batch.
    bounds: int64 (groups + 1): group g is order[bounds[g] : bounds[g + 1]], never empty.
    longest: int64 (groups,): length of the longest string of each, which is its last.
    """

    order: Indices
    bounds: Indices
    longest: Indices

    def __len__(self) -> int:
        return self.longest.size


def groups(lengths: Indices, strings: int) -> Groups:
    """Return groups of so many strings each; only the first, the cheapest, may have fewer."""
    order = _ascending(lengths)
    order = order[np.searchsorted(lengths, 0, "right", order) :]
    bounds = order.size - strings * np.arange(-(-order.size // strings), -1, -1)
    bounds[0] = 0
    return Groups(order, bounds, lengths[order[bounds[1:] - 1]])


def _ascending(lengths: Indices) -> Indices:
    if (lengths[1:] >= lengths[:-1]).all():
        return np.arange(lengths.size)
    if lengths.max() < 1 << 16:  # numpy sorts these by radix
        return np.argsort(lengths.astype(np.uint16), kind="stable")
    return np.argsort(lengths, kind="stable")


def parts(lengths: Indices, workers: int, least: int, costs: PartCosts = PART_COSTS) -> list[Piece]:
    """Return parts for so many workers, in order: large ones first, small ones last.

    One that is slower, or has got more work than was thought, takes fewer of them; in
    the end none waits for long for another. Costs are those of the charts, n**3.

    least: typical strings that are worth a part.
    """
    if lengths.size <= least:
        return [(0, lengths.size)] if lengths.size else []
    cost = _costs(lengths, costs)
    whole = cost[lengths.size]
    floor = whole * min(1.0, least / lengths.size)
    found, start = [], 0
    while start < lengths.size:
        left = whole - cost[start]
        stop = lengths.size
        if left > 1.5 * floor:
            # Whole multiples: what keeps an engine busy takes as long as a little more of it.
            share = max(1, round(left / (_SHARE * workers * floor))) if floor else 1
            stop = max(start + 1, bisect_right(cost, cost[start] + share * floor) - 1)
        found.append((start, stop))
        start = stop
    return found


def _costs(lengths: Indices, costs: PartCosts) -> Any:
    """Return a sequence of what strings 0 .. s - 1 cost."""
    longest = int(lengths.max())
    if longest == lengths.min():
        return range(lengths.size + 1)
    if longest < lengths.size:
        cost = _cost(np.arange(longest + 1), costs)[lengths]
    else:
        cost = _cost(lengths, costs)
    return np.concatenate(([0.0], np.cumsum(cost)))


def _cost(lengths: Indices, costs: PartCosts) -> npt.NDArray[np.float64]:
    n = lengths.astype(np.float64)
    return n * (n + 1) * (n + costs.token) + 1


def worth_a_part(lengths: Indices, rules: int, worth: float) -> int:
    """Return how many strings have so many split points, times rules."""
    if not lengths.size or not worth:
        return 1
    shortest, longest = float(lengths.min()), float(lengths.max())
    cubes = longest**3  # of most batches: all are as long
    if shortest < longest:
        cubes = float((lengths.astype(np.float64) ** 3).mean())
    return int(worth / max(1.0, cubes / 6 * rules)) + 1
