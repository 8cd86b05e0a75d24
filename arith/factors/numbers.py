"""Moduli as GMP has them."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import TypeAlias

from gmpy2 import mpz

from arith.integer import IntArray
from kernels.bignum.errors import IndexedTypeError

Moduli: TypeAlias = IntArray | Iterable[int]


def as_mpz(moduli: Moduli) -> list[mpz]:
    """Return moduli as GMP has them.

    Raises TypeError with the first index of what is no integer.
    """
    if isinstance(moduli, IntArray):
        moduli = moduli.to_ints()
    numbers = []
    for index, value in enumerate(moduli):
        try:
            numbers.append(mpz(operator.index(value)))
        except TypeError:
            raise IndexedTypeError(
                "an integer is wanted", index, f", not {type(value).__name__}"
            ) from None
    return numbers
