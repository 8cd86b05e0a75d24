"""Enumeration of semigroups of maps by the compiled extension."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels.backend import Backend
from kernels.cpu import CpuBackend, core_count, level2_bytes
from kernels.memory import available_memory
from kernels.signals import undisturbed

from .engine import (
    Counts,
    Enumerator,
    HashCollisionError,
    Numbers,
    Problem,
    Tables,
    Transf,
)
from .hashing import HashKey, row_stride
from .maps import Maps
from .tables import check_tables

_MOST = 2**64 - 1
_CROWD = 4  # threads a core; more would only take time to begin


class CpuTransf(Transf):
    """On the threads of a CpuBackend."""

    name = "cpu"

    def __init__(self, backend: CpuBackend) -> None:
        self._backend = backend

    @classmethod
    def of(cls, backend: Backend) -> CpuTransf:
        if not isinstance(backend, CpuBackend):
            raise TypeError(f"the backend {backend.name} is not the CPU's")
        return cls(backend)

    def start(self, problem: Problem, tables: Tables | None = None) -> CpuEnumerator:
        return CpuEnumerator(self._backend, problem, tables)

    @property
    def memory(self) -> int:
        return available_memory() // 4


class CpuEnumerator(Enumerator):
    """Its state is the extension's; the attributes are what it was after the last call."""

    def __init__(self, backend: CpuBackend, problem: Problem, tables: Tables | None) -> None:
        super().__init__(problem)
        stride = row_stride(problem.width, problem.generators.itemsize)
        key = HashKey.make(stride, problem.seed, problem.hash_bits)
        extension: Any = importlib.import_module("kernels._cpu")
        if tables is not None:
            check_tables(problem, tables)
        try:
            self._engine = extension.TransfEngine(
                backend.level,
                np.ascontiguousarray(problem.generators),
                np.ascontiguousarray(problem.points),
                problem.monoid,
                problem.compare,
                min(problem.memory, _MOST),
                key.words,
                key.factors,
                list(key.mask),
                min(backend.threads, _CROWD * core_count()),
                level2_bytes(),
            )
            if tables is not None:
                arrays = [np.ascontiguousarray(getattr(tables, name)) for name in Tables.ARRAYS]
                self._engine.resume(tables.starts, *arrays)
        except MemoryError:
            raise MemoryError("there is too little memory to begin") from None
        self._update()

    def expand(self, most: int) -> None:
        self._update()  # where the last call was interrupted after its work
        if most < 1 or self.finished:
            raise ValueError("nothing to expand")
        try:
            collided = self._engine.expand(min(most, _MOST))
        except MemoryError:
            raise MemoryError("the memory given is full") from None
        finally:
            self._update()
        if collided:
            raise HashCollisionError("two rows that differ have the same hash")

    def array(self, name: str, start: int = 0, stop: int | None = None) -> npt.NDArray[Any]:
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
        outside = (numbers < 0) | (numbers >= self.size)
        if outside.any():
            raise IndexError(f"there is no number {numbers[outside.argmax()]}")
        result: Maps = np.empty((len(numbers), self.problem.degree), self.problem.generators.dtype)
        self._engine.maps(np.ascontiguousarray(numbers, np.uint64), result)
        return result

    def positions(self, maps: Maps) -> npt.NDArray[np.int64]:
        problem = self.problem
        if maps.shape[1:] != (problem.degree,) or maps.dtype != problem.generators.dtype:
            raise ValueError(f"{maps.dtype} {maps.shape} are no maps of {problem.degree} points")
        result = np.empty(len(maps), np.int64)
        self._engine.positions(np.ascontiguousarray(maps), result)
        return result

    def differ(self, words: Numbers, letters: Numbers, others: Numbers) -> tuple[int, int] | None:
        arrays = [np.ascontiguousarray(array, np.uint32) for array in (words, letters, others)]
        for array, most in zip(arrays, (self.size, self.problem.letters, self.size), strict=True):
            if (array >= most).any():
                raise IndexError(f"{array[(array >= most).argmax()]} of {most}")
        result: tuple[int, int] | None = self._engine.differ(*arrays)
        return result

    def _update(self) -> None:
        with undisturbed():
            state = self._engine.state()
            self.size, self.expanded, self.left_known, self.kept, self.nbytes = state[:5]
            self.counts = Counts(*state[5:])
            self.starts += self._engine.starts(len(self.starts))
