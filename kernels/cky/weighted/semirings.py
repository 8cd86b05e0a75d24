"""The semirings that parses are summed in (Goodman 1999, Semiring Parsing): one hierarchy for all.

A semiring says how values are added and multiplied in Python, where grammars are closed over
their unit chains and where the reference parses; and which arithmetic of semiring.hpp the
compiled engines compute with. README.md of this folder lists the steps to add one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from .tables import SCALED, floats, is_plain, logarithms, montgomery, ring_constants, scaled, whole

Node = TypeVar("Node", bound=Hashable)
Value = Any  # int, Fraction, Decimal or float
# A node's value is the sum over its edges: a weight times the values of some nodes.
Edge = tuple[Value, tuple[Node, ...]]
Array = npt.NDArray[Any]

_LOG_2 = math.log(2)
_WRAP = 1 << 64


@dataclass(frozen=True)
class CompiledSemiring:
    """A struct of semiring.hpp, and how numpy holds its numbers.

    name: the struct. encode: makes its numbers of weights; raises ValueError for weights that
    it cannot have. result: what it gives for a string. constants: uint32, what it is made of.
    """

    name: str
    encode: Callable[[Array], Array]
    result: np.dtype[Any]
    constants: npt.NDArray[np.uint32] | None = None


class Semiring:
    """Sums of products, as of probabilities: of ints, Fractions, Decimals or floats.

    A value may be infinite, math.inf. None is negative, and zero times infinity is zero.
    Engines compute it with floats and give natural logarithms.

    one: the one of the type of the values.
    """

    combine: np.ufunc = np.add  # of arrays of floats
    _maxima = "false"

    def __init__(self, one: Value) -> None:
        self.one, self.zero = one, one - one

    def add(self, a: Value, b: Value) -> Value:
        """Return a + b."""
        # A long int plus a float overflows.
        return math.inf if a == math.inf or b == math.inf else a + b

    def multiply(self, a: Value, b: Value) -> Value:
        """Return a b."""
        if a == math.inf or b == math.inf:
            return math.inf if a and b else self.zero
        return a * b

    def star(self, x: Value) -> Value:
        """Return 1 + x + x² + ..."""
        return self.one / (self.one - x) if x < 1 else math.inf

    def value(self, edges: Iterable[Edge[Node]], values: Mapping[Node, Value]) -> Value:
        """Return the sum over the edges of a node."""
        result = self.zero
        for weight, nodes in edges:
            for node in nodes:
                weight = self.multiply(weight, values[node])
            result = self.add(result, weight)
        return result

    def arithmetics(self, rows: Sequence[Array]) -> list[CompiledSemiring]:
        """Return what engines compute weights with: the first is quick, and where its numbers
        do not do for a string, the next is taken for it.

        rows: all weights. Raises ValueError for weights that none can have.
        """
        numbers = [floats(row) for row in rows]  # all, to refuse what is no number
        plain = all(map(is_plain, numbers))
        exact = CompiledSemiring(f"Scaled<{self._maxima}>", lambda row: scaled(floats(row)), SCALED)
        return (
            [CompiledSemiring(f"Plain<{self._maxima}>", floats, SCALED), exact]
            if plain
            else [exact]
        )

    def output(self, results: Array) -> Array:
        """Return what engines give to their callers for results of their arithmetic."""
        return logarithms(results)

    def exact_output(self, values: Sequence[Value]) -> Array:
        """Return the same for values that Python has summed exactly."""
        return np.array([log(x) for x in values], np.float64)


class Best(Semiring):
    """Maxima of products (Viterbi); infinite where a cycle has a weight above 1."""

    combine = np.maximum
    _maxima = "true"

    def add(self, a: Value, b: Value) -> Value:
        """Return the greater."""
        return max(a, b)

    def star(self, x: Value) -> Value:
        """Return the greatest power of x."""
        return self.one if x <= 1 else math.inf


class Counting(Semiring):
    """Numbers of trees, ints: what is on a cycle has infinitely many. No number is zero."""

    def star(self, x: Value) -> Value:
        """Return how many powers there are of what is not zero."""
        return math.inf if x else self.one


class Residues(Semiring):
    """Whole numbers modulo several primes between 2**30 and 2**31, each modulo all of them.

    Engines give uint32 (count, primes).
    """

    def __init__(self, primes: Sequence[int]) -> None:
        super().__init__(1)
        self.primes = list(primes)

    def arithmetics(self, rows: Sequence[Array]) -> list[CompiledSemiring]:
        """Return Montgomery's arithmetic of so many primes at a time."""
        n = len(self.primes)
        constants = ring_constants(self.primes).reshape(-1)
        result = np.dtype((np.uint32, (n,)))
        name = f"Residues<{n}>"
        return [CompiledSemiring(name, lambda row: montgomery(row, self.primes), result, constants)]

    def output(self, results: Array) -> Array:
        """Return the residues."""
        return results

    def exact_output(self, values: Sequence[Value]) -> Array:
        """Return the residues of exact sums: uint32 (count, primes)."""
        found = [[x % p for p in self.primes] for x in values]
        return np.array(found, np.uint32).reshape(len(values), len(self.primes))


class Wrapping(Semiring):
    """Whole numbers modulo 2**64. Engines give uint64 (count,).

    Grammars are closed in Counting before: what is infinite has no residue.
    """

    def add(self, a: Value, b: Value) -> Value:
        """Return a + b modulo 2**64."""
        return (a + b) % _WRAP

    def multiply(self, a: Value, b: Value) -> Value:
        """Return a b modulo 2**64."""
        return a * b % _WRAP

    def arithmetics(self, rows: Sequence[Array]) -> list[CompiledSemiring]:
        """Return that of unsigned words."""
        return [CompiledSemiring("Wrapping", _wrapped, np.dtype(np.uint64))]

    def output(self, results: Array) -> Array:
        """Return the residues."""
        return results

    def exact_output(self, values: Sequence[Value]) -> Array:
        """Return the residues of exact sums."""
        return np.array([x % _WRAP for x in values], np.uint64)


INSIDE, VITERBI, WRAPPING = Semiring(1.0), Best(1.0), Wrapping(1)


def _wrapped(weights: Array) -> Array:
    return np.array([w % _WRAP for w in whole(weights)], np.uint64)


def log(value: Value) -> float:
    """Return the natural logarithm of a Fraction or int, be it far outside a float's range; -inf
    of zero."""
    if not value:
        return -math.inf
    top, bottom = value.numerator, value.denominator
    shift = top.bit_length() - bottom.bit_length()
    part = (top << max(0, -shift)) / (bottom << max(0, shift))
    return float(math.log(part) + shift * _LOG_2)
