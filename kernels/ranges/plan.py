"""How a generation of Larger than Life is cut up: strips of columns, in bands of rows."""

from __future__ import annotations

from typing import NamedTuple

_LINE = 4096  # columns whose rows of sums fit into the first cache, for counts of a byte
_WINDOW = 512 << 10  # bytes of sums along rows that the second cache holds
_LEAST = 256  # columns of a strip
_TASKS = 4  # for each thread, so that all of them end together


class RangePlan(NamedTuple):
    """The columns of a strip and the rows of a band."""

    columns: int
    rows: int


def count_bytes(most: int) -> int:
    """Return the bytes of a count, where there are `most` neighbours at most beside the cell."""
    return 1 if most < 255 else 2 if most < 65535 else 4


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
