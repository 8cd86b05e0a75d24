"""Numbers of any kind that stand beside exact ones in comparisons: Python's, numpy's, gmpy2's."""

from __future__ import annotations

import math
import operator
from decimal import Decimal
from fractions import Fraction
from numbers import Complex, Rational, Real
from typing import Any

import gmpy2
import numpy as np

_FLOATS = (float, np.floating)
_MPFR = type(gmpy2.mpfr(0))
_BITS_PER_DIGIT = math.log2(10)


def as_real(value: Any) -> Any:
    """Return a real number that equals what `value` equals: nan for a complex one that is none.

    What is no complex number is returned as it is. For == and != only: complex numbers have
    no order.
    """
    if isinstance(value, Complex) and not isinstance(value, Real):
        return value.real if value.imag == 0 else math.nan
    return value


def comparable(value: Any, above: int, below: int) -> int | Fraction | float | None:
    """Return a number that compares as `value` does with all x, 2^-below <= |x| < 2^above, and 0.

    It is exact, but for what lies out of that range, however long it would be written out:
    an infinity stands for what is larger, a power of two for what is smaller. A float is
    returned for infinities and NaN only. None: `value` is no real number.
    """
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    # A timedelta64 is an integer to numpy, but one of seconds or days.
    if isinstance(value, (np.ndarray, np.timedelta64)):
        return None
    if isinstance(value, np.bool_):
        return int(value)
    if isinstance(value, Rational):
        n, d = int(value.numerator), int(value.denominator)
        return n if d == 1 else Fraction(n, d)
    if isinstance(value, _FLOATS):
        if not math.isfinite(value):
            return float(value)
        return Fraction(*map(int, value.as_integer_ratio()))
    if isinstance(value, Decimal):
        if not value.is_finite():
            return math.nan if value.is_nan() else math.copysign(math.inf, value)
        if not value:
            return 0
        low = value.adjusted() * _BITS_PER_DIGIT
        return _bounded(value, low, low + _BITS_PER_DIGIT, above, below)
    if isinstance(value, _MPFR):
        if not gmpy2.is_finite(value):
            return float(value)
        if not value:
            return 0
        high = gmpy2.get_exp(value)
        return _bounded(value, high - 1, high, above, below)
    if not isinstance(value, Real) and hasattr(value, "__index__"):
        return operator.index(value)
    return None


def _bounded(value: Any, low: float, high: float, above: int, below: int) -> Fraction | float:
    """Write out a number, 2^low <= |value| < 2^high (nearly), only where that is needed."""
    sign = 1 if value > 0 else -1
    if low > above + 1:
        return sign * math.inf
    if high < -below - 1:
        return Fraction(sign, 1 << below + 1)
    return Fraction(*map(int, value.as_integer_ratio()))
