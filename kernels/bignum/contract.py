"""What a backend of big-number arithmetic offers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from .numbers import Indices, Mask, Numbers

Batch = TypeVar("Batch")  # Numbers, or the same on a device


class Arithmetic(ABC, Generic[Batch]):
    """Operations on batches of integers, with the semantics of Python's int.

    Operands of one operation have the same count, or one of them has count 1 and stands
    for all. Operands are never changed; what take() returns may share their memory.
    Precondition of divmod, floordiv, mod, powmod and invert: first_zero() of the divisor, or
    modulus, is -1.
    """

    name: ClassVar[str]

    # Between Python, the host and where this backend computes.
    @abstractmethod
    def put(self, numbers: Numbers) -> Batch:
        """Return a batch of the host's numbers as this engine has it."""

    @abstractmethod
    def get(self, batch: Batch) -> Numbers:
        """Return a batch as the host has it."""

    @abstractmethod
    def add(self, a: Batch, b: Batch) -> Batch:
        """Return a + b."""

    @abstractmethod
    def subtract(self, a: Batch, b: Batch) -> Batch:
        """Return a - b."""

    @abstractmethod
    def multiply(self, a: Batch, b: Batch) -> Batch:
        """Return a * b."""

    @abstractmethod
    def multiply_add(self, a: Batch, b: Batch, c: Batch) -> Batch:
        """Return a * b + c."""

    @abstractmethod
    def low_bits(self, a: Batch, bits: int) -> Batch:
        """Return a modulo 2**bits, never negative; bits: at least 1."""

    def add_low(self, a: Batch, b: Batch, bits: int) -> Batch:
        """Return a + b modulo 2**bits."""
        return self.low_bits(self.add(a, b), bits)

    def subtract_low(self, a: Batch, b: Batch, bits: int) -> Batch:
        """Return a - b modulo 2**bits."""
        return self.low_bits(self.subtract(a, b), bits)

    def multiply_low(self, a: Batch, b: Batch, bits: int) -> Batch:
        """Return a * b modulo 2**bits."""
        return self.low_bits(self.multiply(a, b), bits)

    @abstractmethod
    def divmod(self, a: Batch, b: Batch) -> tuple[Batch, Batch]:
        """Return floor quotients, and remainders with the divisors' signs."""

    def floordiv(self, a: Batch, b: Batch) -> Batch:
        """Return floor quotients."""
        return self.divmod(a, b)[0]

    def mod(self, a: Batch, b: Batch) -> Batch:
        """Return remainders with the divisors' signs."""
        return self.divmod(a, b)[1]

    @abstractmethod
    def shift(self, a: Batch, counts: Indices) -> Batch:
        """Shift left by counts[i] bits, int64 (count or 1); right where negative, rounding down."""

    @abstractmethod
    def negate(self, a: Batch) -> Batch:
        """Return -a."""

    @abstractmethod
    def absolute(self, a: Batch) -> Batch:
        """Return the absolute values."""

    @abstractmethod
    def compare(self, a: Batch, b: Batch) -> npt.NDArray[np.int8]:
        """Return -1, 0 or 1 as a is less than, equal to or greater than b."""

    @abstractmethod
    def gcd(self, a: Batch, b: Batch) -> Batch:
        """Return greatest common divisors, never negative; gcd(0, 0) = 0."""

    @abstractmethod
    def isqrt(self, a: Batch) -> Batch:
        """Return floors of square roots. Precondition: no number is negative."""

    @abstractmethod
    def powmod(self, a: Batch, exponents: Batch, moduli: Batch) -> Batch:
        """Return pow(a, e, m). Precondition: no exponent is negative."""

    @abstractmethod
    def invert(self, a: Batch, moduli: Batch) -> Batch:
        """Return pow(a, -1, m). Raises NotInvertibleError with the first index without inverse."""

    @abstractmethod
    def power(self, a: Batch, exponents: Indices) -> Batch:
        """Return a ** exponents; exponents: int64 (count or 1), none negative."""

    @abstractmethod
    def bit_length(self, a: Batch) -> Indices:
        """Return bit lengths of magnitudes, int64 (count)."""

    @abstractmethod
    def sign(self, a: Batch) -> npt.NDArray[np.int8]:
        """Return -1, 0 or 1 for each number, int8 (count)."""

    def first_zero(self, a: Batch) -> int:
        """Return the first index at which a is zero, or -1."""
        zeros = np.flatnonzero(self.sign(a) == 0)
        return int(zeros[0]) if len(zeros) else -1

    @abstractmethod
    def sum(self, a: Batch) -> Batch:
        """Return the sum of all numbers, a batch of count 1."""

    @abstractmethod
    def take(self, a: Batch, index: slice | npt.NDArray[np.integer[Any]] | Mask) -> Batch:
        """Return the numbers at a slice, at indices or where a mask is true."""

    @abstractmethod
    def concatenate(self, batches: Iterable[Batch]) -> Batch:
        """Return the numbers of all batches, one batch after the other."""

    @abstractmethod
    def select(self, mask: Mask, a: Batch, b: Batch) -> Batch:
        """Return a[i] where mask[i], else b[i]."""
