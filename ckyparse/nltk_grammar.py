"""Grammars as nltk's objects."""

from __future__ import annotations

import math
from collections.abc import Hashable
from fractions import Fraction

import nltk
from nltk.grammar import FeatStructNonterminal, ProbabilisticProduction

from .grammar import Grammar, GrammarError, Nonterminal, Production, Symbol, check_sums


def read(grammar: nltk.CFG) -> Grammar:
    """See Grammar.of()."""
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
    merged = Grammar(start, productions)
    labels = {s: label for s, label in symbols.labels.items() if label != s.name}
    result = Grammar._of_distinct(start, merged.productions, labels)
    for nonterminal in result.nonterminals:
        if not result.productions_of(nonterminal):
            raise GrammarError(f"nonterminal {nonterminal.name!r} has no productions")
    check_sums(result)
    return result


def write(grammar: Grammar) -> nltk.CFG:
    """See Grammar.to_nltk()."""
    symbols = {s: nltk.Nonterminal(grammar.label(s)) for s in grammar.nonterminals}
    check_sums(grammar)
    rows = [
        (symbols[p.lhs], [symbols[s] if isinstance(s, Nonterminal) else s for s in p.rhs], p)
        for p in grammar.productions
    ]
    start = symbols[grammar.start]
    if not grammar.is_probabilistic:
        return nltk.CFG(start, [nltk.Production(lhs, rhs) for lhs, rhs, _ in rows])
    return nltk.PCFG(
        start,
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
