"""The conditions that a run may go on until, and how they are written."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass

from lifesim.errors import LifesimError

LONGEST_PERIOD = 10**12  # that is asked for: its divisors are tried one by one

_OPERATORS: dict[str, Callable[[int, int], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "!=": operator.ne,
    "==": operator.eq,
    "=": operator.eq,
    ">": operator.gt,
    "<": operator.lt,
}


class ConditionError(LifesimError):
    """A text is no condition."""


@dataclass(frozen=True, slots=True)
class Empty:
    """The condition that nothing lives."""

    def __str__(self) -> str:
        """Return the text that parse() takes."""
        return "empty"


@dataclass(frozen=True, slots=True)
class Stable:
    """The condition that the pattern repeats itself, falls apart into parts that do, or grows by
    the same number of cells each period (lifesim.until.found.Found)."""

    def __str__(self) -> str:
        """Return the text that parse() takes."""
        return "stable"


@dataclass(frozen=True, slots=True)
class Repeats:
    """The condition that the whole pattern is the same, or the same but moved, `period`
    generations later. Raises ConditionError for a period that is not 1 to LONGEST_PERIOD."""

    period: int

    def __post_init__(self) -> None:
        if not 1 <= self.period <= LONGEST_PERIOD:
            raise ConditionError(
                f"a period is 1 to {LONGEST_PERIOD:,} generations, not {_short(str(self.period))}"
            )

    def __str__(self) -> str:
        """Return the text that parse() takes."""
        return f"period:{self.period}"


@dataclass(frozen=True, slots=True)
class Population:
    """The condition that the number of live cells compares so with a number.

    comparison: ">", ">=", "<", "<=", "=", "==" or "!="; raises ConditionError for any other.
    """

    comparison: str
    number: int

    def __post_init__(self) -> None:
        if self.comparison not in _OPERATORS:
            raise ConditionError(
                f"{_short(self.comparison)!r} compares nothing: {' '.join(_OPERATORS)}"
            )

    def holds(self, population: int) -> bool:
        """Tell whether it is true of a number of live cells."""
        return _OPERATORS[self.comparison](population, self.number)

    def __str__(self) -> str:
        """Return the text that parse() takes."""
        return f"population:{self.comparison}{self.number}"


Condition = Empty | Stable | Repeats | Population


def parse(text: str) -> Condition:
    """Return the condition that a text says: empty, stable, period:N, or population: followed by a
    comparison such as >1000. Raises ConditionError for any other text."""
    if text == "empty":
        return Empty()
    if text == "stable":
        return Stable()
    if match := re.fullmatch(r"period:\s*([0-9]{1,40})", text):
        return Repeats(int(match[1]))
    if match := re.fullmatch(r"population:\s*([<>!=]{1,2})\s*([0-9]{1,80})", text):
        return Population(match[1], int(match[2]))
    raise ConditionError(
        f"{_short(text)!r} is no condition: write stable, empty, period:30 or "
        "'population:>1000' (also >=, <, <=, = and !=)"
    )


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:39] + "…"
