"""Rules by name: Life-like ones, B.../S... on the Moore neighbourhood."""

from __future__ import annotations

import re
from dataclasses import dataclass

from kernels.life.rules import CellRule, LifeRule
from lifesim.errors import LifesimError
from lifesim.families import family, nearest

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
}


class RuleError(LifesimError):
    """A text names no Life-like rule."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule by the name that people and files call it by.

    cells: what it says of cells, as engines take it. name: the text of it in its usual form, which
    parse() reads again.
    """

    cells: CellRule
    name: str

    @classmethod
    def life_like_of(cls, birth: int, survival: int) -> Rule:
        """Return a Life-like rule; birth and survival are sets of counts, as of LifeRule.

        Raises ValueError as that does.
        """
        return cls(LifeRule(birth, survival), f"B{_digits(birth)}/S{_digits(survival)}")

    @classmethod
    def parse(cls, text: str) -> Rule:
        """Read B3/S23, b3s23, 23/3 (survival first), B3 (nothing survives) or a common
        name such as HighLife.

        Raises RuleError for anything else, naming the family of a rule that is not Life-like,
        and for a neighbour count that is not 0 to 8 or is named twice.
        """
        name = text.strip()
        spelled = _NAMES.get(name.lower(), name)
        match = re.fullmatch(r"[Bb]([0-9]*)/?[Ss]([0-9]*)|[Bb]([0-9]+)/?", spelled)
        if match:
            born, kept = match[1] or match[3] or "", match[2] or ""
        elif match := re.fullmatch(r"[Ss]([0-9]*)/?[Bb]([0-9]*)|([0-9]*)/([0-9]*)", spelled):
            kept, born = match.groups()[:2] if match[1] is not None else match.groups()[2:]
        else:
            raise RuleError(_refusal(name))
        return cls.life_like_of(_neighbour_set(born, name), _neighbour_set(kept, name))

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
        return f"rule {_shown(name)} is {kind}: not supported yet, only rules as B3/S23 are"
    close = nearest(name, _NAMES)
    hint = f"is {close!r} meant? Else write it as B3/S23" if close else "write it as B3/S23"
    named = not close and re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", name)
    return f"unknown rule {_shown(name)}: {hint}" + ("; no rule table can be run" if named else "")


def _shown(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:37] + "...")


def _digits(neighbours: int) -> str:
    return "".join(str(n) for n in range(9) if neighbours >> n & 1)


def _neighbour_set(digits: str, rule: str) -> int:
    value = 0
    for digit in digits:
        if digit == "9":
            raise RuleError(f"rule {_shown(rule)}: a cell has at most 8 neighbours")
        bit = 1 << int(digit)
        if value & bit:
            raise RuleError(f"rule {_shown(rule)}: {digit} stands twice")
        value |= bit
    return value


LIFE = Rule.parse("B3/S23")
