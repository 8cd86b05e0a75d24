"""Python's integers and lines of digits, to and from packed words on the CPU."""

from __future__ import annotations

import sys
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.bignum.cpu.engine import (
    format_lines,
    ints_to_numbers,
    numbers_to_ints,
    parse_lines,
)
from kernels.bignum.numbers import Numbers, from_ints, to_ints
from kernels.targets import cpu
from tests.bignum_batches import LAYOUTS, assert_numbers, hurtful, lay_out

_cpu: Any = cpu._cpu
built = pytest.mark.skipif(not cpu.levels(), reason="the CPU kernels are not built")


# --- Python's integers -------------------------------------------------------


@built
@given(st.lists(hurtful(9), max_size=30), st.sampled_from(LAYOUTS), st.integers(0, 99))
def test_integers_there_and_back(values: list[int], layout: str, seed: int) -> None:
    numbers = ints_to_numbers(values)
    assert_numbers(numbers, values)
    assert (numbers.negative is not None) == (min(values, default=0) < 0)
    assert numbers_to_ints(numbers) == values
    assert numbers_to_ints(lay_out(values, layout, seed)) == values


@built
def test_integers_of_every_length() -> None:
    for bits in range(400):
        values = [s * (2**bits + d) for s in (1, -1) for d in (-1, 0, 1)]
        numbers = ints_to_numbers(values)
        assert to_ints(numbers) == values
        found = numbers_to_ints(numbers)
        assert found == values
        # As Python makes them, down to the digits.
        assert [hash(v) for v in found] == [hash(v) for v in values]
        assert [v.bit_length() for v in found] == [v.bit_length() for v in values]
        assert [v + 1 for v in found] == [v + 1 for v in values]


@built
def test_sequences_of_every_kind() -> None:
    """Lists and tuples of ints are read where they lie; all else becomes a list first."""
    values = [3**i for i in range(300)]
    mixed = [np.int8(-3), True, 2**90]
    for kind in (list, tuple, iter):
        assert_numbers(ints_to_numbers(kind(values)), values)
        assert_numbers(ints_to_numbers(kind(mixed)), [-3, 1, 2**90])
    with pytest.raises(TypeError, match="a list or tuple is wanted"):
        _cpu.bignum_from_ints({1, 2})


@built
def test_a_list_that_changes_while_it_is_read() -> None:
    """__index__ empties it: the numbers that it had are read."""

    class Emptying:
        def __index__(self) -> int:
            values.clear()
            return 7

    values: list[Any] = [2**100, 5, Emptying(), *([3**300] * 50)]
    assert_numbers(ints_to_numbers(values), [2**100, 5, 7, *([3**300] * 50)])
    assert not values


@built
def test_digits_are_read_where_they_lie() -> None:
    """A build for the stable ABI knows of versions of Python up to 3.14 where digits lie."""
    assert _cpu.DIGITS_ARE_KNOWN or sys.version_info >= (3, 15)


@built
@given(st.lists(hurtful(9), max_size=30), st.sampled_from(LAYOUTS), st.integers(0, 99))
def test_integers_there_and_back_by_bytes(values: list[int], layout: str, seed: int) -> None:
    """The way of a Python whose digits lie where no build knows."""
    numbers = Numbers(*_cpu.bignum_from_ints(values, by_bytes=True))
    assert_numbers(numbers, values)
    assert _cpu.bignum_to_ints(numbers, by_bytes=True) == values
    assert _cpu.bignum_to_ints(lay_out(values, layout, seed), by_bytes=True) == values


@built
@pytest.mark.parametrize("text", ["1\u00e4", "\u0663", "\ud800", 12])
def test_only_ascii_is_text(text: Any) -> None:
    with pytest.raises(TypeError, match="text is bytes, or a str of ASCII"):
        parse_lines(text, 10)


@built
def test_what_stands_for_an_integer() -> None:
    class Five:
        def __index__(self) -> int:
            return 5

    values = [True, False, np.int8(-3), np.uint64(2**64 - 1), Five(), 2**70]
    expected = [1, 0, -3, 2**64 - 1, 5, 2**70]
    assert numbers_to_ints(ints_to_numbers(values)) == expected
    assert numbers_to_ints(ints_to_numbers(tuple(values))) == expected
    assert numbers_to_ints(ints_to_numbers(np.array(values, object))) == expected
    assert numbers_to_ints(ints_to_numbers([])) == []


@built
@pytest.mark.parametrize("bad", [1.0, float("nan"), "1", None, Fraction(1), np.float32(2), b"1"])
def test_what_is_no_integer(bad: object) -> None:
    name = type(bad).__name__
    with pytest.raises(TypeError, match=f"integer is wanted at index 2, not .*{name}"):
        ints_to_numbers([1, 2, bad, bad])


@built
def test_errors_of_index_go_through() -> None:
    class Bad:
        def __index__(self) -> int:
            raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        ints_to_numbers([1, Bad()])


@built
@given(st.lists(st.integers(0, 40), max_size=60))
def test_padding_wastes_a_third_at_most(lengths: list[int]) -> None:
    numbers = ints_to_numbers([2 ** (64 * n) - 1 for n in lengths])
    total, longest = sum(lengths), max(lengths, default=0)
    assert numbers.dense == (len(lengths) * longest <= 1.5 * total)
    assert len(numbers.words) <= 1.5 * total


# --- lines of digits ---------------------------------------------------------


@built
@settings(deadline=None)
@given(st.lists(hurtful(12), max_size=20), st.sampled_from((10, 16)), st.sampled_from(LAYOUTS))
def test_lines_there_and_back(values: list[int], base: int, layout: str) -> None:
    text = format_lines(lay_out(values, layout, 1), base)
    assert text == "".join(f"{v if base == 10 else hex(v)}\n" for v in values)
    assert_numbers(parse_lines(text, base), values)
    assert_numbers(parse_lines(text.encode(), 0), values)


@built
@settings(deadline=None)
@given(
    st.lists(st.tuples(hurtful(5), st.integers(0, 40), st.sampled_from(("", "+"))), max_size=20),
    st.sampled_from((10, 16, 0)),
    st.sampled_from(("\n", "\r\n", "\n\n", " \t\n# no 1 nor f\n  # 2\n")),
)
def test_what_lines_may_look_like(
    rows: list[tuple[int, int, str]], base: int, between: str
) -> None:
    lines = []
    for value, zeros, plus in rows:
        sign = "-" if value < 0 else plus
        digits = str(abs(value)) if base != 16 else f"{abs(value):x}"
        if zeros % 3 == 0 and base == 16:
            digits = digits.upper()
        prefix = ""
        if base != 10 and zeros % 2:
            prefix, digits = "0X" if zeros % 4 == 1 else "0x", f"{abs(value):x}"
        lines.append(" " * (zeros % 5) + sign + prefix + "0" * zeros + digits + "\t" * (zeros % 2))
    for text in (between.join(lines), between.join(lines) + between):
        assert_numbers(parse_lines(text.encode(), base), [value for value, _, _ in rows], text)


@built
@pytest.mark.parametrize(
    ("text", "base", "line", "column", "what"),
    [
        ("12x4", 10, 1, 3, "'x' is no digit"),
        ("1\n\n# c\n  -12,5\n", 10, 4, 6, "',' is no digit"),
        ("1\n-\n2", 10, 2, 2, "a digit is missing"),
        ("1\n  +  \n2", 10, 2, 4, "a digit is missing"),
        ("0x", 16, 1, 3, "a digit is missing"),
        ("0x12", 10, 1, 2, "'x' is no digit"),
        ("12f", 0, 1, 3, "'f' is no digit"),
        ("12g", 16, 1, 3, "'g' is no digit"),
        ("1_000", 10, 1, 2, "'_' is no digit"),
        ("1 2", 10, 1, 2, "' ' is no digit"),
        ("--1", 10, 1, 2, "'-' is no digit"),
        ("1.5", 10, 1, 2, "'.' is no digit"),
        ("1e5", 10, 1, 2, "'e' is no digit"),
        ("nan", 10, 1, 1, "'n' is no digit"),
        ("12ä", 10, 1, 3, "'ä' is no digit"),
        ("٣", 10, 1, 1, "'٣' is no digit"),
        ("1\n2\0\n", 10, 2, 2, r"'\\x00' is no digit"),
    ],
)
def test_bad_digits(text: str, base: int, line: int, column: int, what: str) -> None:
    with pytest.raises(ValueError, match=rf"^line {line}, column {column}: {what}$"):
        parse_lines(text.encode(), base)


@built
def test_bytes_that_are_no_text() -> None:
    with pytest.raises(ValueError, match=r"^line 2, column 2: .* is no digit$"):
        parse_lines(b"1\n2\xff3\n", 10)
    with pytest.raises(ValueError, match="line 2, column 2: 'x' is no digit"):
        parse_lines("1\n2x3\n", 10)
    with pytest.raises(TypeError, match="a str of ASCII"):
        parse_lines("1\n2ÿ3\n", 10)


@built
def test_many_digits() -> None:
    """More than int() takes, in far less time than a quadratic way would need."""
    digits = "7" * 1_000_000
    [value] = numbers_to_ints(parse_lines(digits.encode(), 10))
    assert value == 7 * (10**1_000_000 - 1) // 9
    assert format_lines(from_ints([-value]), 10) == f"-{digits}\n"
    assert format_lines(from_ints([value, 0]), 16) == f"{value:#x}\n0x0\n"
