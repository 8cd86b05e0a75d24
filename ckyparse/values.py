"""Exact values of whole batches: residues modulo primes, put together by arith."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from arith import IntArray, RationalArray
from kernels.cky import Batch
from kernels.cky.batch import Indices
from kernels.cky.weighted import INSIDE, WeightedCky, Weights, primes, primes_needed
from kernels.cky.weighted.contract import Logs

_RESIDUES = 1 << 24  # at a time
_BIG, _TINY = 2.0**900, 2.0**-1000


@dataclass(frozen=True)
class WeightFactors:
    """Holds a number for each kind of weight; a value is a sum of products of so many of each.

    Over n tokens a product has n - 1 binary weights, n lexical ones, and one of units or
    loops for each of these.
    """

    binary: Any
    lexical: Any
    units: Any

    def powers(self, n: int) -> Any:
        """Return the product over n >= 1 tokens, if all weights were these."""
        return self.binary ** (n - 1) * self.lexical**n * self.units ** (2 * n - 1)

    def logs(self, lengths: Indices) -> Logs:
        """Return the natural logarithms of the products over lengths[s] tokens: float64."""
        n = np.maximum(lengths, 1).astype(np.float64)
        binary, lexical, units = map(_log, (self.binary, self.lexical, self.units))
        result: Logs = binary * (n - 1) + lexical * n + units * (2 * n - 1)
        return result


def _log(x: Fraction | int) -> float:
    return math.log(x.numerator) - math.log(x.denominator)  # of integers of any size


def integers(engine: WeightedCky, batch: Batch, symbol: int, weights: Weights) -> IntArray:
    """Return the symbol's value over each string; weights are Python ints. Of an empty string 0."""
    floats, scale = _as_floats(weights)
    logs = engine.values(batch, symbol, floats, INSIDE) + scale.logs(batch.lengths)
    needed = primes_needed(logs)
    order = np.argsort(needed, kind="stable")
    parts = [IntArray(np.zeros((needed == 0).sum(), np.int64))]
    for chosen, count in _portions(order, needed[order]):
        moduli = primes(count)
        residues = engine.residues(batch.take(chosen), symbol, weights, moduli)
        parts.append(_combined([IntArray(row) for row in residues], moduli)[0])
    return IntArray.concatenate(parts)[np.argsort(order)]


def rationals(engine: WeightedCky, batch: Batch, symbol: int, weights: Weights) -> RationalArray:
    """Return the symbol's value over each string; weights are Fractions."""
    whole, below = _as_integers(weights)
    numerators = integers(engine, batch, symbol, whole)
    lengths, places = np.unique(np.maximum(batch.lengths, 1), return_inverse=True)
    denominators = IntArray([below.powers(n) for n in lengths.tolist()])
    return RationalArray(numerators, denominators[places])


def _as_floats(weights: Weights) -> tuple[Weights, WeightFactors]:
    """Return the nearest floats, divided by what lets the greatest be one, and that."""

    def floats(values: npt.NDArray[Any], most: Any) -> npt.NDArray[np.float64]:
        # A tiny weight is not zero: it can be all that there is.
        return np.array([max(float(x / most), _TINY) if x else 0.0 for x in values], np.float64)

    def greatest(*arrays: npt.NDArray[Any]) -> Fraction | int:
        most = max((x for array in arrays for x in array), default=1)
        return Fraction(most) if most > _BIG else 1

    scale = WeightFactors(
        greatest(weights.binary), greatest(weights.lexical), greatest(weights.units, weights.loops)
    )
    return Weights(
        floats(weights.binary, scale.binary),
        floats(weights.units, scale.units),
        floats(weights.lexical, scale.lexical),
        floats(weights.loops, scale.units),
    ), scale


def _as_integers(weights: Weights) -> tuple[Weights, WeightFactors]:
    """Return weights multiplied by the least that makes integers of them, and that."""

    def denominator(*arrays: npt.NDArray[Any]) -> int:
        return math.lcm(*(Fraction(x).denominator for array in arrays for x in array))

    def whole(values: npt.NDArray[Any], factor: int) -> npt.NDArray[Any]:
        result = np.empty(len(values), object)
        result[:] = [int(x * factor) for x in values]
        return result

    below = WeightFactors(
        denominator(weights.binary),
        denominator(weights.lexical),
        denominator(weights.units, weights.loops),
    )
    return Weights(
        whole(weights.binary, below.binary),
        whole(weights.units, below.units),
        whole(weights.lexical, below.lexical),
        whole(weights.loops, below.units),
    ), below


def _portions(order: Indices, needed: Indices) -> Iterator[tuple[Indices, int]]:
    """Yield strings with the number of primes to use: needed rises, and few numbers are used."""
    start = int(np.searchsorted(needed, 1))
    while start < order.size:
        count = int(needed[start])
        count += count // 4
        end = int(np.searchsorted(needed, count, "right"))
        end = min(end, start + max(1, _RESIDUES // count))
        yield order[start:end], int(needed[end - 1])
        start = end


def _combined(residues: Sequence[IntArray], moduli: Sequence[int]) -> tuple[IntArray, int]:
    """Return the numbers below the product of the moduli, and that product; by halves."""
    if len(moduli) == 1:
        return residues[0], moduli[0]
    half = len(moduli) // 2
    low, m = _combined(residues[:half], moduli[:half])
    high, n = _combined(residues[half:], moduli[half:])
    return low + (high - low) * pow(m, -1, n) % n * m, m * n
