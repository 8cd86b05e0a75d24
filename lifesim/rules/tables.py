"""Rules of several states that need no file: LifeHistory, B36/S23History and WireWorld."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from kernels.life.rules import CellRule, LifeRule, MapRule
from lifesim.rules import counted, strings
from lifesim.rules.errors import error_at
from lifesim.rules.neighbours import CENTRE

if TYPE_CHECKING:
    from kernels.tables.rules import TableRule

_HISTORY = "History"
_STATES = 7
# 0 never lived, 1 lives, 2 has lived; 3 lives and 4 is dead on a mark; 5 lives and is marked since
# the start; 6 is a wall, beside which nothing survives.
_ALIVE, _WALL = 1 << 1 | 1 << 3 | 1 << 5, 1 << 6
_DEAD = 1 | 1 << 2 | 1 << 4 | _WALL
_BORN = {0: 1, 2: 1, 4: 3}
_DIED = {1: 2, 3: 4, 5: 4}


def looks(text: str) -> bool:
    """Tell whether a text is meant to be one of these rules."""
    if text.lower() == "wireworld":
        return True
    base = text[: -len(_HISTORY)]
    is_history = text[len(base) :].lower() == _HISTORY.lower()
    return is_history and (base.lower() == "life" or counted.looks(base) or _is_map(base))


def read(text: str) -> tuple[CellRule, str]:
    """Return what a rule says, and its usual name. Raises RuleError, with the column."""
    if text.lower() == "wireworld":
        return wireworld(), "WireWorld"
    base = text[: -len(_HISTORY)]
    if base.lower() == "life":
        base = "B3/S23"
    plain, name = strings.read_map(base) if _is_map(base) else counted.read(base)
    if not isinstance(plain, LifeRule | MapRule):
        raise error_at(text, len(base), "only a rule of two states has a History")
    if not plain.stays_empty:
        raise error_at(text, len(base), "a rule in which empty space is born has no History")
    return history(plain), ("Life" if name == "B3/S23" else name) + _HISTORY


def _is_map(base: str) -> bool:
    return re.fullmatch("MAP[A-Za-z0-9+/=]{6,}", base) is not None


@cache
def wireworld() -> TableRule:
    """Return the rule of wires: 1 is the head of an electron, 2 its tail, 3 a conductor."""
    from itertools import combinations

    from kernels.tables.diagram import Transition, of_transitions
    from kernels.tables.rules import CELLS
    from kernels.tables.rules import CENTRE as MIDDLE

    around = [place for place in range(len(CELLS)) if place != MIDDLE]
    changes: list[tuple[int, int, tuple[int, ...]]] = [(1, 2, ()), (2, 3, ())]
    changes += [(3, 1, heads) for n in (1, 2) for heads in combinations(around, n)]
    made = []
    for state, following, heads in changes:
        # An electron moves on whatever is beside it; a conductor counts heads.
        others = 0b1101 if state == 3 else 0b1111
        allowed = [0b0010 if place in heads else others for place in range(len(CELLS))]
        allowed[MIDDLE] = 1 << state
        made.append(Transition(tuple(allowed), following))
    return of_transitions(made, 4)


@cache
def history(plain: LifeRule | MapRule) -> TableRule:
    """Return the rule of seven states that marks where a rule of two states has lived."""
    from kernels.tables.diagram import Transition, of_transitions
    from kernels.tables.rules import CELLS
    from kernels.tables.rules import CENTRE as MIDDLE

    places = [1 << (4 - 3 * row - column) for row, column in CELLS]
    made = []
    for state in range(_STATES - 1):
        lives = bool(_ALIVE >> state & 1)
        changes = _DIED if lives else _BORN
        if state not in changes:
            continue
        for cells in range(512):
            if bool(cells & CENTRE) != lives or bool(plain.table >> cells & 1) == lives:
                continue
            allowed = [_ALIVE if cells & place else _DEAD for place in places]
            allowed[MIDDLE] = 1 << state
            made.append(Transition(tuple(allowed), changes[state]))
        for beside in range(len(CELLS)):
            if lives and beside != MIDDLE:
                allowed = [(1 << _STATES) - 1] * len(CELLS)
                allowed[MIDDLE], allowed[beside] = 1 << state, _WALL
                made.append(Transition(tuple(allowed), changes[state]))
    return of_transitions(made, _STATES)
