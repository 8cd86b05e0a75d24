"""Modular powers of slabs on a device, against Python's."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.bignum.cuda.powmod import powmod
from kernels.bignum.plan import LaneTeam, power_team, window_of
from kernels.targets.cuda.device import Device
from tests.emulation import EmulatedDevice
from tests.kernels.slab_numbers import hurting, ints_of, slabs_of
from tests.quick import examples

QUICK = (2, 33)
WIDTHS = (1, 2, 3, 8, 17, 31, 32, 33, 48, 64, 65, 128, 129)
TEAMS = [(1, 4), (1, 12), (1, 44), (2, 12), (8, 8), (32, 4)]  # lanes, and words of each
WIDE = [(1, 32), (1, 48), (2, 16), (2, 32), (4, 24), (4, 32)]  # the same, for a GPU


@pytest.fixture(scope="module")
def emulated() -> Device:
    return EmulatedDevice()


def check(
    device: Device,
    a: list[int],
    e: list[int],
    m: list[int],
    bits: int | None = None,
    team: LaneTeam | None = None,
) -> None:
    count = max((len(x) for x in (a, e, m) if len(x) != 1), default=1)
    rows = zip(*(x * (count if len(x) == 1 else 1) for x in (a, e, m)), strict=True)
    expected = [pow(p, q, r) for p, q, r in rows]
    operands = (slabs_of(device, a, bits), slabs_of(device, e), slabs_of(device, m, bits))
    choose = power_team if team is None else lambda *_: team
    assert ints_of(device, powmod(device, *operands, choose)) == expected


def operands_of(words: int, kind: str, rng: random.Random) -> tuple[list[int], ...]:
    moduli = [v or 1 for v in hurting(words, rng)]
    if kind == "odd":
        moduli = [v | 1 for v in moduli]
    if kind == "even":
        moduli = [2 * (v // 2) or -2 for v in moduli]
    a = hurting(rng.choice((1, words, words + 3)), rng)
    return a, [rng.choice((0, 1, 2, 3, 65537, rng.getrandbits(40))) for _ in a], moduli


@pytest.mark.parametrize("kind", ["odd", "even", "both"])
@pytest.mark.parametrize("words", QUICK)
def test_hurting_numbers(emulated: Device, words: int, kind: str) -> None:
    check(emulated, *operands_of(words, kind, random.Random(words)))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["odd", "even", "both"])
@pytest.mark.parametrize("words", WIDTHS)
def test_hurting_numbers_of_all_widths(emulated: Device, words: int, kind: str) -> None:
    check(emulated, *operands_of(words, kind, random.Random(-words)))


def numbers_of(words: int, rng: random.Random) -> tuple[list[int], ...]:
    """Make moduli that use all words, and not, and numbers whose carries go through all lanes."""
    top = 1 << 32 * words
    moduli = [top - 1, top - 3, top // 2 + 1, 1, 3]
    moduli += [rng.getrandbits(32 * words) | 1 for _ in range(2)]
    a = [top - 2, top // 2, top - 5, 7, -(top - 1), top // 3, rng.getrandbits(32 * words + 40)]
    return a, [3, 2, 0, 5, 65537, 2**17 - 1, rng.getrandbits(20)], moduli


@pytest.mark.parametrize("squares", [False, True])
@pytest.mark.parametrize(("lanes", "own"), TEAMS)
@pytest.mark.parametrize("order", ["reverse", pytest.param("shuffled:1", marks=pytest.mark.slow)])
def test_lanes_share_numbers(lanes: int, own: int, squares: bool, order: str) -> None:
    rows = numbers_of(lanes * own, random.Random(own))
    check(EmulatedDevice(order=order), *rows, None, LaneTeam(lanes, own, 2, squares))


@pytest.mark.parametrize(("lanes", "own"), TEAMS[:4])
def test_squares(emulated: Device, lanes: int, own: int) -> None:
    """Check squares of numbers that hurt, by moduli that take little from them, and much."""
    rng, words = random.Random(lanes * own), lanes * own
    top = 1 << 32 * words
    a = [abs(v) % top for v in hurting(words, rng)]
    for modulus in (top - 1, top - (1 << 32 * words // 2) - 1, top // 2 + 1):
        check(emulated, a, [2], [modulus], None, LaneTeam(lanes, own, 2, squares=True))


@pytest.mark.gpu
@pytest.mark.parametrize("squares", [False, True])
@pytest.mark.parametrize(("lanes", "own"), TEAMS + WIDE)
def test_lanes_share_numbers_on_a_gpu(lanes: int, own: int, squares: bool) -> None:
    from kernels.targets.cuda.target import CudaDevice

    rows = numbers_of(lanes * own, random.Random(own))
    check(CudaDevice(), *rows, None, LaneTeam(lanes, own, 2, squares))


def test_squares_that_lose_a_bit(emulated: Device) -> None:
    """Check numbers with the topmost bit set, and those with tiles of all ones."""
    for lanes, own in ((1, 8), (2, 12), (4, 8), (8, 8)):
        words = lanes * own
        modulus = (1 << 32 * words) - 1
        half = (1 << 16 * own) - 1
        runs = [sum(half << 16 * own * (2 * i + j) for i in range(lanes)) for j in (0, 1)]
        a = [modulus - 1 - r for r in (*runs, 0, 1)] + runs
        check(emulated, a, [4], [modulus], None, LaneTeam(lanes, own, 2, squares=True))


def test_the_fewest_lanes_and_words_that_suffice() -> None:
    for width in range(1, 1025):
        team = power_team(width, 10**6, 132)
        assert team is not None
        assert width <= team.words
        assert team.own == 4 or team.lanes * (team.own - 4) < width
        assert team.lanes <= 2 or team.lanes * 16 < width
        assert team.own <= (48 if team.lanes == 1 else 32)
        assert team.lanes == 1 or width > 48
        assert team.squares or team.own <= 16
        few = power_team(width, 1, 132)
        assert few is not None
        assert team.lanes <= few.lanes <= 32
        assert few.words >= width
    assert power_team(1025, 10**6, 132) is None


numbers = st.integers(-(2**100), 2**100)


@settings(max_examples=examples(30))
@given(
    st.lists(st.tuples(numbers, st.integers(0, 300), numbers.filter(bool)), min_size=1, max_size=40)
)
def test_mixed_lengths(emulated: Device, rows: list[tuple[int, int, int]]) -> None:
    a, e, m = ([row[i] for row in rows] for i in range(3))
    check(emulated, a, e, m, 101)


def test_long_exponents(emulated: Device) -> None:
    """Check by Fermat's theorem, and with each width of the window."""
    prime = 2**127 - 1
    check(emulated, list(range(2, 40)), [prime - 1], [prime])
    for bits in (1, 8, 40, 200, 400):
        e = [2**bits - 1, 2 ** (bits - 1), 0]
        check(emulated, [3, -5, 7], e, [2**61 - 1])
    assert [window_of(bits) for bits in (1, 8, 40, 200, 400)] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("count", [0, 1, 31, 33])
@pytest.mark.parametrize("one", [0, 1, 2])
def test_one_number_stands_for_all(emulated: Device, one: int, count: int) -> None:
    rng = random.Random(count)
    rows = [
        [rng.getrandbits(70) - 2**69 for _ in range(count)],
        [rng.getrandbits(20) for _ in range(count)],
        [rng.getrandbits(70) - 2**69 or 1 for _ in range(count)],
    ]
    rows[one] = [65537]
    check(emulated, *rows)


@pytest.mark.gpu
@pytest.mark.parametrize("kind", ["odd", "even", "both"])
@pytest.mark.parametrize("words", WIDTHS)
def test_on_a_gpu(words: int, kind: str) -> None:
    from kernels.targets.cuda.target import CudaDevice

    check(CudaDevice(), *operands_of(words, kind, random.Random(words)))
