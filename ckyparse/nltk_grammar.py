"""Grammars as nltk's objects."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from typing import Any

import nltk
from nltk.grammar import FeatStructNonterminal, ProbabilisticProduction

from .productions import GrammarError, Nonterminal, Production, Symbol


def read(
    grammar: nltk.CFG,
) -> tuple[Nonterminal, list[Production], dict[Nonterminal, Hashable]]:
    """Return start symbol, productions, and the labels that differ from names: see Grammar.of()."""
    if not isinstance(grammar, nltk.CFG):
        raise TypeError(f"not an nltk CFG or PCFG: {type(grammar).__name__}")
    symbols = _Symbols()
    start = symbols.nonterminal(grammar.start())
    productions = []
    for production in grammar.productions():
        probability = None
        if isinstance(production, ProbabilisticProduction):
            probability = _exact(production)
        rhs = tuple(symbols.symbol(symbol) for symbol in production.rhs())
        productions.append(Production(symbols.nonterminal(production.lhs()), rhs, probability))
    return start, productions, {s: x for s, x in symbols.labels.items() if x != s.name}


def write(
    start: Nonterminal,
    productions: Sequence[Production],
    label: Callable[[Nonterminal], Hashable],
) -> nltk.CFG:
    """Return nltk's grammar, its symbols the labels of ours: see Grammar.to_nltk()."""

    def made(symbol: Symbol) -> Any:
        return nltk.Nonterminal(label(symbol)) if isinstance(symbol, Nonterminal) else symbol

    rows = [(made(p.lhs), [made(symbol) for symbol in p.rhs], p) for p in productions]
    if not productions or productions[0].probability is None:
        return nltk.CFG(made(start), [nltk.Production(lhs, rhs) for lhs, rhs, _ in rows])
    return nltk.PCFG(
        made(start),
        [ProbabilisticProduction(lhs, rhs, prob=float(p.probability or 0)) for lhs, rhs, p in rows],
    )


class _Symbols:
    """nltk's nonterminals, and ours by the same names."""

    def __init__(self) -> None:
        self.ours: dict[nltk.Nonterminal, Nonterminal] = {}
        self.labels: dict[Nonterminal, Hashable] = {}

    def nonterminal(self, symbol: nltk.Nonterminal) -> Nonterminal:
        known = self.ours.get(symbol)
        if known is not None:
            return known
        if isinstance(symbol, FeatStructNonterminal):
            raise GrammarError("a grammar with features is not context-free: expand them first")
        made = Nonterminal(str(symbol))
        if made in self.labels:
            raise GrammarError(
                f"nonterminals {self.labels[made]!r} and {symbol.symbol()!r} have the same name, "
                f"{made.name!r}"
            )
        self.ours[symbol], self.labels[made] = made, symbol.symbol()
        return made

    def symbol(self, symbol: object) -> Symbol:
        if isinstance(symbol, nltk.Nonterminal):
            return self.nonterminal(symbol)
        if not isinstance(symbol, str):
            raise GrammarError(f"terminal {symbol!r} is no string but {type(symbol).__name__}")
        return str(symbol)


def _exact(production: ProbabilisticProduction) -> Fraction:
    value = production.prob()
    if value is None or not math.isfinite(value) or value < 0:
        arrow = f"{production.lhs()} -> {' '.join(map(str, production.rhs()))}"
        raise GrammarError(f"{value} is no probability, that of {arrow}")
    return Fraction(repr(float(value)))
