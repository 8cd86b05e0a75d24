"""Products of slabs on a device, against Python's."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.bignum.cuda.multiply import multiply, multiply_add
from kernels.bignum.plan import WIDEST, LaneTeam, product_team, width_class
from kernels.targets.cuda.device import Device
from tests.emulation import EmulatedDevice
from tests.kernels.slab_numbers import hurting, ints_of, slabs_of
from tests.quick import examples

# Every class of widths that kernels are compiled for, its ends, and several passes.
QUICK = (2, 9, 32, 40)
WIDTHS = (1, 2, 3, 8, 9, 12, 13, 16, 17, 31, 32, 33, 40, 65, 128)
TEAMS = [(1, 8), (1, 20), (2, 12), (4, 16), (2, 32), (16, 8)]  # lanes, words of a half


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


def alone(a: int, b: int, count: int, multiprocessors: int) -> None:
    """Have a lane multiply by itself."""


@pytest.mark.parametrize("words", [33, 40, pytest.param(128, marks=pytest.mark.slow)])
def test_long_products_of_lanes_alone(emulated: Device, words: int) -> None:
    rng = random.Random(words)
    a, b = hurting(words, rng), hurting(words, rng)
    result = multiply(emulated, slabs_of(emulated, a), slabs_of(emulated, b), alone)
    assert ints_of(emulated, result) == [p * q for p, q in zip(a, b, strict=True)]


def check_team(device: Device, lanes: int, own: int, words: int, rng: random.Random) -> None:
    def choose(a: int, b: int, count: int, multiprocessors: int) -> LaneTeam:
        return LaneTeam(lanes, own, 1)

    halves = 1 << 32 * lanes * own
    ones = (1 << 32 * words) - 1
    a, b = hurting(words, rng), hurting(max(1, words - rng.randrange(3)), rng)
    # Differences of halves: none, the least of both signs, and the greatest.
    some = rng.randrange(1, halves)
    pieces = [some * (halves + 1), some * (halves + 1) + 1, some * (halves + 1) - 1, halves - 1]
    pieces = [v & ones for v in (*pieces, ones - halves + 1, ones, halves)]
    a += [v for v in pieces for _ in pieces] + [ones] * 3
    b += pieces * len(pieces) + [0, ones, -ones]
    result = multiply(device, slabs_of(device, a), slabs_of(device, b), choose)
    assert ints_of(device, result) == [p * q for p, q in zip(a, b, strict=True)]
    for one in (a[:1], b[-1:]):
        result = multiply(device, slabs_of(device, one), slabs_of(device, b), choose)
        assert ints_of(device, result) == [one[0] * q for q in b]
    full = [abs(v) | 1 << 32 * words - 1 for v in a]  # all bits of all words, and no signs
    x = slabs_of(device, full)
    assert ints_of(device, multiply(device, x, x, choose)) == [v * v for v in full]


@pytest.mark.parametrize("order", ["reverse", pytest.param("shuffled:1", marks=pytest.mark.slow)])
@pytest.mark.parametrize(("lanes", "own"), TEAMS)
def test_lanes_share_numbers(lanes: int, own: int, order: str) -> None:
    rng = random.Random(own)
    device = EmulatedDevice(order=order)
    for words in (2 * lanes * own, 2 * lanes * own - rng.randrange(1, own), own // 2):
        check_team(device, lanes, own, words, rng)


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


def test_teams_of_factors() -> None:
    for longer in range(1, 2100, 7):
        for shorter in {1, longer // 2, 7 * longer // 8, longer} - {0}:
            team = product_team(shorter, longer, 10**6, 132)
            assert team == product_team(longer, shorter, 10**6, 132)
            if longer <= WIDEST or shorter <= longer // 2:
                assert team is None
            if team is not None:
                assert longer <= 2 * team.words
                assert 3 * team.words**2 < shorter * longer
    for width in (48, 64, 128, 256, 1024):
        team = product_team(width, width, 10**6, 132)
        assert team is not None
        assert 2 * team.words == width
        few = product_team(width, width, 1, 132)
        assert few is not None
        assert few.lanes > team.lanes


def test_counts_that_do_not_go_together(emulated: Device) -> None:
    a, b = (slabs_of(emulated, [1] * n) for n in (2, 3))
    with pytest.raises(ValueError, match="2 and 3"):
        multiply(emulated, a, b)


@pytest.mark.gpu
@pytest.mark.parametrize(("lanes", "own"), TEAMS)
def test_lanes_share_numbers_on_a_gpu(lanes: int, own: int) -> None:
    from kernels.targets.cuda.target import CudaDevice

    check_team(CudaDevice(), lanes, own, 2 * lanes * own, random.Random(own))


@pytest.mark.gpu
@pytest.mark.parametrize("words", WIDTHS)
def test_products_on_a_gpu(words: int) -> None:
    from kernels.targets.cuda.target import CudaDevice

    rng = random.Random(words)
    for other in WIDTHS:
        check_products(CudaDevice(), words, other, rng)
