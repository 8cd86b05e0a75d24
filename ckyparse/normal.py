"""Grammars in binary normal form, with the way back to the original productions.

Only what has to be is transformed (Lange & Leiß 2009, "To CNF or not to CNF?"): long
right-hand sides become binary by helpers; rules with ε or one symbol stay what they are and
are closed over. So the normal form is no more than a small multiple of the grammar, and its
derivations are those of the grammar one by one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np

from kernels.cky.rules import Rules
from kernels.cky.weighted.engine import Weights

from . import related
from .analysis import trimmed
from .grammar import Grammar, Nonterminal
from .sums import (
    Approximate,
    Best,
    Counting,
    Edge,
    Matrix,
    Semiring,
    Value,
    closure,
    decimal,
    grown,
    least,
)

# What a symbol derives in one step: none to two symbols; and its production, or -1.
Rule = tuple[tuple[int, ...], int]
Node = TypeVar("Node", bound=Hashable)
Convert = Callable[[Fraction], Value]


class _Rows(NamedTuple):
    """Rows of Rules, sorted; the last of a binary or lexical one is its production, or -1."""

    binary: list[tuple[int, int, int, int]]
    units: list[tuple[int, int]]
    lexical: list[tuple[int, int, int]]


class NormalForm:
    """The normal form of a grammar; useless productions are left out.

    Symbols are numbers: first those that derive a string that is not empty (nonterminals
    with the start symbol as 0, wrapped terminals, helpers), 0 .. rules.symbols - 1; then
    those that derive only the empty string. A wrapped terminal stands for a terminal
    beside other symbols, a helper for what follows the first symbol of a right-hand side
    of three or more; equal rests share one. The start symbol is 0 even if it derives
    nothing. The numbers are the same in every process.

    A derivation in the normal form is one tree of the original grammar and the other way
    round: a helper has one rule, and a production's rule is its own.

    grammar: the original. productions: its useful ones. vocabulary: all its terminals, with
    their numbers. derivations: of each symbol, its rules but for those of a single
    terminal. lexicon: of each symbol, the terminals of its lexical rules, each with the
    number of its production, -1 for a wrapped one. nullable_ids: the symbols that derive
    the empty string.

    What needs the units raises GrammarError where their closure has millions of pairs, as
    that of a chain of thousands has.
    """

    start = 0

    def __init__(self, grammar: Grammar) -> None:
        self.grammar = grammar
        self.productions = trimmed(grammar)[0].productions
        self.vocabulary = {terminal: a for a, terminal in enumerate(grammar.terminals)}
        self._binarize()
        rules = [(lhs, rhs) for lhs, own in enumerate(self.derivations) for rhs, _ in own]
        empty = {lhs for lhs, rhs in rules if not rhs}
        self.nullable_ids = frozenset(grown(empty, rules, all) if empty else ())
        self._solid = len(self.derivations)  # symbols that derive more than the empty string
        if empty:
            words = {symbol for symbol, own in enumerate(self.lexicon) if own}
            self._order(grown(words, rules, any))
        self._symbols = max(self._solid, 1)

    def _binarize(self) -> None:
        """Numbers the symbols and makes their rules."""
        names = dict.fromkeys([self.grammar.start, *(p.lhs for p in self.productions)])
        self._names: list[Nonterminal | None] = list(names)
        self._ids = {name: number for number, name in enumerate(names)}
        wrapped: dict[str, int] = {}
        helpers: dict[tuple[int, int], int] = {}
        ids, rules = self._ids, []
        self.lexicon: list[dict[int, int]] = [{} for _ in names]
        for p, production in enumerate(self.productions):
            rhs = production.rhs
            lhs = ids[production.lhs]
            if len(rhs) == 1 and isinstance(rhs[0], str):
                self.lexicon[lhs][self.vocabulary[rhs[0]]] = p
                continue
            numbers = [
                wrapped.setdefault(symbol, len(ids) + len(wrapped))
                if isinstance(symbol, str)
                else ids[symbol]
                for symbol in rhs
            ]
            rules.append((lhs, numbers, p))
        first = len(ids) + len(wrapped)
        self.derivations: list[list[Rule]] = [[] for _ in range(first)]
        for lhs, numbers, p in rules:
            while len(numbers) > 2:
                last = numbers.pop()
                pair = numbers[-1], last
                numbers[-1] = helpers.setdefault(pair, first + len(helpers))
            self.derivations[lhs].append((tuple(numbers), p))
        self.derivations += [[(pair, -1)] for pair in helpers]
        self.lexicon += [{self.vocabulary[terminal]: -1} for terminal in wrapped]
        self.lexicon += [{} for _ in helpers]
        self._names += [None] * (len(wrapped) + len(helpers))

    def _order(self, solid: set[int]) -> None:
        """Moves all other symbols to the end."""
        count = len(self.derivations)
        self._solid = len(solid)
        if self._solid == count:
            return
        order = sorted(range(count), key=lambda symbol: symbol not in solid)
        new = sorted(range(count), key=order.__getitem__)
        self.derivations = [
            [(tuple(new[s] for s in rhs), p) for rhs, p in self.derivations[old]] for old in order
        ]
        self.lexicon = [self.lexicon[old] for old in order]
        self._names = [self._names[old] for old in order]
        self._ids = {name: new[number] for name, number in self._ids.items()}
        self.nullable_ids = frozenset(new[symbol] for symbol in self.nullable_ids)

    def id_of(self, symbol: Nonterminal) -> int | None:
        """None for a nonterminal that is useless or derives no more than the empty string."""
        number = self._ids.get(symbol)
        return number if number is not None and number < self._symbols else None

    def symbol_of(self, number: int) -> Nonterminal | None:
        """None for helpers and wrapped terminals."""
        return self._names[number]

    def nullable(self, symbol: Nonterminal) -> bool:
        """Whether it is useful and derives the empty string."""
        return self._ids.get(symbol) in self.nullable_ids

    @cached_property
    def rules(self) -> Rules:
        """What is derived without ε; the units are closed."""
        rows = self._rows
        arrays = [
            np.array([row[:3] for row in rows.binary], np.int32).reshape(-1, 3),
            np.array(rows.units, np.int32).reshape(-1, 2),
            np.array([row[:2] for row in rows.lexical], np.int32).reshape(-1, 2),
        ]
        for array in arrays:
            array.setflags(write=False)
        # Rules.make would sort and close it all again.
        return Rules(self._symbols, len(self.vocabulary), *arrays)

    @cached_property
    def _rows(self) -> _Rows:
        binary, lexical, solid = [], [], self._solid
        for lhs in range(solid):
            for rhs, p in self.derivations[lhs]:
                if len(rhs) == 2 and rhs[0] < solid and rhs[1] < solid:
                    binary.append((lhs, rhs[0], rhs[1], p))
            lexical += [(lhs, terminal, p) for terminal, p in self.lexicon[lhs].items()]
        closed = self._count_closure
        units = [(a, b) for a in closed for b in closed[a] if a != b]
        return _Rows(sorted(binary), sorted(units), sorted(lexical))

    def counting(self) -> tuple[Weights, Weights]:
        """Numbers of trees, Python ints; and in bool arrays, which of them are infinite.

        Those are 0 in the first: a string that has finitely many trees uses none of them.
        """
        weights = self._arrays(self._count_closure, self._weight(None), 1, object)
        arrays = (weights.binary, weights.units, weights.lexical, weights.loops)
        masks = [np.array([x == math.inf for x in array], np.bool_) for array in arrays]
        for array, mask in zip(arrays, masks, strict=True):
            array[mask] = 0
        return weights, Weights(*masks)

    def prefixes(self) -> tuple[Rules, int]:
        """The grammar of all prefixes of sentences, but for the empty one, and its symbol."""
        return related.prefixes(self.rules, self.start)

    def infinite(self) -> tuple[Rules, int] | None:
        """The grammar of the strings that have infinitely many trees, and its symbol.

        None if there are none but perhaps the empty one.
        """
        return related.infinite(self.rules, self.start, self.counting()[1])

    def exact(self) -> Weights:
        """Probabilities, Fractions; sums that diverge are math.inf.

        Raises NotRationalError where empty strings recur through their own neighbours, as
        with S → S S | ε: their probabilities are roots of polynomials.
        """
        return self._weights(Semiring(Fraction(1)), self.empty_exact, Fraction, object)

    def probabilities(self) -> Weights:
        """Probabilities, float64; sums that diverge are inf.

        Where those of empty strings are roots of polynomials, they are found by Newton's
        method.
        """
        empty = {symbol: float(value) for symbol, value in self.empty_decimal.items()}
        return self._weights(Semiring(1.0), empty, float, np.float64)

    def best(self) -> Weights:
        """For Viterbi parses, float64: of unit chains and ε-trees the most probable.

        inf where a cycle has a weight above 1.
        """
        empty = self._empty(Best(Fraction(1)), Fraction)
        floats = {symbol: float(value) for symbol, value in empty.items()}
        return self._weights(Best(1.0), floats, float, np.float64)

    def empty_count(self) -> int | float:
        """Trees of the empty string; math.inf if there is no end of them."""
        count: int | float = self._empty_counts.get(self.start, 0)
        return count

    def empty_probability(self) -> float:
        """The probability of the empty string."""
        return float(self.empty_decimal.get(self.start, 0))

    @cached_property
    def _empty_counts(self) -> dict[int, Value]:
        return self._empty(Counting(1), None)

    @cached_property
    def empty_decimal(self) -> dict[int, Value]:
        """Of each nullable symbol, the probability of the empty string; Decimals."""
        return self._empty(Approximate(Decimal(1)), decimal)

    @cached_property
    def empty_exact(self) -> dict[int, Value]:
        """The same in Fractions. Raises NotRationalError as exact() does."""
        return self._empty(Semiring(Fraction(1)), Fraction)

    @cached_property
    def cyclic(self) -> bool:
        """Whether some tree has a node below an equal one: the same symbol and span."""
        values = [*self._empty_counts.values()]
        values += [value for row in self._count_closure.values() for value in row.values()]
        return math.inf in values

    @cached_property
    def _count_closure(self) -> Matrix[int]:
        semiring = Counting(1)
        return closure(self._units(self._empty_counts, semiring, self._weight(None)), semiring)

    def _weight(self, number: Convert | None) -> Callable[[int], Value]:
        """The probability of a production as such a number; without, each counts 1."""
        if number is None:
            return lambda p: 1
        if not self.grammar.is_probabilistic:
            raise ValueError("the grammar has no probabilities")
        values = [number(p.probability or Fraction()) for p in self.productions]
        return [*values, number(Fraction(1))].__getitem__  # the last is that of -1

    def _empty(self, semiring: Semiring, number: Convert | None) -> dict[int, Value]:
        """The sum over the ε-trees of each nullable symbol."""
        weight, nullable = self._weight(number), self.nullable_ids

        def edges(symbol: int) -> list[Edge[int]]:
            return [
                (weight(p), rhs)
                for rhs, p in self.derivations[symbol]
                if all(s in nullable for s in rhs)
            ]

        return least(sorted(nullable), edges, semiring)

    def _units(
        self, empty: dict[int, Value], semiring: Semiring, weight: Callable[[int], Value]
    ) -> Matrix[int]:
        """The sum over the ways in which a symbol derives another and nothing beside it."""
        matrix: Matrix[int] = {}
        solid = self._solid
        for lhs in range(solid):
            row: dict[int, Value] = {}
            for rhs, p in self.derivations[lhs]:
                if len(rhs) == 1:
                    ways = [(rhs[0], weight(p))]
                elif empty and rhs:
                    left, right = rhs
                    ways = []
                    if left in empty:
                        ways.append((right, semiring.multiply(weight(p), empty[left])))
                    if right in empty:
                        ways.append((left, semiring.multiply(weight(p), empty[right])))
                else:
                    continue
                for child, value in ways:
                    if child < solid:
                        row[child] = semiring.add(row[child], value) if child in row else value
            if row:
                matrix[lhs] = row
        return matrix

    def _weights(
        self, semiring: Semiring, empty: dict[int, Value], number: Convert, dtype: type
    ) -> Weights:
        weight = self._weight(number)
        closed = closure(self._units(empty, semiring, weight), semiring)
        if any(math.inf in row.values() for row in closed.values()):
            self._cut_impossible(closed, weight)
        return self._arrays(closed, weight, semiring.one, dtype)

    def _cut_impossible(self, closed: Matrix[int], weight: Callable[[int], Value]) -> None:
        """Sets to zero what leads to symbols all of whose strings have probability zero."""
        rows = self._rows
        rules: list[tuple[int, tuple[int, ...]]] = [
            (a, (b, c)) for a, b, c, p in rows.binary if weight(p)
        ]
        rules += [(a, (b,)) for a in closed for b, value in closed[a].items() if value]
        possible = grown({a for a, _, p in rows.lexical if weight(p)}, rules, all)
        for row in closed.values():
            row.update((b, 0) for b in row if b not in possible)

    def _arrays(
        self, closed: Matrix[int], weight: Callable[[int], Value], one: Value, dtype: type
    ) -> Weights:
        rows = self._rows
        loops = [closed[a][a] if a in closed else one for a in range(self._symbols)]
        return Weights(
            _array([weight(p) for *_, p in rows.binary], dtype),
            _array([closed[a][b] for a, b in rows.units], dtype),
            _array([weight(p) for *_, p in rows.lexical], dtype),
            _array(loops, dtype),
        )


def _array(values: Sequence[Value], dtype: type) -> Any:
    result: Any = np.empty(len(values), dtype)
    result[:] = values
    return result
