"""The states of von Neumann's automaton and its relatives, by Golly's numbers, and their meaning.

A cell is in its ground state, sensitised, a transmission cell or a confluent one. Transmission
cells are arrows: they pass pulses on to the cell that they point at. There are ordinary and
special ones, and those of one kind destroy cells of the other. Confluent cells join and split
lines of arrows. Sensitised cells are under construction: pulses decide what they become.
"""

from __future__ import annotations

from enum import IntEnum, auto

# Directions of arrows, and the sides of a cell that they lead to.
SIDES = RIGHT, UP, LEFT, DOWN = 0, 1, 2, 3

GROUND = 0
# Sensitised: the digits say in which generations, the first one first, a pulse came.
S, S_0, S_1, S_00, S_01, S_10, S_11, S_000 = range(1, 9)
# Arrows: the first of eight states, four quiescent ones by their directions, then four excited.
ORDINARY, SPECIAL = 9, 17
EXCITED = 4
# Confluent: whether the cell gives out a pulse now, and whether it will in the next generation.
C_00, C_01, C_10, C_11 = range(25, 29)
# Confluent, while pulses cross there: one from left to right or back, a vertical one, or both.
HORIZONTAL, VERTICAL, BOTH = 29, 30, 31


class Told(IntEnum):
    """Says what a neighbour means to a cell."""

    NOTHING = 0
    ORDINARY = auto()  # an ordinary arrow points at the cell
    ORDINARY_PULSE = auto()  # and is excited
    SPECIAL = auto()  # a special arrow points at the cell
    SPECIAL_PULSE = auto()  # and is excited
    CONFLUENT_PULSE = auto()  # a confluent cell gives out a pulse to this side
    OUTLET = auto()  # an arrow that points elsewhere, and so takes pulses from the cell


def told_by(state: int, side: int) -> Told:
    """Return what the neighbour on a side means to a cell."""
    if is_arrow(state):
        if direction_of(state) != opposite(side):
            return Told.OUTLET
        if state < SPECIAL:
            return Told.ORDINARY_PULSE if is_excited(state) else Told.ORDINARY
        return Told.SPECIAL_PULSE if is_excited(state) else Told.SPECIAL
    crossing = HORIZONTAL if side in (LEFT, RIGHT) else VERTICAL
    return Told.CONFLUENT_PULSE if state in (C_10, C_11, BOTH, crossing) else Told.NOTHING


def is_arrow(state: int) -> bool:
    """Tell whether a state is that of a transmission cell."""
    return ORDINARY <= state < C_00


def is_excited(arrow: int) -> bool:
    """Tell whether an arrow carries a pulse."""
    return (arrow - ORDINARY) % 8 >= EXCITED


def direction_of(arrow: int) -> int:
    """Return the direction of an arrow."""
    return (arrow - ORDINARY) % 4


def opposite(side: int) -> int:
    """Return the side, or the direction, that is opposite to one."""
    return (side + 2) % 4


# Red, green and blue of states, as articles on von Neumann's automaton give them for Golly. They do
# not give those of crossings, which are our own.
COLOURS = {
    S: (255, 0, 0),
    S_0: (255, 125, 0),
    S_1: (255, 150, 25),
    S_00: (255, 175, 50),
    S_01: (255, 200, 75),
    S_10: (255, 255, 100),
    S_11: (255, 250, 125),
    S_000: (251, 255, 0),
    ORDINARY + RIGHT: (89, 89, 255),
    ORDINARY + UP: (106, 106, 255),
    ORDINARY + LEFT: (122, 122, 255),
    ORDINARY + DOWN: (139, 139, 255),
    ORDINARY + EXCITED + RIGHT: (27, 176, 27),
    ORDINARY + EXCITED + UP: (36, 200, 36),
    ORDINARY + EXCITED + LEFT: (73, 255, 73),
    ORDINARY + EXCITED + DOWN: (106, 255, 106),
    SPECIAL + RIGHT: (235, 36, 36),
    SPECIAL + UP: (255, 56, 56),
    SPECIAL + LEFT: (255, 73, 73),
    SPECIAL + DOWN: (255, 89, 89),
    SPECIAL + EXCITED + RIGHT: (185, 56, 255),
    SPECIAL + EXCITED + UP: (191, 73, 255),
    SPECIAL + EXCITED + LEFT: (197, 89, 255),
    SPECIAL + EXCITED + DOWN: (203, 106, 255),
    C_00: (0, 255, 128),
    C_01: (33, 215, 215),
    C_10: (255, 255, 128),
    C_11: (255, 128, 64),
    HORIZONTAL: (255, 170, 120),
    VERTICAL: (255, 190, 170),
    BOTH: (255, 230, 220),
}
