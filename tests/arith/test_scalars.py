"""Comparisons with numbers of every kind, against Python's exact ones."""

from __future__ import annotations

import math
import operator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import gmpy2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arith import IntArray, RationalArray, RedundantInt
from tests.quick import examples
from tests.strategies import integers_that_hurt

EQUALITIES = (operator.eq, operator.ne)
COMPARISONS = (operator.lt, operator.le, operator.gt, operator.ge, *EQUALITIES)

integers = integers_that_hurt(300)
rationals = st.builds(Fraction, integers, st.integers(1, 1 << 90))
decimals = st.one_of(
    st.decimals(allow_nan=False, allow_infinity=False),
    st.builds(Decimal, integers),
    st.builds("{}e{}".format, st.integers(-99, 99), st.integers(-400, 400)).map(Decimal),
)


def exactly(number: Any) -> Fraction:
    """Return the Fraction that a finite real number of any kind is."""
    if isinstance(number, np.bool_):
        return Fraction(int(number))
    if hasattr(number, "numerator"):
        return Fraction(int(number.numerator), int(number.denominator))
    return Fraction(*map(int, number.as_integer_ratio()))


@st.composite
def numbers_of_any_kind(draw: st.DrawFn) -> Any:
    whole = draw(integers)
    small = draw(st.integers(-128, 127))
    part = draw(rationals)
    real = draw(st.floats(allow_nan=False, allow_infinity=False))
    return draw(
        st.sampled_from(
            [
                *(whole, part, gmpy2.mpz(whole), gmpy2.mpq(part), draw(decimals)),
                *(small, bool(small), np.bool_(small), np.int8(small), np.uint64(abs(small))),
                *(real, np.float64(real), np.longdouble(real) / 3, gmpy2.mpfr(real)),
                *(np.float32(small / 3), np.float16(small / 3), np.array(small), np.array(real)),
            ]
        )
    )


def agree(values: list[Any], other: Any, expected: Fraction) -> None:
    """Compare an array of these values with the other, on either side."""
    array = (IntArray if all(isinstance(x, int) for x in values) else RationalArray)(values)
    for compare in COMPARISONS:
        wanted = [compare(x, expected) for x in values]
        for found in (compare(array, other), TURNED[compare](other, array)):
            assert isinstance(found, np.ndarray), (compare, type(other))
            assert found.dtype == np.bool_
            assert found.tolist() == wanted


TURNED = {
    operator.lt: operator.gt,
    operator.le: operator.ge,
    operator.gt: operator.lt,
    operator.ge: operator.le,
    operator.eq: operator.eq,
    operator.ne: operator.ne,
}


@given(st.lists(integers, max_size=4), numbers_of_any_kind())
@settings(max_examples=examples(120))
def test_integers(values: list[int], other: Any) -> None:
    exact = exactly(other[()] if isinstance(other, np.ndarray) else other)
    agree([*values, math.floor(exact), math.ceil(exact)], other, exact)


@given(st.lists(rationals, max_size=4), numbers_of_any_kind())
@settings(max_examples=examples(80))
def test_rationals(values: list[Fraction], other: Any) -> None:
    exact = exactly(other[()] if isinstance(other, np.ndarray) else other)
    agree([*values, exact, exact + Fraction(1, 3)], other, exact)


@given(numbers_of_any_kind(), st.sampled_from([16, 32, 64]))
@settings(max_examples=examples(60))
def test_one_long_integer(other: Any, word: int) -> None:
    exact = exactly(other[()] if isinstance(other, np.ndarray) else other)
    whole = math.floor(exact)
    for value in (whole, whole + 1):
        number = RedundantInt(value, word=word, backend="reference")
        assert (number == other) is (value == exact)
        assert (number != other) is (value != exact)
        assert (other == number) is (value == exact)


def test_what_was_wrong() -> None:
    assert (IntArray([3]) == Decimal(3)).tolist() == [True]
    assert (IntArray([1]) < Fraction(10**400, 3)).tolist() == [True]
    assert RedundantInt(5) == gmpy2.mpz(5)
    assert RedundantInt(2**53 + 1) != np.float64(2**53)


# Each written out would take gigabytes, or forever.
HUGE = [Decimal("9E+999999999999"), Decimal("1E+99999999"), gmpy2.mpfr("1e300000000")]
TINY = [Decimal("9E-999999999999"), Decimal("1E-99999999"), gmpy2.mpfr("1e-300000000")]


def turned(sign: int, number: Any) -> Any:
    """Return the number with the sign, without rounding."""
    if isinstance(number, Decimal):
        return number.copy_sign(sign)
    return sign * number


@pytest.mark.parametrize("sign", [1, -1])
def test_far_out_of_proportion(sign: int) -> None:
    long = 10**4000
    arrays = [
        IntArray([0, 1, -1, long, -long]),
        RationalArray([0, 1, -1, Fraction(long, 3), Fraction(-3, long)]),
    ]
    for array in arrays:
        values = list(array)
        for other in HUGE:
            for compare in COMPARISONS:
                wanted = [compare(0, sign)] * len(values)
                assert compare(array, turned(sign, other)).tolist() == wanted
        for other in TINY:
            for compare in COMPARISONS:
                wanted = [compare(x, Fraction(sign, 10**9000)) for x in values]
                assert compare(array, turned(sign, other)).tolist() == wanted
    for other in (*HUGE, *TINY):
        assert RedundantInt(0) != turned(sign, other)
        assert RedundantInt(long) != turned(sign, other)


@given(st.lists(integers, min_size=1, max_size=3))
@settings(max_examples=examples(30))
def test_near_the_longest_of_the_array(values: list[int]) -> None:
    """Numbers about as long as the longest are compared whole, where cutting off begins."""
    most = max(abs(x) for x in values)
    for other in (most, most + 1, 2 * most, 1 << 64 * (most.bit_length() // 64 + 1)):
        for near in (Decimal(other), -Decimal(other), Decimal(other) + Decimal("0.5")):
            agree(values, near, Fraction(*near.as_integer_ratio()))


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_or_infinite(value: float) -> None:
    """NaN is neither less than any number, nor more, nor equal, as for floats of Python."""
    others = [value, Decimal(value), np.float32(value), np.longdouble(value), gmpy2.mpfr(value)]
    for array in (IntArray([0, -(2**2000)]), RationalArray([0, "1/3"])):
        for other in others:
            for compare in COMPARISONS:
                assert compare(array, other).tolist() == [compare(0, value)] * 2, type(other)
                assert compare(array[:0], other).tolist() == []
    for other in others:
        assert (RedundantInt(3) == other) is False
    assert (IntArray([3]) == Decimal("sNaN")).tolist() == [False]


@pytest.mark.parametrize("make", [complex, np.complex128, np.complex64, gmpy2.mpc])
def test_complex_numbers_are_equal_or_not_but_have_no_order(make: Any) -> None:
    ints, fractions = IntArray([3, 4]), RationalArray([3, "7/2"])
    for array in (ints, fractions):
        assert (array == make(3)).tolist() == [True, False]
        assert (array != make(3)).tolist() == [False, True]
        assert (array == make(complex(3, 1))).tolist() == [False, False]
        assert (array != make(complex(3, 1))).tolist() == [True, True]
        with pytest.raises(TypeError):
            array < make(3)  # noqa: B015
    assert RedundantInt(3) == make(3)
    assert RedundantInt(3) != make(complex(3, 1))


@pytest.mark.parametrize("other", [np.timedelta64(3, "s"), np.datetime64(3, "s"), "3", None])
def test_what_has_no_place_beside_integers(other: Any) -> None:
    for array in (IntArray([3]), RationalArray([3]), RedundantInt(3)):
        for operation in (operator.add, operator.sub, operator.lt):
            with pytest.raises(TypeError):
                operation(array, other)
        assert (array == other) is False
        assert (array != other) is True


def test_arrays_and_one_long_integer() -> None:
    number = RedundantInt(2**70)
    for array in (IntArray([2**70, 1]), [RedundantInt(2**70), 1]):
        assert (IntArray(array) == number).tolist() == [True, False]
        assert (number == IntArray(array)).tolist() == [True, False]
    assert (number + IntArray([1, 2])).to_ints() == [2**70 + 1, 2**70 + 2]
    assert (IntArray([1]) - number).to_ints() == [1 - 2**70]
    assert (RationalArray([2**70]) == number).tolist() == [True]
    assert (number > IntArray([1])).tolist() == [True]
