"""Copies of a universe's cells, by which it goes back to a generation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lifesim.grid import BitGrid, Box
from lifesim.unbounded import UnboundedUniverse


@dataclass(frozen=True, slots=True)
class Kept:
    """The cells of a generation, with bounds or without: a grid, and the coordinates of its
    top-left cell; beside it, or in place of it, what another engine than a rectangle keeps."""

    generation: int
    grid: BitGrid
    at: tuple[int, int] = (0, 0)
    squares: Any = None  # a SquareList, or pairs of places and squares (kernels.plane.contract)

    @property
    def nbytes(self) -> int:
        """Return the bytes of the grid."""
        return self.grid.words.nbytes


def kept_of(universe: UnboundedUniverse, frame: Box, generation: int) -> Kept:
    """Return a copy of the cells of a universe without bounds. frame: Life.frame() of it."""
    universe = _engine_of(universe)
    tree = universe.squares()
    if tree is not None:
        return Kept(generation, BitGrid(1, 1), squares=tree)
    if hasattr(universe, "put_all"):
        return Kept(generation, BitGrid(1, 1), squares=list(universe.all_squares()))
    return Kept(generation, universe.part(frame), (frame.x, frame.y))


def _engine_of(universe: UnboundedUniverse) -> UnboundedUniverse:
    """Return the engine that a universe which changes it is in; of others the universe."""
    return getattr(universe, "now", universe)


def give_back(universe: Any, kept: Kept) -> None:
    """Put into a new universe what its grid had no room for."""
    if isinstance(kept.squares, list):
        universe.put_all(kept.squares)
    elif kept.squares is not None:
        universe.take(kept.squares)
