"""Numbers as people read them."""

from __future__ import annotations

import math

_PREFIXES = ("", "k", "M", "G", "T", "P", "E")


def short(value: float) -> str:
    """Three digits and a prefix: 1.23 M."""
    power = 0
    while abs(value) >= 999.5 and power + 1 < len(_PREFIXES):
        value, power = value / 1000, power + 1
    if power == 0 and value == int(value):
        return str(int(value))
    places = 2 if abs(value) < 9.995 else 1 if abs(value) < 99.95 else 0
    text = f"{value:.{places}f}"
    return f"{text} {_PREFIXES[power]}".rstrip()


def percent(part: int, whole: int) -> str:
    """With three digits that say something."""
    share = 100 * part / whole
    if part == 0 or share >= 1:
        return f"{share:.{1 if part == 0 or share >= 10 else 2}f} %"
    places = 2 - math.floor(math.log10(share))
    return f"{share:.{places}f}".rstrip("0") + " %"
