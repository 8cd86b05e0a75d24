"""Planes in an engine that holds no rectangle: what is asked of them, and how one is opened."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from kernels.plane.contract import Places
from kernels.plane.hashlife.listing import SquareList
from kernels.targets.contract import Target
from kernels.targets.cpu import CpuTarget
from lifesim.errors import LifesimError
from lifesim.grid import BitGrid, Box, Words
from lifesim.growing import GrowingUniverse, never
from lifesim.planes import plane_target
from lifesim.rule import Rule
from lifesim.start import Start
from lifesim.topology import Topology
from lifesim.unbounded import open_unbounded


@runtime_checkable
class SeenUniverse(Protocol):
    """A plane that is looked at and changed while it moves on: of lifesim.planes.

    engine: the name of what keeps it. sets_pace: whether stride follows from how long steps take.
    target: up to which generation it will be moved on, as far as that is known.
    """

    sets_pace: bool
    target: int

    @property
    def engine(self) -> str:
        """Return the name of what keeps it, of lifesim.unbounded.ENGINES."""

    @property
    def generation(self) -> int:
        """Return how many generations it has been moved on since it was opened."""

    @property
    def stride(self) -> int:
        """Return how many generations are best made at once."""

    @property
    def nbytes(self) -> int:
        """Return the bytes of memory that it takes just now."""

    def step(self, generations: int, stopped: Callable[[], bool] = never) -> None:
        """Move on by generations, or by fewer, or none, where stopped() becomes true meanwhile.
        Raises OutgrownError."""

    def population(self) -> int:
        """Return the number of live cells."""

    def box(self) -> Box | None:
        """Return the smallest rectangle that holds every live cell, None where none lives."""

    def part(self, box: Box) -> BitGrid:
        """Return the cells of any rectangle."""

    def counts(self, x: int, y: int, level: int, shape: tuple[int, int]) -> npt.NDArray[np.float64]:
        """Return how many cells live in each of many blocks of 2^level cells a side."""

    def put_all(self, squares: Iterable[tuple[Places, Words]]) -> None:
        """Set all cells of squares of 64 x 64 cells. Raises OutgrownError."""

    def all_squares(self) -> Iterator[tuple[Places, Words]]:
        """Yield the squares that hold live cells. Raises OverflowError where one lies too far
        out."""

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
    made: object
    try:
        made = open_unbounded(engine, backend, *about)
    except LifesimError:
        if isinstance(backend, CpuTarget):
            raise
        made = open_unbounded(engine, plane_target(engine, "auto", None), *about)
    if isinstance(made, GrowingUniverse):
        return None
    if not isinstance(made, SeenUniverse):
        raise LifesimError(f"planes of the engine {engine} cannot be looked at")
    if start.squares is not None:
        made.take(start.squares)
    return made


def empty_start(rule: Rule) -> Start:
    """Return a plane without bounds in which nothing lives."""
    return Start(BitGrid(1, 1, planes=rule.planes), rule, Topology.PLANE, bounds=(0, 0))
