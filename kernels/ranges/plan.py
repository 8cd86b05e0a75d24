"""How a generation of Larger than Life is cut up: strips of columns, in bands of rows."""

from __future__ import annotations

from typing import NamedTuple

_LINE = 4096  # columns whose rows of sums fit into the first cache, for counts of a byte
_WINDOW = 512 << 10  # bytes of sums along rows that the second cache holds
_LEAST = 256  # columns of a strip
_SUMS = 64 << 20  # bytes of sums on a device
_MOST_ROWS = 1 << 15  # that one launch makes
_TASKS = 4  # for each thread, so that all of them end together


class RangePlan(NamedTuple):
    """The columns of a strip and the rows of a band."""

    columns: int
    rows: int


def count_bytes(most: int) -> int:
    """Return the bytes of a count, where there are `most` neighbours at most beside the cell."""
    return 1 if most < 255 else 2 if most < 65535 else 4


def device_rows(width: int, height: int, reach: int, *, square: bool) -> int:
    """Return the rows that a device makes at a time: as many as some memory has sums for."""
    row = 4 * (width + 2 * reach + 1)
    beside = 0 if square else 2 * reach
    return min(height, _MOST_ROWS, max(_SUMS // row - beside, 2 * reach, 16))


def device_bytes(width: int, height: int, reach: int, *, square: bool) -> int:
    """Return the bytes of all sums that a device keeps for device_rows() rows: along rows, and, of
    a square, of columns."""
    rows = device_rows(width, height, reach, square=square)
    sums = 4 * (width + 2 * reach + 1) * (rows + (0 if square else 2 * reach))
    return sums + (2 * width * rows if square else 0)


def range_plan(
    width: int, height: int, reach: int, most: int, threads: int, *, square: bool
) -> RangePlan:
    """Return how to cut up a generation of width x height cells.

    A strip also goes through the columns within reach of it, and a band through the rows, so
    that neither may be much smaller than what the rule reaches.
    """
    nbytes = count_bytes(most)
    along = _WINDOW // ((2 * reach + 1) * nbytes) - 2 * reach
    fitting = _LINE // nbytes if square else along
    columns = min(width, max(fitting, 4 * reach, _LEAST))
    strips = -(-width // columns)
    bands = -(-_TASKS * threads // strips) if threads > 1 else 1
    return RangePlan(columns, min(height, max(-(-height // bands), 4 * reach, 16)))
