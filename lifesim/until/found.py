"""The end of a run that goes on until something is true: what was found, as facts and as text."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from bulkbits.plurals import many


@dataclass(frozen=True, slots=True)
class Found:
    """The facts that a run found which went on until a condition was true.

    condition: its text. met: whether it was true within the generations that were allowed.
    generation: where the universe stands now: the first generation for which it is true, or
    the last that was allowed. never: whether it is known that it never will be true, as what
    follows is; where any number of generations was allowed, the universe then stands at `began`.
    All that follows is None where it is not known, or where the condition does not ask for it.

    kind: what the pattern has become:
        "empty": nothing lives;
        "still life", "oscillator", "spaceship": all of it repeats itself;
        "debris with ships", "ships": what stays repeats itself and the rest flies away, so
            that no two parts ever meet;
        "growing": a gun, a puffer, a rake, or what else grows by the same each period;
        "periodic population": only the number of live cells is known to repeat.
    period: the least number of generations after which it repeats itself, and all of its parts
    do; of what grows, one after which the source of the growth repeats itself and has added as many
    cells as in the period before.
    displacement: how far all of it has moved then, (x, y); of what grows, its source; None where
    parts move in several ways.
    began: the first generation from which all this is so; of what grows and of a "periodic
    population", from which on population(t + 2 period) - population(t + period) is
    population(t + period) - population(t) for every t.
    growth: cells that are added per period, on average over one where phases differ.
    ships: how many parts fly away, of debris with ships.
    proved: whether the rest of time is known. False: no more than the populations of
    `observed` generations from `began` on were seen to be so.
    every: of a universe on disk, which was looked at once in so many generations (of one in memory
    None, as each counts). Then `generation` is the first one looked at for which the condition is
    known to be true, `began` the first one looked at from which all this is so, and `never` is
    about those that are looked at.
    """

    condition: str
    met: bool
    generation: int
    kind: str | None = None
    period: int | None = None
    displacement: tuple[int, int] | None = None
    began: int | None = None
    growth: Fraction | None = None
    ships: int | None = None
    proved: bool | None = None
    observed: int | None = None
    never: bool = False
    every: int | None = None

    def facts(self) -> dict[str, Any]:
        """Return it as JSON has it; growth as a string where it is no whole number."""
        growth = self.growth
        if growth is not None:
            growth = int(growth) if growth.denominator == 1 else str(growth)  # type: ignore[assignment]
        return {
            "condition": self.condition,
            "met": self.met,
            "never": self.never,
            "kind": self.kind,
            "period": self.period,
            "displacement": None if self.displacement is None else list(self.displacement),
            "began": self.began,
            "growth": growth,
            "ships": self.ships,
            "proved": self.proved,
            "observed": self.observed,
            "every": self.every,
        }

    @classmethod
    def from_facts(cls, facts: dict[str, Any]) -> Found:
        """Return what facts() of it, and its generation beside them, say."""
        moved, growth = facts["displacement"], facts["growth"]
        return cls(
            **{
                **facts,
                "displacement": None if moved is None else tuple(moved),
                "growth": None if growth is None else Fraction(growth),
            }
        )

    def __str__(self) -> str:
        """Say it in a line."""
        if self.every is None or self.every == 1:
            return self._text()
        return f"{self._text()} (looked at every {self.every:,} generations)"

    def _text(self) -> str:
        if self.never:
            return f"{self.condition}: never met: {self._all_text()}"
        if not self.met:
            return f"{self.condition}: not met up to generation {self.generation:,}"
        if self.kind is None:
            return f"{self.condition}: met in generation {self.generation:,}"
        return f"{self.condition}: {self._all_text()}"

    def _all_text(self) -> str:
        text = f"{self._kind_text()}, from generation {self.began:,} on"
        if self.every and self.every > 1 and self.began:
            text += " or before"
        if self.proved:
            return text
        return f"{text} (seen in the populations of {self.observed:,} generations, not proved)"

    def _kind_text(self) -> str:
        if self.kind in ("empty", "still life"):
            return self.kind
        text = f"{self.kind} of period {self.period:,}"
        if self.kind == "debris with ships":
            return f"debris of period {self.period:,} with {_ships(self.ships)} flying away"
        if self.kind == "ships":
            return f"{_ships(self.ships)} flying apart, of period {self.period:,}"
        if self.kind == "periodic population":
            return f"population of period {self.period:,}"
        if self.kind == "growing":
            text = f"growing by {_number(self.growth)} cells every {self.period:,} generations"
        if self.displacement and any(self.displacement):
            x, y = self.displacement
            what = "its source " if self.kind == "growing" else ""
            text += f", {what}moving by ({x}, {y})"
        return text


def _ships(count: int | None) -> str:
    assert count is not None
    return many(count, "ship")


def _number(growth: Fraction | None) -> str:
    assert growth is not None
    return f"{growth.numerator:,}" if growth.denominator == 1 else f"{float(growth):,}"
