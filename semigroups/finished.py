"""Answer for finished enumerations that no engine has: in a file, or in arrays that were copied."""

from __future__ import annotations

import contextlib
import threading
from bisect import bisect_right
from contextlib import AbstractContextManager
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from kernels.transformations import CayleyTables, EnumerationProblem, Enumerator, Maps, NumberArray
from kernels.transformations.hashing import HashKey, row_stride
from kernels.transformations.tables import check_starts, check_tables

from .archive import Archive, check_room

_ONE_BY_ONE = 64  # words that are followed one after the other before it pays to have all


class ArraySource(Protocol):
    """Anything that has the arrays of tables."""

    def array(self, name: str, start: int = 0, stop: int | None = None) -> npt.NDArray[Any]:
        """Return a part of one of CayleyTables.ARRAYS."""


class TablesSource(ArraySource, Protocol):
    """Anything that an enumeration can be read from, as an Archive."""

    def errors(self) -> AbstractContextManager[None]:
        """Make errors that are raised in the block say where the contradiction was read."""


class CopiedTables:
    """Gives the arrays of tables that are in memory."""

    def __init__(self, tables: CayleyTables) -> None:
        self._tables = tables

    def array(self, name: str, start: int = 0, stop: int | None = None) -> npt.NDArray[Any]:
        """Return a view of a part of an array."""
        array: npt.NDArray[Any] = getattr(self._tables, name)
        return array[start:stop]

    def errors(self) -> AbstractContextManager[None]:
        """Leave errors as they are."""
        return contextlib.nullcontext()


def follow(source: ArraySource, starts: list[int], letters: int, number: int) -> list[int]:
    """Return the word of a number, with a few reads a letter, each of them checked.

    starts: as in CayleyTables, checked. letters: how many generators there are. Raises
    ValueError where what is read is no word.
    """
    word: list[int] = []
    length = bisect_right(starts, number) - 1
    while number:
        [letter] = source.array("first", number, number + 1).tolist()
        [number] = source.array("suffix", number, number + 1).tolist()
        length -= 1
        if letter >= letters:
            raise ValueError("first names a generator that is not there")
        if not starts[length] <= number < starts[length + 1]:
            raise ValueError("a suffix is not of the level before")
        word.append(letter)
    return word


class _Index(NamedTuple):
    """Sorts numbers by their hashes, the first halves before the second."""

    numbers: npt.NDArray[np.int64]
    first: npt.NDArray[np.uint64]
    second: npt.NDArray[np.uint64]


class Finished(Enumerator):
    """Reads a finished enumeration as far as it is asked for.

    Parts of arrays are as the source has them. Before whole arrays are handed out, which are then
    kept, all tables are checked, once: see check_tables(). positions() believes the hashes, as
    all believes the products: who can seal a file anew could as well have left elements out. A
    map that is found is compared.
    """

    def __init__(
        self, problem: EnumerationProblem, starts: list[int], source: TablesSource, size: int
    ) -> None:
        check_starts(starts, size, size)
        super().__init__(problem, size, size, starts, size, size)
        self._source, self.memory = source, problem.memory
        self._lock = threading.RLock()
        self._arrays: dict[str, npt.NDArray[Any]] = {}

    @classmethod
    def of(cls, archive: Archive, memory: int = 0) -> Finished:
        """Open what an archive holds. Raises StoredError where it cannot be such an enumeration."""
        told = archive.summary
        with archive.errors():
            problem = told.problem(archive.generators, archive.points, memory)
            size, letters = told.size, problem.letters
            shapes = dict.fromkeys(("right", "left"), (size, letters)) | {"hashes": (size, 2)}
            for name in CayleyTables.ARRAYS:
                expected = shapes.get(name, (size,))
                if archive.shape(name) != expected:
                    raise ValueError(f"{name} is {archive.shape(name)}, not {expected}")
            return cls(problem, told.starts, archive, size)

    def expand(self, most: int) -> None:
        """Raise ValueError: there is nothing to expand."""
        raise ValueError("nothing to expand")

    def array(self, name: str, start: int = 0, stop: int | None = None) -> npt.NDArray[Any]:
        """Return a part of one of the tables; whole ones are checked, all of them, and kept."""
        with self._lock:
            if name in self._arrays:
                return self._arrays[name][start:stop]
            if (start, stop) == (0, None) and name != "hashes":
                self._check()
                return self._arrays[name]
        return self._source.array(name, start, stop)

    def _check(self) -> None:
        """Read all and check it; keep it, but for the hashes."""
        source = self._source
        if isinstance(source, Archive):
            check_room(source, self.memory)
        arrays = {name: source.array(name) for name in CayleyTables.ARRAYS}
        if isinstance(source, Archive):
            with source.errors():
                check_tables(self.problem, CayleyTables(self.starts, **arrays))
        del arrays["hashes"]
        for array in arrays.values():
            array.setflags(write=False)
        self._arrays = arrays
        self.nbytes = sum(array.nbytes for array in arrays.values())

    def word(self, number: int) -> list[int]:
        """Return the word of a number; only what is needed for it is read."""
        with self._source.errors():
            return follow(self, self.starts, self.problem.letters, number)

    def maps(self, numbers: npt.NDArray[np.integer[Any]]) -> Maps:
        """Return the whole maps of numbers (count, degree). Raises IndexError."""
        outside = (numbers < 0) | (numbers >= self.size)
        if outside.any():
            raise IndexError(f"there is no number {numbers[outside.argmax()]}")
        problem = self.problem
        found = np.empty((len(numbers), problem.degree), problem.generators.dtype)
        found[:] = np.arange(problem.degree)
        if len(numbers) <= _ONE_BY_ONE and not self._arrays:
            for images, number in zip(found, numbers.tolist(), strict=True):
                for letter in self.word(number):
                    images[:] = problem.generators[letter][images]
            return found
        first, suffix = self.array("first"), self.array("suffix")
        places, on = np.array(numbers, np.int64), np.flatnonzero(numbers)
        while on.size:
            found[on] = problem.generators[first[places[on]][:, None], found[on]]
            places[on] = suffix[places[on]]
            on = on[places[on] != 0]
        return found

    def positions(self, maps: Maps) -> npt.NDArray[np.int64]:
        """Return the numbers of whole maps, see Enumerator.positions()."""
        problem = self.problem
        if maps.shape[1:] != (problem.degree,) or maps.dtype != problem.generators.dtype:
            raise ValueError(f"{maps.dtype} {maps.shape} are no maps of {problem.degree} points")
        rows = maps[:, problem.points]
        key = HashKey.make(
            row_stride(problem.width, maps.itemsize), problem.seed, problem.hash_bits
        )
        hashes, index = key.hashes(rows), self._index
        begin = np.searchsorted(index.first, hashes[:, 0], side="left")
        end = np.searchsorted(index.first, hashes[:, 0], side="right")
        result = np.full(len(maps), -1, np.int64)
        for k in np.flatnonzero(begin < end).tolist():
            a, b = int(begin[k]), int(end[k])
            place = a + int(np.searchsorted(index.second[a:b], hashes[k, 1]))
            if place < b and index.second[place] == hashes[k, 1]:
                result[k] = index.numbers[place]
        there = np.flatnonzero(result >= 0)
        same = (self.maps(result[there]) == maps[there]).all(axis=1)
        result[there[~same]] = -1
        return result

    def differ(
        self, words: NumberArray, letters: NumberArray, others: NumberArray
    ) -> tuple[int, int] | None:
        """Find where products are not what they should be, see Enumerator.differ()."""
        products = self.problem.generators[letters[:, None], self.maps(words)]
        unequal = products != self.maps(others)
        failing = np.flatnonzero(unequal.any(axis=1))
        return (int(failing[0]), int(unequal[failing[0]].argmax())) if failing.size else None

    @cached_property
    def _index(self) -> _Index:
        begin = int(not self.problem.monoid)  # the empty word is no element
        hashes = self._source.array("hashes", begin, None)
        first, second = np.ascontiguousarray(hashes[:, 0]), np.ascontiguousarray(hashes[:, 1])
        order = np.argsort(first, kind="stable")
        if (first[order][1:] == first[order][:-1]).any():
            order = np.lexsort((second, first))
        first, second = first[order], second[order]
        if ((first[1:] == first[:-1]) & (second[1:] == second[:-1])).any():
            with self._source.errors():
                raise ValueError("two elements have the same hash")
        return _Index(order + begin, first, second)
