"""Enumerate small semigroups in one call of the extension, alone or by the thousand."""

from __future__ import annotations

import functools
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels.targets.cpu import CpuTarget, levels

from ..contract import EnumerationProblem, Enumerator, NumberArray, ProductCounts, all_points
from ..counts import MOST_POINTS, SemigroupCounts
from ..hashing import HashKey, row_stride
from ..maps import Maps

try:
    from kernels import _cpu
except ImportError:
    _cpu = None  # type: ignore[assignment]

# What has more generators, numbers, products of the two, or bytes of maps goes to the engine, which
# finds all anew: up to so many it takes some milliseconds.
MOST_LETTERS, MOST_NUMBERS, MOST_PRODUCTS, MOST_BYTES = 64, 1 << 16, 1 << 20, 1 << 22


def enumerate_small(problem: EnumerationProblem) -> SmallEnumerator | None:
    """Enumerate all of a problem on whole maps, if it is small; None where it is not.

    Rows are compared, whatever problem.compare says. Takes microseconds, and some milliseconds at
    most, which is why nothing can stop it. Returns None without the extension, too.
    """
    letters, degree = problem.generators.shape
    if degree > MOST_POINTS or letters > MOST_LETTERS or _cpu is None:
        return None
    if problem.points is not all_points(degree) and not problem.whole:
        return None
    level = _level()
    if level is None:
        return None
    most = min(MOST_NUMBERS, MOST_PRODUCTS // letters, MOST_BYTES // degree)
    try:
        found = _cpu.semigroup_small(level, problem.generators, problem.monoid, most)
    except MemoryError:
        return None  # and the engine makes do with what there is
    return None if found is None else SmallEnumerator(problem, *found)


@functools.cache
def _level() -> str | None:
    available = levels()
    return available[-1] if available else None


class SmallEnumerator(Enumerator):
    """Holds a finished enumeration, its arrays packed one after the other.

    numbers: how many there are. computed: products of maps. packed: starts, first, suffix,
    prefix, last, right, left as uint32, then the maps as uint8, as the extension returns them.
    """

    def __init__(
        self, problem: EnumerationProblem, numbers: int, computed: int, packed: bytes
    ) -> None:
        # What else an Enumerator has is made when it is asked for: most are only counted.
        self.problem, self.size = problem, numbers
        self._computed, self._packed = computed, packed

    @property
    def expanded(self) -> int:  # type: ignore[override]
        """Count of the numbers whose products are known: all."""
        return self.size

    @property
    def left_known(self) -> int:  # type: ignore[override]
        """Count of the numbers whose products with generators on the left are known: all."""
        return self.size

    @property
    def nbytes(self) -> int:  # type: ignore[override]
        """Bytes of the arrays."""
        return len(self._packed)

    @cached_property
    def starts(self) -> list[int]:  # type: ignore[override]
        """Numbers at which levels begin, see Enumerator."""
        levels: list[int] = self._words[: len(self._words) - self._length].tolist()
        return levels

    @cached_property
    def counts(self) -> ProductCounts:  # type: ignore[override]
        """Products so far, see Enumerator."""
        deduced = self.size * self.problem.letters - self._computed
        return ProductCounts(self._computed, deduced, 3 * self._computed * self.problem.degree)

    @property
    def _length(self) -> int:
        """Length of the arrays of words and graphs together."""
        return self.size * (4 + 2 * self.problem.letters)

    @property
    def _words(self) -> NumberArray:
        """Levels, words and graphs, uint32."""
        return np.frombuffer(self._packed, np.uint32, self._maps_offset // 4)

    @property
    def _maps_offset(self) -> int:
        return len(self._packed) - self.size * self.problem.degree

    @property
    def _maps(self) -> Maps:
        """Maps of all numbers: (numbers, degree), read-only."""
        images: Maps = np.frombuffer(self._packed, np.uint8, offset=self._maps_offset)
        return images.reshape(self.size, self.problem.degree)

    @cached_property
    def _places(self) -> dict[bytes, int]:
        begin = int(not self.problem.monoid)  # the empty word is no element
        return {row.tobytes(): e for e, row in enumerate(self._maps[begin:], begin)}

    def expand(self, most: int) -> None:
        """Raise ValueError: there is nothing to expand."""
        raise ValueError("nothing to expand")

    def array(self, name: str, start: int = 0, stop: int | None = None) -> npt.NDArray[Any]:
        """Return a copy of a part of one of the tables, see Enumerator.array()."""
        if name == "hashes":
            problem = self.problem
            stride = row_stride(problem.width, problem.generators.itemsize)
            key = HashKey.make(stride, problem.seed, problem.hash_bits)
            return key.hashes(self._maps[start:stop])
        tables = self._words[-self._length :]
        if name in ("first", "suffix", "prefix", "last"):
            place = ("first", "suffix", "prefix", "last").index(name)
            return tables[: 4 * self.size].reshape(4, -1)[place, start:stop].copy()
        graphs = tables[4 * self.size :].reshape(2, self.size, self.problem.letters)
        return graphs[("right", "left").index(name), start:stop].copy()

    def maps(self, numbers: npt.NDArray[np.integer[Any]]) -> Maps:
        """Return the whole maps of numbers, see Enumerator.maps()."""
        outside = (numbers < 0) | (numbers >= self.size)
        if outside.any():
            raise IndexError(f"there is no number {numbers[outside.argmax()]}")
        maps: Maps = self._maps[numbers]
        return maps

    def positions(self, maps: Maps) -> npt.NDArray[np.int64]:
        """Return the numbers of whole maps, see Enumerator.positions()."""
        problem = self.problem
        if maps.shape[1:] != (problem.degree,) or maps.dtype != problem.generators.dtype:
            raise ValueError(f"{maps.dtype} {maps.shape} are no maps of {problem.degree} points")
        found = (self._places.get(row.tobytes(), -1) for row in maps)
        return np.fromiter(found, np.int64, len(maps))

    def differ(
        self, words: NumberArray, letters: NumberArray, others: NumberArray
    ) -> tuple[int, int] | None:
        """Find where products are not what they should be, see Enumerator.differ()."""
        if (letters >= self.problem.letters).any():
            raise IndexError(f"there is no generator {letters.max()}")
        unequal = self.problem.generators[letters[:, None], self.maps(words)] != self.maps(others)
        failing = np.flatnonzero(unequal.any(axis=1))
        return (int(failing[0]), int(unequal[failing[0]].argmax())) if failing.size else None


def count_small(target: CpuTarget, sets: Maps, monoid: bool, most: int) -> SemigroupCounts:
    """Count the elements of many semigroups, see kernels.transformations.counts."""
    assert _cpu is not None
    counts = SemigroupCounts(*(np.empty(len(sets), np.int32) for _ in range(3)))
    _cpu.semigroup_counts(
        *(target.level, sets, monoid, most + (not monoid)),
        *(counts.sizes, counts.idempotents, counts.longest, target.threads),
    )
    return counts
