"""RationalArray as a sequence, with where and out, and on a device."""

from __future__ import annotations

import math
import operator
import pickle
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import arith
from arith import IntArray, rational
from arith.rational import RationalArray
from kernels.bignum.cuda.engine import DeviceArithmetic, arithmetic_for
from tests.arith.rationals import (
    ARITHMETIC,
    COMPARISONS,
    arrays_of,
    check,
    lists,
    loosely,
    rationals,
)
from tests.emulation import EmulatedDevice
from tests.quick import examples

# --- as a sequence -------------------------------------------------------------------


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
@settings(max_examples=examples(20))
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


# --- where and out -------------------------------------------------------------------


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
@settings(max_examples=examples(20))
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


# --- on a device ---------------------------------------------------------------------


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
    """Results of what is done in one pass stay there, and they are the same."""
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
