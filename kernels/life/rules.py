"""Rules of cellular automata as engines take them, by classes: a class for each kind of engine."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TypeAlias


class CellRule(ABC):
    """A rule of a cellular automaton: the next state of a cell, given those of the cells near it.

    States are numbers from 0, which is dead, on. Of a rule of two states, 1 is alive. In memory
    a state is its binary digits, one in each bit plane, the lowest first.

    states: how many there are, 2 to 256. reach: how many rows and columns away the farthest
    cell lies that a cell's next state depends on, 1 or more.
    """

    states: int
    reach: int

    @property
    def planes(self) -> int:
        """Return the number of bit planes that hold the states."""
        return (self.states - 1).bit_length()

    @property
    @abstractmethod
    def stays_empty(self) -> bool:
        """Tell whether a dead cell among dead cells stays dead."""


@dataclass(frozen=True, slots=True)
class LifeRule(CellRule):
    """A Life-like rule: which counts of live neighbours, of eight, give and keep life.

    birth, survival: bit sets, 0 to 511; bit n says that a dead cell is born, or a live one
    survives, with n live neighbours of eight. Raises ValueError for any other number.
    """

    states = 2
    reach = 1

    birth: int
    survival: int

    def __post_init__(self) -> None:
        if not (0 <= self.birth < 512 and 0 <= self.survival < 512):
            raise ValueError(f"rule sets must be 0 to 511, not {self.birth}, {self.survival}")

    @property
    def stays_empty(self) -> bool:
        """Tell whether nothing is born with no live neighbours."""
        return not self.birth & 1

    @property
    def table(self) -> int:
        """Return the rule as the table of a MapRule."""
        table = 0
        for cells in range(512):
            counts = self.survival if cells & _CENTRE else self.birth
            table |= (counts >> (cells & ~_CENTRE).bit_count() & 1) << cells
        return table


_CENTRE = 1 << 4


def counts_of(table: int) -> tuple[int, int] | None:
    """Return (birth, survival), as of LifeRule, of a table that only counts live neighbours; None
    of any other, which minds where they are."""
    birth = survival = 0
    for n in range(9):
        near = (1 << n) - 1  # n of the eight cells: four bits below the centre's, four above
        cells = near & (_CENTRE - 1) | near >> 4 << 5
        birth |= (table >> cells & 1) << n
        survival |= (table >> (cells | _CENTRE) & 1) << n
    return (birth, survival) if LifeRule(birth, survival).table == table else None


@dataclass(frozen=True, slots=True)
class MapRule(CellRule):
    """A rule of two states that may be any function of a cell and its eight neighbours.

    table: 512 bits as an int. Bit i is the next state of a cell in a square of nine whose cells,
    row by row from the top left, are the binary digits of i, the highest first: 256 is the
    cell at the top left, 16 the cell itself, 1 the cell at the bottom right (the order of Golly's
    MAP strings). Raises ValueError for a number that is negative or of more bits.
    """

    states = 2
    reach = 1

    table: int

    def __post_init__(self) -> None:
        if not 0 <= self.table < 1 << 512:
            raise ValueError("the table of a rule of nine cells has 512 bits")

    @property
    def stays_empty(self) -> bool:
        """Tell whether nine dead cells give a dead one."""
        return not self.table & 1


NineCellRule: TypeAlias = LifeRule | MapRule  # what the engines of kernels.life compute


def check_life_like(rule: NineCellRule) -> LifeRule:
    """Return a Life-like rule as it is. Raises ValueError for one of any nine cells."""
    if not isinstance(rule, LifeRule):
        raise ValueError("rules of any nine cells are computed by the reference only")
    return rule


@dataclass(frozen=True, slots=True)
class AgeingRule(CellRule):
    """A rule of the Generations family: cells that do not survive age, state by state, before they
    are dead.

    table: as of MapRule; cells of state 1 count as live in it, all others as dead. A cell of
    state 0 becomes 1 where the table has a one, else stays 0; one of state 1 stays 1 where the
    table has a one, else becomes 2; one of state s > 1 becomes s + 1, the last one 0.
    states: 3 to 256; with 2 it would be a MapRule. Raises ValueError for other numbers.
    """

    reach = 1

    table: int
    states: int

    def __post_init__(self) -> None:
        if not 0 <= self.table < 1 << 512:
            raise ValueError("the table of a rule of nine cells has 512 bits")
        if not 3 <= self.states <= 256:
            raise ValueError(f"cells that age have 3 to 256 states, not {self.states}")

    @property
    def stays_empty(self) -> bool:
        """Tell whether nine dead cells give a dead one."""
        return not self.table & 1
