"""Arithmetic on pairs of numerators and denominators, each operation as few bulk ones.

The reduced operations take the gcds of operands, not of results, which are twice as
long (Knuth, TAOCP 2, 4.5.1); the others are Gusenbauer's (2015, 4.4.2), which never
take one. Denominators are positive everywhere.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from arith.integer import IntArray
from arith.operations import check_divisor
from kernels.bignum.cuda.layouts import Slabs
from kernels.bignum.errors import IndexedZeroDivisionError

from .fused import fused

Pair: TypeAlias = tuple[IntArray, IntArray]
# Of the operands of an operation one may be a number for all, and integers have the
# denominator 1. The other is a Pair, and so is the result.
Column: TypeAlias = IntArray | int
Operand: TypeAlias = tuple[Column, Column]
Bools: TypeAlias = npt.NDArray[np.bool_]


def add(a: Operand, b: Operand, lowest: bool) -> Any:
    """Return a + b; lowest: both operands are in lowest terms, and so is the sum."""
    if lowest and (done := fused("add", a, b)):
        return done
    (n1, d1), (n2, d2) = a, b
    shared = _gcd(d1, d2) if lowest else 1
    if _is_one(shared):
        return _dot(n1, d2, n2, d1), _times(d1, d2)
    rest = d1 // shared
    n = _dot(n1, d2 // shared, n2, rest)
    # A prime that divides d1 / shared or d2 / shared does not divide the sum. `shared` is
    # short in most cases, and the gcd with a remainder then too.
    common = _gcd(n % shared, shared)
    if not _is_one(common):
        n, d2 = n // common, d2 // common
    return n, rest * d2


def subtract(a: Operand, b: Operand, lowest: bool) -> Any:
    """Return a - b; lowest as in add()."""
    if lowest and (done := fused("subtract", a, b)):
        return done
    return add(a, (-b[0], b[1]), lowest)


def multiply(a: Operand, b: Operand, lowest: bool) -> Any:
    """Return a * b; lowest: both operands are in lowest terms, and so is the product."""
    if lowest and (done := fused("multiply", a, b)):
        return done
    (n1, d1), (n2, d2) = a, b
    if lowest:
        n1, d2 = reduce(n1, d2)
        n2, d1 = reduce(n2, d1)
    return _times(n1, n2), _times(d1, d2)


def divide(a: Operand, b: Operand, lowest: bool) -> Any:
    """Return a / b. Raises ZeroDivisionError with the first index, as do floordiv and mod."""
    n, d = b
    if isinstance(n, IntArray):
        check_divisor(n._engine, n._batch)
    elif n == 0:
        raise IndexedZeroDivisionError("division by zero", 0)
    if lowest and (done := fused("divide", a, b)):
        return done
    return multiply(a, positive(d, n), lowest)


def mod(a: Operand, b: Operand, lowest: bool) -> Any:
    """Return a - a // b * b."""
    (n1, d1), (n2, d2) = a, b
    n, d = _times(n1, d2) % _times(n2, d1), _times(d1, d2)
    return reduce(n, d) if lowest else (n, d)


def floordiv(a: Operand, b: Operand) -> Any:
    """Return a // b, integers."""
    x, y = crosswise(a, b)
    return x // y


def crosswise(a: Operand, b: Operand) -> Operand:
    """Integers that are in the same proportion as a and b."""
    (n1, d1), (n2, d2) = a, b
    return _times(n1, d2), _times(n2, d1)


def reduce(n: Any, d: Any) -> Any:
    """Both over their gcd."""
    common = _gcd(n, d)
    return (n, d) if _is_one(common) else (n // common, d // common)


def positive(n: Any, d: Any) -> Any:
    """Return the same numbers with positive denominators; precondition: none is zero."""
    if isinstance(d, int):
        return (n, d) if d > 0 else (-n, -d)
    negative = d.sign() < 0
    return (IntArray.where(negative, -n, n), abs(d)) if negative.any() else (n, d)


def power(n: IntArray, d: IntArray, exponents: Column) -> Pair:
    """Return powers.

    Raises ZeroDivisionError with the first index of a zero to a negative power.
    """
    size = exponents.__abs__()
    high, low = n**size, d**size
    inverse = np.broadcast_to(exponents < 0, (len(n),))
    if not inverse.any():
        return high, low
    bad = inverse & (n.sign() == 0)
    if bad.any():
        index = int(bad.argmax())
        raise IndexedZeroDivisionError("zero to a negative power", index)
    above, below = IntArray.where(inverse, low, high), IntArray.where(inverse, high, low)
    result: Pair = positive(above, below)
    return result


def _gcd(a: Column, b: Column) -> Column:
    if isinstance(a, int):
        a, b = b, a
    if isinstance(a, int):
        assert isinstance(b, int)
        return math.gcd(a, b)
    return 1 if isinstance(b, int) and b == 1 else a.gcd(b)


def _is_one(a: Column) -> bool:
    """Return whether a gcd is 1 everywhere, so that to divide by it can be left out."""
    if isinstance(a, int):
        return a == 1
    if isinstance(a._batch, Slabs):
        return a._batch.bits <= 1  # on a device: gcds know the longest of them
    return bool((a == 1).all())


def _times(a: Column, b: Column) -> Column:
    if isinstance(a, int):
        a, b = b, a
    return a if isinstance(b, int) and b == 1 else a * b


def _dot(a: Column, b: Column, c: Column, d: Column) -> Column:
    """Return a * b + c * d."""
    if isinstance(b, int) and b == 1:
        a, b, c, d = c, d, a, b
    second = _times(c, d)
    if isinstance(a, int):
        a, b = b, a
    return a * b + second if isinstance(a, int) else a.multiply_add(b, second)
