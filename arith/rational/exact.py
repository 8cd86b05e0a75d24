"""Numerators and denominators, in lowest terms, of what has an exact value.

Errors name the index; those of strings the column as well.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from numbers import Rational
from typing import Any

import numpy as np
import numpy.typing as npt

from arith.integer import IntArray
from kernels.memory import available_memory

from .pairs import Pair

_MANTISSA = 53

_DIGITS = r"\d+(?:_\d+)*"
# The grammar of fractions.Fraction.
_RATIONAL = re.compile(
    rf"\s*(?P<sign>[-+]?)(?=\.?\d)(?P<whole>(?:{_DIGITS})?)"
    rf"(?:\s*/\s*(?P<below>{_DIGITS})"
    rf"|(?:\.(?P<decimals>(?:{_DIGITS})?))?(?:[eE](?P<exponent>[-+]?{_DIGITS}))?)\s*"
)
# What one could begin with; the first bad column comes after it.
_EXPONENT = rf"(?:[eE][-+]?(?:{_DIGITS})?)?"
_BEGINNING = re.compile(
    rf"\s*[-+]?(?:(?:{_DIGITS}(?:\s*/\s*(?:{_DIGITS})?|(?:\.(?:{_DIGITS})?)?{_EXPONENT})"
    rf"|\.{_DIGITS}{_EXPONENT})\s*|\.?)"
)
_INT_DIGITS = 600  # int() refuses more than some limit, never below 640
_SMALL = 1 << 28  # bytes that are not worth asking about
_SHOWN = 40  # characters of a bad text


def from_array(values: npt.NDArray[Any]) -> Pair:
    """Of a 1-D array of integers, floats or objects."""
    if values.ndim != 1:
        raise ValueError(f"a RationalArray has one dimension, not {values.shape}")
    if values.dtype.kind in "iub":
        return whole(IntArray(values))
    if values.dtype.kind == "f":
        if values.dtype.itemsize <= 8:
            return from_floats(values.astype(np.float64))
        return from_values(values)
    if values.dtype.kind in "OUT":
        return from_values(values.tolist())
    raise TypeError(f"rationals cannot be made of {values.dtype}")


def whole(n: IntArray) -> Pair:
    return IntArray(n), n * 0 + 1


def from_floats(values: npt.NDArray[np.float64]) -> Pair:
    """Raises ValueError with the first index of a NaN or an infinity."""
    bad = ~np.isfinite(values)
    if bad.any():
        index = int(bad.argmax())
        raise ValueError(f"{values[index]} at index {index} is no rational number")
    fraction, exponent = np.frexp(values)
    mantissa = np.ldexp(fraction, _MANTISSA).astype(np.int64)
    lowest_bit = (mantissa & -mantissa).astype(np.float64)
    zeros = np.where(mantissa == 0, 0, np.frexp(lowest_bit)[1] - 1)
    shift = np.where(mantissa == 0, 0, exponent.astype(np.int64) - _MANTISSA + zeros)
    odd = IntArray(mantissa >> zeros)
    one = IntArray(np.ones(len(values), np.int64))
    return odd << np.maximum(shift, 0), one << np.maximum(-shift, 0)


def from_values(values: Iterable[Any], *, floats: bool = True) -> Pair:
    """Of ints, Fractions and other Rationals, Decimals, strings and floats, mixed."""
    values = list(values)
    if {*map(type, values)} <= {int, Fraction}:
        return (
            IntArray([value.numerator for value in values]),
            IntArray([value.denominator for value in values]),
        )
    numerators, denominators = [], []
    for index, value in enumerate(values):
        n, d = _ratio(value, index, floats)
        numerators.append(n)
        denominators.append(d)
    return IntArray(numerators), IntArray(denominators)


def _ratio(value: Any, index: int, floats: bool) -> tuple[int, int]:
    if isinstance(value, Rational):
        return int(value.numerator), int(value.denominator)
    if isinstance(value, str):
        return _parse(value, index)
    if isinstance(value, Decimal) or (floats and isinstance(value, (float, np.floating))):
        try:
            n, d = value.as_integer_ratio()
        except (ValueError, OverflowError):  # NaN or infinity
            raise ValueError(f"{value} at index {index} is no rational number") from None
        return int(n), int(d)
    raise TypeError(f"a rational number is wanted at index {index}, not {type(value).__name__}")


def _parse(text: str, index: int) -> tuple[int, int]:
    match = _RATIONAL.fullmatch(text)
    if match is None:
        beginning = _BEGINNING.match(text)
        column = beginning.end() + 1 if beginning else 1
        raise ValueError(f"{_shown(text)} at index {index} is no rational number: column {column}")
    decimals = match["decimals"] or ""
    n, d = _integer(match["whole"] + decimals), 1
    if match["below"]:
        d = _integer(match["below"])
        if d == 0:
            raise ZeroDivisionError(f"{_shown(text)} at index {index} has the denominator zero")
    exponent = int(match["exponent"] or 0) - len(decimals.replace("_", ""))
    needed = abs(exponent) * math.log2(10) / 8
    if needed > _SMALL and needed > available_memory():
        raise MemoryError(f"{_shown(text)} at index {index} needs about {needed:,.0f} bytes")
    if exponent >= 0:
        n *= 10**exponent
    else:
        d *= 10**-exponent
    common = math.gcd(n, d)
    return (-n if match["sign"] == "-" else n) // common, d // common


def _integer(digits: str) -> int:
    digits = digits.replace("_", "")
    if len(digits) <= _INT_DIGITS:
        return int(digits)
    half = len(digits) // 2
    above: int = _integer(digits[:-half]) * 10**half
    return above + _integer(digits[-half:])


def _shown(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "...")
