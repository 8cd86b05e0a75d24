"""RationalArray against fractions.Fraction, and against GMP for large numbers."""

from __future__ import annotations

import math
import operator
import pickle
import sys
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import gmpy2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import arith
from arith import IntArray, rational
from arith.rational import RationalArray
from kernels.bignum.cuda import DeviceArithmetic, arithmetic_for
from tests.emulation import EmulatedDevice
from tests.strategies import integers_that_hurt

ARITHMETIC = (operator.add, operator.sub, operator.mul, operator.truediv, operator.mod)
COMPARISONS = (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)


def small(bits: int) -> st.SearchStrategy[int]:
    return st.integers(-(2**bits), 2**bits)


# Small ones often meet equal denominators, common factors and zeros.
integers = st.one_of(small(3), small(8), integers_that_hurt(300))
positive = integers.map(lambda n: abs(n) + (n == 0))
rationals = st.builds(Fraction, integers, positive)
lists = st.lists(rationals, max_size=10)
couples = st.lists(st.tuples(rationals, rationals), max_size=10)


def arrays_of(values: list[tuple[Any, Any]]) -> tuple[RationalArray, RationalArray]:
    return RationalArray([a for a, _ in values]), RationalArray([b for _, b in values])


def check(array: Any, expected: list[Any]) -> None:
    """Equal, and of the type and form that it is to have."""
    if isinstance(array, RationalArray):
        numerators = [Fraction(x).numerator for x in expected]
        denominators = [Fraction(x).denominator for x in expected]
        assert array.reduced
        assert array.numerator.to_ints() == numerators
        assert array.denominator.to_ints() == denominators
    else:
        assert isinstance(array, IntArray)
        assert array.to_ints() == expected
    assert len(array) == len(expected)


# --- conversions ---------------------------------------------------------------


@given(lists)
def test_fractions_there_and_back(values: list[Fraction]) -> None:
    array = RationalArray(values)
    check(array, values)
    found = array.to_fractions()
    assert found == values == list(array)
    assert [hash(x) for x in found] == [hash(x) for x in values]
    assert all(type(x) is Fraction for x in found)
    assert RationalArray(iter(values)).equals(array)
    assert RationalArray(array).equals(array)
    objects = np.asarray(array)
    assert objects.dtype == object
    assert objects.tolist() == values
    check(RationalArray(objects), values)
    check(RationalArray([str(x) for x in values]), values)
    check(RationalArray([gmpy2.mpq(x) for x in values]), values)


@given(st.lists(st.tuples(integers, integers.filter(bool)), max_size=10))
def test_from_numerators_and_denominators(values: list[tuple[int, int]]) -> None:
    n, d = [n for n, _ in values], [d for _, d in values]
    check(RationalArray(n, d), [Fraction(*x) for x in values])
    check(RationalArray(IntArray(n), IntArray(d)), [Fraction(*x) for x in values])
    check(RationalArray(n, -12), [Fraction(x, -12) for x in n])
    check(RationalArray(12, d), [Fraction(12, x) for x in d])
    check(RationalArray(IntArray(n)), n)
    loose = RationalArray(n, d, reduce=False)
    assert not loose.reduced
    assert loose.numerator.to_ints() == [x if y > 0 else -x for x, y in values]
    assert loose.denominator.to_ints() == [abs(y) for y in d]
    assert loose.to_fractions() == [Fraction(*x) for x in values]
    check(loose.reduce(), [Fraction(*x) for x in values])
    check(RationalArray(loose), [Fraction(*x) for x in values])


def test_from_numpy() -> None:
    for dtype in (np.int8, np.uint64, np.int64, np.bool_):
        values = np.array([0, 1, 1, 0], dtype)
        check(RationalArray(values), [0, 1, 1, 0])
    check(RationalArray(np.array([2**64 - 1], np.uint64)), [2**64 - 1])
    check(RationalArray(np.array([3, 4]), np.array([6, 6])), [Fraction(1, 2), Fraction(2, 3)])
    check(RationalArray(np.array(["1/2", "3"])), [Fraction(1, 2), 3])
    check(RationalArray(np.array([0.1], np.float32)), [Fraction(float(np.float32(0.1)))])
    check(RationalArray(np.array([0.5, -2], np.longdouble)), [Fraction(1, 2), -2])
    check(RationalArray([np.int8(3), np.float32(0.5), True]), [3, Fraction(1, 2), 1])
    with pytest.raises(TypeError, match=r"^rationals cannot be made of complex128$"):
        RationalArray(np.array([1j]))
    with pytest.raises(ValueError, match=r"^a RationalArray has one dimension, not \(1, 2\)$"):
        RationalArray(np.zeros((1, 2)))


FLOATS_THAT_HURT = [
    0.0, -0.0, 0.1, 5e-324, -5e-324, 2**-1022, 2**-1022 - 5e-324, sys.float_info.max, 1.0, 2.0**53,
    2.0**53 - 1, 2.0**52 + 0.5, 1 + 2**-52, 2.0**1023, 2.0**64, 2.0**-64,
]  # fmt: skip
floats = st.sampled_from(FLOATS_THAT_HURT) | st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(floats, max_size=10))
def test_floats_are_exact(values: list[float]) -> None:
    expected = [Fraction(x) for x in values]
    check(RationalArray(values), expected)
    array = RationalArray(np.array(values, np.float64))
    check(array, expected)
    assert array.to_floats().tolist() == values
    assert (array == RationalArray(values)).all()


@given(st.lists(rationals | floats.map(Fraction), max_size=10))
@settings(max_examples=200)
def test_to_floats(values: list[Fraction]) -> None:
    check_floats(values)


@given(
    st.lists(
        st.tuples(floats, st.integers(-3, 3), st.integers(0, 200), st.integers(1, 2**70)),
        min_size=1,
        max_size=10,
    )
)
@settings(max_examples=200)
def test_to_floats_near_ties(values: list[tuple[float, int, int, int]]) -> None:
    """Halfway between neighbours, or off it by what only the remainder shows."""
    hurting = []
    for x, quarters, bits, scale in values:
        number = Fraction(x) + quarters * Fraction(math.ulp(x)) / 4
        off = Fraction(1, 2 ** (1200 + bits)) * (bits % 3 - 1)
        # With a factor of the numerator that makes it longer than a float is.
        hurting += [number, number + off, Fraction(number.numerator * scale, scale + 1) + off]
    check_floats(hurting)


def check_floats(values: list[Fraction]) -> None:
    for array in (RationalArray(values), loosely(values)):
        try:
            expected = [float(x) for x in values]
        except OverflowError:
            first = next(i for i, x in enumerate(values) if overflows(x))
            with pytest.raises(OverflowError, match=rf"^the number at index {first} "):
                array.to_floats()
            return
        found = array.to_floats()
        assert found.dtype == np.float64
        assert [x.hex() for x in found.tolist()] == [x.hex() for x in expected]
        assert array.astype(float).tolist() == expected


def overflows(value: Fraction) -> bool:
    try:
        float(value)
    except OverflowError:
        return True
    return False


def loosely(values: list[Fraction]) -> RationalArray:
    """Not in lowest terms, and not to come to them."""
    n, d = [x.numerator for x in values], [x.denominator for x in values]
    factors = [i % 4 + 1 for i in range(len(values))]
    return RationalArray(IntArray(n) * factors, IntArray(d) * factors, reduce=False)


def test_only_exact_dtypes() -> None:
    for dtype in (np.float32, np.int64):
        with pytest.raises(TypeError, match=r"^rationals become float64 or object, not "):
            RationalArray([1]).astype(dtype)


digits = st.from_regex(r"[0-9]{1,6}(_[0-9]{1,3})?", fullmatch=True)
TEXT = st.one_of(
    st.builds("{}{}".format, st.sampled_from(["", "-", "+"]), digits),
    st.builds("{}/{}".format, digits, digits),
    st.builds(" -{}.{} ".format, digits, digits),
    st.builds("{}.{}e-{}".format, digits, digits, st.integers(0, 400)),
    st.builds(".{}E+{}".format, digits, st.integers(0, 400)),
    st.text("0123456789+-/._eE x", max_size=8),
    st.text(max_size=5),
)


@given(TEXT)
@settings(max_examples=400)
def test_strings_are_read_as_fraction_reads_them(text: str) -> None:
    try:
        expected = Fraction(text)
    except ZeroDivisionError:
        with pytest.raises(ZeroDivisionError, match=r" at index 1 has the denominator zero$"):
            RationalArray(["1", text])
    except ValueError:
        if " /" in text or "/ " in text:  # newer Pythons allow these
            return
        with pytest.raises(ValueError, match=r" at index 1 is no rational number: column \d+$"):
            RationalArray(["1", text])
    else:
        check(RationalArray([text]), [expected])


BAD_STRINGS = {
    "": 1, "x": 1, "1x": 2, "1/": 3, "1/2/3": 4, "-": 2, "1.5/2": 4, "1e": 3, "1e5.": 4,
    "nan": 1, "0x10": 2, "1__0": 2, "1 2": 3, "--1": 2, ".": 2, "/2": 1, "1/-2": 3, "٣x": 2,
}  # fmt: skip


@pytest.mark.parametrize("text", BAD_STRINGS)
def test_the_bad_column_is_named(text: str) -> None:
    with pytest.raises(ValueError, match=rf": column {BAD_STRINGS[text]}$"):
        RationalArray([text])


def test_long_and_unusual_strings() -> None:
    assert RationalArray(["9" * 10000])[0] == 10**10000 - 1
    assert RationalArray(["1/" + "3" * 5001])[0] == Fraction(3, 10**5001 - 1)
    check(RationalArray(["1 / 4", "٣/٤"]), [Fraction(1, 4), Fraction(3, 4)])
    with pytest.raises(ValueError, match=r"^'7{40}\.\.\.' at index 0 .* column 51$"):
        RationalArray(["7" * 50 + "x"])
    with pytest.raises(MemoryError, match=r"^'1e99999999999999' at index 1 needs about "):
        RationalArray(["1", "1e99999999999999"])


def test_what_is_no_rational_number() -> None:
    for bad, shown in ((math.nan, "nan"), (-math.inf, "-inf"), (Decimal("NaN"), "NaN")):
        with pytest.raises(ValueError, match=rf"^{shown} at index 1 is no rational number$"):
            RationalArray([0.5, bad, bad])
    with pytest.raises(ValueError, match=r"^inf at index 2 is no rational number$"):
        RationalArray(np.array([0.0, 1.0, np.inf, np.nan]))
    with pytest.raises(TypeError, match=r"^a rational number is wanted at index 1, not NoneType$"):
        RationalArray([1, None])
    for whole in ("1/2", b"12"):
        with pytest.raises(TypeError, match=r"^a sequence of rationals is wanted"):
            RationalArray(whole)
    with pytest.raises(ZeroDivisionError, match=r"^the denominator at index 1 is zero$"):
        RationalArray([1, 2, 3], [1, 0, 0])
    with pytest.raises(ZeroDivisionError, match=r"^the denominator at index 0 is zero$"):
        RationalArray([1, 2, 3], 0)
    with pytest.raises(ValueError, match=r"^3 numerators and 2 denominators$"):
        RationalArray([1, 2, 3], [1, 2])


def test_decimals() -> None:
    check(RationalArray([Decimal("0.75"), Decimal("-1E+3")]), [Fraction(3, 4), -1000])


# --- arithmetic ----------------------------------------------------------------


@pytest.mark.parametrize("operation", ARITHMETIC)
@given(couples)
@settings(max_examples=60)
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
@settings(max_examples=60)
def test_equal_operands(values: list[Fraction]) -> None:
    a = RationalArray(values)
    check(a + a, [x + x for x in values])
    check(a - a, [0 for _ in values])
    check(a * a, [x * x for x in values])
    assert (a == a).all()
    if all(values):
        check(a / a, [1 for _ in values])


@given(couples)
@settings(max_examples=60)
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
@settings(max_examples=25)
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
@settings(max_examples=60)
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
@settings(max_examples=60)
def test_rounding_ties(values: list[Fraction]) -> None:
    for digits in (-1, 0, 1, 2, 5):
        check(RationalArray(values).round(digits), [round(x, digits) for x in values])
        rounded = round(loosely(values), digits)
        assert not rounded.reduced
        assert rounded.to_fractions() == [round(x, digits) for x in values]
    check(RationalArray(values).round(), [round(x) for x in values])


@given(st.lists(st.tuples(rationals, st.integers(-5, 9)), max_size=8))
@settings(max_examples=60)
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
@settings(max_examples=200)
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
@settings(max_examples=15, deadline=None)
def test_large_ones_against_gmp(seed: int, count: int) -> None:
    """With factors in common between and within operands, of mixed lengths."""
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


# --- as a sequence -------------------------------------------------------------


@given(lists, st.slices(10), st.data())
def test_as_a_sequence(values: list[Fraction], part: slice, data: st.DataObject) -> None:
    array = RationalArray(values)
    assert array.shape == (len(values),)
    check(array[part], values[part])
    check(array[::-1], values[::-1])
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(values), max_size=len(values))))
    mask = mask.astype(np.bool_)
    check(array[mask], [x for x, m in zip(values, mask, strict=True) if m])
    for i in range(-len(values), len(values)):
        assert array[i] == values[i]
        assert type(array[np.int64(i)]) is Fraction
    if values:
        indices = data.draw(st.lists(st.integers(-len(values), len(values) - 1), max_size=8))
        check(array[indices], [values[i] for i in indices])
    with pytest.raises(IndexError):
        array[len(values)]
    check(RationalArray.concatenate([array, array[:1], array]), values + values[:1] + values)
    chosen = RationalArray.where(mask, array, -1)
    check(chosen, [x if m else -1 for x, m in zip(values, mask, strict=True)])


def test_nothing_is_changed_by_way_of_another_array() -> None:
    ints = IntArray([5, 6])
    array = RationalArray(ints)
    same = (RationalArray(array), +array, array.reduce())
    arith.add(ints, 1, out=ints)
    for column in (array.numerator, array.denominator):
        arith.multiply(column, 0, out=column)
    for other in same:
        rational.add(other, 1, out=other)
    check(array, [5, 6])


def test_one_loose_part_makes_all_loose() -> None:
    tight, loose = RationalArray(["1/2"]), RationalArray([2], [4], reduce=False)
    for result in (
        RationalArray.concatenate([tight, loose]),
        tight + loose,
        loose * tight,
        loose - 1,
        RationalArray.where(np.array([True]), tight, loose),
        RationalArray(tight, reduce=False),
    ):
        assert not result.reduced
    grown = loose + loose
    assert (grown.numerator[0], grown.denominator[0]) == (16, 16)


def test_shown() -> None:
    assert repr(RationalArray(["-1/2", 3])) == "RationalArray([-1/2, 3])"
    assert repr(RationalArray([10**5000], [3])) == "RationalArray([<16612 bits>])"
    assert repr(RationalArray([2], [4], reduce=False)) == "RationalArray([2/4], reduce=False)"
    long = RationalArray([Fraction(1, 2**200)] * 9)
    assert repr(long) == f"RationalArray([{'<202 bits>, ' * 6}... 9 in all])"
    with pytest.raises(TypeError, match="unhashable"):
        hash(long)


@given(lists, st.booleans())
@settings(max_examples=20)
def test_pickles(values: list[Fraction], loose: bool) -> None:
    array = loosely(values) if loose else RationalArray(values)
    same = pickle.loads(pickle.dumps(array))
    assert same.reduced is not loose
    assert same.numerator.equals(array.numerator)
    assert same.denominator.equals(array.denominator)


def test_files(tmp_path: Path) -> None:
    values = [Fraction(-(2**200), 3), Fraction(0), Fraction(5, 7)]
    RationalArray(values).save(tmp_path / "tight.h5")
    check(RationalArray.load(tmp_path / "tight.h5"), values)
    loosely(values).save(tmp_path / "loose.h5")
    check(RationalArray.load(tmp_path / "loose.h5"), values)
    loose = RationalArray.load(tmp_path / "loose.h5", reduce=False)
    assert not loose.reduced
    assert loose.denominator.equals(loosely(values).denominator)
    IntArray([1]).save(tmp_path / "ints.h5")
    with pytest.raises(ValueError, match=r"ints\.h5: no RationalArray is stored in it$"):
        RationalArray.load(tmp_path / "ints.h5")
    broken = RationalArray._of(IntArray([1, 1]), IntArray([1, 0]), True)
    broken.save(tmp_path / "broken.h5")
    with pytest.raises(ValueError, match=r"broken\.h5: the denominator at index 1 is zero$"):
        RationalArray.load(tmp_path / "broken.h5")


# --- where and out -------------------------------------------------------------

FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "remainder": operator.mod,
    "floor_divide": operator.floordiv,
    "minimum": min,
    "maximum": max,
}


@pytest.mark.parametrize("name", FUNCTIONS)
@given(st.lists(st.tuples(rationals, rationals, st.booleans()), max_size=8))
@settings(max_examples=20)
def test_where_and_out(name: str, values: list[tuple[Fraction, Fraction, bool]]) -> None:
    function, obvious = getattr(rational, name), FUNCTIONS[name]
    divides = name in ("divide", "remainder", "floor_divide")
    values = [(a, b, m and not (divides and b == 0)) for a, b, m in values]
    a, b = arrays_of([(a, b) for a, b, _ in values])
    mask = np.array([m for *_, m in values], np.bool_)
    kind = IntArray if name == "floor_divide" else RationalArray
    check(function(a, b, where=mask), [obvious(x, y) if m else 0 for x, y, m in values])
    out = kind([7] * len(values))
    assert function(a, b, where=mask, out=out) is out
    check(out, [obvious(x, y) if m else 7 for x, y, m in values])
    assert function(a, Fraction(2, 3), out=out) is out
    check(out, [obvious(x, Fraction(2, 3)) for x, *_ in values])
    check(function(3, a, where=False), [0 for _ in values])
    if name != "floor_divide":
        function(a, 3, out=a)  # an operand itself
        check(a, [obvious(x, Fraction(3)) for x, *_ in values])


def test_other_functions() -> None:
    array, mask = RationalArray(["-1/2", "0", "3"]), np.array([True, False, True])
    check(rational.negative(array, where=mask), [Fraction(1, 2), 0, -3])
    check(rational.absolute(array), [Fraction(1, 2), 0, 3])
    check(rational.power(array, -2, where=mask), [4, 0, Fraction(1, 9)])
    check(rational.power(array, [1, 2, 3]), [Fraction(-1, 2), 0, 27])
    quotient, rest = rational.divmod(1, array, where=mask)
    check(quotient, [-2, 0, 0])
    check(rest, [0, 0, 1])
    outs = IntArray([8, 8, 8]), RationalArray([9, 9, 9])
    results = rational.divmod(1, array, where=mask, out=outs)
    assert all(result is out for result, out in zip(results, outs, strict=True))
    check(outs[0], [-2, 8, 0])
    check(outs[1], [0, 9, 1])


def test_out_changes_only_when_all_went_well() -> None:
    array, out = RationalArray([1, 2]), RationalArray([3, 4])
    with pytest.raises(ZeroDivisionError, match=r"^division by zero at index 1$"):
        rational.divide(array, [1, 0], out=out)
    with pytest.raises(ZeroDivisionError, match=r"^division by zero at index 1$"):
        rational.divide(array, [0, 0], where=np.array([False, True]), out=out)
    with pytest.raises(TypeError, match=r"^out is to be a RationalArray, not a IntArray$"):
        rational.add(array, 1, out=IntArray([1, 1]))
    with pytest.raises(ValueError, match=r"^out has length 2, the result 3$"):
        rational.add(RationalArray([1, 2, 3]), 1, out=out)
    quotients = IntArray([5, 6])
    with pytest.raises(TypeError, match=r"^out is to be a RationalArray"):
        rational.divmod(array, 2, out=(quotients, quotients))
    check(quotients, [5, 6])
    check(out, [3, 4])
    with pytest.raises(TypeError, match=r"^one of the operands must be a RationalArray$"):
        rational.add(1, 2)
    with pytest.raises(TypeError, match=r"^where is a mask of bool, not of int64$"):
        rational.add(array, 1, where=np.array([1, 0]))
    with pytest.raises(ValueError, match=r"^a mask \(3,\) for arrays of length 2$"):
        rational.add(array, 1, where=np.ones(3, np.bool_))


# --- on a device ---------------------------------------------------------------


@pytest.fixture(scope="module", params=["emulated", pytest.param("cuda", marks=pytest.mark.gpu)])
def engine(request: pytest.FixtureRequest) -> DeviceArithmetic:
    if request.param == "cuda":
        return arithmetic_for(0)
    return DeviceArithmetic(EmulatedDevice())


def put(engine: DeviceArithmetic, values: list[Fraction]) -> RationalArray:
    array = RationalArray(values)
    columns = (array.numerator, array.denominator)
    return RationalArray._of(
        *(IntArray._of(engine, engine.put(x.numbers())) for x in columns), True
    )


def batch(seed: int, bits: int) -> list[Fraction]:
    random = np.random.default_rng(seed)

    def number() -> int:
        return int.from_bytes(random.bytes(bits // 8), "little") >> int(random.integers(0, bits))

    some = [Fraction((number() + 1) * (-1) ** i, number() + 1) for i in range(32)]
    return [*some, Fraction(0), Fraction(1), *some[:4]]


def check_on_device(result: RationalArray, expected: list[Fraction]) -> None:
    assert result.place == result.denominator.place == "device"
    check(result, expected)


def test_on_a_device(engine: DeviceArithmetic) -> None:
    """What is done in one pass: results stay there, and they are the same."""
    x = batch(1, 56)
    y = [value or Fraction(3, 8) for value in x[::-1]]
    a, b = put(engine, x), put(engine, y)
    assert a.place == "device"
    for operation in (operator.add, operator.sub, operator.mul, operator.truediv):
        expected = [operation(p, q) for p, q in zip(x, y, strict=True)]
        check_on_device(operation(a, b), expected)
        check_on_device(operation(a, RationalArray(y)), expected)
        scaled = [operation(p, Fraction(-3, 7)) for p in x]
        check_on_device(operation(a, Fraction(-3, 7)), scaled)
        check_on_device(operation(5, b), [operation(5, q) for q in y])
        whole = [operation(i, q) for i, q in enumerate(y)]
        check_on_device(operation(IntArray(range(len(y))), b), whole)
    for zero in (a, 0):
        index = x.index(Fraction(0)) if zero is a else 0
        with pytest.raises(ZeroDivisionError, match=rf"^division by zero at index {index}$"):
            b / zero  # type: ignore[operator]
    assert a.on_host().place == "host"
    check(a.on_host(), x)


@pytest.mark.slow
@pytest.mark.parametrize("bits", [30, 300])  # for one pass, and for one operation each
def test_everything_on_a_device(engine: DeviceArithmetic, bits: int) -> None:
    x = batch(1, bits)
    y = [value or Fraction(3, 8) for value in batch(2, bits)[::-1]]
    a, b = put(engine, x), put(engine, y)
    for operation in ARITHMETIC:
        check_on_device(operation(a, b), [operation(p, q) for p, q in zip(x, y, strict=True)])
        scaled = [operation(p, Fraction(-3, 7)) for p in x]
        check_on_device(operation(a, Fraction(-3, 7)), scaled)
    check(a // b, [p // q for p, q in zip(x, y, strict=True)])
    for compare in COMPARISONS:
        assert compare(a, b).tolist() == [compare(p, q) for p, q in zip(x, y, strict=True)]
    for divide in (operator.truediv, operator.floordiv, operator.mod):
        index = x.index(Fraction(0))
        with pytest.raises(ZeroDivisionError, match=rf"^division by zero at index {index}$"):
            divide(b, a)
    check_on_device(a.limit_denominator(1000), [p.limit_denominator(1000) for p in x])
    check_on_device(a.round(1), [round(p, 1) for p in x])
    check_on_device(b**-3, [q**-3 for q in y])
    check_on_device(a[a > b], [p for p, q in zip(x, y, strict=True) if p > q])
    check_on_device(RationalArray.where(a > b, a, b), list(map(max, x, y)))
    assert a.to_floats().tolist() == [float(p) for p in x]
    assert (a.sum(), a.min(), b.prod()) == (sum(x), min(x), math.prod(y))
    loose = RationalArray(a, reduce=False) * b
    assert loose.place == "device"
    assert loose.to_fractions() == [p * q for p, q in zip(x, y, strict=True)]
    check_on_device(loose.reduce(), [p * q for p, q in zip(x, y, strict=True)])
