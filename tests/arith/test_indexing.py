"""What stands in brackets after an array: as numpy has it, in one dimension."""

from __future__ import annotations

from typing import Any

import gmpy2
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from arith import IntArray, RationalArray
from tests.quick import examples

one_index = st.one_of(
    st.integers(-7, 7),
    st.booleans(),
    st.none(),
    st.just(...),
    st.slices(6),
    st.floats(0, 2),
    st.lists(st.integers(-6, 6), max_size=4),
    st.lists(st.booleans(), min_size=4, max_size=6),
    st.lists(st.integers(-6, 5), max_size=3).map(lambda x: np.array(x, np.int8)),
    st.lists(st.integers(0, 5), max_size=3).map(lambda x: np.array(x, np.uint64)),
    st.lists(st.booleans(), min_size=5, max_size=5).map(lambda x: np.array(x, np.bool_)),
    st.sampled_from([np.int8(2), np.bool_(True), np.array(3), np.array([[1]]), np.array([1.0]),
                     np.array([]), "a", b"a", gmpy2.mpz(1), [[1, 2], [3]], [2**70], 2**70]),
)  # fmt: skip


@example(1, (None, 0))
@given(st.integers(0, 5), one_index | st.lists(one_index, max_size=3).map(tuple))
@settings(max_examples=examples(200))
def test_as_numpy(count: int, index: Any) -> None:
    values = np.arange(10, 10 + count)
    try:
        expected = values[index]
    except (IndexError, ValueError):  # ValueError: lists of different lengths
        expected = None
    if isinstance(index, tuple) and any(part is None for part in index):
        expected = None  # numpy takes [None, 0], which has one dimension in the end; we need not
    for make in (IntArray, RationalArray):
        if expected is None or expected.ndim > 1:
            with pytest.raises(IndexError):
                make(values)[index]
            continue
        found = make(values)[index]
        assert isinstance(found, make) or not expected.ndim
        assert (list(found) if expected.ndim else found) == expected.tolist()


def test_indices_of_a_short_type_reach_all() -> None:
    array = IntArray(range(1000))
    assert array[np.array([-1, 5], np.int8)].to_ints() == [999, 5]
    assert array[np.array([200], np.uint8)].to_ints() == [200]


def test_what_asks_for_other_dimensions_is_told() -> None:
    array = IntArray([5, 6])
    with pytest.raises(IndexError, match=r"^an IntArray has one dimension, not the 2 of this"):
        array[0, 1]
    with pytest.raises(IndexError, match=r"^an IntArray has one dimension, and True as its index"):
        array[True]
    with pytest.raises(IndexError, match=r"a mask, not float$"):
        array[1.0]  # type: ignore[call-overload]


@pytest.mark.parametrize("make", [IntArray, RationalArray])
def test_truth(make: Any) -> None:
    assert bool(make([5])) is True
    assert bool(make([0])) is False
    for values in ([], [0, 0], [1, 2]):
        with pytest.raises(ValueError, match=rf"^{len(values)} numbers are neither true nor false"):
            bool(make(values))
