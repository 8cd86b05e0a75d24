"""Von Neumann's automaton of 29 states and Nobili's of 32: what becomes of a cell.

What a cell is told by its neighbours comes as four values, for its sides right, up, left and down.
"""

from __future__ import annotations

from collections.abc import Sequence

from lifesim.rules.jvn.states import (
    BOTH,
    C_00,
    DOWN,
    EXCITED,
    GROUND,
    HORIZONTAL,
    LEFT,
    ORDINARY,
    RIGHT,
    S_0,
    S_00,
    S_000,
    S_01,
    S_1,
    S_10,
    S_11,
    SIDES,
    SPECIAL,
    UP,
    VERTICAL,
    S,
    Told,
    direction_of,
    is_excited,
    opposite,
)

# What a cell in construction becomes without a pulse, and with one.
GROWN = {
    GROUND: (GROUND, S),
    S: (S_0, S_1),
    S_0: (S_00, S_01),
    S_1: (S_10, S_11),
    S_00: (S_000, ORDINARY + LEFT),
    S_01: (ORDINARY + DOWN, SPECIAL + RIGHT),
    S_10: (SPECIAL + UP, SPECIAL + LEFT),
    S_11: (SPECIAL + DOWN, C_00),
    S_000: (ORDINARY + RIGHT, ORDINARY + UP),
}


def neumann(cell: int, told: Sequence[Told]) -> int:
    """Return the next state of a cell in von Neumann's automaton."""
    if cell <= S_000:
        return GROWN[cell][Told.ORDINARY_PULSE in told or Told.SPECIAL_PULSE in told]
    if cell < C_00:
        return passed_on(cell, told)
    return joined(cell, told)


def nobili(cell: int, told: Sequence[Told]) -> int:
    """Return the next state of a cell in Nobili's automaton.

    Confluent cells differ. Where two ordinary arrows at a right angle lead in, and two arrows of
    either kind lead out opposite to them, pulses cross. Where none leads out, a pulse is kept.
    """
    if cell < C_00 or Told.SPECIAL_PULSE in told:
        return neumann(cell, told)
    inlets = [side for side in SIDES if told[side] in (Told.ORDINARY, Told.ORDINARY_PULSE)]
    outlets = [side for side in SIDES if told[side] is Told.OUTLET]
    if len(inlets) == 2 and sorted(map(opposite, inlets)) == outlets:
        return crossed(told)
    plain = C_00 if cell >= HORIZONTAL else cell
    if not outlets and not has_joint_pulse(told):
        return plain
    return joined(plain, told)


def passed_on(arrow: int, told: Sequence[Told]) -> int:
    """Return the next state of an arrow: excited by pulses from all sides but the one that it
    points at, destroyed by those of the other kind from any side."""
    mine, other = Told.ORDINARY_PULSE, Told.SPECIAL_PULSE
    if arrow >= SPECIAL:
        mine, other = other, mine
    if other in told:
        return GROUND
    ahead = direction_of(arrow)
    pulses = (mine, Told.CONFLUENT_PULSE)
    pulse = any(told[side] in pulses for side in SIDES if side != ahead)
    quiescent = arrow - EXCITED * is_excited(arrow)
    return quiescent + EXCITED * pulse


def joined(confluent: int, told: Sequence[Told]) -> int:
    """Return the next state of a confluent cell: what comes as pulses by all ordinary arrows that
    lead in is given out two generations later; a special pulse destroys the cell."""
    if Told.SPECIAL_PULSE in told:
        return GROUND
    will = (confluent - C_00) % 2  # what was to come comes now
    return C_00 + 2 * will + has_joint_pulse(told)


def has_joint_pulse(told: Sequence[Told]) -> bool:
    """Tell whether ordinary arrows point at a cell, and all of them are excited."""
    return Told.ORDINARY_PULSE in told and Told.ORDINARY not in told


def crossed(told: Sequence[Told]) -> int:
    """Return the state of a confluent cell where pulses cross."""
    across = Told.ORDINARY_PULSE in (told[RIGHT], told[LEFT])
    upright = Told.ORDINARY_PULSE in (told[UP], told[DOWN])
    if across:
        return BOTH if upright else HORIZONTAL
    return VERTICAL if upright else C_00
