"""Enumerate by plain Python and numpy: every product is computed, rows are found in a dict."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels.signals import undisturbed
from kernels.targets.memory import recent_memory

from .contract import (
    NONE,
    CayleyTables,
    EnumerationProblem,
    Enumerator,
    HashCollisionError,
    NumberArray,
    SemigroupEngine,
)
from .hashing import HashKey, row_stride
from .maps import Map, Maps
from .tables import check_tables

_WORD = ("first", "suffix", "prefix", "last")


class ReferenceSemigroupEngine(SemigroupEngine):
    """Enumerates by the most obvious code, to hold the other engines to."""

    name = "reference"

    def start(
        self, problem: EnumerationProblem, tables: CayleyTables | None = None
    ) -> ReferenceEnumerator:
        """Begin an enumeration, or go on from tables, see SemigroupEngine.start()."""
        return ReferenceEnumerator(problem, tables)

    @property
    def memory(self) -> int:
        """Bytes that an enumeration may take by default: half of what the host has to spare."""
        return recent_memory() // 2


class ReferenceEnumerator(Enumerator):
    """Keeps all rows, and lists of Python's ints."""

    def __init__(self, problem: EnumerationProblem, tables: CayleyTables | None) -> None:
        super().__init__(problem)
        stride = row_stride(problem.width, problem.generators.itemsize)
        self._key = HashKey.make(stride, problem.seed, problem.hash_bits)
        self._empty: Map = problem.points.astype(problem.generators.dtype)
        self._rows: list[Map] = []
        self._places: dict[bytes, int] = {}
        self._hashed: dict[bytes, int] = {}
        self._lists: dict[str, list[Any]] = {name: [] for name in CayleyTables.ARRAYS}
        self.nbytes = problem.generators.nbytes
        if tables is None:
            self._add(self._empty, NONE, NONE, NONE, NONE, findable=problem.monoid)
        else:
            check_tables(problem, tables)
            self._restore(tables)
        self._measure()
        self._check_memory(0)

    def expand(self, most: int) -> None:
        """Multiply the next numbers by all generators, see Enumerator.expand()."""
        if most < 1 or self.finished:
            raise ValueError("nothing to expand")
        before = self.expanded
        for _ in range(min(most, self.waiting, 64)):
            try:
                with undisturbed():
                    self._expand_one()
                    self._measure()
            except (MemoryError, HashCollisionError):
                if self.expanded == before:
                    raise
                return  # the next call finds the same

    def array(self, name: str, start: int = 0, stop: int | None = None) -> npt.NDArray[Any]:
        """Return a copy of a part of one of the tables, see Enumerator.array()."""
        shape = {"right": (-1, self.problem.letters), "left": (-1, self.problem.letters)}
        shape["hashes"] = (-1, 2)
        dtype = np.uint64 if name == "hashes" else np.uint32
        part = self._lists[name][start:stop]
        width = shape.get(name, (-1,))[1:]
        return np.array(part, dtype).reshape((len(part), *width))

    def maps(self, numbers: npt.NDArray[np.integer[Any]]) -> Maps:
        """Return the whole maps of numbers, see Enumerator.maps()."""
        generators = self.problem.generators
        result: Maps = np.empty((len(numbers), self.problem.degree), generators.dtype)
        for images, number in zip(result, numbers.tolist(), strict=True):
            if not 0 <= number < self.size:
                raise IndexError(f"there is no number {number}")
            images[:] = np.arange(self.problem.degree)
            while number:
                images[:] = generators[self._lists["first"][number]][images]
                number = self._lists["suffix"][number]
        return result

    def positions(self, maps: Maps) -> npt.NDArray[np.int64]:
        """Return the numbers of whole maps, see Enumerator.positions()."""
        generators = self.problem.generators
        if maps.ndim != 2 or maps.shape[1] != self.problem.degree or maps.dtype != generators.dtype:
            raise ValueError(
                f"{maps.dtype} {maps.shape} are no maps of {self.problem.degree} points"
            )
        found = [self._places.get(row.tobytes(), -1) for row in maps[:, self.problem.points]]
        result = np.array(found, np.int64)
        known = np.flatnonzero(result >= 0)
        whole = self.maps(result[known])
        result[known[(whole != maps[known]).any(axis=1)]] = -1
        return result

    def differ(
        self, words: NumberArray, letters: NumberArray, others: NumberArray
    ) -> tuple[int, int] | None:
        """Find where products are not what they should be, see Enumerator.differ()."""
        for k, (word, letter, other) in enumerate(zip(words, letters, others, strict=True)):
            x, y = self.maps(np.array([word, other]))
            unequal = self.problem.generators[letter][x] != y
            if unequal.any():
                return k, int(unequal.argmax())
        return None

    def _expand_one(self) -> None:
        i = self.expanded
        known = self._lists
        # All is computed before anything is changed.
        rows = [images[self._rows[i]] for images in self.problem.generators]
        products: list[int] = []
        new: list[tuple[Map, int]] = []
        for g, row in enumerate(rows):
            place = self._find(row, [fresh for fresh, _ in new])
            if place == self.size + len(new):
                new.append((row, g))
            products.append(place)
        self._check_memory(len(new))
        for row, g in new:
            first = known["first"][i] if i else g
            suffix = known["right"][known["suffix"][i]][g] if i else 0
            self._add(row, first, suffix, i, g)
        known["right"].append(products)
        self.expanded += 1
        self.counts.computed += len(rows)
        self.counts.moved += (len(rows) + len(new) + 1) * self._empty.nbytes
        if self.expanded == self.starts[-1]:
            self._end_level()

    def _end_level(self) -> None:
        right, left = self._lists["right"], self._lists["left"]
        for i in range(self.starts[-2], self.starts[-1]):
            if i == 0:
                left.append(list(right[0]))
                continue
            prefix, last = self._lists["prefix"][i], self._lists["last"][i]
            left.append([right[q][last] for q in left[prefix]])
        self.left_known = self.starts[-1]
        if self.size > self.starts[-1]:
            self.starts.append(self.size)

    def _find(self, row: Map, fresh: list[Map]) -> int:
        place = self._places.get(row.tobytes())
        if place is not None:
            return place
        hashed = self._hash(row)
        for n, other in enumerate(fresh):
            if np.array_equal(other, row):
                return self.size + n
            if self._hash(other) == hashed:
                return self._collision(self.size + n)
        place = self._hashed.get(hashed)
        return self.size + len(fresh) if place is None else self._collision(place)

    def _collision(self, place: int) -> int:
        if self.problem.compare:
            raise HashCollisionError(f"a hash of 128 bits is that of element {place}, not its row")
        return place

    def _hash(self, row: Map) -> bytes:
        return self._key.hashes(row[None]).tobytes()

    def _add(
        self, row: Map, first: int, suffix: int, prefix: int, last: int, findable: bool = True
    ) -> None:
        number = len(self._rows)
        self._rows.append(row)
        hashed = self._key.hashes(row[None])
        if findable:
            self._places[row.tobytes()] = number
            self._hashed[hashed.tobytes()] = number
        entry = (first, suffix, prefix, last)
        for name, value in zip(_WORD, entry, strict=True):
            self._lists[name].append(value)
        self._lists["hashes"].append(hashed[0].tolist())
        self.size = number + 1

    def _restore(self, tables: CayleyTables) -> None:
        arrays = {name: getattr(tables, name).tolist() for name in CayleyTables.ARRAYS}
        rows = [self._empty]
        for prefix, last in zip(arrays["prefix"][1:], arrays["last"][1:], strict=True):
            rows.append(self.problem.generators[last][rows[prefix]])
        for number, row in enumerate(rows):
            first, suffix, prefix, last = (arrays[name][number] for name in _WORD)
            findable = number > 0 or self.problem.monoid
            self._add(row, first, suffix, prefix, last, findable)
        for name in ("right", "left"):
            self._lists[name] = arrays[name]
        if self._lists["hashes"] != arrays["hashes"]:
            raise ValueError("hashes are not those of the rows")
        self.expanded, self.left_known = len(arrays["right"]), len(arrays["left"])
        self.starts = list(tables.starts)

    def _check_memory(self, new: int) -> None:
        if self.nbytes + new * self._bytes_each > self.problem.memory:
            raise MemoryError("the memory given is full")
        if self.size + new > NONE:
            raise MemoryError("more than 2^32 - 2 elements")

    def _measure(self) -> None:
        self.nbytes = self.problem.generators.nbytes + self.size * self._bytes_each

    @property
    def _bytes_each(self) -> int:
        objects = 6 + 2 * self.problem.letters
        return 2 * self._empty.nbytes + objects * (sys.getsizeof(1 << 20) + 8) + 400
