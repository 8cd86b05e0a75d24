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
    Precondition of divmod, floordiv, mod and powmod: first_zero() of the divisor is -1.
    """

    name: ClassVar[str]

    # Between Python, the host and where this backend computes.
    @abstractmethod
    def put(self, numbers: Numbers) -> Batch: ...
    @abstractmethod
    def get(self, batch: Batch) -> Numbers: ...

    @abstractmethod
    def add(self, a: Batch, b: Batch) -> Batch: ...
    @abstractmethod
    def subtract(self, a: Batch, b: Batch) -> Batch: ...
    @abstractmethod
    def multiply(self, a: Batch, b: Batch) -> Batch: ...
    @abstractmethod
    def multiply_add(self, a: Batch, b: Batch, c: Batch) -> Batch:
        """a * b + c."""

    @abstractmethod
    def divmod(self, a: Batch, b: Batch) -> tuple[Batch, Batch]:
        """Floor quotient, and remainder with the divisor's sign."""

    def floordiv(self, a: Batch, b: Batch) -> Batch:
        return self.divmod(a, b)[0]

    def mod(self, a: Batch, b: Batch) -> Batch:
        return self.divmod(a, b)[1]

    @abstractmethod
    def shift(self, a: Batch, counts: Indices) -> Batch:
        """Left by counts[i] bits, int64 (count or 1); right where negative, rounding down."""

    @abstractmethod
    def negate(self, a: Batch) -> Batch: ...
    @abstractmethod
    def absolute(self, a: Batch) -> Batch: ...

    @abstractmethod
    def compare(self, a: Batch, b: Batch) -> npt.NDArray[np.int8]:
        """-1, 0 or 1 as a is less than, equal to or greater than b."""

    @abstractmethod
    def gcd(self, a: Batch, b: Batch) -> Batch:
        """Never negative; gcd(0, 0) = 0."""

    @abstractmethod
    def isqrt(self, a: Batch) -> Batch:
        """Precondition: none is negative."""

    @abstractmethod
    def powmod(self, a: Batch, exponents: Batch, moduli: Batch) -> Batch:
        """As pow(a, e, m); precondition: no exponent is negative."""

    @abstractmethod
    def power(self, a: Batch, exponents: Indices) -> Batch:
        """exponents: int64 (count or 1), none negative."""

    @abstractmethod
    def bit_length(self, a: Batch) -> Indices: ...

    @abstractmethod
    def sign(self, a: Batch) -> npt.NDArray[np.int8]: ...

    def first_zero(self, a: Batch) -> int:
        """The first index at which a is zero, or -1."""
        zeros = np.flatnonzero(self.sign(a) == 0)
        return int(zeros[0]) if len(zeros) else -1

    @abstractmethod
    def sum(self, a: Batch) -> Batch:
        """Of count 1."""

    @abstractmethod
    def take(self, a: Batch, index: slice | npt.NDArray[np.integer[Any]] | Mask) -> Batch: ...
    @abstractmethod
    def concatenate(self, batches: Iterable[Batch]) -> Batch: ...
    @abstractmethod
    def select(self, mask: Mask, a: Batch, b: Batch) -> Batch:
        """a[i] where mask[i], else b[i]."""
