"""Chomsky normal form, for people and programs that want it written out."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import NamedTuple

from kernels.cky.weighted.semirings import Value

from .grammar import Grammar, GrammarError, Nonterminal, Production, Symbol
from .normal import NormalForm
from .sums import NotRationalError

# Two symbols, or a terminal.
Side = tuple[int, ...]

_NAME = re.compile(r"[\w/][\w/^<>-]*")
_LONG = 40


def chomsky_normal_form(grammar: Grammar) -> Grammar:
    """Return a grammar of productions A → B C and A → a with the same language.

    If the empty string is a sentence, the start symbol has an empty production as well and
    is on no right-hand side; it may be a new one for that. Useless symbols are left out, and
    those that only led to others; a grammar without sentences has no productions. Other
    nonterminals keep their names. New ones are called T_word for a terminal beside other
    symbols, NP-PP for what follows the first symbol of a long right-hand side, and T_1, H_1
    and so on where that would be no name.

    Probabilities are such that each sentence keeps its own, that of all its trees together:
    those of unit chains and empty neighbours are multiplied in. Where they summed to one for
    each left-hand side they do so again, unless it is possible never to come to an end. They
    are exact, but where those of empty strings are roots of polynomials: there they are
    decimals near them.

    Raises GrammarError where they add up without end.
    """
    form = NormalForm(grammar)
    values = _values(form) if grammar.is_probabilistic else None
    rules = _folded(form, values)
    names = _Names(form)
    start = names.of(form.start)
    productions = []
    if form.nullable(grammar.start):
        if any(form.start in rhs for own in rules.values() for rhs in own if len(rhs) == 2):
            start = names.new(f"{grammar.start}0", "S")
        weight = None if values is None else values.empty[form.start]
        productions.append(Production(start, (), weight))
    for symbol, own in rules.items():
        heads = [(names.of(symbol), Fraction(1) if values is None else values.mass(symbol))]
        if symbol == form.start:
            # A sentence has its probability whole.
            heads = [(start, Fraction(1)), *(heads if start != heads[0][0] else ())]
        for head, mass in heads:
            for rhs, weight in own.items():
                probability = None if values is None else weight / mass
                productions.append(Production(head, names.side(rhs), probability))
    return Grammar(start, productions)


class _Values(NamedTuple):
    """Probabilities: of Rules' rows, unit chains with loops, and the ε-trees of symbols."""

    binary: list[Fraction]
    lexical: list[Fraction]
    units: list[Fraction]
    loops: list[Fraction]
    empty: dict[int, Fraction]

    def mass(self, symbol: int) -> Fraction:
        """Return the share of a symbol's strings that are not empty.

        If rules are multiplied by the masses on their right and divided by that on their
        left, trees keep their probabilities, whatever the masses; with these the rules of
        each symbol sum to one if they did so with the empty ones.
        """
        share = 1 - self.empty.get(symbol, Fraction(0))
        return share if share > 0 else Fraction(1)


def _values(form: NormalForm) -> _Values:
    try:
        weights, empty = form.exact(), form.empty_exact
    except NotRationalError:
        weights, empty = form.probabilities(), form.empty_decimal
    return _Values(
        [_fraction(x) for x in weights.binary.tolist()],
        [_fraction(x) for x in weights.lexical.tolist()],
        [_fraction(x) for x in weights.units.tolist()],
        [_fraction(x) for x in weights.loops.tolist()],
        {symbol: _fraction(x) for symbol, x in empty.items()},
    )


def _fraction(number: Value) -> Fraction:
    if number == math.inf:
        raise GrammarError("the probabilities of unit chains or empty strings add up without end")
    # The shortest decimal of a float.
    return number if isinstance(number, Fraction) else Fraction(str(float(number)))


def _folded(form: NormalForm, values: _Values | None) -> dict[int, dict[Side, Fraction]]:
    """Return the rules of each symbol that the start symbol leads to, those of unit chains its own.

    Each with its weight, times the masses on its right; 1 in a grammar without.
    """
    one = Fraction(1)
    binary = {tuple(row): k for k, row in enumerate(form.rules.binary.tolist())}
    lexical = {tuple(row): k for k, row in enumerate(form.rules.lexical.tolist())}
    sides = []
    for a in range(form.rules.symbols):
        own: list[tuple[int, Side, Fraction]] = []
        for rhs, p in form.derivations[a]:
            if (row := binary.get((a, *rhs))) is not None:
                weight = one
                if values is not None:
                    weight = values.binary[row] * values.mass(rhs[0]) * values.mass(rhs[1])
                own.append((p, rhs, weight))
        for terminal, p in form.lexicon[a].items():
            row = lexical[a, terminal]
            own.append((p, (terminal,), one if values is None else values.lexical[row]))
        sides.append([(side, weight) for _, side, weight in sorted(own)])
    chains = [[(a, one if values is None else values.loops[a])] for a in range(len(sides))]
    for row, (a, b) in enumerate(form.rules.units.tolist()):
        chains[a].append((b, one if values is None else values.units[row]))

    result: dict[int, dict[Side, Fraction]] = {form.start: {}}
    waiting = [form.start]
    while waiting:
        symbol = waiting.pop()
        folded = result[symbol]
        for below, chain in chains[symbol]:
            for side, weight in sides[below]:
                folded[side] = folded.get(side, Fraction(0)) + chain * weight
        for side in folded:
            for child in side if len(side) == 2 else ():
                if child not in result:
                    result[child] = {}
                    waiting.append(child)
    return dict(sorted(result.items()))


class _Names:
    """Nonterminals for the symbols of a normal form."""

    def __init__(self, form: NormalForm) -> None:
        self._form = form
        self._taken = {nonterminal.name for nonterminal in form.grammar.nonterminals}
        self._known: dict[int, Nonterminal] = {}
        self._terminals = list(form.vocabulary)

    def of(self, symbol: int) -> Nonterminal:
        name = self._form.symbol_of(symbol) or self._known.get(symbol)
        if name is None:
            words = self._form.lexicon[symbol]
            if words:
                name = self.new(f"T_{self._terminals[next(iter(words))]}", "T")
            else:
                name = self.new("-".join(self._rest(symbol)), "H")
            self._known[symbol] = name
        return name

    def side(self, rhs: Side) -> tuple[Symbol, ...]:
        if len(rhs) == 1:
            return (self._terminals[rhs[0]],)
        return tuple(self.of(symbol) for symbol in rhs)

    def new(self, wanted: str, kind: str) -> Nonterminal:
        """Return a name that is not in use: the one wanted if it is one, or kind_1, kind_2, ..."""
        number = 0
        name = wanted
        while name in self._taken or len(name) > _LONG or not _NAME.fullmatch(name):
            number += 1
            name = f"{kind}_{number}"
        self._taken.add(name)
        return Nonterminal(name)

    def _rest(self, helper: int) -> list[str]:
        """Return the names of what a helper stands for."""
        found = []
        while True:
            ((left, right), _) = self._form.derivations[helper][0]
            found.append(self.of(left).name)
            if self._form.symbol_of(right) is not None or self._form.lexicon[right]:
                return [*found, self.of(right).name]
            helper = right
