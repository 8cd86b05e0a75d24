"""IntArray against Python's own integers."""

from __future__ import annotations

import math
import operator
import os
import pickle
import re
import stat
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import arith
import arith.memory
from arith import IntArray, Pool, RationalArray, text
from arith.memory import NotEnoughMemoryError
from kernels.bignum.numbers import from_ints, to_ints
from tests.quick import examples
from tests.strategies import integers_that_hurt

numbers = integers_that_hurt(700)
lists = st.lists(numbers, max_size=12)
pairs = st.lists(st.tuples(numbers, numbers), max_size=12)
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "%": operator.mod,
    "gcd": lambda a, b: a.gcd(b) if isinstance(a, IntArray) else math.gcd(a, b),
    "lcm": lambda a, b: a.lcm(b) if isinstance(a, IntArray) else math.lcm(a, b),
    "minimum": lambda a, b: a.minimum(b) if isinstance(a, IntArray) else min(a, b),
    "maximum": lambda a, b: a.maximum(b) if isinstance(a, IntArray) else max(a, b),
}
COMPARISONS = (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)
ARRAYS: dict[str, Callable[[list[int]], IntArray]] = {
    "ints": IntArray,
    "reversed twice": lambda values: IntArray(values[::-1])[::-1],
    "every second": lambda values: IntArray([x for v in values for x in (v, -v)])[::2],
    "masked": lambda values: IntArray([*values, *values])[np.arange(2 * len(values)) < len(values)],
}


@pytest.mark.sample(15)
@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("kind", ARRAYS)
@given(pairs)
@settings(max_examples=examples(15))
def test_elementwise(name: str, kind: str, values: list[tuple[int, int]]) -> None:
    operation, make = BINARY[name], ARRAYS[kind]
    if name in ("//", "%"):
        values = [(a, b or 3) for a, b in values]
    a, b = make([a for a, _ in values]), make([b for _, b in values])
    assert operation(a, b).to_ints() == [operation(x, y) for x, y in values]


@given(lists, numbers)
@settings(max_examples=examples(60))
def test_a_scalar_stands_for_all(values: list[int], scalar: int) -> None:
    array = IntArray(values)
    for operation in (operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod):
        if scalar or operation not in (operator.floordiv, operator.mod):
            assert operation(array, scalar).to_ints() == [operation(x, scalar) for x in values]
        if all(values) or operation not in (operator.floordiv, operator.mod):
            assert operation(scalar, array).to_ints() == [operation(scalar, x) for x in values]
    for compare in COMPARISONS:
        assert compare(array, scalar).tolist() == [compare(x, scalar) for x in values]
    assert array.multiply_add(scalar, scalar).to_ints() == [x * scalar + scalar for x in values]


@given(pairs)
@settings(max_examples=examples(40))
def test_divmod_and_comparisons(values: list[tuple[int, int]]) -> None:
    values = [(a, b or -1) for a, b in values]
    a, b = IntArray([a for a, _ in values]), IntArray([b for _, b in values])
    quotient, remainder = divmod(a, b)
    expected = [divmod(x, y) for x, y in values]
    assert list(zip(quotient, remainder, strict=True)) == expected
    for compare in COMPARISONS:
        result = compare(a, b)
        assert result.dtype == np.bool_
        assert result.tolist() == [compare(x, y) for x, y in values]
    assert a.equals(IntArray([x for x, _ in values]))
    assert not a.equals(IntArray([x + 1 for x, _ in values])) or not values


@given(lists)
@settings(max_examples=examples(40))
def test_one_by_one(values: list[int]) -> None:
    array = IntArray(values)
    assert (-array).to_ints() == [-x for x in values]
    assert abs(array).to_ints() == [abs(x) for x in values]
    assert (+array).equals(array)
    assert array.bit_length().tolist() == [x.bit_length() for x in values]
    assert array.sign().tolist() == [(x > 0) - (x < 0) for x in values]
    assert abs(array).isqrt().to_ints() == [math.isqrt(abs(x)) for x in values]
    assert array.sum() == sum(values)
    assert array.prod() == math.prod(values)
    if values:
        assert (array.min(), array.max()) == (min(values), max(values))


@given(st.lists(st.tuples(numbers, st.integers(0, 300)), max_size=8))
@settings(max_examples=examples(40))
def test_shifts_and_powers(values: list[tuple[int, int]]) -> None:
    array, counts = IntArray([x for x, _ in values]), [n for _, n in values]
    assert (array << counts).to_ints() == [x << n for x, n in values]
    assert (array >> np.array(counts, np.int64)).to_ints() == [x >> n for x, n in values]
    assert (array >> 10**30).to_ints() == [x >> 10**6 for x, _ in values]
    small = [n % 7 for n in counts]
    assert (array**small).to_ints() == [x**n for (x, _), n in zip(values, small, strict=True)]
    assert (3 ** IntArray(counts)).to_ints() == [3**n for n in counts]
    assert (5 << IntArray(counts)).to_ints() == [5 << n for n in counts]
    assert (1 ** IntArray([10**40])).to_ints() == [1]


@given(st.lists(st.tuples(numbers, st.integers(0, 2**70), numbers), max_size=6))
@settings(max_examples=examples(30))
def test_powmod(values: list[tuple[int, int, int]]) -> None:
    values = [(a, e, m or 7) for a, e, m in values]
    a, e, m = (IntArray([v[i] for v in values]) for i in range(3))
    assert pow(a, e, m).to_ints() == [pow(*v) for v in values]


@given(st.lists(st.tuples(numbers, st.integers(-(2**70), 2**70), numbers), max_size=6))
@settings(max_examples=examples(30))
def test_negative_exponents(values: list[tuple[int, int, int]]) -> None:
    """Some of them, all and none; bases without inverses where the exponent is positive."""
    rows = [(a, e, m or 7) for a, e, m in values]
    rows = [(a if e >= 0 or math.gcd(a, m) == 1 else a * m + 1, e, m) for a, e, m in rows]
    for sign in (0, 1, -1):
        chosen = [row for row in rows if sign * row[1] >= 0]
        a, e, m = (IntArray([row[i] for row in chosen]) for i in range(3))
        assert pow(a, e, m).to_ints() == [pow(*row) for row in chosen]


@pytest.mark.parametrize("place", ["cpu", "reference"])
def test_single_operands_of_powers_modulo(place: str) -> None:
    a, e, m = ([3, 5, -9], [-1, 4, -3], [7, -11, 20])
    operands = [[values, [values[0]], values[0]] for values in (a, e, m)]
    for x, y, z in product(*operands):
        if [x, y, z] == [a[0], e[0], m[0]]:
            continue
        columns = [v if isinstance(v, list) else [v] for v in (x, y, z)]
        count = max(map(len, columns))
        if any(isinstance(v, list) and len(v) != count for v in (x, y, z)):
            continue
        rows = zip(*(v * count if len(v) != count else v for v in columns), strict=True)
        first = IntArray(x if isinstance(x, list) else [x] * count).to(place)
        assert first.powmod(y, z).to_ints() == [pow(*row) for row in rows]


def test_errors_tell_the_index() -> None:
    for call, index in (
        (lambda: pow(IntArray([3, 2, 5, 6]), [1, 1, -1, -1], 4), 3),
        (lambda: arith.powmod(6, [1, -1], 4), 1),
        (lambda: IntArray([3, 2]) // [1, 0], 1),
        (lambda: IntArray([3, 2]) ** [1, -1], 1),
        (lambda: IntArray([3, -2]).isqrt(), 1),
        (lambda: IntArray([3, 2**63]).to_numpy(), 1),
        (lambda: IntArray([3, "2"]), 1),
        (lambda: RationalArray([3, "2/"]), 1),
        (lambda: RationalArray([3, "1e999999999"]), 1),
        (lambda: arith.floor_divide([5, 6, 7], [0, 2, 0], where=np.array([False, True, True])), 2),
    ):
        with pytest.raises((ValueError, ArithmeticError, TypeError, MemoryError)) as caught:
            call()
        assert caught.value.index == index
        assert type(pickle.loads(pickle.dumps(caught.value))) is type(caught.value)
        assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_inverses() -> None:
    a, m = [3, -5, 2**90 + 1, 7, 0], [10, 2**70, -(2**80), 1, -1]
    assert arith.invert(a, m).to_ints() == [pow(x, -1, y) for x, y in zip(a, m, strict=True)]
    for wrong, index, says in (([3, 5, 6], 2, "not invertible"), ([3, 0], 1, "not invertible")):
        with pytest.raises(ValueError, match=says) as caught:
            arith.invert(wrong, 8)
        assert caught.value.index == index
    with pytest.raises(ValueError, match=r"^modulus zero at index 1$"):
        arith.invert(3, [1, 0])
    out = IntArray([1, 2, 3])
    assert arith.invert([3, 6, 7], 8, where=np.array([True, False, True]), out=out) is out
    assert out.to_ints() == [3, 2, 7]


@given(
    st.lists(
        st.tuples(
            st.integers(1, 200) | st.integers(1, 4000),
            st.integers(-(2**80), 2**80) | st.integers(-(2**5000), 2**5000),
            st.booleans(),
        ),
        min_size=1,
        max_size=8,
    )
)
@settings(max_examples=examples(60))
def test_inverses_modulo_powers_of_two(cases: list[tuple[int, int, bool]]) -> None:
    """They are computed in another way than other inverses, and long ones by products of GMP."""
    m = [-(2**bits) if negative else 2**bits for bits, _, negative in cases]
    odd = [x | 1 for _, x, _ in cases]
    assert arith.invert(odd, m).to_ints() == [pow(x, -1, y) for x, y in zip(odd, m, strict=True)]
    one = arith.invert(odd, m[0]).to_ints()
    assert one == [pow(x, -1, m[0]) for x in odd]
    with pytest.raises(ValueError, match="not invertible"):
        arith.invert([*odd, 2 * odd[0]], [*m, m[0]])


def test_powers_of_inverses() -> None:
    assert pow(IntArray([3, 5, 7]), -2, 11).to_ints() == [pow(x, -2, 11) for x in (3, 5, 7)]
    with pytest.raises(
        ValueError, match=r"^base is not invertible for the given modulus at index 1$"
    ):
        pow(IntArray([3, 2]), -1, 4)
    with pytest.raises(ValueError, match=r"^modulus zero at index 1$"):
        IntArray([3, 2]).powmod(1, [4, 0])
    with pytest.raises(ValueError, match=r"^negative exponent at index 1: .* no integer$"):
        IntArray([3, 2]) ** [1, -1]


def test_division_by_zero_names_the_first_index() -> None:
    a = IntArray([5, 6, 7])
    for operation in (operator.floordiv, operator.mod, divmod):
        with pytest.raises(ZeroDivisionError, match=r"^division by zero at index 1$"):
            operation(a, [1, 0, 0])
        with pytest.raises(ZeroDivisionError, match=r"^division by zero at index 0$"):
            operation(a, 0)


def test_shapes_must_match() -> None:
    for other in (IntArray([1, 2]), [1, 2], np.arange(2), IntArray([1])):
        with pytest.raises(ValueError, match=r"^IntArrays of different lengths: 3 and "):
            IntArray([1, 2, 3]) + other
    with pytest.raises(ValueError, match="one dimension"):
        IntArray(np.zeros((2, 2), np.int64))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1, 2.0], "index 1, not float"),
        ([1, math.nan], "index 1, not float"),
        ([None], "index 0, not NoneType"),
        (["12"], "index 0, not str"),
        (np.array([1.5]), "not float64"),
        ("12", "not str"),
        (b"12", "not bytes"),
        (12, "not int"),
        (np.array([1, 2.5], object), "index 1, not float"),
    ],
)
def test_what_is_no_integer(values: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        IntArray(values)


def test_operators_refuse_what_is_no_integer() -> None:
    a = IntArray([1, 2])
    for other in (1.5, "x", None, 2j):
        with pytest.raises(TypeError):
            a + other  # type: ignore[operator]
        with pytest.raises(TypeError):
            other - a  # type: ignore[operator]
        for operation in (divmod, pow):
            with pytest.raises(TypeError, match="unsupported operand"):
                operation(a, other)
            with pytest.raises(TypeError, match="unsupported operand"):
                operation(other, a)
    for other in ("x", None, 2j):
        with pytest.raises(TypeError):
            a < other  # type: ignore[operator]  # noqa: B015
    assert (a == "x") is False


@given(lists, st.one_of(st.floats(), st.fractions(), st.integers().map(float)))
def test_comparisons_with_what_is_no_integer_are_exact(values: list[int], other: Any) -> None:
    values = [*values, 2**53 + 1, -(2**53) - 1, 2**1025]
    for compare in COMPARISONS:
        expected = [compare(x, other) for x in values]
        for scalar in (other, np.float64(other)) if isinstance(other, float) else (other,):
            result = compare(IntArray(values), scalar)
            assert result.dtype == np.bool_
            assert result.tolist() == expected


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint32, np.int64, np.uint64])
def test_numpy(dtype: type[np.integer[Any]]) -> None:
    info = np.iinfo(dtype)
    values = np.array([info.min, info.max, 0, 1, info.max // 3], dtype)
    array = IntArray(values)
    assert array.to_ints() == values.tolist()
    assert array.to_numpy(dtype).tolist() == values.tolist()
    assert array.to_numpy(dtype).dtype == dtype
    with pytest.raises(OverflowError, match="index 1 "):
        (array + 1).to_numpy(dtype)
    with pytest.raises(OverflowError, match="index 0 "):
        (array - 1).to_numpy(dtype)
    assert IntArray(np.array([True, False])).to_ints() == [1, 0]
    assert np.asarray(array).dtype == object
    assert (values + array).to_ints() == [2 * int(x) for x in values]
    assert IntArray([2**64]).__array__().tolist() == [2**64]
    with pytest.raises(OverflowError, match="index 0 "):
        np.asarray(IntArray([2**64]), dtype)


@given(lists, st.sampled_from(["little", "big"]), st.booleans())
def test_bytes(values: list[int], order: Any, signed: bool) -> None:
    if not signed:
        values = [abs(x) for x in values]
    width = max([x.bit_length() // 8 + 1 for x in values], default=1)
    expected = b"".join(x.to_bytes(width, order, signed=signed) for x in values)
    array = IntArray(values)
    assert array.to_bytes(width, order, signed=signed) == expected
    assert IntArray.from_bytes(expected, width, order, signed=signed).to_ints() == values


@given(numbers, st.integers(1, 20))
def test_bytes_that_do_not_fit(value: int, width: int) -> None:
    for signed in (False, True):
        array = IntArray([0, value])
        try:
            expected = bytes(width) + value.to_bytes(width, "little", signed=signed)
        except OverflowError:
            with pytest.raises(OverflowError, match="index 1 "):
                array.to_bytes(width, signed=signed)
        else:
            assert array.to_bytes(width, signed=signed) == expected


def test_limbs_are_not_copied() -> None:
    limbs = np.arange(1, 13, dtype=np.uint64).reshape(4, 3)
    array = IntArray.from_limbs(limbs, np.array([True, False, False, True]))
    expected = [sum(int(w) << 64 * i for i, w in enumerate(row)) for row in limbs]
    expected[0], expected[3] = -expected[0], -expected[3]
    assert array.to_ints() == expected
    back, negative = array.limbs()
    assert np.shares_memory(back, limbs)
    assert not back.flags.writeable
    assert negative is not None
    assert negative.tolist() == [True, False, False, True]
    every_second = IntArray.from_limbs(limbs[::2])
    assert every_second.to_ints() == [abs(expected[0]), abs(expected[2])]
    assert np.shares_memory(every_second.limbs()[0], limbs)
    words = limbs.view(np.uint32)
    assert np.shares_memory(IntArray.from_limbs(words).limbs()[0], limbs)
    assert IntArray.from_limbs(words).equals(IntArray.from_limbs(limbs))
    assert IntArray.from_limbs(words[:, :5]).to_ints() == [
        x & (2**160 - 1) for x in map(abs, expected)
    ]
    for odd in (limbs[:, ::-1], limbs[::-1], np.asfortranarray(limbs)):
        assert IntArray.from_limbs(odd).to_ints() == [
            sum(int(w) << 64 * i for i, w in enumerate(row)) for row in odd
        ]
    zero = IntArray.from_limbs(np.zeros((1, 2), np.uint64), np.array([True]))
    assert zero.sign().tolist() == [0]
    assert zero.limbs()[1] is None
    with pytest.raises(TypeError, match="limbs are uint64 or uint32"):
        IntArray.from_limbs(np.zeros(3, np.uint64))
    with pytest.raises(ValueError, match="negative is bool"):
        IntArray.from_limbs(limbs, np.zeros(3, np.bool_))


@given(lists)
def test_lines(values: list[int]) -> None:
    array = IntArray(values)
    assert array.to_lines() == "".join(f"{x}\n" for x in values)
    assert array.to_lines(16) == "".join(f"{hex(x)}\n" for x in values)
    for base, lines in ((10, array.to_lines()), (16, array.to_lines(16)), (0, array.to_lines(16))):
        assert IntArray.from_lines(lines, base).to_ints() == values
    assert IntArray.from_lines(f"# numbers\n\n  {array.to_lines()} ".encode()).to_ints() == values


def test_long_lines() -> None:
    value = 7**20000
    text = IntArray([value, -value]).to_lines()
    assert len(text) > 30000
    assert IntArray.from_lines(text).to_ints() == [value, -value]


@pytest.mark.parametrize(
    ("lines", "base", "place"),
    [
        ("12\n1x3\n", 10, "line 2, column 2"),
        ("12\n\n  -\n", 10, "line 3, column 4"),
        ("0x12\n", 10, "line 1, column 2"),
        ("fg\n", 16, "line 1, column 2"),
        ("0x\n", 16, "line 1, column 3"),
        ("12 13\n", 10, "line 1, column 3"),
        ("1\n2\n1_000", 10, "line 3, column 2"),
        ("1.5", 10, "line 1, column 2"),
        ("--5", 10, "line 1, column 2"),
        ("5\xe9".encode("latin-1"), 10, "line 1, column 2"),
    ],
)
def test_a_bad_digit(lines: Any, base: int, place: str) -> None:
    with pytest.raises(ValueError, match=f"^{place}: "):
        IntArray.from_lines(lines, base)


# Lines that are numbers in some base, and some that are not quite.
pieces = st.sampled_from(
    ["", "0", "7", "12", "-", "+", "0x", "0X", "ff", "F", "g", " ", "\t", "\r", "\v", "#", "\n",
     "é", "\0", "_", "000", "9" * 5000, "a" * 33, "-0"]
)  # fmt: skip
plain_lines = st.lists(pieces, max_size=12).map("".join)


def parsed(lines: str | bytes, base: int) -> list[int] | str:
    try:
        return to_ints(text.parse(lines, base))
    except ValueError as error:
        return str(error)


@given(plain_lines, st.sampled_from([0, 10, 16]))
@example("12\n1x3\n", 10)
@example("0x12\n-0xfff\n+0", 0)
@example("-\n", 10)
@example("\ud800", 10)
def test_lines_without_the_compiled_kernels(lines: str, base: int) -> None:
    """Python's way has the same numbers, and refuses the same with the same words."""
    compiled = parsed(lines, base)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text, "_compiled", lambda: None)
        assert parsed(lines, base) == compiled


@given(lists)
def test_lists_without_the_compiled_kernels(values: list[int]) -> None:
    array = IntArray(values)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text, "_compiled", lambda: None)
        assert to_ints(text.numbers_of(values)) == text.ints_of(array.numbers()) == values
        for base in (10, 16):
            lines = array.to_lines(base)
            assert lines == "".join(f"{x if base == 10 else hex(x)}\n" for x in values)
            assert to_ints(text.parse(lines, base)) == values
        with pytest.raises(TypeError, match=r"index 1, not str"):
            text.numbers_of([1, "2"])
        long = 7**20000 if not values else 10 ** (4000 + len(values)) * max(values)
        assert to_ints(text.parse(text.format_lines(from_ints([long, -long]), 10), 10)) == [
            long, -long
        ]  # fmt: skip


@given(lists)
def test_a_sequence(values: list[int]) -> None:
    array = IntArray(values)
    assert len(array) == len(values)
    assert array.shape == (len(values),)
    assert list(array) == values
    assert array[1:-1].to_ints() == values[1:-1]
    assert array[::-2].to_ints() == values[::-2]
    assert IntArray.concatenate([array, array[:2], IntArray()]).to_ints() == [*values, *values[:2]]
    assert pickle.loads(pickle.dumps(array[::2])).to_ints() == values[::2]
    if values:
        assert array[-1] == values[-1]
        assert array[[0, -1, 0]].to_ints() == [values[0], values[-1], values[0]]
        assert array[np.array([], np.int64)].to_ints() == []
    for bad in (len(values), -len(values) - 1):
        with pytest.raises(IndexError, match=f"^index {bad} of an IntArray of {len(values)}$"):
            array[bad]
        with pytest.raises(IndexError, match=f"^index {bad} "):
            array[[bad]]
    with pytest.raises(IndexError, match="mask"):
        array[np.ones(len(values) + 1, np.bool_)]


def test_where() -> None:
    mask = np.array([True, False, True])
    assert IntArray.where(mask, [1, 2, 3], -(2**70)).to_ints() == [1, -(2**70), 3]
    with pytest.raises(ValueError, match="lengths"):
        IntArray.where(mask, [1, 2], 0)


def test_one_long_number_does_not_make_all_long() -> None:
    # Room for as long a one everywhere would be 50 GB.
    chosen = IntArray.where(np.arange(10**5) == 5, 1 << (1 << 22), IntArray([3] * 10**5))
    assert chosen.bit_length().sum() == 2 * (10**5 - 1) + (1 << 22) + 1
    assert IntArray([3] * 10**5).minimum(1 << (1 << 22)).sum() == 3 * 10**5


def test_repr() -> None:
    array = IntArray([1, -(2**80), 2**5000, 0, 5, 6, 7])
    assert repr(array) == f"IntArray([1, {hex(-(2**80))}, <5001 bits>, 0, 5, 6, ... 7 in all])"
    assert repr(IntArray()) == "IntArray([])"


def test_empty() -> None:
    empty = IntArray()
    assert (empty.sum(), empty.prod(), len(empty + 1)) == (0, 1, 0)
    assert len(empty // 0) == 0
    for call in (empty.min, empty.max):
        with pytest.raises(ValueError, match="empty"):
            call()


def test_more_than_memory() -> None:
    for call in (
        lambda: IntArray([1]) << 10**15,
        lambda: IntArray([3, 2]) ** [1, 10**15],
        lambda: IntArray([1]) << 10**40,
    ):
        with pytest.raises(MemoryError, match=r"needs about [\d,]+ bytes, [\d,]+ are available"):
            call()
    assert (IntArray([0]) << 10**15).to_ints() == [0]
    assert (IntArray([0, 1, -1]) ** (10**15 + 1)).to_ints() == [0, 1, -1]


class TestStorage:
    @given(lists)
    @settings(max_examples=examples(20))
    def test_round_trip(self, tmp_path_factory: pytest.TempPathFactory, values: list[int]) -> None:
        path = tmp_path_factory.mktemp("numbers") / "numbers.h5"
        IntArray(values).save(path)
        assert IntArray.load(path).to_ints() == values
        assert [p.name for p in path.parent.iterdir()] == ["numbers.h5"]

    def test_what_is_something_else(self, tmp_path: Path) -> None:
        h5py = pytest.importorskip("h5py")
        path = tmp_path / "numbers.h5"
        with pytest.raises(FileNotFoundError):
            IntArray.load(path)
        path.write_bytes(b"something else")
        with pytest.raises(ValueError, match=r"numbers\.h5: "):
            IntArray.load(path)
        with h5py.File(path, "w"):
            pass
        with pytest.raises(ValueError, match=r"numbers\.h5: no IntArray is stored in it"):
            IntArray.load(path)

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            *product(["limbs", "lengths"], [[], [2**62], [-1, 3], [[1, 2]], [1.5], "text", None]),
            *product(["negative"], [[], [1, 2], [[1, 2]], [1.5], "text"]),
        ],
    )
    def test_damage(self, tmp_path: Path, name: str, value: Any) -> None:
        h5py = pytest.importorskip("h5py")
        path = tmp_path / "numbers.h5"
        IntArray([2**100, -5, 0]).save(path)
        with h5py.File(path, "r+") as file:
            old = file[name].dtype
            del file[name]
            if value is not None:
                plain = isinstance(value, list) and 1.5 not in value
                file[name] = np.array(value, np.int64).astype(old) if plain else value
        with pytest.raises(ValueError, match=r"numbers\.h5: .") as info:
            IntArray.load(path)
        assert "\n" not in str(info.value)


class TestFunctions:
    """where= and out= as numpy users expect them."""

    def test_all_of_them(self) -> None:
        a, b = IntArray([5, -7, 2**80]), IntArray([3, 4, -9])
        mask = np.array([True, False, True])
        binary = {
            "add": operator.add,
            "subtract": operator.sub,
            "multiply": operator.mul,
            "floor_divide": operator.floordiv,
            "remainder": operator.mod,
            "gcd": math.gcd,
            "lcm": math.lcm,
            "minimum": min,
            "maximum": max,
        }
        for name, expected in binary.items():
            function = getattr(arith, name)
            values = [expected(x, y) for x, y in zip(a, b, strict=True)]
            assert function(a, b).to_ints() == values, name
            assert function(a, b, where=mask).to_ints() == [values[0], 0, values[2]], name
            assert function(6, b).to_ints() == [expected(6, y) for y in b], name
            assert function(6, 4).to_ints() == [expected(6, 4)], name
            out = IntArray([1, 2, 3])
            assert function(a, b, where=mask, out=out) is out
            assert out.to_ints() == [values[0], 2, values[2]], name
        assert arith.power(a, [1, 2, 3], where=[True, True, False]).to_ints() == [5, 49, 0]
        assert arith.left_shift(a, 3).to_ints() == [x << 3 for x in a]
        assert arith.right_shift(a, 3, where=~mask).to_ints() == [0, -1, 0]
        assert arith.negative(a, where=mask).to_ints() == [-5, 0, -(2**80)]
        assert arith.absolute(a).to_ints() == [5, 7, 2**80]
        assert arith.isqrt(a, where=mask).to_ints() == [2, 0, 2**40]
        assert arith.multiply_add(2, a, 1).to_ints() == [2 * x + 1 for x in a]
        assert arith.powmod(2, [5, 6, 7], 11).to_ints() == [2**5 % 11, 2**6 % 11, 2**7 % 11]
        quotient, remainder = arith.divmod(a, b, where=mask)
        assert quotient.to_ints() == [1, 0, 2**80 // -9]
        assert remainder.to_ints() == [2, 0, 2**80 % -9]
        outs = (IntArray([0, 1, 2]), IntArray([3, 4, 5]))
        assert arith.divmod(a, b, where=mask, out=outs)[1] is outs[1]
        assert outs[0].to_ints() == [1, 1, 2**80 // -9]

    @pytest.mark.parametrize("bits", [1, 63, 64, 65, 80, 128, 10**6])
    def test_results_modulo_powers_of_two(self, bits: int) -> None:
        values = [5, -7, 2**80, -(2**80), 2**64 - 1, 0]
        a, b = IntArray(values), IntArray(values[::-1])
        mask = np.arange(6) % 2 == 0
        for name in ("add", "subtract", "multiply"):
            function, exact = getattr(arith, name), getattr(operator, name[:3])
            expected = [exact(x, y) % 2**bits for x, y in zip(a, b, strict=True)]
            assert function(a, b, bits=bits).to_ints() == expected, name
            out = IntArray([-1] * 6)
            assert function(a, b, bits=np.int64(bits), where=mask, out=out) is out
            assert out.to_ints() == [e if m else -1 for e, m in zip(expected, mask, strict=True)]
            assert function(3, b, bits=bits).to_ints() == [exact(3, y) % 2**bits for y in b]
            assert function(a, b, bits=None).equals(function(a, b))

    def test_powers_of_two_that_are_none(self) -> None:
        for bits in (0, -5):
            with pytest.raises(ValueError, match=f"bits is at least 1, not {bits}"):
                arith.add(1, 2, bits=bits)
        with pytest.raises(TypeError):
            arith.add(1, 2, bits=2.5)  # type: ignore[arg-type]
        # Only what is negative has so many bits.
        assert arith.subtract([7, 2], [3, 2], bits=10**30).to_ints() == [4, 0]

    def test_only_where_it_is_computed_can_anything_fail(self) -> None:
        mask = np.array([True, False])
        assert arith.floor_divide([7, 8], [2, 0], where=mask).to_ints() == [3, 0]
        with pytest.raises(ZeroDivisionError, match="index"):
            arith.floor_divide([7, 8], [2, 0], where=~mask)
        nowhere = np.zeros(2, np.bool_)
        assert arith.floor_divide([7, 8], 0, where=nowhere).to_ints() == [0, 0]
        assert arith.add([7, 8], 1, where=False).to_ints() == [0, 0]

    def test_nothing_is_stored_by_halves(self) -> None:
        out = IntArray([1, 2])
        with pytest.raises(ZeroDivisionError):
            arith.floor_divide([7, 8], [2, 0], out=out)
        with pytest.raises(ValueError, match="out has length 2"):
            arith.add([1, 2, 3], 1, out=out)
        assert out.to_ints() == [1, 2]
        pair = (IntArray([1, 2]), IntArray([3]))
        with pytest.raises(ValueError, match="out has length 1"):
            arith.divmod([7, 8], 3, out=pair)
        assert pair[0].to_ints() == [1, 2]

    def test_bad_masks(self) -> None:
        with pytest.raises(TypeError, match="mask of bool"):
            arith.add([1, 2], 1, where=[1, 0])
        with pytest.raises(ValueError, match="mask"):
            arith.add([1, 2], 1, where=[True])


def test_numpy_scalars_and_their_indices() -> None:
    a = IntArray([2**70, -1, 5])
    assert (a + np.bool_(True)).to_ints() == [2**70 + 1, 0, 6]
    assert (np.uint64(2**64 - 1) - a)[2] == 2**64 - 6
    assert (np.array(2) * a)[1] == -2
    assert a[np.array(1)] == -1
    with pytest.raises(ValueError, match="a masked number has no value"):
        IntArray(np.ma.array([1, 2], mask=[False, True]))


def test_what_is_no_array() -> None:
    a = IntArray([1])
    with pytest.raises(TypeError, match=r"^an IntArray is wanted at index 1, not list$"):
        IntArray.concatenate([a, [1]])  # type: ignore[list-item]
    with pytest.raises(TypeError, match=r"^limbs are a numpy array, not list$"):
        IntArray.from_limbs([[1]])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^text or bytes are wanted, not int$"):
        IntArray.from_lines(10**9)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^line 1, column 1: .* is no digit$"):
        IntArray.from_lines("\ud800")


def test_an_index_is_that_of_the_whole_array_where_only_a_part_is_computed() -> None:
    mask = np.array([False, True, True])
    for operation in (arith.floor_divide, arith.remainder, arith.divmod):
        with pytest.raises(ZeroDivisionError, match=r"^division by zero at index 2$"):
            operation([1, 1, 1], [0, 1, 0], where=mask)
    with pytest.raises(ValueError, match=r"^the number at index 1 is negative$"):
        arith.isqrt([-1, -1, 4], where=mask)


def test_what_out_may_be() -> None:
    a = IntArray([5, 6])
    for wrong in ([1, 2], np.zeros(2, np.int64), (a,)):
        with pytest.raises(TypeError, match="out is an IntArray, not "):
            arith.add(a, 1, out=wrong)  # type: ignore[arg-type]
    for pair in (a, (a,), (a, None, None)):
        with pytest.raises(TypeError, match="out is a pair of IntArrays"):
            arith.divmod(a, 2, out=pair)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="in the same IntArray"):
        arith.divmod(a, 2, out=(a, a))
    with pytest.raises(ValueError, match=r"^a mask \(2,\) for arrays of length 1$"):
        arith.add(1, 2, where=np.array([True, False]))
    assert a.to_ints() == [5, 6]
    assert arith.add(np.array(1), a).to_ints() == [6, 7]
    assert arith.add(a, a, where=np.array([False, True]), out=a) is a
    assert a.to_ints() == [5, 12]


def test_one_long_number_among_many_is_not_taken_for_many() -> None:
    values = [1 << (1 << 20), *[3] * 300_000]  # as long as the first, they had 39 GB
    a = IntArray(values)
    assert (a * 2).sum() == 2 * (values[0] + 900_000)
    assert (a.lcm(3) == [3 * values[0], *values[1:]]).all()
    assert a.max() == values[0]
    counts = IntArray([1 << (1 << 20), *[1] * 300_000])
    assert (IntArray([0, *[3] * 300_000]) << counts).sum() == 6 * 300_000
    with pytest.raises(OverflowError, match="at index 0 leaves int64"):
        a.to_numpy()
    assert next(iter(a)) == values[0]


def test_room_that_is_not_there_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arith.memory, "available_memory", lambda: 1 << 29)
    a = IntArray([1 << (1 << 20), *[3] * 300_000])
    for refused in (
        a.limbs,
        lambda: a.to_bytes(1 << 18),
        lambda: IntArray([1]).to_bytes(1 << 33),
        lambda: IntArray([1])[np.zeros(10**6, np.int64)].lcm(1 << (1 << 20)),
        lambda: a[np.zeros(10**4, np.int64)].multiply_add(1 << (1 << 20), 1),
        lambda: arith.multiply_add(1, 1, a[np.zeros(10**4, np.int64)]),
        lambda: arith.add(a, -9, bits=1 << 42),
        lambda: Pool().submit("multiply", a[np.zeros(10**4, np.int64)], 1 << (1 << 20)),
        lambda: a[np.zeros(10**4, np.int64)].to_ints(),
        lambda: pickle.dumps(a[np.zeros(10**4, np.int64)]),
    ):
        with pytest.raises(
            NotEnoughMemoryError, match=r"needs about [\d,]+ bytes, 536,870,912 are"
        ) as caught:
            refused()
        assert caught.value.needed > caught.value.available == 1 << 29


@given(st.lists(st.one_of(numbers, st.integers(0, 3)), min_size=1, max_size=8), st.integers(1, 60))
def test_the_least_and_the_greatest_of_many(values: list[int], times: int) -> None:
    a = IntArray(values * times)
    assert (a.min(), a.max()) == (min(values), max(values))
    longest = max(abs(x).bit_length() for x in values)
    close = [(-1 if i % 2 else 1) * ((1 << longest + 90) + x) for i, x in enumerate(values)] * times
    for each in (IntArray(close), -IntArray(close), IntArray(close)[::-1]):
        assert (each.min(), each.max()) == (min(each.to_ints()), max(each.to_ints()))


def test_what_limbs_returns_cannot_change_the_numbers() -> None:
    limbs, negative = IntArray([-5, 3]).limbs()
    assert negative is not None
    assert not limbs.flags.writeable
    assert not negative.flags.writeable


def test_a_file_that_is_damaged_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    IntArray([2**100, -7, 0]).save(path)

    def load_with(change: Callable[[Any], None]) -> str:
        IntArray([2**100, -7, 0]).save(path)
        with h5py.File(path, "r+") as file:
            change(file)
        with pytest.raises(ValueError, match=f"^{re.escape(str(path))}: ") as caught:
            IntArray.load(path)
        return str(caught.value)

    def flip(file: Any) -> None:
        file["limbs"][1] ^= np.uint64(8)

    def sign(file: Any) -> None:
        file["negative"][0] = 3

    def enormous(file: Any) -> None:
        del file["limbs"]
        file.create_dataset("limbs", shape=(1 << 50,), dtype="<u8", chunks=(1024,))

    def lengths(file: Any) -> None:
        file["lengths"][:] = [4, -1, 0]

    def heap(file: Any) -> None:
        file.attrs["type"] = "IntArray"  # of variable length: nothing that save() writes

    assert "no IntArray" in load_with(heap)
    assert "damaged" in load_with(flip)
    assert "damaged" in load_with(sign)
    assert "do not add up" in load_with(enormous)
    assert "do not add up" in load_with(lengths)
    for values in ([], [0], [5]):
        IntArray(values).save(path)
        assert IntArray.load(path).to_ints() == values


def test_nothing_is_put_in_the_place_of_what_is_no_file(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for place in (pipe, tmp_path):
        with pytest.raises(OSError, match="this is no regular file"):
            IntArray([1]).save(place)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert [each.name for each in tmp_path.iterdir()] == ["pipe"]
