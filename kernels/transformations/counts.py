"""Count the elements of many small semigroups at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kernels.targets.contract import Target
from kernels.targets.cpu import CpuTarget

from .contract import EnumerationProblem, all_points
from .maps import Maps
from .ref import ReferenceSemigroupEngine

Counts = npt.NDArray[np.int32]
MOST_POINTS = 256  # an image is a byte
MOST_LETTERS = 1 << 16
MOST_ELEMENTS = (1 << 20) - 1


@dataclass(frozen=True, eq=False)
class SemigroupCounts:
    """Holds what was counted of each of many semigroups: int32 (semigroups,) each.

    sizes: elements. idempotents: elements e with e e = e. longest: letters of the longest of the
    elements' least words. All three are -1 for a semigroup of more elements than the limit.
    """

    sizes: Counts
    idempotents: Counts
    longest: Counts


def count_many(target: Target, sets: Maps, monoid: bool, limit: int) -> SemigroupCounts:
    """Enumerate the semigroup of each set of generators, and count what it has.

    sets: uint8 (semigroups, generators, degree), contiguous, images below the degree, which is 1
    to MOST_POINTS; there is at least one generator. limit: 1 to MOST_ELEMENTS. Whatever the
    target, numbers are the same. Raises TypeError for a target without an engine for it.
    """
    if isinstance(target, CpuTarget):
        from .cpu.small import count_small

        return count_small(target, sets, monoid, limit)
    if not target.is_reference:
        raise TypeError(f"many semigroups are counted on the CPU: {target.describe()}")
    rows = [_counted(generators, monoid, limit) for generators in sets]
    table = np.array(rows, np.int32).reshape(len(sets), 3)
    return SemigroupCounts(*(np.ascontiguousarray(column) for column in table.T))


def _counted(generators: Maps, monoid: bool, limit: int) -> tuple[int, int, int]:
    """Return what is counted of one, by the reference."""
    problem = EnumerationProblem(generators, all_points(generators.shape[1]), monoid=monoid)
    enumerator, begin = ReferenceSemigroupEngine().start(problem), int(not monoid)
    while not enumerator.finished:
        enumerator.expand(1)
        if enumerator.size - begin > limit:
            return -1, -1, -1
    maps = enumerator.maps(np.arange(begin, enumerator.size))
    idempotents = (np.take_along_axis(maps, maps.astype(np.int64), axis=1) == maps).all(axis=1)
    return len(maps), int(np.count_nonzero(idempotents)), len(enumerator.starts) - 2
