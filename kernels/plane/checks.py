"""Checks that all engines of the unbounded plane make of what they are given."""

from __future__ import annotations

from kernels.life.rules import NineCellRule
from kernels.plane.contract import SIDE, Places, PlaneRuleError, Words

FARTHEST = 1 << 56  # squares from the origin, at most, in put()


def check_rule(rule: NineCellRule) -> None:
    """Raise PlaneRuleError for a rule under which empty space comes alive."""
    if not rule.stays_empty:
        raise PlaneRuleError("a rule of B0 brings all of a plane without bounds to life")


def check_places(places: Places, squares: Words) -> None:
    """Raise ValueError where PlaneUniverse.put() must."""
    if places.dtype.kind != "i" or places.dtype.itemsize != 8 or places.shape[1:] != (2,):
        raise ValueError(f"places are int64 (n, 2), not {places.dtype} {places.shape}")
    if squares.dtype.kind != "u" or squares.dtype.itemsize != 8:
        raise ValueError(f"squares are of uint64, not {squares.dtype}")
    if squares.shape != (len(places), SIDE):
        raise ValueError(f"{len(places)} places, and squares of shape {squares.shape}")
    if not (places.flags.c_contiguous and squares.flags.c_contiguous):
        raise ValueError("places and squares must be C-contiguous")
    if len(places) and not (places.min() >= -FARTHEST and places.max() < FARTHEST):
        raise ValueError("a square lies 2^56 squares from the origin, or farther")


def check_window(words: Words) -> None:
    """Raise ValueError where PlaneUniverse.get() must."""
    if words.dtype.kind != "u" or words.dtype.itemsize != 8 or words.ndim != 2:
        raise ValueError(f"a rectangle is written as uint64 rows, not {words.dtype} {words.shape}")
    if not (words.flags.c_contiguous and words.flags.writeable):
        raise ValueError("rows must be C-contiguous and writable")
