"""Symmetry of rules: whether a rule is the same in every mirror."""

from __future__ import annotations

from functools import cache, lru_cache

from kernels.life.rules import AgeingRule, CellRule, LifeRule, MapRule
from kernels.ranges.rules import RangeRule
from kernels.tables.rules import CELLS, TableRule


def is_symmetric(rule: CellRule) -> bool:
    """Tell whether a rule makes no difference between left and right, up and down, and rows and
    columns. False where that takes too much to find out, which may be so of large tables."""
    match rule:
        case LifeRule():
            return True
        case MapRule(table=table) | AgeingRule(table=table):
            return _is_table_symmetric(table)
        case RangeRule(runs=runs):
            near = {(y, x) for y, first, last in runs for x in range(first, last + 1)}
            return near == {(x, y) for y, x in near} == {(-y, x) for y, x in near}
        case TableRule():
            return _is_diagram_symmetric(rule)
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


@lru_cache(maxsize=8)
def _is_diagram_symmetric(rule: TableRule) -> bool:
    """Tell it of a rule of a table: its diagram, made for mirrored cells, is then the same one."""
    from kernels.tables.diagram import DiagramError, levels_of, reordered, rule_of

    mirrored = [[(x, y) for y, x in CELLS], [(-y, x) for y, x in CELLS]]
    try:
        return all(
            rule_of(reordered(levels_of(rule), [CELLS.index(cell) for cell in cells]), rule.states)
            == rule
            for cells in mirrored
        )
    except DiagramError:
        return False


# The place of each of nine cells, row by row, in a mirror. These two make all of the square's.
_TRANSPOSED = [3 * (place % 3) + place // 3 for place in range(9)]
_FLIPPED = [3 * (2 - place // 3) + place % 3 for place in range(9)]


def _moved(cells: int, places: list[int]) -> int:
    """Return nine cells, as the digits of a number, with each at another place."""
    return sum((cells >> place & 1) << to for place, to in enumerate(places))
