"""RationalArray from and to fractions, floats, texts and decimals."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import gmpy2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arith import IntArray
from arith.rational import RationalArray, exact
from tests.arith.rationals import check, floats, integers, lists, loosely, rationals
from tests.quick import examples


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


@given(st.lists(floats, max_size=10))
def test_floats_are_exact(values: list[float]) -> None:
    expected = [Fraction(x) for x in values]
    check(RationalArray(values), expected)
    array = RationalArray(np.array(values, np.float64))
    check(array, expected)
    assert array.to_floats().tolist() == values
    assert (array == RationalArray(values)).all()


@given(st.lists(rationals | floats.map(Fraction), max_size=10))
@settings(max_examples=examples(200))
def test_to_floats(values: list[Fraction]) -> None:
    check_floats(values)


@given(
    st.lists(
        st.tuples(floats, st.integers(-3, 3), st.integers(0, 200), st.integers(1, 2**70)),
        min_size=1,
        max_size=10,
    )
)
@settings(max_examples=examples(200))
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
@settings(max_examples=examples(400))
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


@given(st.decimals(allow_nan=False, allow_infinity=False), st.integers(-400, 400))
def test_decimals_are_exact(number: Decimal, exponent: int) -> None:
    for each in (number, Decimal(f"{number:E}").scaleb(0), Decimal((1, (1, 2, 0), exponent))):
        check(RationalArray([each, 1]), [Fraction(*each.as_integer_ratio()), 1])


@pytest.mark.parametrize("sign", ["", "-"])
@pytest.mark.parametrize("kind", [str, Decimal])
def test_an_exponent_takes_no_more_memory_than_is_said(kind: Any, sign: str) -> None:
    [longest] = RationalArray([kind("1E+9999999")]).numerator.bit_length()
    assert longest == math.ceil(9999999 * math.log2(10))
    for text in ("7.5e99999999", "1E+999999999999", "1e-99999999", "0.1e-999999999999999"):
        with pytest.raises(MemoryError, match=r" at index 1 needs about [\d,]+ bytes; an exponent"):
            RationalArray([1, kind(sign + text)])
    check(RationalArray([kind(f"{sign}0e-99999999999"), kind(sign + "0E+9999999999")]), [0, 0])


def test_rounding_to_very_many_digits() -> None:
    array = RationalArray(["1/3"])
    for digits in (10**8, -(10**8), 10**15, -(10**5000)):
        with pytest.raises(MemoryError, match=r" digits needs about .* an exponent may take "):
            array.round(digits)
    assert array.round(10**5)[0] == Fraction((10**100000 - 1) // 3, 10**100000)
    assert array.round(-(10**5))[0] == 0


def test_exponents_that_are_texts_of_their_own() -> None:
    check(RationalArray(["2e+0_0003", "0e" + "9" * 5000, "5e" + "0" * 5000]), [2000, 0, 5])
    for sign in ("", "-"):
        with pytest.raises(
            MemoryError, match=r"^'1e-?9{3,}\.\.\.' at index 0 needs about "
        ) as caught:
            RationalArray(["1e" + sign + "9" * 5000])
        assert len(str(caught.value)) < 200
    check(RationalArray(["1." + "0" * 10**5 + "e100000"]), [10**100000])


def test_exponents_of_all_numbers_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact, "_SMALL", 1 << 20)
    monkeypatch.setattr("arith.memory._SMALL", 1 << 20)
    monkeypatch.setattr("arith.memory.available_memory", lambda: 3 << 20)
    check(RationalArray(["1e1000000"] * 4), [10**1000000] * 4)
    with pytest.raises(MemoryError, match=r"^what was read up to index 5 needs about "):
        RationalArray(["1e1000000"] * 1000)


def test_a_long_text_is_read_in_a_time_near_that_of_its_length() -> None:
    digits = "7" * 300_000
    array = RationalArray([digits, f"{digits}/10", f"-.{digits}"])
    bits = int(300_000 * math.log2(10)) + 1
    assert array.numerator.bit_length().tolist() == [bits] * 3
    assert (array[0] + 1) % 10 == 8
    with pytest.raises(ValueError, match=r": column 300001$"):
        RationalArray([digits + "x"])
