"""Copies of a universe's cells, by which it goes back to a generation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from lifesim.grid import BitGrid, Box, GridError
from lifesim.unbounded import UnboundedUniverse

_MOST = 1 << 24  # cells, in a list of them
_FAR = 1 << 59  # from the origin: beyond, coordinates are not listed


@dataclass(frozen=True, slots=True)
class Kept:
    """The cells of a generation, with bounds or without: a grid, and the coordinates of its
    top-left cell; beside it, or in place of it, what another engine than a rectangle keeps."""

    generation: int
    grid: BitGrid
    at: tuple[int, int] = (0, 0)
    squares: Any = None  # a SquareList, or pairs of places and squares (kernels.plane.contract)


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


def live_cells(universe: UnboundedUniverse, frame: Box) -> npt.NDArray[np.int64]:
    """Return the live cells as int64 rows (x, y), ordered by y, then x; shape (population, 2).

    frame: Life.frame() of it. Raises GridError for too many, and for some too far away.
    """
    if universe.population() > _MOST:
        raise GridError(f"{universe.population()} cells live, too many to compare them")
    if max(abs(frame.x), abs(frame.y), frame.width, frame.height) > _FAR:
        raise GridError("cells live too far from the origin to compare them")
    parts = [np.zeros((0, 2), np.int64)]
    for places, squares in universe.all_squares():
        which, rows = np.nonzero(squares)
        bits = np.unpackbits(
            squares[which, rows].view(np.uint8).reshape(-1, 8), axis=1, bitorder="little"
        )
        word, bit = np.nonzero(bits)
        parts.append(64 * places[which[word]] + np.stack([bit, rows[word]], axis=1))
    cells = np.concatenate(parts)
    return cells[np.lexsort((cells[:, 0], cells[:, 1]))]
