"""RedundantInt against Python's int, on every backend."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arith import redundant
from arith.integer import IntArray
from arith.redundant import RedundantInt
from kernels.redundant import WORDS, Format
from kernels.redundant.cuda.engine import DeviceRedundant
from kernels.targets import cpu
from tests.emulation import EmulatedDevice
from tests.quick import examples

BACKENDS = ["reference", "emulated", *(["cpu"] if cpu.levels() else [])]


@cache
def backend(name: str, word: int) -> redundant.Backend:
    if name == "emulated":
        return DeviceRedundant(Format(word), EmulatedDevice(), threads=32, tile=8)
    return name


ON_A_GPU = [pytest.param(("cuda", word), marks=pytest.mark.gpu) for word in WORDS]


@pytest.fixture(
    scope="module", params=[*((b, w) for b in BACKENDS for w in WORDS), *ON_A_GPU], ids=str
)
def where(request: pytest.FixtureRequest) -> dict[str, Any]:
    name, word = request.param
    return {"word": word, "backend": backend(name, word)}


magnitudes = st.one_of(
    st.integers(0, 2**900),
    st.integers(0, 900).map(lambda k: (1 << k) - 1),
    st.integers(0, 900).map(lambda k: 1 << k),
    st.integers(0, 900).map(lambda k: (1 << k) + 1),
    # Digits of every base at half of it, where carries begin.
    st.sampled_from(
        [(1 << log * n - 1) // ((1 << log) - 1) for log in (14, 30, 62) for n in (9, 32)]
    ),
)
integers = st.builds(lambda sign, size: sign * size, st.sampled_from([1, -1]), magnitudes)


def check(number: RedundantInt, expected: int) -> None:
    Format(number.word).check_digits(number.digits)
    assert number.to_int() == expected


@settings(max_examples=examples(40))
@given(start=integers, steps=st.lists(st.tuples(st.sampled_from("+-ndsr"), integers), max_size=12))
def test_any_steps(where: dict[str, Any], start: int, steps: list[tuple[str, int]]) -> None:
    number, expected = RedundantInt(start, **where), start
    check(number, expected)
    for step, value in steps:
        before = number
        if step == "+":
            number += value
            assert number is before
            expected += value
        elif step == "-":
            number -= RedundantInt(value, **where)
            assert number is before
            expected -= value
        elif step == "n":
            number, expected = -number, -expected
        elif step == "d":
            number += number
            expected *= 2
        elif step == "s":
            number, expected = number - value, expected - value
        else:
            number, expected = value - number, value - expected
    check(number, expected)
    assert number == expected
    assert int(number) == expected


@settings(max_examples=examples(30))
@given(values=st.lists(integers, max_size=9))
def test_sum(where: dict[str, Any], values: list[int]) -> None:
    check(RedundantInt.sum(values, **where), sum(values))
    check(RedundantInt.sum(IntArray(values), **where), sum(values))
    check(RedundantInt.sum(iter(values * 2), **where), 2 * sum(values))


def test_sum_in_parts(where: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """No more numbers at once than carries have room for, and no more bytes than agreed."""
    values = [3**k * (-1) ** k for k in range(60)]
    monkeypatch.setattr(redundant, "_BATCH", 64)
    check(RedundantInt.sum(values, **where), sum(values))
    sizes = [len(batch) for batch in redundant._batches(iter([2**63] * 20), 8192)]
    assert sizes == [8, 8, 4]
    sizes = [len(batch) for batch in redundant._batches(iter([1] * 20), 7)]
    assert sizes == [7, 7, 6]
    # A long one that comes late is not padded for by all before it.
    sizes = [len(b) for b in redundant._batches(iter([1, 1, 1, 2**400, 1]), 8192)]
    assert sizes == [3, 1, 1]


def test_operators_leave_their_operands(where: dict[str, Any]) -> None:
    a, b = RedundantInt(10**50, **where), RedundantInt(-7, **where)
    assert a + b == b + a == 10**50 - 7
    assert a - b == -(b - a) == 10**50 + 7
    assert 1 + a == a + 1 == 10**50 + 1
    assert 1 - a == 1 - 10**50
    assert np.int64(5) - b == 12
    assert (a, b) == (10**50, -7)
    copy = a.copy()
    a += b
    a += b
    a -= 1
    assert (copy, a) == (10**50, 10**50 - 15)
    assert copy != a
    assert a != "a"
    assert repr(a).startswith("<RedundantInt of ")


def test_length_grows_by_the_logarithm(where: dict[str, Any]) -> None:
    format = Format(where["word"])
    # The longest for the digits that it takes.
    bits = format.log * 32 - 3
    value = (1 << bits) - 1
    number, step = RedundantInt(value, **where), RedundantInt(value, **where)
    assert number.digits.size == 32
    for _ in range(200):
        number += step
    assert number.digits.size == 64
    check(number, 201 * value)
    for _ in range(200):
        number -= step
    check(number, value)


def test_digits_go_out_and_in(where: dict[str, Any]) -> None:
    format = Format(where["word"])
    number = RedundantInt(-(5**300), **where)
    number += number
    again = RedundantInt.from_digits(number.digits, backend=where["backend"])
    assert again == number
    full = np.full(32, format.limit, format.dtype)
    most = RedundantInt.from_digits(full, backend=where["backend"])
    value = format.limit * sum(1 << format.log * i for i in range(32))
    check(most + most, 2 * value)
    check(-most, -value)
    full[3] += 1
    with pytest.raises(ValueError, match="digit 3"):
        RedundantInt.from_digits(full, backend=where["backend"])


def test_backends_mix_and_words_do_not() -> None:
    for word in WORDS:
        a = RedundantInt(2**200, word=word, backend="reference")
        b = RedundantInt(1, word=word, backend=backend("emulated", word))
        a -= b
        check(a, 2**200 - 1)
        assert a.backend == "reference"
        assert (b + a).backend == "cuda"
        check(b + a, 2**200)
    with pytest.raises(ValueError, match="16 and of 32"):
        RedundantInt(1, word=16) + RedundantInt(1, word=32)
    with pytest.raises(ValueError, match="words of 16 bits, not 64"):
        RedundantInt(1, word=64, backend=backend("emulated", 16))


def test_refuses_what_is_no_integer() -> None:
    for bad in (1.5, "7", None, [1]):
        with pytest.raises(TypeError):
            RedundantInt(bad)  # type: ignore[arg-type]
        with pytest.raises(TypeError):
            RedundantInt(1) + bad
        with pytest.raises(TypeError):
            bad - RedundantInt(1)  # type: ignore[operator]
        with pytest.raises(TypeError, match="value 1"):
            RedundantInt.sum([1, bad])  # type: ignore[list-item]
    number = RedundantInt(1)
    with pytest.raises(TypeError):
        number += 0.5
    assert number == 1
    with pytest.raises(TypeError):
        hash(number)
    with pytest.raises(ValueError, match="16, 32 or 64"):
        RedundantInt(1, word=8)
    with pytest.raises(ValueError, match="16, 32 or 64"):
        RedundantInt.sum([], word=8)
    with pytest.raises(ValueError, match="unknown backend"):
        RedundantInt(1, backend="tpu")
    with pytest.raises(ValueError, match="signed words"):
        RedundantInt.from_digits(np.zeros(32, np.uint32))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="16, 32 or 64"):
        RedundantInt.from_digits(np.zeros(32, np.int8))


def test_auto_takes_what_there_is() -> None:
    assert RedundantInt(1).backend == ("cpu" if cpu.levels() else "reference")
    assert RedundantInt.sum([]) == 0


def test_no_more_memory_than_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    number = RedundantInt(1 << 2000, word=16)
    monkeypatch.setattr(redundant, "_SMALL", 100)
    monkeypatch.setattr(redundant, "available_memory", lambda: 300)
    with pytest.raises(MemoryError, match="the digits need 320 bytes, 300 are available"):
        number + 1
    with pytest.raises(MemoryError):
        RedundantInt(1 << 2000, word=16)
    monkeypatch.undo()
    assert number == 1 << 2000


@pytest.mark.parametrize("word", WORDS)
def test_long_numbers_are_made_in_parts(word: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work that takes long is done in parts, so that Ctrl-C comes through; it does not show."""
    if not cpu.levels():
        pytest.skip("the extension is not built")
    monkeypatch.setattr(redundant, "_IN_PLACE", 0)
    rng = np.random.default_rng(word)
    for sign in (1, -1):
        # More than Python makes, or numpy negates, at once.
        value = sign * int.from_bytes(rng.bytes(9_000_003), "little")
        number = RedundantInt(value, word=word, backend="cpu")
        third = value // 3
        other = RedundantInt(third, word=word, backend="cpu")
        held = number
        for _ in range(3):
            number += other
            value += third
        assert number is held
        assert int(number) == value
        assert int(-number) == -value
        assert int(number.copy()) == value
