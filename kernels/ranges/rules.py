"""Rules that count live cells in a neighbourhood of any shape, and its usual shapes."""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt

from kernels.life.rules import CellRule

FARTHEST = 500  # rows or columns that a neighbourhood reaches, at most, as in Golly

Run = tuple[int, int, int]
Interval = tuple[int, int]


@dataclass(frozen=True, slots=True)
class RangeRule(CellRule):
    """A rule of the Larger than Life family: what is born and what survives with which counts.

    runs: the neighbourhood, as runs of cells in its rows, none twice: (row, first column, last
    column), relative to the cell, which may be in it. birth, survival: intervals (least,
    greatest) of counts, ascending and apart, maybe none. states: 2 to 256; with more than two,
    cells of state 1 are those that count, and those that do not survive age, as of AgeingRule.
    Raises ValueError for anything else, and for cells more than 500 rows or columns away.
    """

    runs: tuple[Run, ...]
    birth: tuple[Interval, ...]
    survival: tuple[Interval, ...]
    states: int = 2

    def __post_init__(self) -> None:
        if not 2 <= self.states <= 256:
            raise ValueError(f"cells have 2 to 256 states, not {self.states}")
        end = (-FARTHEST - 1, 0)
        for row, first, last in sorted(self.runs):
            if not (abs(row) <= FARTHEST and -FARTHEST <= first <= last <= FARTHEST):
                raise ValueError(f"columns {first} to {last} of row {row} in a neighbourhood")
            if (row, first) <= end:
                raise ValueError(f"a cell of row {row} is twice in a neighbourhood")
            end = row, last
        for intervals in (self.birth, self.survival):
            past = -1
            for least, greatest in intervals:
                if not past < least <= greatest <= self.most:
                    raise ValueError(
                        f"counts {least} to {greatest} of at most {self.most} neighbours"
                    )
                past = greatest

    @property
    def reach(self) -> int:  # type: ignore[override]
        """Return how many rows or columns away the farthest neighbour is, at least 1."""
        return max([1, *(max(abs(row), -first, last) for row, first, last in self.runs)])

    @property
    def most(self) -> int:
        """Return the number of cells of the neighbourhood."""
        return sum(last - first + 1 for _, first, last in self.runs)

    @property
    def stays_empty(self) -> bool:
        """Tell whether nothing is born with a count of 0."""
        return not self.birth or self.birth[0][0] > 0

    @property
    def square(self) -> tuple[int, bool] | None:
        """Return the radius of a square neighbourhood and whether the cell itself is in it; None
        for other shapes."""
        radius = self.reach
        for middle in (False, True):
            if sorted(self.runs) == sorted(square(radius, middle=middle)):
                return radius, middle
        return None


def square(radius: int, *, middle: bool) -> tuple[Run, ...]:
    """Return the cells at most `radius` columns and rows away: Golly's NM. middle: whether with the
    cell itself."""
    return _rows([radius] * (2 * radius + 1), middle)


def diamond(radius: int, *, middle: bool) -> tuple[Run, ...]:
    """Return the cells at most `radius` steps along rows and columns away: Golly's NN."""
    return _rows([radius - abs(row) for row in range(-radius, radius + 1)], middle)


def circle(radius: int, *, middle: bool) -> tuple[Run, ...]:
    """Return the cells nearer than radius + 1/2: Golly's NC."""
    # x² + y² < (r + 1/2)² = r² + r + 1/4 means at most r² + r, as squares are whole.
    most = radius * radius + radius
    return _rows([isqrt(most - row * row) for row in range(-radius, radius + 1)], middle)


def _rows(halves: list[int], middle: bool) -> tuple[Run, ...]:
    """Return runs of half[i] columns to either side of row i, of which the middle one is 0."""
    runs: list[Run] = []
    radius = len(halves) // 2
    for row, half in enumerate(halves, -radius):
        if row or middle:
            runs.append((row, -half, half))
        elif half:
            runs += [(0, -half, -1), (0, 1, half)]
    return tuple(runs)
