"""Define what an engine that enumerates semigroups of maps promises.

Numbers count the elements in shortlex order of their least words, from the empty word, which is
number 0 whether the semigroup is a monoid or not. An element's least word is prefix · last and
also first · suffix, where prefix and suffix are numbers too, and first and last generators.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, fields
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from .hashing import Hashes
from .maps import Maps

NONE = 2**32 - 1  # no number
NumberArray = npt.NDArray[np.uint32]

_FEW_POINTS = 1 << 12  # whose array is kept to compare with


class HashCollisionError(RuntimeError):
    """Raised where two rows that differ have the same hash: begin anew with another seed."""


class TooLittleMemoryError(MemoryError):
    """Raised where an enumeration cannot begin in the memory that is given to it.

    memory: bytes given. needed: bytes that it takes, 0 where they are not there, or nobody knows;
    some more may be needed in the end, as buffers grow with the memory given. elements: how many
    there are in the tables to go on from, 0 without tables.
    """

    def __init__(self, memory: int, needed: int, elements: int) -> None:
        self.memory, self.needed, self.elements = memory, needed, elements
        what = f"to go on from {elements:,} elements" if elements else "to begin"
        if needed:
            text = f"{needed:,} bytes are needed {what}, memory (--memory) is {memory:,}"
        else:
            text = f"memory (--memory), {memory:,} bytes, is too little {what}, or not there"
        super().__init__(text)

    def __reduce__(self) -> tuple[Any, ...]:
        """Take apart for a copy or pickle."""
        return type(self), (self.memory, self.needed, self.elements), vars(self)


@dataclass(frozen=True, eq=False)
class EnumerationProblem:
    """Holds what is to be enumerated, and how.

    generators: (m, degree), as as_maps() makes them. points: uint32 (width,), those whose
        images are a row: elements are told apart by their rows; all of them, in order, where
        it is to be certain without a proof that rows suffice.
    monoid: whether the identity is an element even if no product of generators equals it. If
        not, number 0 is only the empty word, and a product that is the identity another one.
    compare: settle equal hashes by comparing rows; else trust them.
    memory: bytes that all arrays together may take, those of the generators included.
    seed, hash_bits: of the HashKey; results do not depend on them.
    """

    generators: Maps
    points: NumberArray
    monoid: bool = True
    compare: bool = True
    memory: int = 4 << 30
    seed: int = 0
    hash_bits: int = 128

    @property
    def degree(self) -> int:
        """Number of points of a map."""
        return int(self.generators.shape[1])

    @property
    def letters(self) -> int:
        """Number of generators."""
        return int(self.generators.shape[0])

    @property
    def width(self) -> int:
        """Number of points whose images are a row."""
        return int(self.points.size)

    @property
    def whole(self) -> bool:
        """True if rows are whole maps."""
        if self.width != self.degree:
            return False
        every = all_points(self.degree)
        return self.points is every or bool(np.array_equal(self.points, every))


def all_points(degree: int) -> NumberArray:
    """Return the points 0 to degree - 1, read-only: of few points always the same array."""
    return _kept_points(degree) if degree <= _FEW_POINTS else _points(degree)


def _points(degree: int) -> NumberArray:
    points = np.arange(degree, dtype=np.uint32)
    points.flags.writeable = False
    return points


_kept_points = lru_cache(maxsize=16)(_points)


@dataclass(frozen=True, eq=False)
class CayleyTables:
    """Holds an enumeration, finished or not, in arrays of the host: enough to go on from.

    starts: numbers of level k, whose words have length k, are starts[k] … starts[k + 1] - 1;
        from the last entry on the level may not be complete. [0, 1] in the beginning.
    first, suffix, prefix, last: uint32 (size,), see above; NONE for the empty word's.
    right: uint32 (expanded, m), number i times generator g; left: uint32 (left_known, m), g
        times i. hashes: uint64 (size, 2), of the rows.
    """

    starts: list[int]
    first: NumberArray
    suffix: NumberArray
    prefix: NumberArray
    last: NumberArray
    right: NumberArray
    left: NumberArray
    hashes: Hashes

    ARRAYS = ("first", "suffix", "prefix", "last", "right", "left", "hashes")


@dataclass
class ProductCounts:
    """Counts what was done since the enumeration began, or since it went on from tables.

    computed: products of maps. deduced: those found in the graphs instead. moved: bytes of
    rows read and written, as the algorithm needs them, whatever caches hold.
    """

    computed: int = 0
    deduced: int = 0
    moved: int = 0

    def __iadd__(self, other: ProductCounts) -> ProductCounts:
        for each in fields(self):
            setattr(self, each.name, getattr(self, each.name) + getattr(other, each.name))
        return self


@dataclass
class Enumerator(ABC):
    """Enumerates one semigroup, step by step.

    size: how many numbers there are. expanded: those whose products with the generators are
        known, which are the first. starts: as in CayleyTables; the level under way is starts[-2] …
        starts[-1] - 1. When its last number is expanded the next one begins, that is
        starts.append(size), unless nothing new was found: then all is finished.
    left_known: numbers whose products with generators on the left are known: those of all
        levels before the one under way, starts[-2], or in the end all.
    kept: rows of numbers from this one on are in memory; those of others are computed from
        their words where they are needed.
    nbytes: taken now.
    """

    problem: EnumerationProblem
    size: int = 1
    expanded: int = 0
    starts: list[int] = field(default_factory=lambda: [0, 1])
    left_known: int = 0
    kept: int = 0
    nbytes: int = 0
    counts: ProductCounts = field(default_factory=ProductCounts)

    @property
    def finished(self) -> bool:
        """True if the products of all numbers are known, so that there are no more."""
        return self.expanded == self.size

    @property
    def waiting(self) -> int:
        """Count of the numbers of the level under way that are not expanded."""
        return self.starts[-1] - self.expanded

    @abstractmethod
    def expand(self, most: int) -> None:
        """Multiply the next numbers of the level under way, at least one and at most `most`.

        Takes some tenths of a second at most, but where a single product takes longer.
        Out of memory it leaves everything as it was, interrupted that or done. Raises
        MemoryError where what can be found does not fit in problem.memory, or there are more
        than 2^32 - 2 numbers; HashCollisionError; ValueError if most < 1 or all is finished.
        """

    def expand_on(self) -> None:
        """Multiply the next numbers, of several levels where these are small.

        Takes and raises what expand() does. Each call of an engine costs more than the few
        products of a small level.
        """
        self.expand(self.waiting)

    @abstractmethod
    def array(self, name: str, start: int = 0, stop: int | None = None) -> npt.NDArray[Any]:
        """Return a copy of a part of one of CayleyTables.ARRAYS."""

    @abstractmethod
    def maps(self, numbers: npt.NDArray[np.integer[Any]]) -> Maps:
        """Return the whole maps of numbers: (count, degree). Raises IndexError and MemoryError."""

    @abstractmethod
    def positions(self, maps: Maps) -> npt.NDArray[np.int64]:
        """Return the numbers of whole maps, -1 for maps that are not found so far: int64 (count,).

        maps: (count, degree), of the generators' dtype; images may be out of range. Without monoid,
        0 is never found. Raises ValueError for another shape or dtype.
        """

    @abstractmethod
    def differ(
        self, words: NumberArray, letters: NumberArray, others: NumberArray
    ) -> tuple[int, int] | None:
        """Find the least k where word[k] · letter[k] and other[k] are not the same map.

        words, others: numbers. letters: numbers of generators. Return k and the least point that
        the two send to different images, or None if all are equal. Raises IndexError where there
        is no such number or letter.
        """

    def tables(self) -> CayleyTables:
        """Return copies of all arrays, from which an enumeration can go on."""
        return CayleyTables(list(self.starts), *(self.array(name) for name in CayleyTables.ARRAYS))


class SemigroupEngine(ABC):
    """Begins enumerations on one target.

    Results, the numbers of elements among them, are the same on all, whatever memory there is
    and however many numbers are expanded at a time.
    """

    name: str

    @abstractmethod
    def start(self, problem: EnumerationProblem, tables: CayleyTables | None = None) -> Enumerator:
        """Begin an enumeration, or go on from tables of the same problem.

        The seed and hash_bits must be those that the tables were made with. Raises MemoryError,
        and ValueError where the tables contradict each other: nothing in them makes it crash.
        """

    @property
    @abstractmethod
    def memory(self) -> int:
        """Bytes that an enumeration may take here, if nobody says otherwise."""
