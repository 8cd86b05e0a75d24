"""Symmetry of rules: whether a rule is the same in every mirror."""

from __future__ import annotations

from functools import cache

from kernels.life.rules import AgeingRule, CellRule, LifeRule, MapRule
from kernels.ranges.rules import RangeRule


def is_symmetric(rule: CellRule) -> bool:
    """Tell whether a rule makes no difference between left and right, up and down, and rows and
    columns. False where that is not known, as of tables."""
    match rule:
        case LifeRule():
            return True
        case MapRule(table=table) | AgeingRule(table=table):
            return _is_table_symmetric(table)
        case RangeRule(runs=runs):
            near = {(y, x) for y, first, last in runs for x in range(first, last + 1)}
            return near == {(x, y) for y, x in near} == {(-y, x) for y, x in near}
    return False


@cache
def _is_table_symmetric(table: int) -> bool:
    """Tell it of a table as of MapRule."""
    bits = [table >> cells & 1 for cells in range(512)]
    return all(
        bits[cells] == bits[_moved(cells, places)]
        for places in (_TRANSPOSED, _FLIPPED)
        for cells in range(512)
    )


# The place of each of nine cells, row by row, in a mirror. These two make all of the square's.
_TRANSPOSED = [3 * (place % 3) + place // 3 for place in range(9)]
_FLIPPED = [3 * (2 - place // 3) + place % 3 for place in range(9)]


def _moved(cells: int, places: list[int]) -> int:
    """Return nine cells, as the digits of a number, with each at another place."""
    return sum((cells >> place & 1) << to for place, to in enumerate(places))
