"""Planes whose cells lie too far apart for a rectangle in memory: as lists of squares."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernels.targets.choose import pick
from kernels.targets.memory import available_memory
from lifesim.grid import BitGrid, Box, bytes_of
from lifesim.growing import GrowingUniverse
from lifesim.rule import LIFE
from lifesim.unbounded import UnboundedUniverse

if TYPE_CHECKING:
    from kernels.plane.hashlife.listing import SquareList

_WIDE = 1 << 30  # cells that a grid may have in any case
_SPARSE = 64  # ... and more if at least one in so many lives, where memory is free for it
_SHARE = 4  # the part of free memory that such a grid may take


def is_far(universe: UnboundedUniverse, frame: Box) -> bool:
    """Tell whether a plane is better gone through square by square than as a grid of its frame,
    which holds all that lives."""
    cells = frame.width * frame.height
    if cells <= _WIDE or isinstance(_held(universe), GrowingUniverse):
        return False
    if bytes_of(frame.width, frame.height) > available_memory() // _SHARE:
        return True
    return cells > _SPARSE * universe.population()


def squares_of(universe: UnboundedUniverse) -> SquareList | None:
    """Return the cells of a plane as macrocell files have them, None where none lives.

    Raises BackendUnavailableError without compiled code, and GridError, MemoryError or
    OverflowError for too many cells.
    """
    tree = universe.squares()
    if tree is not None or not universe.population():
        return tree
    from lifesim.planes import HashedUniverse

    plane = HashedUniverse(pick("cpu", threads=1), BitGrid(1, 1), (0, 0), LIFE, None)
    plane.put_all(universe.all_squares())
    return plane.squares()


def _held(universe: UnboundedUniverse) -> UnboundedUniverse:
    return getattr(universe, "now", universe)
