"""RLE bodies whose live cells lie so far apart that a grid of them would be nearly empty: as lists
of squares."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernels import runs
from lifesim.grid import BitGrid, GridError, bytes_of
from lifesim.patterns.rle_body import Body, through
from lifesim.rule import LIFE

if TYPE_CHECKING:
    from kernels.plane.hashlife.listing import SquareList
    from lifesim.grid import Box

_WIDE = 1 << 27  # bytes that a grid may have in any case
_SPARSE = 64  # ... and more, if not beyond so many for a byte of text
_MOST_WORDS = 1 << 22  # of 64 cells, in which any live


def is_far(body: Body, box: Box) -> bool:
    """Tell whether live cells in such a box are better kept as a list of squares than as a grid."""
    size = bytes_of(box.width, box.height)
    return size > max(_WIDE, _SPARSE * len(body.data))


def squares_of(body: Body, origin: tuple[int, int]) -> SquareList | None:
    """Return the live cells of a body of two states without faults. origin: coordinates of its
    first cell.

    None where they are too many, or too far from the origin of all coordinates, and without
    compiled code. Raises OutgrownError where memory does not suffice.
    """
    from kernels.targets.cpu import CpuTarget, levels
    from lifesim.planes import HashedUniverse
    from lifesim.squares import FARTHEST, squares_of_words, words_of_runs

    if not levels():
        return None
    x, y = origin
    walk = runs.Walk(found=[])
    through(walk, body)
    if max(abs(x), abs(y), walk.right, walk.bottom) > FARTHEST:
        return None
    try:
        moved = ((row + y, start + x, end + x) for row, start, end in walk.found or ())
        live = words_of_runs(moved, _MOST_WORDS)
    except GridError:  # too many
        return None
    plane = HashedUniverse(CpuTarget(1), BitGrid(1, 1), (0, 0), LIFE, None)
    plane.put_all(squares_of_words(live))
    return plane.squares()
