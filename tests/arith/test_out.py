"""`out=` changes the one array it names, whatever shares memory with that, and copies stay."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import arith
from arith import (
    Finding,
    IntArray,
    Kind,
    Pool,
    RationalArray,
    RedundantInt,
    StoredModuli,
    rational,
    save_moduli,
)
from kernels.bignum.cuda.engine import DeviceArithmetic
from kernels.redundant import Format
from kernels.redundant.cuda.engine import DeviceRedundant
from tests.emulation import EmulatedDevice
from tests.quick import examples
from tests.strategies import integers_that_hurt

VALUES = [5, -7, 2**200, 0, 3]
MASK = np.array([True, False, True, False, True])

# What shares memory with an array of integers or rationals, or is it, but is another object.
RELATED: dict[str, Callable[[Any], Any]] = {
    "plus": lambda x: +x,
    "copy": copy.copy,
    "deep copy": copy.deepcopy,
    "constructor": lambda x: type(x)(x),
    "all": lambda x: x[:],
    "ellipsis": lambda x: x[...],
    "part": lambda x: x[1:4],
    "backwards": lambda x: x[::-1],
    "masked": lambda x: x[MASK],
    "gathered": lambda x: x[[0, 0, 2]],
    "on the host": lambda x: x.on_host(),
    "host": lambda x: x.to("host"),
    "concatenated": lambda x: type(x).concatenate([x]),
    "where": lambda x: type(x).where(np.ones(len(x), np.bool_), x, x),
    "negated": lambda x: -x,
    "pickled": lambda x: pickle.loads(pickle.dumps(x)),
}


@pytest.fixture(params=["host", "device"])
def place(request: pytest.FixtureRequest) -> Callable[[Any], Any]:
    if request.param == "host":
        return lambda array: array
    engine = DeviceArithmetic(EmulatedDevice())

    def put(array: Any) -> Any:
        if isinstance(array, IntArray):
            return IntArray._of(engine, engine.put(array.numbers()))
        return RationalArray._of(put(array.numerator), put(array.denominator), array.reduced)

    return put


@pytest.mark.sample(9)
@pytest.mark.parametrize("how", RELATED)
@pytest.mark.parametrize("kind", [IntArray, RationalArray])
def test_only_the_named_array_changes(kind: Any, how: str, place: Callable[[Any], Any]) -> None:
    add = arith.add if kind is IntArray else rational.add
    for changes_first in (True, False):
        for where in (True, MASK):
            array = place(kind(VALUES))
            other = RELATED[how](array)
            assert other is not array
            ours, theirs = list(array), list(other)
            target, kept, values = (array, other, theirs) if changes_first else (other, array, ours)
            mask = True if where is True else MASK[: len(target)]
            expected = [
                x + 10 if mask is True or mask[i] else x for i, x in enumerate(list(target))
            ]
            assert add(target, 10, where=mask, out=target) is target
            assert list(target) == expected
            assert list(kept) == values


def test_a_device_that_is_asked_for_again_gives_another_array(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    engine = DeviceArithmetic(EmulatedDevice())
    monkeypatch.setattr("arith.engines.named", lambda place: engine)
    array = IntArray([1, 2]).on_device()
    other = array.on_device()
    arith.add(array, 1, out=array)
    assert (array.to_ints(), other.to_ints()) == ([2, 3], [1, 2])


def test_limbs_that_were_given_are_not_written_to() -> None:
    limbs = np.array([[1], [2]], np.uint64)
    array = IntArray.from_limbs(limbs)
    views = array.limbs()[0]
    arith.multiply(array, 5, out=array)
    assert (limbs.tolist(), views.tolist(), array.to_ints()) == ([[1], [2]], [[1], [2]], [5, 10])


def test_results_of_a_pool_stay_what_they_are() -> None:
    pool = Pool()
    operand = IntArray([1, 2])
    results = pool.submit("add", operand, 1)
    arith.add(operand, 10, out=operand)
    pool.run()
    first = results.get()
    arith.add(first, 10, out=first)
    assert (first.to_ints(), results.get().to_ints()) == ([12, 13], [2, 3])


def test_pairs_that_are_none() -> None:
    array = RationalArray([1, 2])
    for wrong in (array, (IntArray([1, 2]),), [IntArray([1, 2]), array]):
        with pytest.raises(TypeError, match="out is a pair of an IntArray and a RationalArray"):
            rational.divmod(array, 2, out=wrong)  # type: ignore[arg-type]
    assert list(array) == [1, 2]


# --- no negative number among those that are left -----------------------------------


@given(st.lists(integers_that_hurt(200), min_size=1, max_size=6), st.data())
@settings(max_examples=examples(60))
def test_parts_without_negative_numbers_go_out_as_such(values: list[int], data: Any) -> None:
    index = data.draw(
        st.one_of(
            st.slices(len(values)),
            st.lists(st.integers(0, len(values) - 1), max_size=4),
            st.lists(st.booleans(), min_size=len(values), max_size=len(values)),
        )
    )
    for made in (IntArray(values), IntArray(values) * 1, -IntArray([-x for x in values])):
        part = made[index]
        limbs, negative = part.limbs()
        chosen = part.to_ints()
        assert (negative is None) == all(x >= 0 for x in chosen)
        assert IntArray.from_limbs(limbs, negative).to_ints() == chosen
        if negative is None:
            expected = b"".join(x.to_bytes(40, "little") for x in chosen)
            assert part.to_bytes(40) == expected


def test_bytes_of_a_slice_beside_negative_numbers() -> None:
    array = IntArray([-5, 7])
    assert array[1:].to_bytes(8) == (7).to_bytes(8, "little")
    assert array[1:].limbs()[1] is None
    assert array[[1]].limbs()[1] is None


@given(st.lists(st.tuples(integers_that_hurt(90), integers_that_hurt(90)), max_size=5))
@settings(max_examples=examples(40))
def test_results_without_negative_numbers_go_out_as_such(pairs: list[tuple[int, int]]) -> None:
    a, b = IntArray([a for a, _ in pairs]), IntArray([b or 1 for _, b in pairs])
    for result in (a + b, a - b, a * b, a // b, a % b, -a, abs(a), a >> 3, a.maximum(b), a**2,
                   *divmod(a, b), a.gcd(b), a.multiply_add(b, a), a.powmod(abs(b), b)):  # fmt: skip
        assert (result.limbs()[1] is None) == all(x >= 0 for x in result)


# --- copies and pickles of every public class ----------------------------------------

WAYS: dict[str, Callable[[Any], Any]] = {
    "copy": copy.copy,
    "deep copy": copy.deepcopy,
    **{
        f"pickle {protocol}": lambda x, protocol=protocol: pickle.loads(pickle.dumps(x, protocol))
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1)
    },
}


@pytest.mark.sample(44)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("word", [16, 32, 64])
@pytest.mark.parametrize("backend", ["cpu", "reference", "emulated"])
def test_copies_of_one_long_integer(way: str, word: int, backend: str) -> None:
    where: Any = backend
    if backend == "emulated":
        where = DeviceRedundant(Format(word), EmulatedDevice(), threads=32, tile=8)
    number = RedundantInt(2**300 - 1, word=word, backend=where)
    for _ in range(3):
        number += 2**299
    value = number.to_int()
    other = WAYS[way](number)
    assert (other.word, other.to_int()) == (word, value)
    assert other.digits.size == number.digits.size
    if not way.startswith("pickle"):
        assert other.backend == number.backend
    for _ in range(5):  # so often that one that cannot change in place has changed places
        number += 1
    assert other.to_int() == value
    for _ in range(5):
        other -= 1
    assert (number.to_int(), other.to_int()) == (value + 5, value - 5)
    grown, expected = other, value - 5
    for _ in range(40):  # the bound of its size went with it
        grown, expected = grown + grown, 2 * expected
    assert grown == expected


@pytest.mark.parametrize("way", WAYS)
def test_copies_of_all_else(way: str, tmp_path: Path) -> None:
    again = WAYS[way]
    for array in (
        IntArray(VALUES),
        RationalArray(["-1/2", 3]),
        RationalArray([2], [4], reduce=False),
    ):
        other = again(array)
        assert (type(other), list(other), repr(other)) == (type(array), list(array), repr(array))
    finding = Finding(Kind.EVEN, 2, (0, 1))
    assert again(finding) == finding
    assert again(Kind.EVEN) is Kind.EVEN
    save_moduli(tmp_path / "set.h5", [15, 77])
    assert again(StoredModuli(tmp_path / "set.h5")).moduli().to_ints() == [15, 77]


@pytest.mark.parametrize("way", ["copy", "deep copy"])
def test_a_copy_stays_on_its_device(way: str) -> None:
    engine = DeviceArithmetic(EmulatedDevice())
    array = IntArray._of(engine, engine.put(IntArray(VALUES).numbers()))
    for each in (array, RationalArray(array)):
        other = WAYS[way](each)
        assert (other.place, list(other)) == ("device", VALUES)


def test_a_deep_copy_has_words_of_its_own() -> None:
    limbs = np.array([[1], [2]], np.uint64)
    array = IntArray.from_limbs(limbs)
    other = copy.deepcopy(array)
    assert not np.shares_memory(other.limbs()[0], limbs)
    assert np.shares_memory(copy.copy(array).limbs()[0], limbs)


@pytest.mark.parametrize("way", WAYS)
def test_copies_of_a_pool(way: str) -> None:
    pool = Pool()
    first = pool.submit("add", [1, 2], 3)
    other = WAYS[way](pool)
    second = other.submit("multiply", [5], 7)
    assert (len(pool), len(other)) == (2, 3)
    other.run()
    pool.run()
    assert (first.get().to_ints(), second.get().to_ints()) == ([4, 5], [35])


def test_the_truth_of_one_long_integer() -> None:
    number = RedundantInt(1) - 1
    assert not number
    assert number + 1
    assert [10, 11, 12][RedundantInt(2)] == 12
