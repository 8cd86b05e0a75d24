"""Runs that end where something becomes true: nothing lives, the pattern repeats itself, and so on."""

from __future__ import annotations

from lifesim.until.conditions import (
    Condition,
    ConditionError,
    Empty,
    Population,
    Repeats,
    Stable,
    parse,
)
from lifesim.until.found import Found

__all__ = [
    "Condition",
    "ConditionError",
    "Empty",
    "Found",
    "Population",
    "Repeats",
    "Stable",
    "parse",
]
