"""Numbers as people read them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import click

from lifesim.cli.options import Generations

_PREFIXES = ("", "k", "M", "G", "T", "P", "E")
_PLAIN = 10**4  # numbers beside an axis have no prefix below it
_LEAST_SHARE = 1e-12  # percent: less is written as a power of ten
_DIGITS = 300  # of a generation that somebody types, at most
_LONG = 10**18  # integers from here on are shortened
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_PLACES, _OF_THOUSANDS = 4, 1  # after the point, at most, of those that have a prefix


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
    if share < _LEAST_SHARE:
        return f"{raised(f'{share:.1e}')} %"
    places = 2 - math.floor(math.log10(share))
    return f"{share:.{places}f}".rstrip("0") + " %"


def raised(text: str) -> str:
    """Write 1.5e-06, as Python says it, as 1.5 × 10⁻⁶; any other number as it is."""
    digits, _, power = text.partition("e")
    return f"{digits} × {power_of_ten(int(power))}" if power else text


def power_of_ten(power: int) -> str:
    """Write a power of ten: 10⁻⁶."""
    return f"10{str(power).translate(_RAISED)}"


def ticks(values: Sequence[float], between: float) -> list[str]:
    """Write the numbers beside an axis, which are so far from each other: with as many digits as
    they need to differ."""
    most = max((abs(value) for value in values), default=0.0)
    step = math.floor(math.log10(between) + 1e-9)  # the power of ten of the distance
    if 0 < most < 1e-3 or most >= 1000 ** len(_PREFIXES):
        digits = math.ceil(math.log10(most / between)) + 1
        return [raised(f"{value:.{max(1, digits)}g}") for value in values]
    power = 0
    if most >= _PLAIN:
        power = min(int(math.log10(most) + 1e-9) // 3, len(_PREFIXES) - 1)
        if 3 * power - step > (_OF_THOUSANDS if power == 1 else _PLACES):
            power = 0
    places = max(0, 3 * power - step)
    prefix = f" {_PREFIXES[power]}".rstrip()
    texts = [f"{value / 1000**power:,.{places}f}{prefix}" for value in values]
    return ["0" if value == 0 else text for value, text in zip(values, texts, strict=True)]


def time_left(seconds: float) -> str:
    """Say about how long something will still take: 12 s left, 5 min left, 3.2 h left."""
    for unit, name in ((86400, "days"), (3600, "h"), (60, "min")):
        if seconds >= 1.5 * unit:
            share = seconds / unit
            return f"{share:.{1 if share < 9.95 and unit > 60 else 0}f} {name} left"
    return f"{max(1, round(seconds))} s left"


def shortened(number: int) -> str:
    """Return an integer with all its digits, or of a long one what it is a power of, or its first
    and last digits and how many there are."""
    size = abs(number)
    if size < _LONG:
        return f"{number:,}"
    sign = "-" if number < 0 else ""
    if size & (size - 1) == 0:
        return f"{sign}2^{size.bit_length() - 1}"
    digits = str(size)
    if set(digits[1:]) == {"0"}:
        start = "" if digits[0] == "1" else f"{digits[0]}·"
        return f"{sign}{start}10^{len(digits) - 1}"
    return f"{sign}{digits[:6]}…{digits[-6:]} ({len(digits)} digits)"


def whole(low: int, high: int, what: str) -> Callable[[str], int]:
    """Return a parser of integers from low to high; it raises ValueError."""

    def parse(text: str) -> int:
        plain = text.strip().replace(",", "").replace("_", "")
        if not (plain.isascii() and plain.isdigit() and len(plain) <= 30):
            raise ValueError(f"{what} is a whole number")
        if not low <= int(plain) <= high:
            raise ValueError(f"{what} is {low:,} to {high:,}")
        return int(plain)

    return parse


def generation_of(text: str, most: int) -> int:
    """Read a generation, as --steps does: 1000, 64K, 1e6 or 2^40. Raises ValueError, which says
    what is wrong."""
    plain = text.strip().replace(",", "").replace("_", "")
    try:
        if plain.isascii() and plain.isdigit() and len(plain) <= _DIGITS:
            generation = int(plain)
        else:
            generation = Generations(0, 10**_DIGITS).convert(plain, None, None)
    except click.BadParameter:
        raise ValueError("write it as 1000, 1e6 or 2^40") from None
    if generation > most:
        raise ValueError(f"{shortened(most)} at most")
    return generation


def coordinate(at: int, scale: int) -> str:
    """Return where a block of 2^scale cells begins, exactly: as a multiple of its size where that
    is shorter."""
    plain = shortened(at)
    if scale < 20 or abs(at) < _LONG or at & (at - 1) == 0:
        return plain
    blocks = f"{shortened(at >> scale)}·2^{scale}"
    return blocks if at % (1 << scale) == 0 and len(blocks) < len(plain) else plain
