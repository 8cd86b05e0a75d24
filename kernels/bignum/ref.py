"""Python's own integers: the obvious version, and the oracle where GMP is not."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from .contract import Arithmetic
from .errors import not_invertible
from .numbers import Indices, Mask, Numbers, from_ints, to_ints


class ReferenceArithmetic(Arithmetic[Numbers]):
    """The engine that computes with Python's integers, one after the other."""

    name: ClassVar[str] = "reference"

    def put(self, numbers: Numbers) -> Numbers:
        """Return a batch of the host's numbers as this engine has it."""
        return numbers

    def get(self, batch: Numbers) -> Numbers:
        """Return a batch as the host has it."""
        return batch

    def add(self, a: Numbers, b: Numbers) -> Numbers:
        """Return a + b."""
        return _each(operator.add, a, b)

    def subtract(self, a: Numbers, b: Numbers) -> Numbers:
        """Return a - b."""
        return _each(operator.sub, a, b)

    def multiply(self, a: Numbers, b: Numbers) -> Numbers:
        """Return a * b."""
        return _each(operator.mul, a, b)

    def multiply_add(self, a: Numbers, b: Numbers, c: Numbers) -> Numbers:
        """Return a * b + c."""
        return _each(lambda x, y, z: x * y + z, a, b, c)

    def low_bits(self, a: Numbers, bits: int) -> Numbers:
        """Return a modulo 2**bits, never negative."""
        # No power of two is made that would be far longer than all numbers.
        return _each(lambda x: x if x >= 0 and x.bit_length() <= bits else x % (1 << bits), a)

    def divmod(self, a: Numbers, b: Numbers) -> tuple[Numbers, Numbers]:
        """Return floor quotients, and remainders with the divisors' signs."""
        return _each(operator.floordiv, a, b), _each(operator.mod, a, b)

    def shift(self, a: Numbers, counts: Indices) -> Numbers:
        """Shift left by counts[i] bits, int64 (count or 1); right where negative, rounding down."""

        def move(x: int, by: int) -> int:
            return x << by if by >= 0 else x >> -by

        return _each(move, a, from_ints(counts.tolist()))

    def negate(self, a: Numbers) -> Numbers:
        """Return -a."""
        return _each(operator.neg, a)

    def absolute(self, a: Numbers) -> Numbers:
        """Return the absolute values."""
        return _each(abs, a)

    def compare(self, a: Numbers, b: Numbers) -> npt.NDArray[np.int8]:
        """Return -1, 0 or 1 as a is less than, equal to or greater than b."""
        return self.sign(self.subtract(a, b))

    def gcd(self, a: Numbers, b: Numbers) -> Numbers:
        """Return greatest common divisors, never negative; gcd(0, 0) = 0."""
        return _each(math.gcd, a, b)

    def isqrt(self, a: Numbers) -> Numbers:
        """Return floors of square roots."""
        return _each(math.isqrt, a)

    def powmod(self, a: Numbers, exponents: Numbers, moduli: Numbers) -> Numbers:
        """Return pow(a, e, m)."""
        return _each(pow, a, exponents, moduli)

    def invert(self, a: Numbers, moduli: Numbers) -> Numbers:
        """Return pow(a, -1, m)."""
        places = itertools.count()

        def inverse(value: int, modulus: int) -> int:
            index = next(places)
            try:
                return pow(value, -1, modulus)
            except ValueError:
                raise not_invertible(index) from None

        return _each(inverse, a, moduli)

    def power(self, a: Numbers, exponents: Indices) -> Numbers:
        """Return a ** exponents; exponents: int64 (count or 1), none negative."""
        return _each(pow, a, from_ints(exponents.tolist()))

    def bit_length(self, a: Numbers) -> Indices:
        """Return bit lengths of magnitudes, int64 (count)."""
        return np.array([value.bit_length() for value in to_ints(a)], np.int64)

    def sign(self, a: Numbers) -> npt.NDArray[np.int8]:
        """Return -1, 0 or 1 for each number, int8 (count)."""
        return np.array([(value > 0) - (value < 0) for value in to_ints(a)], np.int8)

    def sum(self, a: Numbers) -> Numbers:
        """Return the sum of all numbers, a batch of count 1."""
        return from_ints([sum(to_ints(a))])

    def take(self, a: Numbers, index: slice | npt.NDArray[np.integer[Any]] | Mask) -> Numbers:
        """Return the numbers at a slice, at indices or where a mask is true."""
        return a.take(index)

    def concatenate(self, batches: Iterable[Numbers]) -> Numbers:
        """Return the numbers of all batches, one batch after the other."""
        return from_ints([value for batch in batches for value in to_ints(batch)])

    def select(self, mask: Mask, a: Numbers, b: Numbers) -> Numbers:
        """Return a[i] where mask[i], else b[i]."""
        return _each(lambda m, x, y: x if m else y, from_ints([int(m) for m in mask]), a, b)


def _each(operation: Callable[..., int], *operands: Numbers) -> Numbers:
    count = max((len(x) for x in operands if len(x) != 1), default=1)
    columns = [to_ints(x) * (count if len(x) == 1 else 1) for x in operands]
    return from_ints([operation(*values) for values in zip(*columns, strict=True)])
