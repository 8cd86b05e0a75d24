"""The three automata: what each kind of cell minds of its neighbours, and its next state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lifesim.rules.jvn.hutton import AHEAD_ELSE, ahead_of, hutton
from lifesim.rules.jvn.neumann import neumann, nobili
from lifesim.rules.jvn.states import C_00, S_000, SIDES, Told, direction_of, is_arrow, told_by

Heard = tuple[Told, int]  # what a cell takes in of a neighbour, and of an arrow's cell ahead

# What kinds of cells mind in all three automata, or at least.
_GROWING = frozenset((Told.ORDINARY_PULSE, Told.SPECIAL_PULSE))
_ARROWS = _GROWING | {Told.CONFLUENT_PULSE}
_JOINED = frozenset((Told.ORDINARY, Told.ORDINARY_PULSE, Told.SPECIAL_PULSE))


@dataclass(frozen=True, slots=True)
class Automaton:
    """One of von Neumann's automata.

    states: how many a cell may be in. rule: the next state by a cell's state, what it is told from
    the four sides, and what an arrow sees ahead. arrows, confluent: what arrows and confluent
    cells mind of all that neighbours may tell; the rest is nothing to them. sees: whether arrows
    see the cell ahead.
    """

    name: str
    states: int
    rule: Callable[[int, Sequence[Told], int], int]
    arrows: frozenset[Told]
    confluent: frozenset[Told]
    sees: bool = False

    def heard(self, cell: int, side: int, neighbour: int) -> Heard:
        """Return all that makes a difference to a cell of the state of the neighbour on a side."""
        told = told_by(neighbour, side)
        minded = _GROWING if cell <= S_000 else self.arrows if cell < C_00 else self.confluent
        sees = self.sees and is_arrow(cell) and direction_of(cell) == side
        return told if told in minded else Told.NOTHING, ahead_of(neighbour) if sees else AHEAD_ELSE

    def decided(self, cell: int, heard: Sequence[Heard]) -> int:
        """Return the next state of a cell by what it heard from each of SIDES."""
        ahead = heard[direction_of(cell)][1] if is_arrow(cell) else AHEAD_ELSE
        return self.rule(cell, [told for told, _ in heard], ahead)

    def next_state(self, cell: int, north: int, east: int, south: int, west: int) -> int:
        """Return the next state of a cell by its own state and those of its four neighbours."""
        near = (east, north, west, south)  # in the order of SIDES
        return self.decided(cell, [self.heard(cell, side, near[side]) for side in SIDES])


AUTOMATA = (
    Automaton("JvN29", 29, lambda cell, told, _: neumann(cell, told), _ARROWS, _JOINED),
    Automaton(
        "Nobili32", 32, lambda cell, told, _: nobili(cell, told), _ARROWS, _JOINED | {Told.OUTLET}
    ),
    Automaton(
        "Hutton32", 32, hutton, _ARROWS | {Told.ORDINARY},
        _JOINED | {Told.SPECIAL, Told.OUTLET}, sees=True,
    ),
)  # fmt: skip
