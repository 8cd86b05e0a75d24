"""Square roots of slabs on a device, against Python's."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.bignum.cuda.isqrt import isqrt
from kernels.targets.cuda.device import Device
from tests.emulation import EmulatedDevice
from tests.kernels.slab_numbers import hurting, ints_of, slabs_of
from tests.quick import examples

WIDTHS = (1, 2, 3, 4, 5, 16, 33)


@pytest.fixture(scope="module")
def emulated() -> Device:
    return EmulatedDevice()


def check(device: Device, values: list[int], bits: int | None = None) -> None:
    result = isqrt(device, slabs_of(device, values, bits))
    assert ints_of(device, result) == [math.isqrt(v) for v in values]


def values_of(words: int) -> list[int]:
    """Squares and their neighbours: of numbers with long runs of ones and of zeros."""
    rng = random.Random(words)
    roots = [v for v in hurting(max(1, words // 2), rng, signed=False) if v]
    values = [r * r + d for r in roots for d in (-1, 0, 1, r, 2 * r, 2 * r - 1)]
    return [v for v in values if v.bit_length() <= 32 * words] + hurting(words, rng, signed=False)


@pytest.mark.parametrize("words", WIDTHS)
def test_squares_and_their_neighbours(emulated: Device, words: int) -> None:
    check(emulated, values_of(words))


@settings(max_examples=examples(30))
@given(st.lists(st.integers(0, 2**130 - 1), max_size=40))
def test_mixed_lengths(emulated: Device, values: list[int]) -> None:
    check(emulated, values, 130)


@settings(max_examples=examples(20))
@given(st.integers(0, 700), st.integers(-3, 3))
def test_near_powers_of_two(emulated: Device, bits: int, more: int) -> None:
    check(emulated, [abs((1 << bits) + more)])


@pytest.mark.gpu
@pytest.mark.parametrize("words", WIDTHS)
def test_on_a_gpu(words: int) -> None:
    from kernels.targets.cuda.target import CudaDevice

    check(CudaDevice(), values_of(words))
