"""Limbs go to other libraries and come from them; signs are never lost."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arith import IntArray
from kernels.bignum.cuda.engine import DeviceArithmetic
from kernels.targets.dlpack import host_array
from tests.emulation import EmulatedDevice
from tests.quick import examples


def limbs_of(array: Any, **options: Any) -> np.ndarray:
    return np.from_dlpack(array, **options)


def numbers_of_slabs(words: np.ndarray, count: int) -> list[int]:
    """Return the numbers of words as kernels/bignum/README.md lays them out."""
    rows = np.ascontiguousarray(words.transpose(0, 2, 1)).reshape(-1, words.shape[1])
    return [int.from_bytes(row.astype("<u4").tobytes(), "little") for row in rows[:count]]


def on_device(values: list[int], in_slabs: bool) -> IntArray:
    engine = DeviceArithmetic(EmulatedDevice(), lambda *_: in_slabs)
    return IntArray._of(engine, engine.put(IntArray(values).numbers()))


def test_limbs_on_the_host_are_a_view_to_be_read() -> None:
    given_ = np.arange(1, 13, dtype=np.uint64).reshape(4, 3)
    x = IntArray.from_limbs(given_)
    limbs = limbs_of(x)
    np.testing.assert_array_equal(limbs, given_)
    assert np.shares_memory(limbs, given_)
    assert not limbs.flags.writeable
    assert x.__dlpack_device__() == (1, 0)
    old = limbs_of(Old(x))  # who knows no read-only has a copy
    np.testing.assert_array_equal(old, given_)
    assert not np.shares_memory(old, given_)
    np.testing.assert_array_equal(limbs_of(x[::2]), given_[::2])
    with pytest.raises(BufferError):
        x.__dlpack__(copy=False)
    with pytest.raises(BufferError, match="only as a copy"):
        IntArray([1, 2**100])[[1, 0]].__dlpack__(copy=False, max_version=(1, 0))


class Old:
    """A consumer of the time before DLPack 1.0."""

    def __init__(self, source: Any) -> None:
        self._source = source

    def __dlpack_device__(self) -> tuple[int, int]:
        return cast(tuple[int, int], self._source.__dlpack_device__())

    def __dlpack__(self, **_: Any) -> Any:
        return self._source.__dlpack__()


@given(st.lists(st.integers(0, 2**200), min_size=1, max_size=40), st.booleans())
@settings(max_examples=examples(30), deadline=None)
def test_limbs_of_any_numbers(values: list[int], device: bool) -> None:
    assert IntArray.from_limbs(Old(IntArray(values))).to_ints() == values
    for in_slabs in (True, False) if device else ():
        x = on_device(values, in_slabs)
        words = limbs_of(x)
        assert words.dtype == np.uint32
        assert not words.flags.writeable
        assert numbers_of_slabs(words, len(x)) == values
        del x
        assert numbers_of_slabs(words, len(values)) == values


def test_a_view_on_a_device_is_one() -> None:
    x = on_device([5, 2**70], True)
    assert np.shares_memory(limbs_of(x), limbs_of(x))
    assert not np.shares_memory(limbs_of(x), limbs_of(x, copy=True))
    rows = on_device([5, 2**70], False)
    with pytest.raises(BufferError, match="only as a copy"):
        rows.__dlpack__(copy=False, max_version=(1, 0))
    with pytest.raises(AttributeError, match="mixed lengths"):
        _ = rows.__cuda_array_interface__


@pytest.mark.parametrize(
    "make", [IntArray, lambda v: on_device(v, True), lambda v: on_device(v, 0)]
)
def test_signs_are_not_lost(make: Any) -> None:
    x = make([3, -4, 5])
    with pytest.raises(BufferError, match="number 1 is negative"):
        x.__dlpack__()
    limbs = limbs_of(abs(x))
    found = limbs[:, 0].tolist() if limbs.dtype == np.uint64 else numbers_of_slabs(limbs, 3)
    assert found == [3, 4, 5]
    assert limbs_of(x[::2]).size  # whose numbers are not negative, though the batch had one


def test_limbs_that_are_none() -> None:
    with pytest.raises(TypeError, match="not list"):
        IntArray.from_limbs([[1]])
    with pytest.raises(TypeError, match="not float64"):
        IntArray.from_limbs(Old(np.zeros((2, 2))))


def test_torch() -> None:
    torch = pytest.importorskip("torch")
    x = IntArray([2**100, 5])
    tensor = torch.from_dlpack(x)
    assert IntArray.from_limbs(tensor.clone()).to_ints() == [2**100, 5]
    assert IntArray.from_limbs(tensor.view(torch.uint32)).to_ints() == [2**100, 5]


@pytest.mark.gpu
def test_limbs_on_a_gpu() -> None:
    mixed = [2**5000, 5, 7]
    assert numbers_of_slabs(host_array(IntArray(mixed).on_device()), 3) == mixed
    values = [2**60 + i for i in range(100_000)]  # in slabs, a view of which is shown
    x = IntArray(values).on_device()
    assert x.__dlpack_device__() == (2, 0)
    assert numbers_of_slabs(host_array(x), len(x)) == values
    there = type("Interface", (), {"__cuda_array_interface__": x.__cuda_array_interface__})()
    assert numbers_of_slabs(host_array(there), len(x)) == values
    with pytest.raises(BufferError, match="number 0 is negative"):
        _ = (-x).__cuda_array_interface__
