"""What is refused, with which words: branches that no other test comes to."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from arith import IntArray, RationalArray, convert, engines
from kernels.bignum.numbers import to_ints

X = IntArray([1, -2, 3])
WORDS, LENGTHS = np.ones(3, np.uint64), np.array([2, 1])
REFUSALS: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "float dtype": (lambda: X.to_numpy(np.float64), TypeError, "an integer dtype is wanted"),
    "odd bytes": (lambda: IntArray.from_bytes(b"123", 2), ValueError, "3 bytes are no multiple"),
    "no width": (lambda: IntArray.from_bytes(b"", 0), ValueError, "0"),
    "to no width": (lambda: X.to_bytes(0), ValueError, "at least 1 byte, not 0"),
    "order": (lambda: IntArray.from_bytes(b"12", 2, "middle"), ValueError, "not 'middle'"),
    "to order": (lambda: X.to_bytes(2, "middle"), ValueError, "not 'middle'"),
    "dimensions": (
        lambda: convert.ragged(WORDS[None], LENGTHS, None), ValueError, "have one dimension",
    ),
    "signs": (
        lambda: convert.ragged(WORDS, LENGTHS, np.ones(3, bool)), ValueError, "signs are bool",
    ),
    "place": (lambda: X.to("moon"), ValueError, "unknown place 'moon'"),
    "mask": (lambda: IntArray.where([1, 0, 1], X, X), ValueError, "the mask is bool"),
    "shift": (lambda: X << X, ValueError, "negative shift count at index 1"),
    "operand": (lambda: X.gcd(1.5), TypeError, "integers are wanted, not float"),
    "rational operand": (
        lambda: RationalArray.where(np.array([True]), RationalArray([1]), "1"),
        TypeError, "rationals are wanted, not str",
    ),
    "base": (lambda: IntArray.from_lines("1", 7), ValueError, "base is one of 0, 10, 16, not 7"),
    "text": (lambda: IntArray.from_lines(5), TypeError, "text or bytes are wanted, not int"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSALS)
def test_refusals(case: str) -> None:
    call, kind, text = REFUSALS[case]
    with pytest.raises(kind, match=text):
        call()


@pytest.mark.parametrize("operation", ["__lshift__", "__rlshift__", "__rdivmod__", "__rsub__"])
def test_operators_leave_what_they_do_not_know_to_the_other(operation: str) -> None:
    assert getattr(X, operation)(object()) is NotImplemented


def test_numpy_scalars_are_rationals() -> None:
    one = RationalArray([Fraction(1, 2)])
    for value in (np.array(3), np.bool_(True), np.int8(-3)):
        assert list(one + value) == [Fraction(1, 2) + int(value)]


def test_the_reference_stands_in_for_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    from kernels.bignum.cpu import engine as cpu

    monkeypatch.setattr(cpu, "_cpu", None)
    engines.host.cache_clear()
    try:
        assert engines.host().name == "reference"
        numbers = IntArray([2**70, -3])
        assert (numbers * numbers).to_ints() == [2**140, 9]
        assert IntArray.from_lines(numbers.to_lines()).equals(numbers)
    finally:
        engines.host.cache_clear()


def test_many_numbers_whose_topmost_words_are_zero() -> None:
    """Results have room for their bounds, so that their topmost words may be zero."""
    source = random.Random(1)
    lengths = np.array([source.randrange(6) for _ in range(500)])
    words = np.array(
        [source.choice((0, 0, 0, source.getrandbits(64))) for _ in range(lengths.sum())], np.uint64
    )
    numbers = convert.ragged(words, lengths, None)
    low, large = convert.lowest_words(numbers)
    values = to_ints(numbers)
    assert low.tolist() == [value % 2**64 for value in values]
    assert large.tolist() == [value >= 2**64 for value in values]
    assert 0 < large.sum() < 400
