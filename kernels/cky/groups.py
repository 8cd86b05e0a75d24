"""How the strings of a batch are dealt to groups: strings of about equal lengths together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .batch import Indices


@dataclass(frozen=True, eq=False)
class Groups:
    """All strings that are not empty, shortest first, cut into groups.

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
    """Groups of so many strings each; only the first, the cheapest, may have fewer."""
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
