"""Python's own integers: the obvious version, and the oracle where GMP is not."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from .arithmetic import Arithmetic
from .numbers import Indices, Mask, Numbers, from_ints, to_ints


class ReferenceArithmetic(Arithmetic[Numbers]):
    name: ClassVar[str] = "reference"

    def put(self, numbers: Numbers) -> Numbers:
        return numbers

    def get(self, batch: Numbers) -> Numbers:
        return batch

    def add(self, a: Numbers, b: Numbers) -> Numbers:
        return _each(operator.add, a, b)

    def subtract(self, a: Numbers, b: Numbers) -> Numbers:
        return _each(operator.sub, a, b)

    def multiply(self, a: Numbers, b: Numbers) -> Numbers:
        return _each(operator.mul, a, b)

    def multiply_add(self, a: Numbers, b: Numbers, c: Numbers) -> Numbers:
        return _each(lambda x, y, z: x * y + z, a, b, c)

    def divmod(self, a: Numbers, b: Numbers) -> tuple[Numbers, Numbers]:
        return _each(operator.floordiv, a, b), _each(operator.mod, a, b)

    def shift(self, a: Numbers, counts: Indices) -> Numbers:
        def move(x: int, by: int) -> int:
            return x << by if by >= 0 else x >> -by

        return _each(move, a, from_ints(counts.tolist()))

    def negate(self, a: Numbers) -> Numbers:
        return _each(operator.neg, a)

    def absolute(self, a: Numbers) -> Numbers:
        return _each(abs, a)

    def compare(self, a: Numbers, b: Numbers) -> npt.NDArray[np.int8]:
        return self.sign(self.subtract(a, b))

    def gcd(self, a: Numbers, b: Numbers) -> Numbers:
        return _each(math.gcd, a, b)

    def isqrt(self, a: Numbers) -> Numbers:
        return _each(math.isqrt, a)

    def powmod(self, a: Numbers, exponents: Numbers, moduli: Numbers) -> Numbers:
        return _each(pow, a, exponents, moduli)

    def power(self, a: Numbers, exponents: Indices) -> Numbers:
        return _each(pow, a, from_ints(exponents.tolist()))

    def bit_length(self, a: Numbers) -> Indices:
        return np.array([value.bit_length() for value in to_ints(a)], np.int64)

    def sign(self, a: Numbers) -> npt.NDArray[np.int8]:
        return np.array([(value > 0) - (value < 0) for value in to_ints(a)], np.int8)

    def sum(self, a: Numbers) -> Numbers:
        return from_ints([sum(to_ints(a))])

    def take(self, a: Numbers, index: slice | npt.NDArray[np.integer[Any]] | Mask) -> Numbers:
        return a.take(index)

    def concatenate(self, batches: Iterable[Numbers]) -> Numbers:
        return from_ints([value for batch in batches for value in to_ints(batch)])

    def select(self, mask: Mask, a: Numbers, b: Numbers) -> Numbers:
        return _each(lambda m, x, y: x if m else y, from_ints([int(m) for m in mask]), a, b)


def _each(operation: Callable[..., int], *operands: Numbers) -> Numbers:
    count = max((len(x) for x in operands if len(x) != 1), default=1)
    columns = [to_ints(x) * (count if len(x) == 1 else 1) for x in operands]
    return from_ints([operation(*values) for values in zip(*columns, strict=True)])
