"""Arithmetic on a device keeps the contract, in either layout and where both meet."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import count
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels.bignum.costs import LAYOUT_COSTS
from kernels.bignum.cuda import engine as cuda
from kernels.bignum.cuda.engine import DeviceArithmetic
from kernels.bignum.cuda.layouts import DeviceNumbers, Rows, Slabs
from kernels.bignum.numbers import Numbers, from_ints, to_ints
from kernels.bignum.plan import in_slabs
from tests.bignum_contract import ArithmeticContract
from tests.emulation import EmulatedDevice

alternate = count()
# Every layout for all, by the library's choice, and one after the other.
CHOICES: dict[str, Callable[[int, int, int, int], bool]] = {
    "slabs": lambda *_: True,
    "rows": lambda *_: False,
    "chosen": in_slabs,
    "mixed": lambda *_: next(alternate) % 2 == 0,
}


@cache
def emulated(choice: str) -> DeviceArithmetic:
    return DeviceArithmetic(EmulatedDevice(), CHOICES[choice])


@cache
def on_gpu(choice: str) -> DeviceArithmetic:
    return DeviceArithmetic(cuda.arithmetic_for().device, CHOICES[choice])


class TestEmulated(ArithmeticContract):
    examples: ClassVar[int] = 3
    words: ClassVar[int] = 2
    widths: ClassVar[Sequence[int]] = (1,)
    sparse_bits: ClassVar[Sequence[int]] = (2**8,)

    # Mixed batches are in both layouts.
    @pytest.fixture(params=[pytest.param("slabs", marks=pytest.mark.slow), "rows", "mixed"])
    def arithmetic(self, request: pytest.FixtureRequest) -> DeviceArithmetic:
        return emulated(request.param)

    # Of fewer numbers than the contract's.
    def test_long_sums(self, arithmetic: DeviceArithmetic) -> None:
        values = [2**64 - 1, -(2**128) + 1, 2**64 - 1] * 35
        total = arithmetic.sum(arithmetic.put(from_ints(values)))
        assert to_ints(arithmetic.get(total)) == [sum(values)]

    # Of shorter ones.
    @pytest.mark.slow
    def test_very_long_and_sparse(self, arithmetic: DeviceArithmetic) -> None:
        self.check_sparse(arithmetic, 2**13 + 1)


@pytest.mark.slow
class TestEmulatedLonger(TestEmulated):
    examples: ClassVar[int] = 20
    words: ClassVar[int] = 20
    widths: ClassVar[Sequence[int]] = (2, 5, 9)
    sparse_bits: ClassVar[Sequence[int]] = (2**9, 2**12)


@pytest.mark.gpu
class TestCuda(ArithmeticContract):
    @pytest.fixture(params=list(CHOICES))
    def arithmetic(self, request: pytest.FixtureRequest) -> DeviceArithmetic:
        return on_gpu(request.param)


def test_the_choice_of_a_layout() -> None:
    assert in_slabs(1, 8, 8, 132)
    assert in_slabs(1000, 16, 2000, 132)
    assert in_slabs(4_000_000, 256, 4_000_000 * 110, 132)
    assert not in_slabs(4_000_000, 256, 4_000_000 * 100, 132)  # padding
    assert not in_slabs(1000, 256, 1000 * 256, 132)  # too few threads
    assert in_slabs(1000, 128, 1000 * 128, 132)


@given(st.integers(0, 10**9), st.integers(0, 2**20), st.integers(1, 200))
def test_equal_lengths_are_in_rows_only_where_they_are_few(
    numbers: int, longest: int, multiprocessors: int
) -> None:
    costs = LAYOUT_COSTS
    few = longest > costs.short and numbers < costs.threads * multiprocessors
    assert in_slabs(numbers, longest, numbers * longest, multiprocessors) == (not few)


def test_put_asks_for_the_layout() -> None:
    asked: list[tuple[int, ...]] = []

    def choose(*sizes: int) -> bool:
        asked.append(sizes)
        return len(asked) == 1

    arithmetic = DeviceArithmetic(EmulatedDevice(multiprocessors=3), choose)
    numbers = from_ints([1, 0, 2**200])
    assert isinstance(arithmetic.put(numbers), Slabs)
    assert isinstance(arithmetic.put(numbers), Rows)
    assert asked == [(3, 8, 2 + 2 + 8, 3)] * 2


def test_one_long_number_does_not_lengthen_the_others() -> None:
    """There is no memory for as many words for all."""
    arithmetic = DeviceArithmetic(EmulatedDevice(memory=1 << 20))
    values = [3, -(2**70), 0] * 100 + [2**60000 - 1]
    a = arithmetic.put(from_ints(values))
    with pytest.raises(MemoryError):
        arithmetic._transfer.put_slabs(from_ints(values))

    def found(batch: DeviceNumbers) -> list[int]:
        return to_ints(arithmetic.get(batch))

    by = np.arange(-150, 151)
    assert found(arithmetic.shift(a, by)) == [
        x << s if s >= 0 else x >> -s for x, s in zip(values, by.tolist(), strict=True)
    ]
    assert found(arithmetic.shift(a, np.array([-33]))) == [x >> 33 for x in values]
    assert found(arithmetic.sum(a)) == [sum(values)]
    assert found(arithmetic.negate(a)) == [-x for x in values]
    assert found(arithmetic.absolute(a)) == [abs(x) for x in values]
    assert found(arithmetic.take(a, slice(None, None, -7))) == values[::-7]
    assert found(arithmetic.power(a, np.array([1]))) == values
    mask = by % 3 == 0
    expected = [x if m else 5 for m, x in zip(mask.tolist(), values, strict=True)]
    five = arithmetic.put(from_ints([5]))
    assert found(arithmetic.select(mask, a, five)) == expected


def test_roots_of_long_numbers() -> None:
    arithmetic = emulated("rows")
    root = 2**2100 // 3
    values = [root**2 - 1, root**2, root**2 + 2 * root, root**2 + 2 * root + 1, 3**2600]
    values += [2**4096, 2**4097 - 1, 2**4098, 2**4099 + 1, 0, 1, 8, 2**200 - 1]
    result = arithmetic.get(arithmetic.isqrt(arithmetic.put(from_ints(values))))
    assert to_ints(result) == [math.isqrt(value) for value in values]


def test_a_long_number_meets_many_short_ones() -> None:
    arithmetic = DeviceArithmetic(EmulatedDevice())
    many, one = [7, -(2**64), 0] * 30, 2**5000 + 1
    a, b = arithmetic.put(from_ints(many)), arithmetic.put(from_ints([one]))
    assert isinstance(a, Slabs)
    assert isinstance(b, Rows)
    total = arithmetic.add(a, b)
    assert isinstance(total, Slabs)
    assert to_ints(arithmetic.get(total)) == [x + one for x in many]
    joined = arithmetic.concatenate([a, b])
    assert to_ints(arithmetic.get(joined)) == [*many, one]
    moved = arithmetic.shift(b, np.arange(-40, 40))
    assert to_ints(arithmetic.get(moved)) == [
        one << s if s >= 0 else one >> -s for s in range(-40, 40)
    ]


@pytest.mark.gpu
def test_large_transfers() -> None:
    """Through more pieces of pinned memory than there are."""
    arithmetic = on_gpu("chosen")
    words = np.random.default_rng(1).integers(0, 2**64, 40_000_000, np.uint64)
    numbers = Numbers(words, 10_000_000, 4, 4)
    batch = arithmetic.put(numbers)
    np.testing.assert_array_equal(arithmetic.get(batch).words, words)
    odd = arithmetic.put(numbers.take(slice(1, None, 2)))
    expected = words.reshape(-1, 4)[1::2].ravel()
    np.testing.assert_array_equal(arithmetic.get(odd).words, expected)


@pytest.mark.gpu
def test_threads_share_a_device() -> None:
    """Memory that one gives back may be another's next, but never too early."""
    arithmetic = on_gpu("chosen")

    def work(seed: int) -> None:
        words = np.random.default_rng(seed).integers(0, 2**64, 200_000, np.uint64)
        numbers = Numbers(words, 100_000, 2, 2)
        first = arithmetic.put(numbers)
        for _ in range(40):
            batch = arithmetic.subtract(arithmetic.add(first, first), first)
        np.testing.assert_array_equal(arithmetic.get(batch).words, words)
        arithmetic.device.synchronize()
        results[seed] = batch

    results: dict[int, DeviceNumbers] = {}
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(24)))
    # What threads that have ended left behind is as good as ever.
    for seed in list(results):
        words = np.random.default_rng(seed).integers(0, 2**64, 200_000, np.uint64)
        np.testing.assert_array_equal(arithmetic.get(results.pop(seed)).words, words)


def test_powers_say_how_much_memory_they_want() -> None:
    arithmetic = DeviceArithmetic(EmulatedDevice(memory=1 << 20))
    a = arithmetic.put(from_ints([3, -1, 0]))
    with pytest.raises(MemoryError, match=r"powers of 2,000,000,000 bits need 8,000,000,000 bytes"):
        arithmetic.power(a, np.array([10**9]))
    result = arithmetic.power(a, np.array([0, 10**18 + 1, 10**18]))
    assert to_ints(arithmetic.get(result)) == [1, -1, 0]
    with pytest.raises(ValueError, match="2 exponents for 3 numbers"):
        arithmetic.power(a, np.zeros(2, np.int64))


def test_the_words_as_a_cuda_array() -> None:
    arithmetic = emulated("slabs")
    values = [k << 40 | 5 for k in range(33)]
    batch = arithmetic.put(from_ints(values))
    assert isinstance(batch, Slabs)
    # The emulated device's memory is the host's.
    view = np.from_dlpack(arithmetic.slab_words(batch))
    assert view.shape == (2, 2, 32)
    assert view.dtype == np.uint32
    assert not view.flags.writeable
    found = [int(view[k // 32, 0, k % 32]) | int(view[k // 32, 1, k % 32]) << 32 for k in range(33)]
    assert found == values
