"""Find elements of a semigroup as far as they are asked for."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from bulkbits.plurals import many
from kernels.transformations import EnumerationProblem, Map, Maps

from .finished import Finished
from .running import CancelledError, EnumerationRunner, Progress
from .sequences import Word

_ITERATED = 1 << 20  # bytes of elements that are made at once
_FOLLOWED = 64  # words that are followed through a file before all are read


class Enumeration:
    """Answers what can be known of elements before all are found, and finds what is missing.

    runner: takes the steps. begin: the number, as engines count, of the first element: the empty
    word's is 0, and it may be no element. Element numbers count from there.
    """

    def __init__(self, runner: EnumerationRunner) -> None:
        self.runner = runner
        self.begin = int(not runner.problem.monoid)
        self._followed = 0

    @property
    def problem(self) -> EnumerationProblem:
        """Generators, and how their products are told apart by now."""
        return self.runner.problem

    def run(
        self,
        limit: int | None,
        seconds: float | None,
        progress: Callable[[Progress], None] | None,
    ) -> bool:
        """Go on, see Semigroup.run(); return whether the enumeration is finished."""
        if limit is not None and (limit != operator.index(limit) or limit < 1):
            raise ValueError(f"limit is a number of elements, not {limit}")
        most = None if limit is None else limit + self.begin
        return self.runner.run(most, seconds, progress) == "finished"

    def run_to_the_end(self) -> None:
        """Find all elements. Raises CancelledError where cancel() comes first."""
        if self.runner.run() == "cancelled":
            raise CancelledError(self.size)

    def reach(self, size: int) -> None:
        """Enumerate until so many elements are found, or all; raises as run_to_the_end()."""
        if self.runner.run(enough=size + self.begin) == "cancelled":
            raise CancelledError(self.size)

    @property
    def size(self) -> int:
        """Number of elements found so far."""
        runner = self.runner
        with runner.lock:
            return runner.found().size - self.begin if runner.begun else 0

    @property
    def levels(self) -> list[int]:
        """Number of elements found so far for each length of words."""
        with self.runner.lock:
            if not self.runner.begun:
                return []
            found = self.runner.found()
            bounds = [self.begin, *found.starts[1:], found.size]
        counts = [b - a for a, b in pairwise(bounds)]
        return counts if counts[-1] else counts[:-1]

    @property
    def certainty(self) -> str:
        """Short text on how elements are known to be different ones, see Semigroup.certainty."""
        problem = self.problem
        if not self.runner.begun:
            return "not enumerated"
        if problem.whole:
            hashes = f"by {problem.hash_bits}-bit hashes only"
            return "proved by comparing rows" if problem.compare else hashes
        points = many(problem.width, "point")
        rules = many(self.runner.rules, "rule")
        proof = f"proved by checking {rules}" if self.runner.proved else "not proved yet"
        return f"on the images of {points}, {proof}"

    def known(self, numbers: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Return element numbers as engines count them; those elements are found first."""
        array = np.asarray(numbers)
        if array.ndim != 1:
            raise TypeError(f"a row of numbers of elements is needed, not {array.shape}")
        if array.size and array.dtype.kind in "iu" and array.max() >= self.size:
            self.reach(int(array.max()) + 1)
        return checked_numbers(array, self.size) + self.begin

    def elements(self, numbers: npt.ArrayLike) -> Maps:
        """Return the elements of an array of numbers (count,): (count, degree)."""
        chosen = self.known(numbers)
        with self.runner.lock:
            maps: Maps = self.runner.found().maps(chosen)
        return maps

    def __iter__(self) -> Iterator[Map]:
        """Yield the elements in order, and find them on the way."""
        step = max(1, _ITERATED // self.problem.generators[0].nbytes)
        start = 0
        while True:
            self.reach(start + 1)
            stop = min(start + step, self.size)
            if start >= stop:
                return
            yield from self.elements(np.arange(start, stop))
            start = stop

    def word(self, number: npt.NDArray[np.int64]) -> Word | None:
        """Return the word of one number (1,), as known() has it, letter by letter.

        Return None where all elements are found, so that the words of all are to be had at once.
        """
        with self.runner.lock:
            found = self.runner.found()
            if isinstance(found, Finished) and self._followed < _FOLLOWED:
                self._followed += 1
                return tuple(found.word(int(number[0])))
            if found.finished:
                return None
            letters: list[int] = []
            [place] = number.tolist()
            while place:
                letters += found.array("first", place, place + 1).tolist()
                [place] = found.array("suffix", place, place + 1).tolist()
        return tuple(letters)

    def position(self, x: npt.ArrayLike) -> int | None:
        """Return the number of a map, None of what is no element; enumerate until it is found."""
        try:
            images = np.asarray(x)
        except ValueError:
            return None  # rows of several lengths
        if images.shape != (self.problem.degree,) or images.dtype.kind not in "iu":
            return None
        while True:
            finished = self.runner.finished
            [number] = self.positions(images[None]).tolist()
            if number >= 0:
                return int(number)
            if finished:
                return None
            self.reach(2 * self.size + 1)

    def positions(self, maps: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Return the numbers (count,) of maps (count, degree), -1 of what is not found so far.

        Raises ValueError where these are no maps of that degree.
        """
        degree = self.problem.degree
        images = np.asarray(maps)
        if images.ndim != 2 or images.shape[1] != degree or images.dtype.kind not in "iu":
            raise ValueError(
                f"maps are integers (count, {degree}), not {images.dtype} {images.shape}"
            )
        result = np.full(len(images), -1, np.int64)
        fits = np.flatnonzero(((images >= 0) & (images < degree)).all(axis=1))
        chosen = images[fits].astype(self.problem.generators.dtype)
        with self.runner.lock:
            places = self.runner.found().positions(chosen)
        result[fits] = np.where(places < 0, -1, places - self.begin)
        return result


class NoElementError(IndexError):
    """Raised where there is no element of number `index`: there are `size`, from 0."""

    def __init__(self, index: int, size: int) -> None:
        numbers = "numbers are 0 or more" if index < 0 else f"there are {size}, from 0"
        super().__init__(f"there is no element {index}: {numbers}")
        self.index, self.size = index, size

    def __reduce__(self) -> tuple[Any, ...]:
        """Take apart for a copy or pickle."""
        return type(self), (self.index, self.size), vars(self)


def checked_numbers(numbers: npt.ArrayLike, size: int) -> npt.NDArray[np.int64]:
    """Return numbers of elements as int64, checked to be integers from 0 to size - 1.

    Raises NoElementError and TypeError.
    """
    array = np.asarray(numbers)
    if array.size == 0:
        return np.empty(array.shape, np.int64)
    if array.dtype.kind not in "iu":
        raise TypeError(f"numbers of elements are integers, not {array.dtype}")
    if array.min() < 0 or array.max() >= size:
        raise NoElementError(int(array.min() if array.min() < 0 else array.max()), size)
    return array.astype(np.int64)
