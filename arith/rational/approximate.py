"""The nearest integer, float, and rational whose denominator is not too large, in bulk."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from arith.integer import IntArray
from kernels.bignum.errors import IndexedOverflowError

from .pairs import Pair

Floats: TypeAlias = npt.NDArray[np.float64]

_MANTISSA = 53
_LOWEST = 1074  # 2^-1074 is the least positive float


def nearest(n: IntArray, d: IntArray) -> IntArray:
    """Return n / d rounded to the nearest integer, to the even one of two, as round() does."""
    quotient, rest = divmod(n * 2 + d, d * 2)
    tied = rest.sign() == 0
    if not tied.any():
        return quotient
    odd = (quotient % 2).sign() != 0
    return IntArray.where(tied & odd, quotient - 1, quotient)


def to_floats(n: IntArray, d: IntArray) -> Floats:
    """Return n / d as float64 (count), rounded once, to even, as Python's int / int is.

    Raises OverflowError with the first index that rounds beyond the largest float.
    """
    bits = n.bit_length() - d.bit_length()
    # The quotient gets 55 or 56 bits, two or more below the last of the float. Below the
    # normal floats it gets two below 2^-1074, and is as short as that leaves it.
    shift = np.minimum(_MANTISSA + 2 - bits, _LOWEST + 2)
    # Not d is shifted up but n down: what falls out matters only as not being zero.
    scaled, down = abs(n) << np.maximum(shift, 0), np.maximum(-shift, 0)
    inexact = np.zeros(len(n), np.bool_)
    if down.any():
        kept = scaled >> down
        inexact = (kept << down) != scaled
        scaled = kept
    quotient, rest = divmod(scaled, d)
    q = quotient.to_numpy(np.int64)
    q |= inexact | (rest.sign() != 0)
    subnormal = q >> (_MANTISSA + 1) == 0
    rounded = q >> 2
    rounded += (q & 3) + (rounded & 1) > 2
    with np.errstate(over="ignore"):
        result: Floats = np.ldexp(
            np.where(subnormal, rounded, q).astype(np.float64),
            np.where(subnormal, 2 - shift, -shift),
        )
    infinite = np.isinf(result)
    if infinite.any():
        raise IndexedOverflowError(
            "the number", int(infinite.argmax()), " is too large for a float"
        )
    result[n.sign() < 0] *= -1
    return result


def limit_denominator(n: IntArray, d: IntArray, largest: int) -> Pair:
    """Return the nearest rationals with denominators up to `largest`, at least 1.

    n, d: in lowest terms; so is the result. As fractions.Fraction.limit_denominator,
    on all numbers whose continued fraction goes on: the last convergent that is allowed,
    or the last semiconvergent if that is nearer.
    """
    index = np.arange(len(n))
    fits = d <= largest
    done = [(index[fits], n[fits], d[fits])]
    index, n, d = index[~fits], n[~fits], d[~fits]
    zero = n * 0
    state: tuple[IntArray, ...] = (d, n, d, zero, zero + 1, zero + 1, zero)
    while len(index):
        full, n, d, p0, q0, p1, q1 = state
        quotient, rest = divmod(n, d)
        p2, q2 = quotient.multiply_add(p1, p0), quotient.multiply_add(q1, q0)
        state = (full, d, rest, p1, q1, p2, q2)
        over = q2 > largest
        if over.any():
            last = [column[over] for column in (full, d, p0, q0, p1, q1)]
            done.append((index[over], *_nearer(largest, *last)))
            index, state = index[~over], tuple(column[~over] for column in state)
    places, numerators, denominators = zip(*done, strict=True)
    order = np.argsort(np.concatenate(places))
    return IntArray.concatenate(numerators)[order], IntArray.concatenate(denominators)[order]


def _nearer(
    largest: int,
    full: IntArray,
    d: IntArray,
    p0: IntArray,
    q0: IntArray,
    p1: IntArray,
    q1: IntArray,
) -> Pair:
    """Return the convergent p1 / q1, or the last semiconvergent after it, if that is nearer.

    They are 1 / (q1 q) apart, and p1 / q1 is d / (q1 full) from the number.
    """
    k = (largest - q0) // q1
    p, q = k.multiply_add(p1, p0), k.multiply_add(q1, q0)
    first = d * q * 2 <= full
    return IntArray.where(first, p1, p), IntArray.where(first, q1, q)
