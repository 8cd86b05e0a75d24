"""Rules of the Larger than Life family, as R5,C0,M1,S34..58,B34..45,NM, and neighbourhoods."""

from __future__ import annotations

import re
from collections.abc import Callable

from kernels.life.rules import CellRule
from kernels.ranges.rules import FARTHEST, Interval, RangeRule, Run, circle, diamond, square
from lifesim.rules.errors import RuleError, error_at, shown

FARTHEST_OF_SHAPES = 200  # rows or columns, where a neighbourhood may be many short runs

_FIELDS = re.compile(r"([RCMSBN])([^,]*)", re.IGNORECASE)
_OLDER = re.compile(r"[0-9]+(?:,[0-9]+){4}", re.ASCII)
_RUN = re.compile(r"([0-9]+)(?:(?:\.\.|-)([0-9]+))?", re.ASCII)


def _euclidean(radius: int, x: int, y: int) -> bool:
    return x * x + y * y <= radius * radius


def _hexagonal(radius: int, x: int, y: int) -> bool:
    return abs(x - y) <= radius


def _checkerboard(_radius: int, x: int, y: int) -> bool:
    return (x + y) % 2 == 1


def _aligned(_radius: int, x: int, y: int) -> bool:
    return (x + y) % 2 == 0


def _hash(_radius: int, x: int, y: int) -> bool:
    return abs(x) == 1 or abs(y) == 1


def _cross(_radius: int, x: int, y: int) -> bool:
    return x == 0 or y == 0


def _saltire(_radius: int, x: int, y: int) -> bool:
    return abs(x) == abs(y)


def _star(_radius: int, x: int, y: int) -> bool:
    return x == 0 or y == 0 or abs(x) == abs(y)


def _asterisk(_radius: int, x: int, y: int) -> bool:
    return x == 0 or y == 0 or x == y


# What is in a neighbourhood of a radius, of all cells that far away along rows and columns.
_SHAPES: dict[str, Callable[[int, int, int], bool]] = {
    "2": _euclidean,
    "H": _hexagonal,
    "B": _checkerboard,
    "D": _aligned,
    "#": _hash,
    "+": _cross,
    "X": _saltire,
    "*": _star,
    "A": _asterisk,
}
KINDS = {
    "M": "Moore: a square",
    "N": "von Neumann: a diamond",
    "C": "a circle, of all cells nearer than the radius and a half",
    "2": "a circle, of all cells not farther than the radius",
    "H": "a hexagon",
    "B": "a checkerboard without the cell's own colour",
    "D": "a checkerboard of the cell's own colour",
    "#": "a hash: the rows and columns beside the cell's",
    "+": "a cross: the cell's row and column",
    "X": "a saltire: the diagonals",
    "*": "a star: cross and saltire",
    "A": "an asterisk: the cross and one diagonal, the axes of a hexagon",
    "@": "the cells whose bits are set in the hexadecimal digits that follow",
}


def looks(text: str) -> bool:
    """Tell whether a text is meant to be in this notation."""
    return re.match(r"[Rr][0-9]+,", text, re.A) is not None or _OLDER.fullmatch(text) is not None


def read(text: str) -> tuple[CellRule, str]:
    """Return what a rule says and its usual name, which is Golly's where it is one that Golly has.

    Raises RuleError, with the column of what is wrong.
    """
    if _OLDER.fullmatch(text):
        numbers = text.split(",")
        radius, *limits = [_number(text, number, text.index(number), 10**6) for number in numbers]
        least, greatest, low, high = limits
        # The older notation counts the cell itself.
        spelled = f"R{radius},C0,M1,S{low}..{high},B{least}..{greatest},NM"
        return _of(spelled, _fields(spelled), text)
    return _of(text, _fields(text), text)


def _fields(text: str) -> dict[str, tuple[int, str]]:
    """Return the fields of a rule by their letters: where each one's value is, and that value, of S
    and B all numbers up to the next letter."""
    fields: dict[str, tuple[int, str]] = {}
    letter, at = "", 0
    for part in text.split(","):
        if part[:1].upper() in "RCMSBN" and part:
            letter = part[0].upper()
            if letter in fields:
                raise error_at(text, at, f"{letter} stands twice")
            fields[letter] = (at + 1, part[1:])
        elif letter in ("S", "B") and (part or not fields[letter][1]):
            start, value = fields[letter]
            fields[letter] = (start, f"{value},{part}")
        else:
            known = "R, C, M, S, B or N begins a part of such a rule"
            raise error_at(text, at, f"{known}, not {shown(part)}")
        at += len(part) + 1
    for needed in "RSB":
        if needed not in fields:
            raise RuleError(f"rule {shown(text)}: {needed} is missing, as in R2,C0,S6-9,B7-8,NM")
    return fields


def _of(text: str, fields: dict[str, tuple[int, str]], given: str) -> tuple[CellRule, str]:
    try:
        return _rule(text, fields)
    except RuleError as error:
        if text == given:
            raise
        raise RuleError(f"rule {shown(given)} means {text}: {error}") from None


def _rule(text: str, fields: dict[str, tuple[int, str]]) -> tuple[CellRule, str]:
    at, value = fields["R"]
    radius = _number(text, value, at, FARTHEST)
    if not radius:
        raise error_at(text, at, f"the radius is 1 to {FARTHEST}")
    at, value = fields.get("C", (0, "0"))
    states = max(2, _number(text, value, at, 256))
    at, value = fields.get("M", (0, "0"))
    middle = _number(text, value, at, 1)
    at, kind = fields.get("N", (0, "M"))
    runs, kind = _runs(text, at, kind, radius, bool(middle))
    most = sum(last - first + 1 for _, first, last in runs)
    survival = _intervals(text, *fields["S"], most)
    birth = _intervals(text, *fields["B"], most)
    rule = RangeRule(runs, birth, survival, states)
    shown_states = states if states > 2 else 0
    begins = f"R{radius},C{shown_states},M{middle}"
    if len(survival) == len(birth) == 1 and kind in "MNC":
        (low, high), (least, greatest) = survival[0], birth[0]
        return rule, f"{begins},S{low}..{high},B{least}..{greatest},N{kind}"
    return rule, f"{begins},S{_written(survival)},B{_written(birth)},N{kind}"


def _number(text: str, digits: str, at: int, most: int) -> int:
    """Return a number that may be 0 to `most`."""
    if not re.fullmatch("[0-9]+", digits, re.A):
        raise error_at(text, at, f"{shown(digits)} is no number")
    if len(digits) > 9 or int(digits) > most:
        raise error_at(text, at, f"{shown(digits)} is more than {most}, the most that is possible")
    return int(digits)


def _intervals(text: str, start: int, value: str, most: int) -> tuple[Interval, ...]:
    """Read counts as 2..3 or 2-3,5 and return them ascending and apart, in as few as possible."""
    found: list[Interval] = []
    at = start
    for part in value.split(",") if value else []:
        match = _RUN.fullmatch(part)
        if not match:
            raise error_at(text, at, f"{shown(part)} is no count, and no range as 3..5")
        least = _number(text, match[1], at, most)
        greatest = _number(text, match[2] or match[1], at, most)
        if greatest < least:
            raise error_at(text, at, f"{shown(part)} begins with the larger number")
        found.append((least, greatest))
        at += len(part) + 1
    joined: list[Interval] = []
    for least, greatest in sorted(found):
        if joined and least <= joined[-1][1]:
            raise error_at(text, start, f"{least} stands twice")
        if joined and least == joined[-1][1] + 1:
            joined[-1] = joined[-1][0], greatest
        else:
            joined.append((least, greatest))
    return tuple(joined)


def _written(intervals: tuple[Interval, ...]) -> str:
    return ",".join(
        str(least) if least == greatest else f"{least}-{greatest}" for least, greatest in intervals
    )


def _runs(text: str, at: int, kind: str, radius: int, middle: bool) -> tuple[tuple[Run, ...], str]:
    """Return the cells of a kind of neighbourhood, and the kind in its usual form."""
    letter = kind.upper()
    if letter == "M":
        return square(radius, middle=middle), letter
    if letter == "N":
        return diamond(radius, middle=middle), letter
    if letter == "C":
        return circle(radius, middle=middle), letter
    if letter in _SHAPES or letter[:1] == "@":
        if radius > FARTHEST_OF_SHAPES:
            raise error_at(text, at, f"N{letter[:1]} is for radii up to {FARTHEST_OF_SHAPES}")
        if letter[0] == "@":
            chosen = _by_digits(text, at + 1, letter[1:], radius)
            return _rows(radius, lambda x, y: (x, y) in chosen, middle), letter
        is_in = _SHAPES[letter]
        return _rows(radius, lambda x, y: is_in(radius, x, y), middle), letter
    raise error_at(text, at, f"no neighbourhood {shown(kind)}: {' '.join(KINDS)} are known")


def _by_digits(text: str, at: int, digits: str, radius: int) -> set[tuple[int, int]]:
    """Read a bit for each cell but the middle one, of hexadecimal digits.

    As LifeViewer has it, the first bit is for the cell at the bottom right, the last for that at
    the top left, row by row.
    """
    cells = [(x, y) for y in range(radius, -radius - 1, -1) for x in range(radius, -radius - 1, -1)]
    cells.remove((0, 0))
    if len(digits) != len(cells) // 4:
        wanted = f"{len(cells) // 4} hexadecimal digits stand behind N@, not {len(digits)}"
        raise error_at(text, at, f"with a radius of {radius} {wanted}")
    for offset, digit in enumerate(digits):
        if digit not in "0123456789ABCDEF":
            raise error_at(text, at + offset, f"{digit!r} is no hexadecimal digit")
    bits = f"{int(digits, 16):0{len(cells)}b}"
    return {cell for cell, bit in zip(cells, bits, strict=True) if bit == "1"}


def _rows(radius: int, is_in: Callable[[int, int], bool], middle: bool) -> tuple[Run, ...]:
    """Return the cells up to `radius` rows and columns away that are in, as runs of rows."""
    runs: list[Run] = []
    for y in range(-radius, radius + 1):
        first: int | None = None
        for x in range(-radius, radius + 2):
            chosen = x <= radius and (middle if x == y == 0 else is_in(x, y))
            if chosen and first is None:
                first = x
            elif not chosen and first is not None:
                runs.append((y, first, x - 1))
                first = None
    return tuple(runs)
