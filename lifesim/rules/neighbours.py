"""Sets of neighbours that give or keep life, by counts and by Hensel's letters.

A *kind* is what such a set has or has not: a count of live neighbours ("3"), or, of the Moore
neighbourhood, a count with the letter that says how they lie ("3c"), up to turning and mirroring.
"""

from __future__ import annotations

from enum import StrEnum
from functools import cache

from lifesim.rules.errors import error_at

CENTRE = 0o020  # of nine cells, as the index of a MapRule's table has them

# One example of each kind, by count: a digit for each row of three cells, as in a MapRule's table.
_EXAMPLES = {
    1: {"c": 0o400, "e": 0o200},
    2: {"c": 0o500, "e": 0o240, "k": 0o410, "a": 0o600, "i": 0o202, "n": 0o401},
    3: {
        "c": 0o504, "e": 0o250, "k": 0o412, "a": 0o640, "i": 0o700, "n": 0o510, "y": 0o502,
        "q": 0o601, "j": 0o610, "r": 0o602,
    },
    4: {
        "c": 0o505, "e": 0o252, "k": 0o542, "a": 0o710, "i": 0o550, "n": 0o704, "y": 0o514,
        "q": 0o641, "j": 0o612, "r": 0o650, "t": 0o702, "w": 0o611, "z": 0o603,
    },
}  # fmt: skip


class Neighbourhood(StrEnum):
    """A neighbourhood: which of the eight cells around a cell count.

    The value is the letter behind a rule.
    """

    MOORE = ""
    VON_NEUMANN = "V"
    HEXAGONAL = "H"  # all but those at the top right and the bottom left, as in Golly

    @property
    def mask(self) -> int:
        """Return the cells that count, as of a MapRule's table."""
        return {"": 0o757, "V": 0o252, "H": 0o653}[self]

    @property
    def most(self) -> int:
        """Return how many cells count."""
        return self.mask.bit_count()

    @property
    def called(self) -> str:
        """Return what people call it."""
        return {"": "Moore", "V": "von Neumann", "H": "hexagonal"}[self]


@cache
def letters(count: int, place: Neighbourhood) -> str:
    """Return the letters that may stand behind a count, by the alphabet; maybe none."""
    if place is not Neighbourhood.MOORE or not 0 < count < 8:
        return ""
    return "".join(sorted(_EXAMPLES[min(count, 8 - count)]))


@cache
def kinds(count: int, place: Neighbourhood) -> frozenset[str]:
    """Return all kinds of a count."""
    return frozenset(f"{count}{letter}" for letter in letters(count, place)) or frozenset(
        [str(count)]
    )


@cache
def kinds_of_cells(place: Neighbourhood) -> list[str]:
    """Return the kind of each of the 512 squares of nine cells, whether the middle lives or not."""
    if place is not Neighbourhood.MOORE:
        return [str((cells & place.mask).bit_count()) for cells in range(512)]
    found = {0: "0", place.mask: "8"}
    for count, examples in _EXAMPLES.items():
        for letter, cells in examples.items():
            for image in _images(cells):
                found[image] = f"{count}{letter}"
                # What is dead among more than four neighbours lies as its letter says.
                found.setdefault(image ^ place.mask, f"{8 - count}{letter}")
    return [found[cells & place.mask] for cells in range(512)]


def _images(cells: int) -> set[int]:
    """Return a square of nine cells in all its eight positions."""
    rows = [[cells >> (8 - 3 * y - x) & 1 for x in range(3)] for y in range(3)]
    images = set()
    for _ in range(4):
        rows = [list(row) for row in zip(*rows[::-1], strict=True)]  # turned by a quarter
        for held in (rows, rows[::-1]):
            images.add(int("".join(str(cell) for row in held for cell in row), 2))
    return images


def table(birth: set[str], survival: set[str], place: Neighbourhood) -> int:
    """Return the table of a MapRule: what is born and what survives with neighbours of these
    kinds."""
    value = 0
    for kind in birth:
        value |= _squares_of(kind, place, False)
    for kind in survival:
        value |= _squares_of(kind, place, True)
    return value


@cache
def _squares_of(kind: str, place: Neighbourhood, lives: bool) -> int:
    """Return the squares of nine cells with a kind, as bits of a table; `lives`: their middle."""
    return sum(
        (found == kind) << cells
        for cells, found in enumerate(kinds_of_cells(place))
        if bool(cells & CENTRE) == lives
    )


def read(whole: str, start: int, stop: int, place: Neighbourhood) -> set[str]:
    """Read counts and letters, whole[start:stop], as 2-a34q; the case of letters is free.

    Raises RuleError with the column of what cannot be there.
    """
    found: set[str] = set()
    at = start
    while at < stop:
        digit = whole[at]
        if digit not in "0123456789":
            raise error_at(whole, at, _misplaced(digit, place))
        count = int(digit)
        if count > place.most:
            many = f"a cell has at most {place.most} neighbours"
            where = f" in the {place.called} neighbourhood" if place else ""
            raise error_at(whole, at, many + where)
        end = at + 1
        while end < stop and not whole[end].isdecimal():
            end += 1
        named = _named(whole, at, end, place)
        if named & found:
            both = min(named & found) if end > at + 1 else digit
            raise error_at(whole, at, f"{both} stands twice")
        found |= named
        at = end
    return found


def _named(whole: str, at: int, end: int, place: Neighbourhood) -> frozenset[str]:
    """Return the kinds of one count, whole[at], and of what stands behind it."""
    count, possible = int(whole[at]), letters(int(whole[at]), place)
    start = at + 1 + (whole[at + 1 : end][:1] == "-")
    given: set[str] = set()
    for offset in range(start, end):
        letter = whole[offset].lower()
        if letter not in "cekainyqjrtwz":
            raise error_at(whole, offset, _misplaced(whole[offset], place))
        if letter not in possible:
            raise error_at(whole, offset, _no_letter(letter, count, place))
        if letter in given:
            raise error_at(whole, offset, f"{count}{letter} stands twice")
        given.add(letter)
    these = frozenset(f"{count}{letter}" for letter in given)
    if not these:
        return kinds(count, place)
    return kinds(count, place) - these if start == at + 2 else these


def _misplaced(letter: str, place: Neighbourhood) -> str:
    if place is Neighbourhood.MOORE:
        return f"{letter!r} is neither a count of neighbours nor a letter behind one"
    return f"{letter!r} is no count of neighbours"


def _no_letter(letter: str, count: int, place: Neighbourhood) -> str:
    possible = letters(count, place)
    if place is not Neighbourhood.MOORE:
        return f"letters as {letter!r} are for the Moore neighbourhood only"
    if not possible:
        return f"{count} neighbours lie in one way only: no letter stands behind {count}"
    return f"no letter {letter!r} behind {count}, but {possible}"


def written(chosen: set[str], place: Neighbourhood) -> str:
    """Return kinds as Golly writes them: of each count the shorter of the letters that are in and
    those that are not."""
    text = ""
    for count in range(place.most + 1):
        of_count = kinds(count, place)
        if of_count.isdisjoint(chosen):
            continue
        if of_count <= chosen:
            text += str(count)
            continue
        having = "".join(sorted(kind[1:] for kind in of_count & chosen))
        missing = "".join(sorted(kind[1:] for kind in of_count - chosen))
        if len(having) <= len(missing) + 1:
            text += f"{count}{having}"
        else:
            text += f"{count}-{missing}"
    return text
