"""Weighted CKY parsing as the books have it, with numbers of any exact type."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from ..batch import Batch
from ..dispatch import Progress
from ..rules import Rules, cell, cells
from .contract import WeightedCky
from .semirings import INSIDE, Residues, Semiring
from .tables import Weights, check_lengths

Values = dict[tuple[int, int], dict[int, Any]]


def values(
    rules: Rules, weights: Weights, terminals: Sequence[int], semiring: Semiring = INSIDE
) -> Values:
    """Return the values that are not zero, of each symbol over tokens i .. j - 1, for all i < j.

    A value is the sum over all derivations of products of weights (Goodman 1999, Semiring
    Parsing), as the semiring adds and multiplies.
    """
    multiply = semiring.multiply

    def add(found: dict[int, Any], symbol: int, value: Any) -> None:
        if value:
            found[symbol] = semiring.add(found[symbol], value) if symbol in found else value

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
                        add(raw, a, multiply(multiply(weight, left[b]), right[c]))
            found: dict[int, Any] = {}
            for a, value in raw.items():
                add(found, a, multiply(loops[a], value))
            for (a, b), weight in units:
                if b in raw:
                    add(found, a, multiply(weight, raw[b]))
            result[i, j] = found
    return result


def _exact(weights: Weights) -> Weights:
    def exact(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        if array.dtype == object:
            return array
        return np.array([Fraction(x) for x in array.tolist()], object)

    return Weights(*map(exact, (weights.binary, weights.units, weights.lexical, weights.loops)))


class ReferenceWeighted(WeightedCky):
    """Parses one string after another, exactly, in plain Python."""

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
        """See WeightedCky.residues()."""
        found = self.values(batch, symbol, weights, Residues(primes), progress)
        return np.ascontiguousarray(found.T)

    def values(
        self,
        batch: Batch,
        symbol: int,
        weights: Weights,
        semiring: Semiring,
        progress: Progress | None = None,
    ) -> npt.NDArray[Any]:
        """See WeightedCky.values()."""
        check_lengths(batch, self.max_length)
        found, exact = [], _exact(weights)
        for s in range(len(batch)):
            string = batch[s].tolist()
            spans = values(self.rules, exact, string, semiring)
            found.append(spans[0, len(string)].get(symbol, 0) if string else 0)
            if progress is not None:
                progress(s + 1)
        return semiring.exact_output(found)

    def chart(
        self, terminals: npt.NDArray[np.uint32], weights: Weights, semiring: Semiring
    ) -> npt.NDArray[Any]:
        """See WeightedCky.chart()."""
        check_lengths(Batch(terminals, np.array([0, terminals.size])), self.max_length)
        result = [[0] * self.rules.symbols for _ in range(cells(terminals.size))]
        spans = values(self.rules, _exact(weights), terminals.tolist(), semiring)
        for (i, j), found in spans.items():
            for a, value in found.items():
                result[cell(i, j)][a] = value
        outputs = [semiring.exact_output(row) for row in result]
        return np.stack(outputs) if outputs else np.empty((0, self.rules.symbols))

    @property
    def max_length(self) -> int:
        # A number of a long string takes some hundreds of bytes.
        """Tokens of the longest string whose values fit in memory."""
        return max(int((self.memory / (256 * self.rules.symbols)) ** 0.5), 1)
