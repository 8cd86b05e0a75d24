"""Runs that end where something becomes true, such as that the pattern repeats itself."""

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
