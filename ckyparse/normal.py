"""Grammars in binary normal form, with the way back to the original productions.

Rules are made binary by ckyparse.binary; here they are closed over those with ε or one symbol,
which stay what they are, and weighed: by numbers of trees, by probabilities, by the best tree's.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from kernels.cky.rules import Rules
from kernels.cky.weighted import Weights
from kernels.cky.weighted.semirings import Best, Counting, Edge, Semiring, Value

from . import related
from .binary import BinaryGrammar
from .graphs import components
from .sums import Approximate, Matrix, TooSmallError, closure, decimal, grown, least
from .units import between, completed

Convert = Callable[[Fraction], Value]

_LEAST = sys.float_info.min  # of floats with all their digits
MANY = 512  # symbols with unit rules, or in them, from which on only the pairs that matter are made


class _RuleRows(NamedTuple):
    """Rows of Rules, sorted; the last of a binary or lexical one is its production, or -1."""

    binary: list[tuple[int, int, int, int]]
    units: list[tuple[int, int]]
    lexical: list[tuple[int, int, int]]


class NormalForm(BinaryGrammar):
    """The normal form of a grammar: binary rules, closed over those with ε or one symbol.

    Its symbols are those of BinaryGrammar; 0 .. rules.symbols - 1 derive a string that is not
    empty. Where many symbols have unit rules, `rules` has only those pairs of symbols that matter,
    see ckyparse.units, and charts of it are made whole by completed(). What needs the units
    raises GrammarError where there are millions still.
    """

    @cached_property
    def rules(self) -> Rules:
        """The rules of what is derived without ε; the units are closed."""
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
    def _rows(self) -> _RuleRows:
        binary, lexical, solid = [], [], self._solid
        for lhs in range(solid):
            for rhs, p in self.derivations[lhs]:
                if len(rhs) == 2 and rhs[0] < solid and rhs[1] < solid:
                    binary.append((lhs, rhs[0], rhs[1], p))
            lexical += [(lhs, terminal, p) for terminal, p in self.lexicon[lhs].items()]
        closed = self._count_closure
        units = [(a, b) for a in closed for b in closed[a] if a != b]
        return _RuleRows(sorted(binary), sorted(units), sorted(lexical))

    def counting(self) -> tuple[Weights, Weights]:
        """Return numbers of trees, Python ints; and in bool arrays, which of them are infinite.

        Those are 0 in the first: a string that has finitely many trees uses none of them.
        """
        weights = self._arrays(self._count_closure, self._weight(None), 1, object)
        arrays = (weights.binary, weights.units, weights.lexical, weights.loops)
        masks = [np.array([x == math.inf for x in array], np.bool_) for array in arrays]
        for array, mask in zip(arrays, masks, strict=True):
            array[mask] = 0
        return weights, Weights(*masks)

    def prefixes(self) -> tuple[Rules, int]:
        """Return the grammar of all prefixes of sentences that are not empty, and its symbol."""
        return related.prefixes(self.rules, self.start)

    def infinite(self) -> tuple[Rules, int] | None:
        """Return the grammar of the strings that have infinitely many trees, and its symbol.

        None if there are none but perhaps the empty one.
        """
        return related.infinite(self.rules, self.start, self.counting()[1])

    def exact(self) -> Weights:
        """Return probabilities, Fractions; sums that diverge are math.inf.

        Where empty strings recur through their own neighbours, as with S → S S | ε, their
        probabilities are roots of polynomials. Raises NotRationalError where they are not
        rational, or too large a fraction to be found.
        """
        return self._weights(Semiring(Fraction(1)), self.empty_exact, Fraction, object)

    def probabilities(self) -> Weights:
        """Return probabilities, float64; sums that diverge are inf.

        Where those of empty strings are roots of polynomials, they are found by Newton's
        method. Raises TooSmallError where some are smaller than floats can be.
        """
        empty = {symbol: float(value) for symbol, value in self.empty_decimal.items()}
        return self._weights(Semiring(1.0), empty, float, np.float64)

    def best(self) -> Weights:
        """Return weights for Viterbi parses, float64: of unit chains and ε-trees the most probable.

        inf where a cycle has a weight above 1. Raises TooSmallError as probabilities() does.
        """
        empty = self._empty(Best(Fraction(1)), Fraction)
        floats = {symbol: float(value) for symbol, value in empty.items()}
        return self._weights(Best(1.0), floats, float, np.float64)

    def empty_count(self) -> int | float:
        """Return trees of the empty string; math.inf if there is no end of them."""
        count: int | float = self._empty_counts.get(self.start, 0)
        return count

    def empty_probability(self) -> float:
        """Return the probability of the empty string."""
        return float(self.empty_decimal.get(self.start, 0))

    @cached_property
    def _empty_counts(self) -> dict[int, Value]:
        return self._empty(Counting(1), None)

    @cached_property
    def empty_decimal(self) -> dict[int, Value]:
        """The probability of the empty string for each nullable symbol; Decimals."""
        return self._empty(Approximate(Decimal(1)), decimal)

    @cached_property
    def empty_exact(self) -> dict[int, Value]:
        """The same in Fractions. Raises NotRationalError as exact() does."""
        return self._empty(Semiring(Fraction(1)), Fraction)

    @cached_property
    def cyclic(self) -> bool:
        """True if some tree has a node below an equal one: the same symbol and span."""
        values = [*self._empty_counts.values()]
        values += [value for row in self._count_units.values() for value in row.values()]
        return math.inf in values or any(
            len(part) > 1 or part[0] in self._count_units.get(part[0], ())
            for part in self._unit_parts
        )

    @cached_property
    def is_whole(self) -> bool:
        """True if the units of `rules` are all pairs, and charts need no completed()."""
        units = self._count_units
        return len(set(units).union(*units.values())) <= MANY

    def completed(self, bits: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """Return a chart that an engine has made with `rules` with all of its symbols.

        bits: bool (cells, symbols).
        """
        return bits if self.is_whole else completed(bits, self._count_units, self._unit_parts)

    @cached_property
    def _count_units(self) -> Matrix[int]:
        return self._units(self._empty_counts, Counting(1), self._weight(None))

    @cached_property
    def _unit_parts(self) -> list[list[int]]:
        units = self._count_units
        return list(components(units, lambda a: units.get(a, ())))

    @cached_property
    def _count_closure(self) -> Matrix[int]:
        return self._closed(self._count_units, Counting(1))

    def _closed(self, units: Matrix[int], semiring: Semiring) -> Matrix[int]:
        """Return the sums over all unit chains; if they are many, over those that matter."""
        if self.is_whole:
            return closure(units, semiring)
        solid = self._solid
        above, below = {self.start}, {a for a in range(solid) if self.lexicon[a]}
        for a in range(solid):
            for rhs, _ in self.derivations[a]:
                if len(rhs) == 2 and rhs[0] < solid and rhs[1] < solid:
                    above.update(rhs)
                    below.add(a)
        return between(units, above, below, semiring)

    def _weight(self, number: Convert | None) -> Callable[[int], Value]:
        """Return the probability of a production as such a number; without, each counts 1."""
        if number is None:
            return lambda p: 1
        if not self.grammar.is_probabilistic:
            raise ValueError("the grammar has no probabilities")
        values = [number(p.probability or Fraction()) for p in self.productions]
        return [*values, number(Fraction(1))].__getitem__  # the last is that of -1

    def _empty(self, semiring: Semiring, number: Convert | None) -> dict[int, Value]:
        """Return the sum over the ε-trees of each nullable symbol."""
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
        """Return the sum over the ways in which a symbol derives another and nothing beside it."""
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
        closed = self._closed(self._units(empty, semiring, weight), semiring)
        if any(math.inf in row.values() for row in closed.values()):
            self._cut_impossible(closed, weight)
        if dtype is not object:
            self._check_range(closed, empty)
        return self._arrays(closed, weight, semiring.one, dtype)

    def _check_range(self, closed: Matrix[int], empty: dict[int, Value]) -> None:
        """Raise TooSmallError where a float has become zero, or lost digits, as it is too small."""
        small = {(a, b) for a, row in closed.items() for b, x in row.items() if x < _LEAST}
        if small:
            # By the same way, which weights are zero indeed.
            sign = self._weight(lambda share: Fraction(bool(share)))
            signs = {symbol: Fraction(value > 0) for symbol, value in self.empty_decimal.items()}
            best = Best(Fraction(1))
            found = self._closed(self._units(signs if empty else {}, best, sign), best)
            small = {(a, b) for a, b in small if found[a][b]}
        shares = (p.probability for p in self.productions)
        if small or any(share and share < _LEAST for share in shares):
            raise TooSmallError(
                "probabilities are smaller here than floats can be: only exact ones can be had"
            )

    def _cut_impossible(self, closed: Matrix[int], weight: Callable[[int], Value]) -> None:
        """Set to zero what leads to symbols all of whose strings have probability zero."""
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
        loops = [closed.get(a, {}).get(a, one) for a in range(self._symbols)]
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
