"""Enumerate semigroups of maps by the compiled extension."""

from __future__ import annotations

import functools
import importlib
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels.targets.contract import Target
from kernels.targets.cpu import CpuTarget, core_count, level2_bytes
from kernels.targets.memory import recent_memory

from ..contract import (
    CayleyTables,
    EnumerationProblem,
    Enumerator,
    HashCollisionError,
    NumberArray,
    ProductCounts,
    SemigroupEngine,
    TooLittleMemoryError,
)
from ..hashing import HashKey, row_stride
from ..maps import Maps
from ..tables import check_tables

_MOST = 2**64 - 1
_STATE = (
    "size",
    "expanded",
    "left_known",
    "kept",
    "nbytes",
)  # then the counts, as the extension has it
_CROWD = 4  # threads a core; more would only take time to begin


@functools.cache
def _extension() -> Any:
    return importlib.import_module("kernels._cpu")


class CpuSemigroupEngine(SemigroupEngine):
    """Enumerates on the threads of a CpuTarget."""

    name = "cpu"

    def __init__(self, target: CpuTarget) -> None:
        self._target = target

    @classmethod
    def of(cls, target: Target) -> CpuSemigroupEngine:
        """Return the engine of the CPU. Raises TypeError for any other target."""
        if not isinstance(target, CpuTarget):
            raise TypeError(f"this is not the CPU: {target.describe()}")
        return cls(target)

    def start(
        self, problem: EnumerationProblem, tables: CayleyTables | None = None
    ) -> CpuEnumerator:
        """Begin an enumeration, or go on from tables, see SemigroupEngine.start()."""
        return CpuEnumerator(self._target, problem, tables)

    @property
    def memory(self) -> int:
        """Bytes that an enumeration may take by default: a quarter of what the host can spare."""
        return recent_memory() // 4


class CpuEnumerator(Enumerator):
    """Drives an enumeration of the extension; attributes show its state as of the last call."""

    def __init__(
        self, target: CpuTarget, problem: EnumerationProblem, tables: CayleyTables | None
    ) -> None:
        # All else is what _update() makes of the extension's state.
        self.problem, self.starts = problem, []
        self._state: list[int] = []
        stride = row_stride(problem.width, problem.generators.itemsize)
        key = HashKey.make(stride, problem.seed, problem.hash_bits)
        extension = _extension()
        if tables is not None:
            check_tables(problem, tables)
        try:
            self._engine = extension.SemigroupEnumerator(
                target.level,
                np.ascontiguousarray(problem.generators),
                np.ascontiguousarray(problem.points),
                problem.monoid,
                problem.compare,
                min(problem.memory, _MOST),
                key.words,
                key.factors,
                list(key.mask),
                target.threads
                if target.threads <= _CROWD
                else min(target.threads, _CROWD * core_count()),
                level2_bytes(),
            )
            if tables is not None:
                arrays = [
                    np.ascontiguousarray(getattr(tables, name)) for name in CayleyTables.ARRAYS
                ]
                self._engine.resume(tables.starts, *arrays)
        except MemoryError as error:
            # The extension says how many bytes are needed; nobody does where there are none.
            needed = error.args[0] if error.args and isinstance(error.args[0], int) else 0
            elements = 0 if tables is None else len(tables.first)
            raise TooLittleMemoryError(problem.memory, needed, elements) from None
        self._update()

    def expand(self, most: int) -> None:
        """Multiply the next numbers by all generators, see Enumerator.expand()."""
        self._update()  # where the last call was interrupted after its work
        if most < 1 or self.finished:
            raise ValueError("nothing to expand")
        self._expand(min(most, _MOST), False)

    def expand_on(self) -> None:
        """Multiply the next numbers, of several levels where these are small."""
        self._update()
        if self.finished:
            raise ValueError("nothing to expand")
        self._expand(_MOST, True)

    def _expand(self, most: int, on: bool) -> None:
        try:
            collided = self._engine.expand(most, on)
        except MemoryError:
            taken, given = self._engine.state()[4], self.problem.memory
            text = f"{taken:,} of the {given:,} bytes given (--memory) are taken, and no more fit"
            raise MemoryError(text) from None
        finally:
            self._update()
        if collided:
            raise HashCollisionError("two rows that differ have the same hash")

    def array(self, name: str, start: int = 0, stop: int | None = None) -> npt.NDArray[Any]:
        """Return a copy of a part of one of the tables, see Enumerator.array()."""
        known = {"right": self.expanded, "left": self.left_known}.get(name, self.size)
        width = {"right": (self.problem.letters,), "left": (self.problem.letters,)}.get(name, ())
        start, stop, _ = slice(start, stop).indices(known)
        if name == "hashes":
            result: npt.NDArray[Any] = np.empty((max(stop - start, 0), 2), np.uint64)
        else:
            result = np.empty((max(stop - start, 0), *width), np.uint32)
        self._engine.read(name, start, result)
        return result

    def maps(self, numbers: npt.NDArray[np.integer[Any]]) -> Maps:
        """Return the whole maps of numbers, see Enumerator.maps()."""
        outside = (numbers < 0) | (numbers >= self.size)
        if outside.any():
            raise IndexError(f"there is no number {numbers[outside.argmax()]}")
        result: Maps = np.empty((len(numbers), self.problem.degree), self.problem.generators.dtype)
        self._engine.maps(np.ascontiguousarray(numbers, np.uint64), result)
        return result

    def positions(self, maps: Maps) -> npt.NDArray[np.int64]:
        """Return the numbers of whole maps, see Enumerator.positions()."""
        problem = self.problem
        if maps.shape[1:] != (problem.degree,) or maps.dtype != problem.generators.dtype:
            raise ValueError(f"{maps.dtype} {maps.shape} are no maps of {problem.degree} points")
        result = np.empty(len(maps), np.int64)
        self._engine.positions(np.ascontiguousarray(maps), result)
        return result

    def differ(
        self, words: NumberArray, letters: NumberArray, others: NumberArray
    ) -> tuple[int, int] | None:
        """Find where products are not what they should be, see Enumerator.differ()."""
        arrays = [np.ascontiguousarray(array, np.uint32) for array in (words, letters, others)]
        for array, most in zip(arrays, (self.size, self.problem.letters, self.size), strict=True):
            if (array >= most).any():
                raise IndexError(f"{array[(array >= most).argmax()]} of {most}")
        result: tuple[int, int] | None = self._engine.differ(*arrays)
        return result

    def _update(self) -> None:
        state = self._engine.state()
        if state == self._state:
            return
        levels = len(self.starts)
        try:
            # In place, as there can be a million levels.
            self.starts += self._engine.starts(levels)
            # All at once, so that Ctrl-C finds either what was or what is; if it comes just
            # before, the next call sees to it.
            named = dict(zip(_STATE, state, strict=False))
            vars(self).update(named, counts=ProductCounts(*state[len(_STATE) :]), _state=state)
        finally:
            if self._state is not state:
                del self.starts[levels:]
