"""Rules by the names that people and files call them by."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from kernels.life.rules import CellRule, LifeRule
from lifesim.families import family, nearest
from lifesim.rules import counted, strings
from lifesim.rules.errors import RuleError as RuleError
from lifesim.rules.errors import shown

_NAMES = {
    "life": "B3/S23",
    "conway": "B3/S23",
    "highlife": "B36/S23",
    "day & night": "B3678/S34678",
    "daynight": "B3678/S34678",
    "seeds": "B2/S",
    "replicator": "B1357/S1357",
    "life without death": "B3/S012345678",
    "maze": "B3/S12345",
    "2x2": "B36/S125",
    "diamoeba": "B35678/S5678",
    "morley": "B368/S245",
    "anneal": "B4678/S35678",
    "34 life": "B34/S34",
    "brian's brain": "/2/3",
    "briansbrain": "/2/3",
    "star wars": "345/2/4",
    "starwars": "345/2/4",
}


# Which texts a notation's reader is for, and that reader.
_NOTATIONS: tuple[tuple[Callable[[str], bool], Callable[[str], tuple[CellRule, str]]], ...] = (
    (counted.looks, counted.read),
    (strings.looks_like_map, strings.read_map),
    (strings.looks_like_wolfram, strings.read_wolfram),
)


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule by the name that people and files call it by.

    cells: what it says of cells, as engines take it. name: the text of it in its usual form, which
    parse() reads again. colours: red, green and blue, 0 to 255, of states for which its file names
    them; they make no rule another.
    """

    cells: CellRule
    name: str
    colours: Mapping[int, tuple[int, int, int]] = field(default_factory=dict, compare=False)

    @classmethod
    def life_like_of(cls, birth: int, survival: int) -> Rule:
        """Return a Life-like rule; birth and survival are sets of counts, as of LifeRule.

        Raises ValueError as that does.
        """
        return cls(LifeRule(birth, survival), f"B{_digits(birth)}/S{_digits(survival)}")

    @classmethod
    def parse(cls, text: str) -> Rule:
        """Read B3/S23, b3s23, 23/3 (survival first), B3 (nothing survives), B2-a/S12 (Hensel's
        letters), B2/S34H, 345/2/4 (Generations), W110, a MAP string, or a name such as HighLife.

        Raises RuleError for anything else, with the column of what is wrong where there is one.
        """
        name = text.strip()
        spelled = _NAMES.get(name.lower(), name)
        for looks, read in _NOTATIONS:
            if looks(spelled):
                return cls(*read(spelled))
        raise RuleError(_refusal(name))

    def __str__(self) -> str:
        return self.name

    @property
    def states(self) -> int:
        """Return how many states a cell can be in."""
        return self.cells.states

    @property
    def planes(self) -> int:
        """Return the number of bit planes that hold the states."""
        return self.cells.planes

    @property
    def stays_empty(self) -> bool:
        """Tell whether a universe without live cells stays without."""
        return self.cells.stays_empty

    @property
    def life_like(self) -> LifeRule:
        """Return the cells' rule where it is a Life-like one. Raises RuleError where it is not."""
        if not isinstance(self.cells, LifeRule):
            raise RuleError(f"{self} is not a Life-like rule, as B3/S23 is")
        return self.cells


def _refusal(name: str) -> str:
    """Say why this is no rule that can be run."""
    kind = family(name)
    if kind:
        return f"rule {shown(name)} is {kind}: not supported yet"
    close = nearest(name, _NAMES)
    hint = f"is {close!r} meant? Else write it as B3/S23" if close else "write it as B3/S23"
    named = not close and re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", name)
    return f"unknown rule {shown(name)}: {hint}" + ("; no rule table can be run" if named else "")


def _digits(neighbours: int) -> str:
    return "".join(str(n) for n in range(9) if neighbours >> n & 1)


LIFE = Rule.life_like_of(0b1000, 0b1100)
