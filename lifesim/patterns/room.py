"""Limit how much memory a pattern file may ask for: what its header says, or else so much by its
size.

A few bytes can name two cells that are a million columns apart, or one run of a billion. So the
grid that is made of a file is bounded by what was read, and by free memory in any case.
"""

from __future__ import annotations

from lifesim.grid import BitGrid, GridError, bytes_of, check_size, human_bytes

_FLOOR = 128 << 20  # bytes of cells that any file may have that does not say its size
_TEXT = 1 << 12  # and that each byte of text may stand for
_TREE = 1 << 16  # the same of a tree, in which equal squares stand once
_PAST_FLOOR = 1 << 20  # of a file that has more cells than its header says
_PAST = 1 << 6


def grid_for(width: int, height: int, size: int, *, tree: bool = False, planes: int = 1) -> BitGrid:
    """Make an empty grid for a file of `size` bytes that does not say how large it is.

    Raises GridError, before anything is allocated, for a grid larger than such a file may have,
    or than free memory.
    """
    check_size(width, height, planes)
    need = bytes_of(width, height, planes)
    if need > _FLOOR + (_TREE if tree else _TEXT) * size:
        raise GridError(
            f"a universe of {width}x{height} cells needs {human_bytes(need)} of memory, too much "
            f"for {human_bytes(size)} of text that do not say so (the header of an RLE file does)"
        )
    return BitGrid(width, height, planes=planes)


def may_pass_header(width: int, height: int, size: int) -> bool:
    """Tell whether a file of `size` bytes may have so many cells though its header says less."""
    return bytes_of(width, height) <= _PAST_FLOOR + _PAST * size


def is_dense(width: int, height: int, size: int) -> bool:
    """Tell whether a grid of a header's size is no larger than text of `size` bytes, nearly."""
    return min(width, height) > 0 and bytes_of(width, height) <= _PAST_FLOOR + 4 * size
