"""Arithmetic of RationalArray against fractions.Fraction, and against GMP for large numbers."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import gmpy2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arith import IntArray
from arith.rational import RationalArray
from tests.arith.rationals import (
    ARITHMETIC,
    COMPARISONS,
    arrays_of,
    check,
    couples,
    floats,
    integers,
    lists,
    loosely,
    positive,
    rationals,
    small,
)
from tests.quick import examples


@pytest.mark.parametrize("operation", ARITHMETIC)
@given(couples)
@settings(max_examples=examples(60))
def test_arithmetic(operation: Callable[[Any, Any], Any], values: list[Any]) -> None:
    if operation in (operator.truediv, operator.mod):
        values = [(a, b or Fraction(-2, 7)) for a, b in values]
    a, b = arrays_of(values)
    expected = [operation(x, y) for x, y in values]
    check(operation(a, b), expected)
    loose = operation(loosely([x for x, _ in values]), b)
    assert not loose.reduced
    assert loose.to_fractions() == expected
    check(loose.reduce(), expected)
    check(a, [x for x, _ in values])  # as before


@given(lists)
@settings(max_examples=examples(60))
def test_equal_operands(values: list[Fraction]) -> None:
    a = RationalArray(values)
    check(a + a, [x + x for x in values])
    check(a - a, [0 for _ in values])
    check(a * a, [x * x for x in values])
    assert (a == a).all()
    if all(values):
        check(a / a, [1 for _ in values])


@given(couples)
@settings(max_examples=examples(60))
def test_division_with_remainder_and_comparisons(values: list[Any]) -> None:
    values = [(a, b or Fraction(1, 3)) for a, b in values]
    a, b = arrays_of(values)
    check(a // b, [x // y for x, y in values])
    quotient, rest = divmod(a, b)
    check(quotient, [x // y for x, y in values])
    check(rest, [x % y for x, y in values])
    loose = loosely([x for x, _ in values])
    for compare in COMPARISONS:
        for left in (a, loose):
            result = compare(left, b)
            assert result.dtype == np.bool_
            assert result.tolist() == [compare(x, y) for x, y in values]
    assert a.equals(loose)
    assert (loose == a).all()
    check(a.minimum(b), [min(x, y) for x, y in values])
    check(a.maximum(b), [max(x, y) for x, y in values])


@pytest.mark.parametrize("operation", [*ARITHMETIC, operator.floordiv, *COMPARISONS])
@given(lists, rationals, integers)
@settings(max_examples=examples(25))
def test_other_operands(
    operation: Callable[[Any, Any], Any], values: list[Fraction], scalar: Fraction, whole: int
) -> None:
    """Scalars stand for all; IntArrays and sequences go with them, on either side."""
    divides = operation in (operator.truediv, operator.mod, operator.floordiv)
    values = [x or Fraction(5) for x in values] if divides else values
    array, ints = RationalArray(values), IntArray([whole or 1] * len(values))
    for other in (scalar or Fraction(1), whole or 1, np.int64(3), gmpy2.mpq(2, 3)):
        exact = Fraction(int(other.numerator), int(other.denominator))
        agrees(operation(array, other), [operation(x, exact) for x in values])
        agrees(operation(other, array), [operation(exact, x) for x in values])
    for columns in (ints, [whole or 1] * len(values)):
        agrees(operation(array, columns), [operation(x, Fraction(whole or 1)) for x in values])
        agrees(operation(columns, array), [operation(Fraction(whole or 1), x) for x in values])
    numpy = np.arange(1, len(values) + 1)
    expected = [operation(x, Fraction(i)) for i, x in enumerate(values, 1)]
    agrees(operation(array, numpy), expected)
    agrees(operation(array, tuple(Fraction(int(i)) for i in numpy)), expected)
    expected = [operation(Fraction(i), x) for i, x in enumerate(values, 1)]
    agrees(operation(numpy, array), expected)


def agrees(result: Any, expected: list[Any]) -> None:
    if isinstance(result, np.ndarray):
        assert result.dtype == np.bool_
        assert result.tolist() == expected
    else:
        check(result, expected)


@given(lists, floats | st.sampled_from([math.inf, -math.inf, math.nan]))
def test_comparing_with_floats(values: list[Fraction], number: float) -> None:
    values = [*values, Fraction(number) if math.isfinite(number) else Fraction(0)]
    array = RationalArray(values)
    for compare in COMPARISONS:
        assert compare(array, number).tolist() == [compare(x, number) for x in values]
        assert compare(np.float64(number), array).tolist() == [compare(number, x) for x in values]


def test_floats_are_no_operands() -> None:
    array = RationalArray([1, 2])
    for operation in (*ARITHMETIC, operator.floordiv):
        for number in (0.5, np.float32(0.5), np.array([0.5, 1.5])):
            with pytest.raises(TypeError, match=r"^a float is no exact operand: "):
                operation(array, number)
            with pytest.raises(TypeError, match=r"^a float is no exact operand: "):
                operation(number, array)
        with pytest.raises(TypeError, match=r"^a rational number is wanted at index 1, not float$"):
            operation(array, [1, 0.5])
    with pytest.raises(TypeError, match=r"^unsupported operand"):
        array + "1"  # type: ignore[operator]
    assert (array == "1") is False  # type: ignore[comparison-overlap]


def test_division_by_zero_names_the_first_index() -> None:
    array = RationalArray([5, 6, 7])
    zeros = RationalArray([1, 0, 0])
    for operation in (operator.truediv, operator.floordiv, operator.mod, divmod):
        for other in (zeros, zeros.numerator, [1, 0, 0]):
            with pytest.raises(ZeroDivisionError, match=r"^division by zero at index 1$"):
                operation(array, other)
        with pytest.raises(ZeroDivisionError, match=r"^division by zero at index 0$"):
            operation(array, 0)
        with pytest.raises(ZeroDivisionError, match=r"^division by zero at index 1$"):
            operation(1, zeros)


def test_lengths_must_match() -> None:
    array = RationalArray([1, 2])
    for other in (RationalArray([1]), IntArray([1]), np.array([1]), [1, 2, 3]):
        for operation in (operator.add, operator.mul, operator.truediv, operator.lt):
            with pytest.raises(ValueError, match=r"^arrays of different lengths: 2 and "):
                operation(array, other)


def test_nothing_at_all() -> None:
    empty = RationalArray()
    for operation in (*ARITHMETIC, operator.floordiv):
        for other in (empty, IntArray(), 0, Fraction(1, 2), []):
            assert len(operation(empty, other)) == 0
            assert len(operation(other, empty)) == 0
    assert (empty.sum(), empty.prod()) == (0, 1)
    assert empty.to_floats().shape == (0,)
    for result in (-empty, abs(empty), empty**3, empty.floor(), empty.round(), empty.round(2)):
        assert len(result) == 0
    assert len(empty.limit_denominator(3)) == 0
    assert (empty == empty).shape == (0,)
    assert RationalArray.concatenate([]).equals(empty)
    for extreme in (empty.min, empty.max):
        with pytest.raises(ValueError, match=r"^an empty RationalArray has neither"):
            extreme()


@given(lists)
@settings(max_examples=examples(60))
def test_one_by_one(values: list[Fraction]) -> None:
    for array in (RationalArray(values), loosely(values)):
        assert (-array).to_fractions() == [-x for x in values]
        assert abs(array).to_fractions() == [abs(x) for x in values]
        assert (+array).to_fractions() == values
        assert array.sign().tolist() == [(x > 0) - (x < 0) for x in values]
        check(array.floor(), [math.floor(x) for x in values])
        check(array.ceil(), [math.ceil(x) for x in values])
        check(array.trunc(), [math.trunc(x) for x in values])
        check(array.round(), [round(x) for x in values])
        check(math.floor(array), [math.floor(x) for x in values])
        check(math.ceil(array), [math.ceil(x) for x in values])
        check(math.trunc(array), [math.trunc(x) for x in values])
        check(round(array), [round(x) for x in values])
        assert array.sum() == sum(values)
        assert array.prod() == math.prod(values)
        assert type(array.sum()) is type(array.prod()) is Fraction
        if values:
            assert (array.min(), array.max()) == (min(values), max(values))


@given(st.lists(st.builds(Fraction, small(12), st.just(200) | st.just(2)), max_size=8))
@settings(max_examples=examples(60))
def test_rounding_ties(values: list[Fraction]) -> None:
    for digits in (-1, 0, 1, 2, 5):
        check(RationalArray(values).round(digits), [round(x, digits) for x in values])
        rounded = round(loosely(values), digits)
        assert not rounded.reduced
        assert rounded.to_fractions() == [round(x, digits) for x in values]
    check(RationalArray(values).round(), [round(x) for x in values])


@given(st.lists(st.tuples(rationals, st.integers(-5, 9)), max_size=8))
@settings(max_examples=examples(60))
def test_powers(values: list[tuple[Fraction, int]]) -> None:
    values = [(x, abs(e) if x == 0 else e) for x, e in values]
    bases, exponents = [x for x, _ in values], [e for _, e in values]
    expected = [x**e for x, e in values]
    for array in (RationalArray(bases), loosely(bases)):
        for given_as in (exponents, IntArray(exponents), np.array(exponents, np.int64)):
            assert (array**given_as).to_fractions() == expected
        for exponent in (0, 3, -2):
            if exponent >= 0 or all(bases):
                assert (array**exponent).to_fractions() == [x**exponent for x in bases]
    check(RationalArray(bases) ** exponents, expected)


def test_powers_that_there_are_not() -> None:
    array = RationalArray([1, 0, 0])
    for exponent in (-1, [-1, -1, 2], [0, -3, -3]):
        with pytest.raises(ZeroDivisionError, match=r"^zero to a negative power at index 1$"):
            array**exponent
    for bad in (0.5, Fraction(1, 2), "2"):
        with pytest.raises(TypeError):
            array**bad  # type: ignore[operator]


@given(st.lists(rationals | floats.map(Fraction), max_size=10), positive | st.integers(1, 50))
@settings(max_examples=examples(200))
def test_limit_denominator(values: list[Fraction], largest: int) -> None:
    expected = [x.limit_denominator(largest) for x in values]
    check(RationalArray(values).limit_denominator(largest), expected)
    check(loosely(values).limit_denominator(largest), expected)


def test_limit_denominator_between_equally_near_ones() -> None:
    values = [Fraction(n, d) for d in range(1, 41) for n in range(-d, d + 1)]
    array = RationalArray(values)
    for largest in (1, 2, 3, 7, 39, 40):
        expected = [x.limit_denominator(largest) for x in values]
        check(array.limit_denominator(largest), expected)
    check(RationalArray(["3.1415926535897932"]).limit_denominator(), [Fraction(3126535, 995207)])
    with pytest.raises(ValueError, match=r"^max_denominator is at least 1, not 0$"):
        array.limit_denominator(0)
    with pytest.raises(TypeError):
        array.limit_denominator(2.5)  # type: ignore[arg-type]


@given(st.integers(0, 2**64), st.integers(1, 40))
@settings(max_examples=examples(15), deadline=None)
def test_large_ones_against_gmp(seed: int, count: int) -> None:
    """Use factors in common between and within operands, of mixed lengths."""
    random = np.random.default_rng(seed)
    shared = [int.from_bytes(random.bytes(int(n)), "little") | 1 for n in random.integers(1, 90, 4)]

    def number() -> int:
        own = int.from_bytes(random.bytes(int(random.integers(0, 200))), "little")
        return own * math.prod(x for x in shared if random.random() < 0.4)

    def batch() -> list[gmpy2.mpq]:
        return [gmpy2.mpq(number(), 1 + number()) for _ in range(count)]

    a, b = batch(), [x or gmpy2.mpq(1) for x in batch()]
    for operation in (operator.add, operator.sub, operator.mul, operator.truediv):
        result = operation(RationalArray(a), RationalArray(b))
        expected = [operation(x, y) for x, y in zip(a, b, strict=True)]
        assert result.numerator.to_ints() == [int(x.numerator) for x in expected]
        assert result.denominator.to_ints() == [int(x.denominator) for x in expected]
    assert (RationalArray(a) < RationalArray(b)).tolist() == [x < y for x, y in zip(a, b)]  # noqa: B905


def test_sums_of_many() -> None:
    harmonic = RationalArray(1, range(1, 301))
    assert harmonic.sum() == sum(Fraction(1, i) for i in range(1, 301))
    assert harmonic.prod() == Fraction(1, math.factorial(300))
    assert harmonic.numerator.to_ints() == [1] * 300
