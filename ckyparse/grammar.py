"""Context-free grammars, with or without probabilities."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True, order=True)
class Nonterminal:
    """A symbol with productions. A terminal is a plain str."""

    name: str

    def __str__(self) -> str:
        return self.name


Symbol = Nonterminal | str


@dataclass(frozen=True, slots=True)
class Production:
    """lhs → rhs; an empty rhs derives the empty string.

    probability: exact, None in a grammar without. line, column: where it stands in its
    file, from 1; 0 where there is none.
    """

    lhs: Nonterminal
    rhs: tuple[Symbol, ...]
    probability: Fraction | None = None
    line: int = 0
    column: int = 0


class Grammar:
    """Productions and a start symbol; immutable.

    productions: in the order given, without repetitions of the same lhs and rhs (their
        probabilities are added). start: the symbol that sentences derive from.
    """

    def __init__(self, start: Nonterminal, productions: Iterable[Production]) -> None:
        self.start = start
        self.productions = tuple(productions)
