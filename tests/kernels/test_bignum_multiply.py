"""Products of slabs on a device, against Python's."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.bignum.cuda.multiply import WIDEST, multiply, multiply_add
from kernels.bignum.plan import width_class
from kernels.targets.cuda.device import Device
from tests.emulation import EmulatedDevice
from tests.kernels.slab_numbers import hurting, ints_of, slabs_of
from tests.quick import examples

# Every class of widths that kernels are compiled for, its ends, and several passes.
QUICK = (2, 9, 32, 40)
WIDTHS = (1, 2, 3, 8, 9, 12, 13, 16, 17, 31, 32, 33, 40, 65, 128)


@pytest.fixture(scope="module")
def emulated() -> Device:
    return EmulatedDevice()


def check_products(device: Device, wide: int, words: int, rng: random.Random) -> None:
    a, b, c = hurting(wide, rng), hurting(words, rng), hurting(rng.choice((words, 2 * wide)), rng)
    c[5] = -a[5] * b[5] if a[5] * b[5] < 1 << 64 * wide else c[5]
    x, y, z = (slabs_of(device, v) for v in (a, b, c))
    assert ints_of(device, multiply(device, x, y)) == [p * q for p, q in zip(a, b, strict=True)]
    sums = [p * q + r for p, q, r in zip(a, b, c, strict=True)]
    assert ints_of(device, multiply_add(device, x, y, z)) == sums


@pytest.mark.parametrize("words", QUICK)
def test_products_of_hurting_numbers(emulated: Device, words: int) -> None:
    check_products(emulated, words, words, random.Random(words))


@pytest.mark.slow
@pytest.mark.parametrize("words", WIDTHS)
def test_products_of_all_widths(emulated: Device, words: int) -> None:
    rng = random.Random(words)
    for other in {words, *rng.choices(WIDTHS, k=3)}:
        check_products(emulated, words, other, rng)


@pytest.mark.parametrize("words", [2, 9, 32, 40])
def test_all_ones(emulated: Device, words: int) -> None:
    ones = (1 << 32 * words) - 1
    a = slabs_of(emulated, [ones] * 32)
    assert ints_of(emulated, multiply(emulated, a, a)) == [ones * ones] * 32
    total = multiply_add(emulated, a, a, slabs_of(emulated, [ones * ones]))
    assert ints_of(emulated, total) == [2 * ones * ones] * 32


numbers = st.builds(
    lambda bits, fill, negative: (-1) ** negative * (fill % (1 << bits)),
    st.integers(0, 160),
    st.one_of(st.sampled_from([-1, 0, 1, 2**31, 2**32 - 2]), st.integers(0, 2**160)),
    st.booleans(),
)


@settings(max_examples=examples(25))
@given(st.lists(st.tuples(numbers, numbers, numbers), min_size=1, max_size=40))
def test_mixed_lengths(emulated: Device, rows: list[tuple[int, int, int]]) -> None:
    a, b, c = ([row[i] for row in rows] for i in range(3))
    x, y, z = (slabs_of(emulated, v, 160) for v in (a, b, c))
    assert ints_of(emulated, multiply(emulated, x, y)) == [p * q for p, q in zip(a, b, strict=True)]
    sums = ints_of(emulated, multiply_add(emulated, x, y, z))
    assert sums == [p * q + r for p, q, r in rows]


@pytest.mark.parametrize("count", [0, 1, 31, 33, 130])
@pytest.mark.parametrize("ones", [(0,), (1,), (2,), (0, 1), (1, 2)])
def test_one_number_stands_for_all(emulated: Device, ones: tuple[int, ...], count: int) -> None:
    rng = random.Random(count)
    rows = [[rng.getrandbits(70) - 2**69 for _ in range(count)] for _ in range(3)]
    for one in ones:
        rows[one] = [-(2**70) + 7]
    x, y, z = (slabs_of(emulated, v) for v in rows)
    a, b, c = (v * count if i in ones else v for i, v in enumerate(rows))
    sums = [p * q + r for p, q, r in zip(a, b, c, strict=True)]
    assert ints_of(emulated, multiply_add(emulated, x, y, z)) == sums
    if len(ones) == 1 and ones != (2,):
        products = [p * q for p, q in zip(a, b, strict=True)]
        assert ints_of(emulated, multiply(emulated, x, y)) == products


def test_bits_that_end_within_a_word(emulated: Device) -> None:
    """The product of two words may have room for one only."""
    for p, q in ((15, 17), (1, 1), (0, 33), (33, 31), (32, 0), (1, 64)):
        a, b = (1 << p) - 1, (1 << q) - 1
        result = multiply(emulated, slabs_of(emulated, [a]), slabs_of(emulated, [b]))
        assert (result.bits, ints_of(emulated, result)) == (p + q, [a * b])


def test_classes_of_widths() -> None:
    for width in range(1, 200):
        chosen = width_class(width, WIDEST)
        assert chosen in range(2, WIDEST + 1, 2)
        passes = -(-width // chosen)
        assert passes == -(-width // WIDEST)
        assert passes * chosen < 1.3 * width + 4
    assert len({width_class(width, WIDEST) for width in range(1, 200)}) <= 12


def test_counts_that_do_not_go_together(emulated: Device) -> None:
    a, b = (slabs_of(emulated, [1] * n) for n in (2, 3))
    with pytest.raises(ValueError, match="2 and 3"):
        multiply(emulated, a, b)


@pytest.mark.gpu
@pytest.mark.parametrize("words", WIDTHS)
def test_products_on_a_gpu(words: int) -> None:
    from kernels.targets.cuda.target import CudaDevice

    rng = random.Random(words)
    for other in WIDTHS:
        check_products(CudaDevice(), words, other, rng)
