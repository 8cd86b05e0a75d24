"""Weighted CKY parsing as the books have it, with numbers of any exact type."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from ..batch import Batch
from ..parts import Progress
from ..rules import Rules, cell, cells
from .common import check_lengths
from .engine import Kind, Logs, WeightedCky, Weights

Values = dict[tuple[int, int], dict[int, Any]]


def values(rules: Rules, weights: Weights, terminals: Sequence[int], best: bool = False) -> Values:
    """The values that are not zero, of each symbol over tokens i .. j - 1, for all i < j.

    A sum over all derivations of products of weights (Goodman 1999, Semiring Parsing); with
    best, the greatest product.
    """

    def add(found: dict[int, Any], symbol: int, value: Any) -> None:
        if value:
            old = found.get(symbol, 0)
            found[symbol] = max(old, value) if best else old + value

    binary = list(zip(rules.binary.tolist(), weights.binary.tolist(), strict=True))
    lexical = list(zip(rules.lexical.tolist(), weights.lexical.tolist(), strict=True))
    units = list(zip(rules.units.tolist(), weights.units.tolist(), strict=True))
    loops = weights.loops.tolist()

    result: Values = {}
    for j in range(1, len(terminals) + 1):
        for i in reversed(range(j)):
            raw: dict[int, Any] = {}
            if i == j - 1:
                for (a, terminal), weight in lexical:
                    if terminal == terminals[i]:
                        add(raw, a, weight)
            for k in range(i + 1, j):
                left, right = result[i, k], result[k, j]
                for (a, b, c), weight in binary:
                    if b in left and c in right:
                        add(raw, a, weight * left[b] * right[c])
            found: dict[int, Any] = {}
            for a, value in raw.items():
                add(found, a, loops[a] * value)
            for (a, b), weight in units:
                if b in raw:
                    add(found, a, weight * raw[b])
            result[i, j] = found
    return result


def log(value: Fraction | int) -> float:
    """The natural logarithm, of numbers far outside a float's range too; -inf of zero."""
    if not value:
        return -math.inf
    top, bottom = value.numerator, value.denominator
    shift = top.bit_length() - bottom.bit_length()
    part = (top << max(0, -shift)) / (bottom << max(0, shift))
    return math.log(part) + shift * math.log(2)


def _exact(weights: Weights) -> Weights:
    def of(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return np.array([Fraction(x) for x in array.tolist()], object)

    return Weights(of(weights.binary), of(weights.units), of(weights.lexical), of(weights.loops))


class ReferenceWeighted(WeightedCky):
    """One string after another, exactly, in plain Python."""

    name = "reference"

    def __init__(self, rules: Rules, memory: int = 1 << 30) -> None:
        self.rules, self.memory = rules, memory

    def residues(
        self,
        batch: Batch,
        symbol: int,
        weights: Weights,
        primes: Sequence[int],
        progress: Progress | None = None,
    ) -> npt.NDArray[np.uint32]:
        found = self._values(batch, symbol, weights, False, progress)
        return np.array([[x % p for x in found] for p in primes], np.uint32).reshape(
            len(primes), len(batch)
        )

    def logs(
        self,
        batch: Batch,
        symbol: int,
        weights: Weights,
        kind: Kind,
        progress: Progress | None = None,
    ) -> Logs:
        found = self._values(batch, symbol, _exact(weights), kind == "viterbi", progress)
        return np.array([log(x) for x in found], np.float64)

    def chart(self, terminals: npt.NDArray[np.uint32], weights: Weights, kind: Kind) -> Logs:
        check_lengths(Batch(terminals, np.array([0, terminals.size])), self.max_length)
        result = np.full((cells(terminals.size), self.rules.symbols), -math.inf)
        spans = values(self.rules, _exact(weights), terminals.tolist(), kind == "viterbi")
        for (i, j), found in spans.items():
            for a, value in found.items():
                result[cell(i, j), a] = log(value)
        return result

    def _values(
        self,
        batch: Batch,
        symbol: int,
        weights: Weights,
        best: bool,
        progress: Progress | None,
    ) -> list[Any]:
        check_lengths(batch, self.max_length)
        result = []
        for s in range(len(batch)):
            string = batch[s].tolist()
            spans = values(self.rules, weights, string, best)
            result.append(spans[0, len(string)].get(symbol, 0) if string else 0)
            if progress is not None:
                progress(s + 1)
        return result

    @property
    def max_length(self) -> int:
        # A number of a long string takes some hundreds of bytes.
        return max(int((self.memory / (256 * self.rules.symbols)) ** 0.5), 1)
