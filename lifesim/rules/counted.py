"""Rules written as counts of neighbours: B3/S23, B2-a/S12, B2/S34H, 345/2/4."""

from __future__ import annotations

import re
from dataclasses import dataclass

from kernels.life.rules import AgeingRule, CellRule, LifeRule, MapRule
from lifesim.rules import neighbours
from lifesim.rules.errors import error_at
from lifesim.rules.neighbours import Neighbourhood

_LOOKS = re.compile(
    r"(?:[GC][0-9]+(?:/?[BS]|[/_])|[BS]?[-0-9/_]).*|[BS]{2}(?:[-0-9/_].*)?[VH]?|[BS][VH]",
    re.IGNORECASE | re.ASCII | re.DOTALL,
)


@dataclass(slots=True)
class _Part:
    """A part of a rule: its letter, B, S, G (states) or none, and where its text is."""

    letter: str
    start: int
    stop: int


def looks(text: str) -> bool:
    """Tell whether a text is meant to be in this notation."""
    return _LOOKS.fullmatch(text) is not None


def read(text: str) -> tuple[CellRule, str]:
    """Return what a rule says and its usual name. Raises RuleError, with the column."""
    place = Neighbourhood.MOORE
    if text[-1:].upper() in ("V", "H"):
        place = Neighbourhood(text[-1].upper())
    parts = _parts(text, len(text) - len(place))
    states = _states(text, parts)
    birth, survival = _halves(text, parts)
    born = neighbours.read(text, birth.start, birth.stop, place) if birth else set()
    kept = neighbours.read(text, survival.start, survival.stop, place) if survival else set()
    return _rule(born, kept, place, states), _name(born, kept, place, states)


def _parts(text: str, stop: int) -> list[_Part]:
    """Cut a rule at its slashes and before each B, S and G."""
    parts = [_Part("", 0, 0)]
    for at, character in enumerate(text[:stop].upper()):
        last = parts[-1]
        is_blank = not last.letter and last.start == at
        if character in "/_":
            parts.append(_Part("", at + 1, at + 1))
        elif character in "BSG" or (character == "C" and is_blank):
            letter = "G" if character == "C" else character
            if not (is_blank or last.letter):
                raise error_at(text, at, f"a slash is missing before {character}")
            if is_blank:
                parts[-1] = _Part(letter, at + 1, at + 1)
            else:
                parts.append(_Part(letter, at + 1, at + 1))
        else:
            last.stop = at + 1
    return parts


def _states(text: str, parts: list[_Part]) -> int:
    """Take the part that says how many states there are out of a rule's parts, and return that
    number, 2 where there is none."""
    found = [part for part in parts if part.letter == "G"]
    if not found and len(parts) == 3 and not parts[2].letter:
        found = [parts[2]]
    if not found:
        return 2
    if len(found) > 1:
        raise error_at(text, found[1].start - 1, "the number of states stands twice")
    part = found[0]
    parts.remove(part)
    digits = text[part.start : part.stop]
    if not re.fullmatch("[0-9]+", digits):
        raise error_at(text, part.start, "the number of states, 2 to 256, is missing here")
    if len(digits) > 9 or not 2 <= int(digits) <= 256:
        raise error_at(text, part.start, "a rule has 2 to 256 states")
    return int(digits)


def _halves(text: str, parts: list[_Part]) -> tuple[_Part | None, _Part | None]:
    """Return what is born and what survives, of the parts that are left."""
    for part in parts[2:]:
        raise error_at(text, max(part.start - 1, 0), "a rule has two sets of neighbours, not more")
    named = {part.letter: part for part in parts if part.letter}
    plain = [part for part in parts if not part.letter]
    if len(plain) == 2:
        return plain[1], plain[0]  # survival first, where there are no letters
    if len(plain) + len(named) < len(parts):
        raise error_at(text, parts[1].start - 1, f"{parts[1].letter} stands twice")
    if not named:
        raise error_at(text, len(text) - 1, "one set of neighbours; a rule has two, as 23/3")
    if plain:
        named["S" if "B" in named else "B"] = plain[0]
    return named.get("B"), named.get("S")


def _rule(born: set[str], kept: set[str], place: Neighbourhood, states: int) -> CellRule:
    if states > 2:
        return AgeingRule(neighbours.table(born, kept, place), states)
    counts = [counts_of(chosen) for chosen in (born, kept)]
    if place is Neighbourhood.MOORE and None not in counts:
        return LifeRule(counts[0] or 0, counts[1] or 0)
    return MapRule(neighbours.table(born, kept, place))


def counts_of(chosen: set[str]) -> int | None:
    """Return the counts of a Moore neighbourhood's kinds, as of a LifeRule; None where only some
    kinds of a count are chosen."""
    value = 0
    for count in range(9):
        of_count = neighbours.kinds(count, Neighbourhood.MOORE)
        if of_count <= chosen:
            value |= 1 << count
        elif not of_count.isdisjoint(chosen):
            return None
    return value


def _name(born: set[str], kept: set[str], place: Neighbourhood, states: int) -> str:
    birth, survival = neighbours.written(born, place), neighbours.written(kept, place)
    if states > 2:
        return f"{survival}/{birth}/{states}{place}"
    return f"B{birth}/S{survival}{place}"
