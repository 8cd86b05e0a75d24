"""Context-free grammars, with or without probabilities."""

from __future__ import annotations

import random
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import nltk

TOLERANCE = Fraction(1, 100)  # of sums of probabilities, as nltk has it


class GrammarError(ValueError):
    """What is no grammar; its text is one line, "G.cfg:3:14: ...".

    source: the file, or what stands for one; "" where there is none. line, column: from 1;
    0 where the whole is meant.
    """

    def __init__(self, message: str, source: str = "", line: int = 0, column: int = 0) -> None:
        place = [source] if source else []
        if line:
            place += [str(line), str(column)] if column else [str(line)]
        super().__init__(": ".join([":".join(place), message] if place else [message]))
        self.message, self.source, self.line, self.column = message, source, line, column


@dataclass(frozen=True, slots=True, order=True)
class Nonterminal:
    """A symbol with productions. A terminal is a plain str."""

    name: str

    def __str__(self) -> str:
        return self.name

    def __hash__(self) -> int:
        return hash(self.name)


Symbol = Nonterminal | str


@dataclass(frozen=True, slots=True)
class Production:
    """lhs → rhs; an empty rhs derives the empty string.

    probability: exact, None in a grammar without. line, column: where it stands in its
    file, from 1; 0 where there is none. They make no difference to what equals what.
    """

    lhs: Nonterminal
    rhs: tuple[Symbol, ...]
    probability: Fraction | None = None
    line: int = field(default=0, compare=False)
    column: int = field(default=0, compare=False)

    def __str__(self) -> str:
        """One line, as nltk would read it but for symbols that it could not read."""
        words = [self.lhs.name, "->"]
        for symbol in self.rhs:
            if isinstance(symbol, Nonterminal):
                words.append(symbol.name)
            elif "\n" in symbol or ("'" in symbol and '"' in symbol):
                words.append(repr(symbol))
            else:
                words.append(f'"{symbol}"' if "'" in symbol else f"'{symbol}'")
        if self.probability is not None:
            words.append(f"[{decimal(self.probability)}]")
        return " ".join(words)


class Grammar:
    """Productions and a start symbol; immutable.

    productions: in the order given, without repetitions of the same lhs and rhs (their
        probabilities are added). start: the symbol that sentences derive from.

    A nonterminal may have no productions, and the probabilities of a left-hand side any
    sum; such a one derives nothing, and such a grammar has weights. What is read from a
    text or from nltk is held to have neither. Raises GrammarError where only some of the
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
        """From nltk's syntax, see ckyparse.reading. Raises GrammarError.

        start: instead of what the text says. source: the text's name in errors.
        """
        from .reading import parse

        return parse(text, start, source)

    @classmethod
    def read(cls, path: str | PathLike[str], start: str | Nonterminal | None = None) -> Grammar:
        """From a file in UTF-8, see fromstring(). Raises GrammarError, for the file too."""
        from .reading import parse

        source = str(path)
        if not source:
            raise GrammarError("no file is named so", "''")
        try:
            data = Path(path).read_bytes()
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise GrammarError(f"cannot be read: {reason}", source) from None
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            # The error counts from behind a byte order mark.
            before = error.object[: error.start]
            line, column = before.count(b"\n") + 1, len(before.split(b"\n")[-1].decode()) + 1
            what = f"byte 0x{error.object[error.start]:02x} is not UTF-8"
            raise GrammarError(what, source, line, column) from None
        return parse(text, start, source)

    @classmethod
    def of(cls, grammar: nltk.CFG) -> Grammar:
        """From an nltk CFG or PCFG.

        Names are the strs of nltk's symbols; label() gives the symbols. A probability is
        that of the shortest decimal that means the same float. Raises GrammarError where
        two symbols have the same str, a terminal is no str, the grammar has features, a
        nonterminal no productions, or the probabilities do not sum to one.
        """
        from .nltk_grammar import read

        return read(grammar)

    def to_nltk(self) -> nltk.CFG:
        """The same grammar as nltk's CFG or PCFG (with floats). Raises GrammarError where
        nltk refuses it: the probabilities of a left-hand side do not sum to one."""
        from .nltk_grammar import write

        return write(self)

    @classmethod
    def random(
        cls, nonterminals: int, rules: int, seed: int, terminals: int | None = None
    ) -> Grammar:
        """Distinct binary rules at random, as for Fujita's tables (2017, 7.5).

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
        """The same productions with another start symbol."""
        return self._of_distinct(start, self.productions, self._labels)

    def with_productions(self, productions: Iterable[Production]) -> Grammar:
        """The same start symbol and labels with other productions, distinct ones."""
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
        """In the order of their first places."""
        return tuple(
            dict.fromkeys(s for p in self.productions for s in p.rhs if isinstance(s, str))
        )

    @property
    def is_probabilistic(self) -> bool:
        """Whether the productions have probabilities."""
        return bool(self.productions) and self.productions[0].probability is not None

    @cached_property
    def _by_lhs(self) -> dict[Nonterminal, tuple[Production, ...]]:
        found: dict[Nonterminal, list[Production]] = {}
        for production in self.productions:
            found.setdefault(production.lhs, []).append(production)
        return {lhs: tuple(productions) for lhs, productions in found.items()}

    def productions_of(self, lhs: Nonterminal) -> tuple[Production, ...]:
        """Those with this left-hand side, in order."""
        return self._by_lhs.get(lhs, ())

    def label(self, nonterminal: Nonterminal) -> Hashable:
        """What stands for it in a tree: nltk's symbol, otherwise its name."""
        return self._labels.get(nonterminal, nonterminal.name)

    def __str__(self) -> str:
        """The text that fromstring() reads as an equal grammar.

        Raises GrammarError where there is none: a terminal has both kinds of quotes or
        the end of a line in it, a name is none of nltk's, there are no productions.
        """
        from .reading import check_writable

        check_writable(self)
        return f"%start {self.start}\n" + "".join(f"{p}\n" for p in self.productions)

    def __repr__(self) -> str:
        kind = "probabilistic productions" if self.is_probabilistic else "productions"
        return (
            f"<Grammar of {len(self.productions)} {kind}, "
            f"{len(self.nonterminals)} nonterminals, start symbol {self.start}>"
        )

    def __eq__(self, other: object) -> bool:
        """The same start symbol and productions, in the same order."""
        if not isinstance(other, Grammar):
            return NotImplemented
        return self.start == other.start and self.productions == other.productions

    def __hash__(self) -> int:
        return hash((self.start, self.productions))


def check_sums(grammar: Grammar, source: str = "") -> None:
    """Raises GrammarError where probabilities of a left-hand side do not sum to one."""
    if not grammar.is_probabilistic:
        return
    for lhs, productions in grammar._by_lhs.items():
        total = sum((p.probability or 0 for p in productions), Fraction())
        if not 1 - TOLERANCE < total < 1 + TOLERANCE:
            what = f"the probabilities of {lhs} sum to {float(total):.6g}, not to 1"
            raise GrammarError(what, source, productions[0].line, productions[0].column)


def decimal(number: Fraction) -> str:
    """Exact: "0.25", or "1/3" where a decimal has no end. At least 0."""
    denominator, places = number.denominator, 0
    for prime in (2, 5):
        power = 0
        while denominator % prime == 0:
            denominator //= prime
            power += 1
        places = max(places, power)
    if denominator != 1:
        return str(number)
    places = max(places, 1)
    digits = str(number.numerator * 10**places // number.denominator).rjust(places + 1, "0")
    return f"{digits[:-places]}.{digits[-places:]}"


def _merged(productions: Iterable[Production]) -> tuple[Production, ...]:
    """Distinct ones, in order; probabilities of equal ones added."""
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
