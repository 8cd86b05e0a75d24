"""Context-free grammars, with or without probabilities."""

from __future__ import annotations

import random
import sys
import warnings
from collections.abc import Hashable, Iterable, Mapping
from fractions import Fraction
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING

from bulkbits.plurals import many

from .productions import (
    GrammarError,
    GrammarWarning,
    Nonterminal,
    Production,
    Symbol,
    decimal,
)
from .reading import check_writable, read_file, read_text

if TYPE_CHECKING:
    import nltk

__all__ = [
    "TOLERANCE",
    "Grammar",
    "GrammarError",
    "GrammarWarning",
    "Nonterminal",
    "Production",
    "Symbol",
    "check_sums",
    "decimal",
    "parse",
    "parse_file",
    "undefined_note",
]

TOLERANCE = Fraction(1, 100)  # of sums of probabilities, as nltk has it


class Grammar:
    """Productions and a start symbol; immutable, so that any number of threads may use one.

    productions: in the order given, without repetitions of the same lhs and rhs (their
        probabilities are added). start: the symbol that sentences derive from.

    A nonterminal may have no productions: it derives nothing. The probabilities of a
    left-hand side may have any sum, as those of a grammar with weights; what is read from a
    text or from nltk is held to sums of one. Raises GrammarError where only some of the
    productions have a probability, or one is negative.
    """

    def __init__(self, start: Nonterminal, productions: Iterable[Production]) -> None:
        self._set(start, _merged(productions), {})

    def _set(
        self,
        start: Nonterminal,
        productions: tuple[Production, ...],
        labels: Mapping[Nonterminal, Hashable],
    ) -> None:
        self.start = start
        self.productions = productions
        self._labels = labels

    @classmethod
    def _of_distinct(
        cls,
        start: Nonterminal,
        productions: Iterable[Production],
        labels: Mapping[Nonterminal, Hashable],
    ) -> Grammar:
        grammar = cls.__new__(cls)
        grammar._set(start, tuple(productions), labels)
        return grammar

    @classmethod
    def fromstring(
        cls, text: str, start: str | Nonterminal | None = None, source: str = "<string>"
    ) -> Grammar:
        """Return the grammar that a text says in nltk's syntax, see ckyparse.reading.

        start: instead of what the text says. source: the text's name in errors. Raises
        GrammarError. Warns of nonterminals without productions, see GrammarWarning.
        """
        return _warned(parse(text, start, source), source)

    @classmethod
    def read(cls, path: str | PathLike[str], start: str | Nonterminal | None = None) -> Grammar:
        """Return the grammar in a file in UTF-8, see fromstring().

        Raises GrammarError, for the file too.
        """
        return _warned(parse_file(path, start), str(path))

    @classmethod
    def of(cls, grammar: nltk.CFG) -> Grammar:
        """Return an nltk CFG or PCFG as a grammar.

        Names are the strs of nltk's symbols; label() gives the symbols. A probability is
        that of the shortest decimal that means the same float. Raises GrammarError where
        two symbols have the same str, a terminal is no str, the grammar has features, or
        the probabilities do not sum to one. Warns of nonterminals without productions.
        """
        from .nltk_grammar import read  # which loads nltk

        start, productions, labels = read(grammar)
        ours = cls._of_distinct(start, _merged(productions), labels)
        check_sums(ours)
        return _warned(ours)

    def to_nltk(self) -> nltk.CFG:
        """Return the same grammar as nltk's CFG or PCFG (with floats). Raises GrammarError where
        nltk refuses it: the probabilities of a left-hand side do not sum to one."""
        from .nltk_grammar import write  # which loads nltk

        check_sums(self)
        return write(self.start, self.productions, self.label)

    @classmethod
    def random(
        cls, nonterminals: int, rules: int, seed: int, terminals: int | None = None
    ) -> Grammar:
        """Return distinct binary rules at random, as for Fujita's tables (2017, 7.5).

        A0, A1, … with A0 the start symbol, and t0, t1, …: as many terminals as
        nonterminals if not said otherwise. Ai → ti; the shorter row of the two begins anew
        where it ends, so that each symbol has a part in this. The same for a seed
        everywhere. Raises ValueError for more than nonterminals**3 rules.
        """
        count = nonterminals if terminals is None else terminals
        total = nonterminals**3
        if nonterminals < 1 or count < 1 or total > 1 << 50:
            raise ValueError(f"{nonterminals} nonterminals and {count} terminals")
        if not 0 <= rules <= total:
            raise ValueError(
                f"{rules} rules: {nonterminals} nonterminals make {total} binary rules"
            )
        # The one method of random that Python promises not to change.
        draw = random.Random(seed).random
        chosen: set[int] = set()
        few = min(rules, total - rules)
        while len(chosen) < few:
            chosen.add(int(draw() * total))
        numbers = sorted(chosen) if few == rules else [i for i in range(total) if i not in chosen]

        symbols = [Nonterminal(f"A{i}") for i in range(nonterminals)]
        productions = []
        for number in numbers:
            pair, c = divmod(number, nonterminals)
            a, b = divmod(pair, nonterminals)
            productions.append(Production(symbols[a], (symbols[b], symbols[c])))
        for i in range(max(nonterminals, count)):
            productions.append(Production(symbols[i % nonterminals], (f"t{i % count}",)))
        return cls._of_distinct(symbols[0], productions, {})

    def with_start(self, start: Nonterminal) -> Grammar:
        """Return the same productions with another start symbol."""
        return self._of_distinct(start, self.productions, self._labels)

    def with_productions(self, productions: Iterable[Production]) -> Grammar:
        """Return the same start symbol and labels with other productions, distinct ones."""
        return self._of_distinct(self.start, productions, self._labels)

    @cached_property
    def nonterminals(self) -> tuple[Nonterminal, ...]:
        """The start symbol, the left-hand sides, and then the others, in order."""
        found = dict.fromkeys([self.start, *(p.lhs for p in self.productions)])
        found |= dict.fromkeys(
            s for p in self.productions for s in p.rhs if isinstance(s, Nonterminal)
        )
        return tuple(found)

    @cached_property
    def terminals(self) -> tuple[str, ...]:
        """The terminals, in the order of their first places."""
        return tuple(
            dict.fromkeys(s for p in self.productions for s in p.rhs if isinstance(s, str))
        )

    @cached_property
    def undefined(self) -> tuple[Nonterminal, ...]:
        """The nonterminals without productions, in order: they derive nothing."""
        return tuple(s for s in self.nonterminals if s not in self._by_lhs)

    @property
    def is_probabilistic(self) -> bool:
        """True if the productions have probabilities."""
        return bool(self.productions) and self.productions[0].probability is not None

    @cached_property
    def _by_lhs(self) -> dict[Nonterminal, tuple[Production, ...]]:
        found: dict[Nonterminal, list[Production]] = {}
        for production in self.productions:
            found.setdefault(production.lhs, []).append(production)
        return {lhs: tuple(productions) for lhs, productions in found.items()}

    def productions_of(self, lhs: Nonterminal) -> tuple[Production, ...]:
        """Return those with this left-hand side, in order."""
        return self._by_lhs.get(lhs, ())

    def label(self, nonterminal: Nonterminal) -> Hashable:
        """Return what stands for it in a tree: nltk's symbol, otherwise its name."""
        return self._labels.get(nonterminal, nonterminal.name)

    def __str__(self) -> str:
        """Return the text that fromstring() reads as an equal grammar.

        Raises GrammarError where there is none: a terminal has both kinds of quotes or
        the end of a line in it, a name is none of nltk's, there are no productions.
        """
        if not self.productions:
            raise GrammarError("a grammar without productions cannot be written in nltk's syntax")
        check_writable(self.nonterminals, self.terminals)
        return f"%start {self.start}\n" + "".join(f"{p}\n" for p in self.productions)

    def __repr__(self) -> str:
        kind = "probabilistic production" if self.is_probabilistic else "production"
        return (
            f"<Grammar of {many(len(self.productions), kind)}, "
            f"{many(len(self.nonterminals), 'nonterminal')}, start symbol {self.start}>"
        )

    def __eq__(self, other: object) -> bool:
        """Compare: the same start symbol and productions, in the same order."""
        if not isinstance(other, Grammar):
            return NotImplemented
        return self.start == other.start and self.productions == other.productions

    def __hash__(self) -> int:
        return hash((self.start, self.productions))


def parse(text: str, start: str | Nonterminal | None = None, source: str = "<string>") -> Grammar:
    """Return the grammar that a text says, without warnings. Raises GrammarError.

    start: instead of the text's start symbol. source: the text's name in errors.
    """
    grammar = Grammar(*read_text(text, start, source))
    check_sums(grammar, source)
    return grammar


def parse_file(path: str | PathLike[str], start: str | Nonterminal | None = None) -> Grammar:
    """Return the grammar in a file in UTF-8, without warnings.

    Raises GrammarError, for the file too.
    """
    return parse(read_file(path), start, str(path))


def undefined_note(grammar: Grammar, source: str = "") -> str:
    """Say in one line which nonterminals have no productions; "" if all have some.

    source: the file, or what stands for one.
    """
    if not grammar.undefined:
        return ""
    names = set(grammar.undefined)
    uses = (p for p in grammar.productions if names.intersection(p.rhs))
    line = next((p.line for p in uses), 0)
    place = f"line {line}: " if line else ""
    if source:
        place = f"{source}:{line}: " if line else f"{source}: "
    said = ", ".join(repr(s.name) for s in grammar.undefined)
    if len(names) == 1:
        return f"{place}the nonterminal {said} has no productions, so that it derives nothing"
    return f"{place}these nonterminals have no productions, so that they derive nothing: {said}"


def _warned(grammar: Grammar, source: str = "") -> Grammar:
    """Warn of undefined nonterminals, as at the line outside of this package that led here."""
    note = undefined_note(grammar, source)
    if note:
        level, frame = 1, sys._getframe()
        while frame.f_back is not None and frame.f_globals["__name__"].startswith("ckyparse."):
            level, frame = level + 1, frame.f_back
        warnings.warn(GrammarWarning(note), stacklevel=level)
    return grammar


def check_sums(grammar: Grammar, source: str = "") -> None:
    """Raise GrammarError where probabilities of a left-hand side do not sum to one."""
    if not grammar.is_probabilistic:
        return
    for lhs, productions in grammar._by_lhs.items():
        total = sum((p.probability or 0 for p in productions), Fraction())
        if not 1 - TOLERANCE < total < 1 + TOLERANCE:
            what = f"the probabilities of {lhs} sum to {float(total):.6g}, not to 1"
            raise GrammarError(what, source, productions[0].line, productions[0].column)


def _merged(productions: Iterable[Production]) -> tuple[Production, ...]:
    """Return distinct ones, in order; probabilities of equal ones added."""
    given = tuple(productions)
    found: dict[tuple[Nonterminal, tuple[Symbol, ...]], Production] = {}
    for p in given:
        if p.probability is None or given[0].probability is None:
            if p.probability is not given[0].probability:
                bare = p if p.probability is None else given[0]
                what = f"{bare} has no probability, though other productions have one"
                raise GrammarError(what, "", bare.line, bare.column)
        elif p.probability < 0:
            raise GrammarError(f"the probability {p.probability} is negative", "", p.line, p.column)
        first = found.setdefault((p.lhs, p.rhs), p)
        if first is not p and p.probability is not None and first.probability is not None:
            both = first.probability + p.probability
            found[p.lhs, p.rhs] = Production(p.lhs, p.rhs, both, first.line, first.column)
    return tuple(found.values())
