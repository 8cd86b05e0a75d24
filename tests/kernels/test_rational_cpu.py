"""Sums and products of rationals in one pass on the CPU, beside Python's Fractions."""

from __future__ import annotations

import operator
import random
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.bignum.cpu.engine import CpuArithmetic, ints_to_numbers, numbers_to_ints
from kernels.bignum.numbers import Numbers
from kernels.rational.cpu import rational
from kernels.targets import cpu as cpu_backend
from tests.bignum_batches import dense
from tests.quick import examples

LEVELS = cpu_backend.levels()
OPERATIONS = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
}
BITS = (1, 8, 52, 64, 104, 128, 200, 512, 530)
PRIMES = (2, 2, 3, 5, 2**31 - 1, 2**61 - 1)


@pytest.fixture
def engine() -> CpuArithmetic:
    if not LEVELS:
        pytest.skip("the CPU kernels are not built")
    made = CpuArithmetic(2)
    one = ints_to_numbers([1])
    if rational.add(made, (one, one), (one, one)) is None:
        pytest.skip("this CPU has no AVX-512 IFMA")
    return made


def number_of(bits: int, rng: random.Random) -> int:
    """Return a number of at most so many bits: random, extreme, or of few primes."""
    if rng.randrange(3):
        extremes = (0, 1, (1 << bits) - 1, 1 << bits - 1, rng.getrandbits(rng.randrange(bits) + 1))
        return rng.choice((*extremes, rng.getrandbits(bits), rng.getrandbits(bits)))
    product = 1
    while (more := product * rng.choice(PRIMES)) < 1 << bits:
        product = more
    return product


def batches(values: list[Fraction]) -> rational.Ratios:
    """Return numerators and denominators, dense however short some of them are."""
    columns = [v.numerator for v in values], [v.denominator for v in values]
    n, d = (dense(column, max(1, -(-max(map(int.bit_length, column)) // 64))) for column in columns)
    return n, d


@settings(max_examples=examples(80), deadline=None)
@given(
    st.sampled_from(list(OPERATIONS)),
    st.sampled_from((1, 2, 4, 5, 8, 9, 17, 40)),
    st.sampled_from(BITS),
    st.sampled_from(("any", "shared factor", "same or opposite", "one for all")),
    st.integers(0, 2**32),
)
def test_as_fractions(name: str, count: int, bits: int, kind: str, seed: int) -> None:
    if not LEVELS:
        pytest.skip("the CPU kernels are not built")
    rng = random.Random(seed)

    def draw() -> list[Fraction]:
        return [
            Fraction(rng.choice((1, -1)) * number_of(bits, rng), number_of(bits, rng) or 1)
            for _ in range(count)
        ]

    a, b = draw(), draw()
    if kind == "shared factor":
        factor = number_of(bits, rng) or 1
        a, b = [x / factor for x in a], [x / factor for x in b]
    elif kind == "same or opposite":
        b = [x * rng.choice((1, -1)) for x in a]
    elif kind == "one for all":
        b = b[:1]
    if name == "divide":
        b = [x or Fraction(1, 3) for x in b]
    expected = list(map(OPERATIONS[name], a, b * (count if len(b) == 1 else 1)))
    found = getattr(rational, name)(CpuArithmetic(2), batches(a), batches(b))
    if found is None:
        return  # without AVX-512 IFMA, which the tests of arith have too
    assert numbers_to_ints(found[0]) == [x.numerator for x in expected]
    assert numbers_to_ints(found[1]) == [x.denominator for x in expected]


def test_what_lanes_do_not_take(engine: CpuArithmetic) -> None:
    """Mixed lengths, and numbers that are too long: operations on integers compute those."""
    one, mixed = ints_to_numbers([1]), ints_to_numbers([1, 3**500, 5, 3**900])
    longest = ints_to_numbers([1 << 64 * 256 - 1])
    assert rational.add(engine, (ints_to_numbers([1 << 64 * 128 - 1]), one), (one, one)) is not None
    assert rational.add(engine, (ints_to_numbers([1 << 64 * 128]), one), (one, one)) is None
    assert not mixed.dense
    assert rational.add(engine, (mixed, one), (one, one)) is None
    assert rational.multiply(engine, (longest, one), (one, one)) is not None
    assert rational.multiply(engine, (ints_to_numbers([1 << 64 * 256]), one), (one, one)) is None


@pytest.mark.parametrize("level", LEVELS[:-1])
def test_levels_without_lanes(level: str) -> None:
    one = ints_to_numbers([1])
    assert rational.add(CpuArithmetic(1, level), (one, one), (one, one)) is None


def test_refusals(engine: CpuArithmetic) -> None:
    one, zero, minus = ints_to_numbers([1]), ints_to_numbers([0]), ints_to_numbers([-1])
    for operation in (rational.add, rational.subtract, rational.multiply):
        for a, b in (((one, zero), (one, one)), ((one, one), (one, zero))):
            with pytest.raises(ValueError, match="a denominator is zero"):
                operation(engine, a, b)
    with pytest.raises(ValueError, match="not negative"):
        rational.add(engine, (one, minus), (one, one))
    with pytest.raises(ValueError, match="the same count"):
        rational.add(engine, (ints_to_numbers([1, 2]), one), (ints_to_numbers([1, 2, 3]), one))
    broken = Numbers(one.words, 5, 1, 1)
    with pytest.raises(ValueError, match="contradict"):
        rational.add(engine, (broken, one), (one, one))
