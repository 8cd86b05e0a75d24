"""What it costs to compute a universe where it changes, measured on one machine."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SettlingCosts:
    """Say when a universe is better computed where it changes, and when as a whole.

    begin: the part of all windows that change below which it begins to be computed by windows.
    leave: the part that must be computed above which it is computed as a whole again.
    look: generations after which it is looked at again how much changes.
    worth: generations that must still be ahead for a change to pay.
    """

    begin: float = 0.2
    leave: float = 0.22
    look: int = 480
    worth: int = 240


COSTS = SettlingCosts()
