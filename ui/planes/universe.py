"""Planes in an engine that holds no rectangle: what is asked of them, and how one is opened."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from kernels.plane.contract import Places
from kernels.plane.hashlife.listing import SquareList
from kernels.targets.contract import Target
from kernels.targets.cpu import CpuTarget
from lifesim.errors import LifesimError
from lifesim.grid import BitGrid, Box, Words
from lifesim.growing import GrowingUniverse
from lifesim.planes import plane_target
from lifesim.rule import Rule
from lifesim.start import Start
from lifesim.topology import Topology
from lifesim.unbounded import open_unbounded


class SeenUniverse(Protocol):
    """A plane that is looked at and changed while it moves on: of lifesim.planes.

    stride: a number of generations that is best made at once. sets_pace: whether stride follows
    from how long steps take.
    """

    sets_pace: bool

    @property
    def generation(self) -> int:
        """Return how many generations it has been moved on since it was opened."""

    @property
    def stride(self) -> int:
        """Return how many generations are best made at once."""

    @property
    def nbytes(self) -> int:
        """Return the bytes of memory that it takes just now."""

    def step(self, generations: int) -> None:
        """Move on. Raises OutgrownError."""

    def step_until(self, stopped: Callable[[], bool], generations: int) -> None:
        """Move on by at most so many generations; by fewer, or none, where stopped() becomes true
        meanwhile. Raises OutgrownError."""

    def population(self) -> int:
        """Return the number of live cells."""

    def box(self) -> Box | None:
        """Return the smallest rectangle that holds every live cell, None where none lives."""

    def part(self, box: Box) -> BitGrid:
        """Return the cells of any rectangle."""

    def counts(self, x: int, y: int, level: int, shape: tuple[int, int]) -> npt.NDArray[np.float64]:
        """Return how many cells live in each of many blocks of 2^level cells a side."""

    def put_squares(self, places: Places, squares: Words) -> None:
        """Set all cells of some squares of 64 x 64 cells. Raises OutgrownError."""

    def live_squares(self) -> Iterator[tuple[Places, Words]]:
        """Yield the squares that hold live cells. Raises GridError where one lies too far out."""

    def take(self, squares: SquareList) -> None:
        """Replace all cells by those of a list of squares. Raises GridError where it cannot."""

    def squares(self) -> SquareList | None:
        """Return the cells as a list of squares, None where it has none or cannot."""


def open_seen(engine: str, backend: Target, start: Start) -> SeenUniverse | None:
    """Open a plane, with the cells of a start; None where the engine holds a rectangle.

    backend: where it is computed, if the engine can; else the CPU. Raises LifesimError for what
    the engine cannot do: GridError for bounds, and for rules of B0, and OutgrownError.
    """
    bounds = start.bounds or (start.grid.width, start.grid.height)
    about = start.grid, start.at, bounds, start.rule, start.topology, None
    made: Any
    try:
        made = open_unbounded(engine, backend, *about)
    except LifesimError:
        if isinstance(backend, CpuTarget):
            raise
        made = open_unbounded(engine, plane_target(engine, "auto", None), *about)
    if isinstance(made, GrowingUniverse):
        return None
    seen: SeenUniverse = made
    if start.squares is not None:
        seen.take(start.squares)
    return seen


def empty_start(rule: Rule) -> Start:
    """Return a plane without bounds in which nothing lives."""
    return Start(BitGrid(1, 1), rule, Topology.PLANE, bounds=(0, 0))
