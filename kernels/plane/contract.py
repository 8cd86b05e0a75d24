"""Contract of the engines of the unbounded plane: universes of two states without an edge."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kernels.life.rules import NineCellRule

Words = npt.NDArray[np.uint64]
Places = npt.NDArray[np.int64]

SIDE = 64  # cells along a side of the squares that cells are handed over in


class PlaneBox(NamedTuple):
    """A rectangle of the plane: its top-left cell, and its size in cells. Ints of any size."""

    x: int
    y: int
    width: int
    height: int


class PlaneRuleError(ValueError):
    """A rule by which cells are born where nothing lives near them brings all of an unbounded plane
    to life, which no engine holds."""


class PlaneUniverse(ABC):
    """Cells of a plane without an edge, in the memory of their engine.

    x grows to the right and y downwards. All coordinates, populations and generations are
    Python ints and exact.

    generation: how many generations it has been moved on since it was made.
    """

    generation: int

    @abstractmethod
    def put(self, places: Places, squares: Words) -> None:
        """Set all cells of some squares of 64 x 64 cells; the others keep theirs.

        places: int64 (n, 2), no two alike: square (i, j) has the columns 64 i to 64 i + 63 and
        the rows 64 j to 64 j + 63. squares: uint64 (n, 64): bit b of word r is the cell in row
        64 j + r and column 64 i + b. Raises ValueError for any other array, and for places
        below -2^56 or from 2^56 on; MemoryError where there is no room.
        """

    @abstractmethod
    def step(self, generations: int) -> None:
        """Move on by any number of generations.

        Interrupted (KeyboardInterrupt), or out of memory (MemoryError), the universe stands at a
        whole generation, which `generation` tells, and can go on from there.
        """

    @abstractmethod
    def step_until(self, stopped: Callable[[], bool], generations: int) -> None:
        """Move on by generations, or by fewer where stopped() becomes true meanwhile.

        It is asked by the calling thread, some 100 times a second.
        """

    @abstractmethod
    def population(self) -> int:
        """Return the number of live cells."""

    @abstractmethod
    def box(self) -> PlaneBox | None:
        """Return the smallest rectangle that holds every live cell, None where none lives."""

    @abstractmethod
    def squares(self, box: PlaneBox | None = None) -> Iterator[tuple[Places, Words]]:
        """Yield the squares that hold live cells, as put() takes them, some thousands at a time.

        box: only those that share a cell with it. No order is promised. Raises OverflowError
        where a live square has no place that put() would take.
        """

    @abstractmethod
    def get(self, x: int, y: int, words: Words) -> None:
        """Write the cells of a rectangle with its top-left cell at (x, y) into `words`.

        words: C-contiguous uint64 (height, width / 64); bit b of words[r, w] is the cell in row
        y + r and column x + 64 w + b. Raises ValueError for any other array.
        """

    @abstractmethod
    def counts(self, x: int, y: int, level: int, shape: tuple[int, int]) -> npt.NDArray[np.float64]:
        """Return how many cells live in each of many blocks of 2^level x 2^level cells.

        x, y: of the first block, counted in blocks. shape: rows and columns of blocks. A float64
        array of that shape, exact up to 2^53 and rounded beyond.
        """

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """Return the bytes of memory that it takes just now."""


class PlaneEngine(ABC):
    """Computes rules of two states and nine cells on unbounded planes; results are the same on all
    engines."""

    @abstractmethod
    def universe(self, rule: NineCellRule, memory: int) -> PlaneUniverse:
        """Return an empty plane, at generation 0.

        memory: bytes that it may take. Raises PlaneRuleError for a rule by which empty space
        comes alive, and MemoryError where `memory` is too little for any universe.
        """
