"""JvN29, Nobili32 and Hutton32: von Neumann's automaton of 29 states, and two of 32 after it."""

from __future__ import annotations

from collections.abc import Mapping

from kernels.life.rules import CellRule

NAMES = ("JvN29", "Nobili32", "Hutton32")  # the first has the states 0 to 28, the others three more


def looks(text: str) -> bool:
    """Tell whether a text is the name of one of these rules, in any case of letters."""
    return text.lower() in {name.lower() for name in NAMES}


def read(text: str) -> tuple[CellRule, str]:
    """Return what a rule says, and its usual name."""
    from lifesim.rules.jvn.diagrams import (
        table_of,
    )  # numpy, not loaded by those who only name rules

    name = next(name for name in NAMES if name.lower() == text.lower())
    return table_of(name), name


def colours_of(name: str) -> Mapping[int, tuple[int, int, int]]:
    """Return red, green and blue of states by the usual name of a rule; none for other rules."""
    if name not in NAMES:
        return {}
    from lifesim.rules.jvn.states import C_11, COLOURS

    last = C_11 if name == NAMES[0] else max(COLOURS)
    return {state: colour for state, colour in COLOURS.items() if state <= last}
