"""Hutton's automaton of 32 states: what becomes of a cell, by what it is told.

A single line of ordinary arrows builds, turns and draws back. The arrow at its end says the bits
of the line's message by its own state: excited ordinary for 1, excited special for 0. What is built
takes its direction from that arrow. This follows the author's description in Golly's pattern
Hutton-replicator; where it leaves open what happens, this is what Golly 3.3 computes.
"""

from __future__ import annotations

from collections.abc import Sequence

from lifesim.rules.jvn.neumann import GROWN, crossed, joined, passed_on
from lifesim.rules.jvn.states import (
    C_00,
    EXCITED,
    GROUND,
    HORIZONTAL,
    ORDINARY,
    S_0,
    S_00,
    S_000,
    S_01,
    S_1,
    S_10,
    S_11,
    SIDES,
    SPECIAL,
    S,
    Told,
    direction_of,
    is_excited,
    opposite,
)

AHEAD_ELSE = -1  # stands for all states of the cell ahead that make no difference

_SPECIAL_AT_REST = range(SPECIAL, SPECIAL + EXCITED)
# By state and bit: the kind of arrow that is built, and by how many quarter turns to the left.
_BUILT = {
    (S_00, True): (ORDINARY, 2),
    (S_01, False): (ORDINARY, 3),
    (S_10, False): (SPECIAL, 1),
    (S_10, True): (SPECIAL, 2),
    (S_11, False): (SPECIAL, 3),
    (S_000, False): (ORDINARY, 0),
    (S_000, True): (ORDINARY, 1),
}
# What is built where no arrow gives a direction: the description has no case for it, Golly has.
_BUILT_BY_NONE = {S_01: S_11, S_10: SPECIAL, S_11: ORDINARY + EXCITED + 2, S_000: S_000}


def ahead_of(state: int) -> int:
    """Return what an arrow sees of the state of the cell ahead: AHEAD_ELSE for most states."""
    return state if state <= S_000 or state in _SPECIAL_AT_REST else AHEAD_ELSE


def hutton(cell: int, told: Sequence[Told], ahead: int) -> int:
    """Return the next state of a cell.

    told: as in lifesim.rules.jvn.neumann. ahead: what an arrow sees of the cell that it points at,
    as ahead_of() gives it; AHEAD_ELSE for other cells.
    """
    if cell <= S_000:
        return _grown(cell, told)
    if cell >= C_00:
        return _confluent(cell, told)
    return _ordinary(cell, told, ahead) if cell < SPECIAL else _special(cell, told, ahead)


def _grown(cell: int, told: Sequence[Told]) -> int:
    """Return the next state of a cell in construction: ordinary pulses are the bits 1."""
    bit = Told.ORDINARY_PULSE in told
    writer = _writer(told)
    if cell == GROUND and not bit and writer is not None:
        return ORDINARY + writer
    if cell in (GROUND, S, S_0, S_1) or (cell, bit) in ((S_00, False), (S_11, True)):
        return GROWN[cell][bit]
    if writer is None:
        return _BUILT_BY_NONE[cell]
    if cell == S_01 and bit:
        is_ordinary = told[opposite(writer)] is Told.ORDINARY_PULSE
        return (SPECIAL if is_ordinary else C_00) + writer
    kind, turns = _BUILT[cell, bit]
    return kind + (writer + turns) % 4


def _writer(told: Sequence[Told]) -> int | None:
    """Return the direction of the excited arrow that points at a cell; of several the first, in the
    order right, up, left, down."""
    pulses = (Told.ORDINARY_PULSE, Told.SPECIAL_PULSE)
    return next((side for side in SIDES if told[opposite(side)] in pulses), None)


def _ordinary(arrow: int, told: Sequence[Told], ahead: int) -> int:
    """Return the next state of an ordinary arrow, which may be at the end of a line that builds."""
    following = passed_on(arrow, told)
    if following == GROUND:
        return GROUND
    bit = is_excited(following)
    direction = direction_of(arrow)
    was_bit = is_excited(arrow)
    # The cell ahead is a complete arrow, or will be next: one more pulse makes the line draw back.
    if ahead == S_000 or ahead in _SPECIAL_AT_REST or ahead == (S_00 if was_bit else S_01):
        return GROUND if bit else ORDINARY + direction
    if was_bit and ahead == S_11:  # which will be a confluent cell
        return S if bit else GROUND
    if was_bit and GROUND <= ahead <= S_1:
        return following if bit else SPECIAL + EXCITED + direction  # the bit 0 follows
    return following


def _special(arrow: int, told: Sequence[Told], ahead: int) -> int:
    """Return the next state of a special arrow, or of an ordinary one that says the bit 0."""
    direction = direction_of(arrow)
    following = passed_on(arrow, told)
    if not is_excited(arrow) or ahead > S_000 or ahead == AHEAD_ELSE:
        return following
    behind = [told[side] for side in SIDES if side != direction]
    if ahead == GROUND:  # builds an ordinary arrow, whatever ordinary pulses come
        return SPECIAL + direction + EXCITED * (Told.SPECIAL_PULSE in behind)
    is_writing = ahead <= S_00  # an ordinary arrow in disguise has more bits to say
    if Told.ORDINARY_PULSE in behind:
        return ORDINARY + EXCITED + direction if is_writing else GROUND
    if Told.ORDINARY in behind:
        return SPECIAL + EXCITED + direction if is_writing else ORDINARY + direction
    return following


def _confluent(cell: int, told: Sequence[Told]) -> int:
    """Return the next state of a confluent cell: pulses cross where two arrows lead in, of either
    kind and from any sides, and two lead out; then it stays a crossing."""
    if Told.SPECIAL_PULSE in told:
        return GROUND
    outlets = list(told).count(Told.OUTLET)
    inlets = sum(one in (Told.ORDINARY, Told.ORDINARY_PULSE, Told.SPECIAL) for one in told)
    if cell >= HORIZONTAL or (cell == C_00 and inlets == outlets == 2):
        return crossed(told)
    return joined(cell, told)
