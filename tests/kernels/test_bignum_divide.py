"""Quotients and remainders of slabs on a device, against Python's."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.bignum.cuda.divide import GUIDE
from kernels.bignum.cuda.divide import divmod as divide
from kernels.bignum.cuda.layouts import Slabs
from kernels.bignum.plan import WIDEST, LaneTeam, quotient_team
from kernels.targets.cuda.device import Device
from tests.emulation import EmulatedDevice
from tests.kernels.slab_numbers import hurting, ints_of, slabs_of
from tests.quick import examples

QUICK = (1, 3, 32, 33, 48)
WIDTHS = (1, 2, 3, 5, 8, 9, 12, 13, 16, 31, 32, 33, 47, 48, 65)
TEAMS = [(1, 8), (1, 20), (2, 12), (2, 32), (4, 8), (4, 24), (8, 16), (32, 8)]  # lanes, own words


@pytest.fixture(scope="module")
def emulated() -> Device:
    return EmulatedDevice()


def results(device: Device, *batches: Slabs | None) -> list[list[int] | None]:
    return [None if batch is None else ints_of(device, batch) for batch in batches]


def check(
    device: Device,
    a: Sequence[int],
    b: Sequence[int],
    bits: int | None = None,
    choose: Callable[[int, int, int], LaneTeam | None] = quotient_team,
) -> None:
    x, y = slabs_of(device, a, bits), slabs_of(device, b, bits)
    count = len(b) if len(a) == 1 else len(a)
    a, b = (list(v) * (count if len(v) == 1 else 1) for v in (a, b))
    pairs = list(zip(a, b, strict=True))
    quotients, remainders = [p // q for p, q in pairs], [p % q for p, q in pairs]
    assert results(device, *divide(device, x, y, choose=choose)) == [quotients, remainders]


def hard_quotients(words: int, rng: random.Random) -> tuple[list[int], list[int]]:
    """Dividends just above and below multiples, and whose digits are guessed too large."""
    top = 1 << 32 * words
    divisors = [top - 1, top // 2, top // 2 + 1, top - (1 << 16 * words)]
    # All ones below the words that a guess is made from: of a word, of 32 words.
    divisors += [top // 2 + (1 << 32 * max(0, words - known)) - 1 for known in (2, GUIDE)]
    divisors += [(1 << rng.randrange(32 * words)) + rng.randrange(2) for _ in range(3)]
    divisors += [v for v in hurting(words, rng, signed=False) if v]
    rows = []
    for b in divisors[:16]:
        for q in (top - 1, top // 2, rng.getrandbits(32 * words), (1 << 32) - 1, 0, 1):
            for r in (0, b - 1, b // 2):
                rows.append((q * b + r, b))
    rng.shuffle(rows)
    signs = [(rng.choice((1, -1)), rng.choice((1, -1))) for _ in rows]
    return (
        [a * s for (a, _), (s, _) in zip(rows, signs, strict=True)],
        [b * s for (_, b), (_, s) in zip(rows, signs, strict=True)],
    )


@pytest.mark.parametrize("words", QUICK)
def test_hard_quotients(emulated: Device, words: int) -> None:
    check(emulated, *hard_quotients(words, random.Random(words)))


@pytest.mark.slow
@pytest.mark.parametrize("words", WIDTHS)
def test_hard_quotients_of_all_widths(emulated: Device, words: int) -> None:
    for seed in range(3):
        check(emulated, *hard_quotients(words, random.Random(seed)))


def full_sums(lanes: int, own: int, rng: random.Random) -> tuple[list[int], list[int]]:
    """Dividends for which a lane hands on a carry to a sum of products that is all ones."""
    rows = min(16, own - 4)  # words of the quotient after which lanes do so
    words = lanes * own
    b = (1 << 32 * words - 1) + 1  # 2^(32 words) less it is all ones but for the topmost bit
    a = []
    for total in (1 << 32, (1 << 32) + 1, (1 << 32) + 2) * 3:
        digits = [rng.randrange(1, 2 * total // rows - 1) for _ in range(rows - 2)]
        rest = total - sum(digits)
        digits += [rest // 2, rest - rest // 2]
        if min(digits) < 0 or max(digits) >> 32:
            continue
        remainder = rng.randrange(b)
        for lane in range(1, lanes):  # the words that their sums begin with
            remainder &= ~(0xFFFFFFFF << 32 * (rows + lane * own - 1))
        a.append(sum(d << 32 * i for i, d in enumerate(digits)) * b + remainder)
    return a, [b] * len(a)


def in_memory(width: int, count: int, multiprocessors: int) -> None:
    """Have a lane divide by itself by a divisor that is in memory where it is long."""


@pytest.mark.parametrize("words", [33, 40])
def test_hard_quotients_in_memory(emulated: Device, words: int) -> None:
    check(emulated, *hard_quotients(words, random.Random(words)), choose=in_memory)


def check_team(device: Device, lanes: int, own: int, words: int, rng: random.Random) -> None:
    def choose(width: int, count: int, multiprocessors: int) -> LaneTeam:
        return LaneTeam(lanes, own, 1)

    check(device, *hard_quotients(words, rng), choose=choose)
    check(device, *full_sums(lanes, own, rng), choose=choose)
    for longer in (-3, 0, 1, own + 5):
        a, b = hurting(max(1, words + longer), rng), hurting(words, rng)
        check(device, a, [v or 1 for v in b], choose=choose)


@pytest.mark.parametrize("order", ["reverse", pytest.param("shuffled:1", marks=pytest.mark.slow)])
@pytest.mark.parametrize(("lanes", "own"), TEAMS)
@pytest.mark.sample(8)
def test_lanes_share_numbers(lanes: int, own: int, order: str) -> None:
    rng = random.Random(lanes * own)
    device = EmulatedDevice(order=order)
    check_team(device, lanes, own, lanes * own - rng.randrange(own // 2), rng)


@pytest.mark.slow
@pytest.mark.parametrize(("lanes", "own"), [(2, 8), (2, 16), (4, 12), (2, 20), (2, 28)])
def test_all_parts_of_lanes_are_divisors(emulated: Device, lanes: int, own: int) -> None:
    rng = random.Random(own)
    for words in range(1, lanes * own + 1, 3):
        check_team(emulated, lanes, own, words, rng)


@pytest.mark.parametrize("words", [1, 4, 32, 64])
@pytest.mark.parametrize("longer", [-2, 0, 1, 30, 70])
def test_hurting_numbers(emulated: Device, words: int, longer: int) -> None:
    rng = random.Random(words)
    a = hurting(max(1, words + longer), rng)
    check(emulated, a, [v or 1 for v in hurting(words, rng)])


numbers = st.builds(
    lambda bits, fill, negative: (-1) ** negative * (fill % (1 << bits)),
    st.integers(0, 160),
    st.one_of(st.sampled_from([-1, 0, 1, 2**31, 2**32 - 2]), st.integers(0, 2**160)),
    st.booleans(),
)


@settings(max_examples=examples(25))
@given(st.lists(st.tuples(numbers, numbers.filter(bool)), min_size=1, max_size=40))
def test_mixed_lengths(emulated: Device, rows: list[tuple[int, int]]) -> None:
    check(emulated, [a for a, _ in rows], [b for _, b in rows], 160)


@pytest.mark.parametrize("count", [0, 1, 31, 33, 100])
def test_one_number_stands_for_all(emulated: Device, count: int) -> None:
    rng = random.Random(count)
    many = [rng.getrandbits(100) - 2**99 or 1 for _ in range(count)]
    check(emulated, many, [-(2**50) + 1])
    check(emulated, [2**150 - 1], many)


def test_only_what_is_asked_for(emulated: Device) -> None:
    a, b = slabs_of(emulated, [7, -7, 2**70]), slabs_of(emulated, [2, 2, -3])
    one = results(emulated, *divide(emulated, a, b, remainder=False))
    assert one == [[3, -4, 2**70 // -3], None]
    other = results(emulated, *divide(emulated, a, b, quotient=False))
    assert other == [None, [1, 1, 2**70 % -3]]
    assert divide(emulated, a, b, quotient=False, remainder=False) == (None, None)


@pytest.mark.parametrize("words", [3, 40, 48])
def test_only_what_is_asked_for_of_hard_quotients(emulated: Device, words: int) -> None:
    a, b = hard_quotients(words, random.Random(words))
    x, y = slabs_of(emulated, a), slabs_of(emulated, b)
    quotients, remainders = divide(emulated, x, y)
    one = results(emulated, *divide(emulated, x, y, remainder=False))
    other = results(emulated, *divide(emulated, x, y, quotient=False))
    assert [one[0], other[1]] == results(emulated, quotients, remainders)


def test_teams_of_divisors() -> None:
    for width in range(1, 1100):
        team = quotient_team(width, 10**6, 132)
        if width <= WIDEST or width > 1024:
            assert team is None
            continue
        assert team is not None
        assert width <= team.words <= 1.25 * width
        assert width > WIDEST * team.lanes // 2
        few = quotient_team(width, 1, 132)
        assert few is not None
        assert few.lanes >= team.lanes
        assert few.words >= width


@pytest.mark.gpu
@pytest.mark.parametrize(("lanes", "own"), TEAMS)
def test_lanes_share_numbers_on_a_gpu(lanes: int, own: int) -> None:
    from kernels.targets.cuda.target import CudaDevice

    check_team(CudaDevice(), lanes, own, lanes * own, random.Random(own))


@pytest.mark.gpu
@pytest.mark.parametrize("words", [*WIDTHS, 128, 200])
def test_on_a_gpu(words: int) -> None:
    from kernels.targets.cuda.target import CudaDevice

    device, rng = CudaDevice(), random.Random(words)
    check(device, *hard_quotients(words, rng))
    for longer in (-2, 0, 1, 30, 100):
        a = hurting(max(1, words + longer), rng)
        check(device, a, [v or 1 for v in hurting(words, rng)])
