"""Numbers as people read them."""

from __future__ import annotations

import math
from collections.abc import Sequence

_PREFIXES = ("", "k", "M", "G", "T", "P", "E")
_PLAIN = 10**6  # numbers beside an axis have no prefix below it
_PLACES = 4  # after the point, of those that have one


def short(value: float) -> str:
    """Return three digits and a prefix: 1.23 M."""
    power = 0
    while abs(value) >= 999.5 and power + 1 < len(_PREFIXES):
        value, power = value / 1000, power + 1
    if power == 0 and value == int(value):
        return str(int(value))
    places = 2 if abs(value) < 9.995 else 1 if abs(value) < 99.95 else 0
    text = f"{value:.{places}f}"
    return f"{text} {_PREFIXES[power]}".rstrip()


def percent(part: int, whole: int) -> str:
    """Return a percentage with three digits that say something."""
    share = 100 * part / whole
    if part == 0 or share >= 1:
        return f"{share:.{1 if part == 0 or share >= 10 else 2}f} %"
    places = 2 - math.floor(math.log10(share))
    return f"{share:.{places}f}".rstrip("0") + " %"


def ticks(values: Sequence[float], between: float) -> list[str]:
    """Write the numbers beside an axis, which are so far from each other: with as many digits as
    they need to differ."""
    most = max((abs(value) for value in values), default=0.0)
    step = math.floor(math.log10(between) + 1e-9)  # the power of ten of the distance
    if 0 < most < 1e-3:
        digits = math.ceil(math.log10(most / between)) + 1
        return [f"{value:.{max(1, digits)}g}" for value in values]
    power = 0
    if most >= _PLAIN:
        power = min(int(math.log10(most) + 1e-9) // 3, len(_PREFIXES) - 1)
        if 3 * power - step > _PLACES:
            power = 0
    places = max(0, 3 * power - step)
    prefix = f" {_PREFIXES[power]}".rstrip()
    texts = [f"{value / 1000**power:,.{places}f}{prefix}" for value in values]
    return ["0" if value == 0 else text for value, text in zip(values, texts, strict=True)]


def many(number: float, what: str) -> str:
    """Count things: 1 picture, 1,200 pictures."""
    text = f"{number:,}" if isinstance(number, int) else f"{number:g}"
    return f"{text} {what}" if number == 1 else f"{text} {what}s"
