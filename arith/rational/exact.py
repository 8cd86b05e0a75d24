"""Numerators and denominators, in lowest terms, of what has an exact value.

Errors name the index; those of strings the column as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from numbers import Rational
from typing import Any

import gmpy2
import numpy as np
import numpy.typing as npt
from gmpy2 import mpz

from arith.integer import IntArray
from arith.memory import refuse
from kernels.bignum.errors import (
    IndexedTypeError,
    IndexedValueError,
    IndexedZeroDivisionError,
    RationalTextError,
)

from .pairs import Pair, positive

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
_MOST = 1 << 22  # bytes that the exponent of one number may take: GMP is quick up to there
ENDLESS = 10**24  # an exponent that stands for all larger ones, in messages
_SMALL = 1 << 28  # bytes after which memory is looked at
_SHOWN = 40  # characters of a bad text


def from_array(values: npt.NDArray[Any]) -> Pair:
    """Take a 1-D array of integers, floats or objects apart."""
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
    """Return integers as numerators, and denominators of 1."""
    return IntArray(n), n * 0 + 1


def from_floats(values: npt.NDArray[np.float64]) -> Pair:
    """Return what floats are exactly.

    Raises ValueError with the first index of a NaN or an infinity.
    """
    bad = ~np.isfinite(values)
    if bad.any():
        index = int(bad.argmax())
        raise IndexedValueError(str(values[index]), index, " is no rational number")
    fraction, exponent = np.frexp(values)
    mantissa = np.ldexp(fraction, _MANTISSA).astype(np.int64)
    lowest_bit = (mantissa & -mantissa).astype(np.float64)
    zeros = np.where(mantissa == 0, 0, np.frexp(lowest_bit)[1] - 1)
    shift = np.where(mantissa == 0, 0, exponent.astype(np.int64) - _MANTISSA + zeros)
    odd = IntArray(mantissa >> zeros)
    one = IntArray(np.ones(len(values), np.int64))
    return odd << np.maximum(shift, 0), one << np.maximum(-shift, 0)


def from_values(values: Iterable[Any], *, floats: bool = True) -> Pair:
    """Return what ints, Fractions and other Rationals, Decimals, strings and floats are, mixed.

    Raises MemoryError before decimal exponents, in all, take more memory than there is.
    """
    values = list(values)
    if {*map(type, values)} <= {int, Fraction}:
        return (
            IntArray([value.numerator for value in values]),
            IntArray([value.denominator for value in values]),
        )
    numerators, denominators = [], []
    room = 0
    for index, value in enumerate(values):
        if isinstance(value, (str, Decimal)):
            n, d, needed = _decimal(value, index)
            # What is there already is copied in the end.
            if room // _SMALL < (room := room + needed) // _SMALL:
                refuse(room + _SMALL, f"what was read up to index {index}")
        else:
            n, d = _ratio(value, index, floats)
        numerators.append(n)
        denominators.append(d)
    return IntArray(numerators), IntArray(denominators)


def _ratio(value: Any, index: int, floats: bool) -> tuple[int, int]:
    if isinstance(value, np.bool_):  # numpy's is no Rational, Python's is
        return int(value), 1
    if isinstance(value, Rational) and not isinstance(value, np.timedelta64):
        return int(value.numerator), int(value.denominator)
    if floats and isinstance(value, (float, np.floating)):
        try:
            n, d = value.as_integer_ratio()
        except (ValueError, OverflowError):  # NaN or infinity
            raise IndexedValueError(str(value), index, " is no rational number") from None
        return int(n), int(d)
    raise IndexedTypeError("a rational number is wanted", index, f", not {type(value).__name__}")


def _decimal(value: str | Decimal, index: int) -> tuple[int, int, int]:
    """Return the numerator and denominator of a text or Decimal, and its exponent's bytes."""
    if isinstance(value, Decimal) and not value.is_finite():
        raise IndexedValueError(str(value), index, " is no rational number")
    text = str(value)
    match = _RATIONAL.fullmatch(text)
    if match is None:
        beginning = _BEGINNING.match(text)
        column = beginning.end() + 1 if beginning else 1
        raise RationalTextError(
            _shown(text), index, f" is no rational number: column {column}", column
        )
    decimals = match["decimals"] or ""
    n, d = _integer(match["whole"] + decimals), mpz(1)
    if match["below"]:
        d = _integer(match["below"])
        if d == 0:
            raise IndexedZeroDivisionError(_shown(text), index, " has the denominator zero")
    if n == 0:  # with any exponent
        return 0, 1, 0
    shift = match["exponent"] or "0"
    size = min(_integer(shift.lstrip("+-")), ENDLESS)
    exponent = int(-size if shift[0] == "-" else size) - len(decimals.replace("_", ""))
    # The digits that are written out are there already.
    power, needed = power_of_ten(abs(exponent), _shown(text), _MOST + len(text), index)
    if exponent >= 0:
        n *= power
    else:
        d *= power
    common = gmpy2.gcd(n, d)
    return int((-n if match["sign"] == "-" else n) // common), int(d // common), needed


class ExponentError(MemoryError):
    """A power of ten takes more bytes than it may.

    needed, allowed: bytes. index: of the number with that exponent, None for no array.
    """

    def __init__(self, what: str, needed: int, allowed: int, index: int | None) -> None:
        super().__init__(what, needed, allowed, index)
        self.what, self.needed, self.allowed, self.index = what, needed, allowed, index

    def __str__(self) -> str:
        where = "" if self.index is None else f" at index {self.index}"
        return (
            f"{self.what}{where} needs about {self.needed:,} bytes; "
            f"an exponent may take {self.allowed:,}"
        )


def power_of_ten(
    exponent: int, what: str, most: int = _MOST, index: int | None = None
) -> tuple[mpz, int]:
    """Return 10^exponent and about how many bytes it takes.

    what, index: the number that has this exponent, and its place in an array. Raises
    ExponentError where it takes more than `most`.
    """
    needed = exponent * 4_153 // 10_000  # log2(10) / 8, in integers of any size
    if needed > most:
        raise ExponentError(what, needed, _MOST, index)
    return mpz(10) ** exponent, needed


def _integer(digits: str) -> mpz:
    digits = digits.replace("_", "")
    if not digits.isascii():
        digits = "".join(str(int(digit)) for digit in digits)
    return mpz(digits)


def _shown(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "...")


def from_columns(numerators: Any, denominators: Any) -> Pair:
    """Return numerators and denominators, either of which may be one integer for all.

    The denominators of the result are positive. Raises ZeroDivisionError with the index of a zero.
    """
    if _is_scalar(numerators) and not _is_scalar(denominators):
        d = IntArray(denominators)
        n = d * 0 + numerators
    else:
        n = IntArray(numerators)
        d = n * 0 + denominators if _is_scalar(denominators) else IntArray(denominators)
    if len(n) != len(d):
        raise ValueError(f"{len(n)} numerators and {len(d)} denominators")
    zero = d.sign() == 0
    if zero.any():
        raise IndexedZeroDivisionError("the denominator", int(zero.argmax()), " is zero")
    columns: Pair = positive(n, d)
    return columns


def _is_scalar(value: Any) -> bool:
    return hasattr(value, "__index__") and not isinstance(value, np.ndarray)
