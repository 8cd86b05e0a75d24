"""What it costs to compute a universe where it changes, measured on one machine."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SettlingCosts:
    """Say when a universe is better computed where it changes, and when as a whole.

    span: generations after which squares of 64 x 64 cells are compared: a multiple of twelve, so
        that what repeats itself in twelve is the same; made in one pass, hardly slower than others.
    begin: the part of the squares that are not the same, below which it begins to be computed by
        windows.
    leave: the part that must be computed above which it is computed as a whole again.
    look: generations after which it is looked at again how much changes, at least.
    work: updates of cells that are made between looks, at least.
    worth: generations that must still be ahead for a change to pay.
    """

    span: int = 120
    begin: float = 0.4
    leave: float = 0.32
    look: int = 512
    work: int = 1 << 31
    worth: int = 240


SETTLING_COSTS = SettlingCosts()
