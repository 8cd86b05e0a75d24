"""Powers modulo numbers on the CPU, in lanes and by GMP, beside Python's pow()."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.bignum.cpu.engine import CpuArithmetic, ints_to_numbers, numbers_to_ints
from kernels.targets import cpu as cpu_backend
from tests.quick import examples

LEVELS = cpu_backend.levels()
pytestmark = pytest.mark.skipif(not LEVELS, reason="the CPU kernels are not built")

# Limbs have 52 bits, three of which must be to spare, and tiles ten limbs.
BITS = (1, 2, 48, 49, 50, 64, 101, 102, 256, 257, 512, 513, 517, 518, 1024, 1037, 1038, 2100)
EXPONENTS = (0, 1, 2, 3, 65537, 2**64, 2**64 - 1, 3**90)


def number_of(bits: int, rng: random.Random) -> int:
    """Return a number of so many bits, random or as extreme as can be."""
    low = 1 << bits - 1
    return rng.choice((low, low + 1, 2 * low - 1, low | rng.getrandbits(bits)))


def check(bases: Sequence[int], exponents: Sequence[int], moduli: Sequence[int]) -> None:
    """Compare powers on every level with Python's; a sequence of one stands for all."""
    count = max(map(len, (bases, exponents, moduli)))
    rows = [list(x) * (count if len(x) == 1 else 1) for x in (bases, exponents, moduli)]
    expected = list(map(pow, *rows))
    for level in LEVELS:
        batches = map(ints_to_numbers, (bases, exponents, moduli))
        assert numbers_to_ints(CpuArithmetic(2, level).powmod(*batches)) == expected


@settings(max_examples=examples(60), deadline=None)
@given(
    st.integers(2, 40),
    st.lists(st.sampled_from(BITS), min_size=1, max_size=3),
    st.sampled_from(EXPONENTS),
    st.sampled_from(("odd", "mixed")),
    st.integers(0, 2**32),
)
def test_powers(count: int, sizes: list[int], exponent: int, moduli: str, seed: int) -> None:
    """Odd moduli alone, and odd and even ones of either sign; bases about as long, and longer."""
    rng = random.Random(seed)
    m = [number_of(rng.choice(sizes), rng) | 1 for _ in range(count)]
    if moduli == "mixed":
        m = [rng.choice((1, -1)) * (x + rng.randrange(2)) for x in m]
    longer = (-1, 0, 1, 2, 300)
    a = [
        rng.choice((1, -1)) * number_of(max(1, x.bit_length() + rng.choice(longer)), rng) for x in m
    ]
    near = [abs(x) * rng.randrange(3) + rng.randrange(-1, 2) for x in m]
    e = [rng.getrandbits(exponent.bit_length() + rng.randrange(9)) for _ in m]
    for bases in (a, near, a[:1]):
        check(bases, [exponent], m)
        check(bases, e, m)
    check(a, e, m[:1])


@pytest.mark.parametrize("count", [1, 2, 7, 8, 9, 16, 17, 33])
def test_lanes_that_are_full_or_not(count: int) -> None:
    rng = random.Random(count)
    m, a = ([rng.getrandbits(256) | 1 for _ in range(count)] for _ in range(2))
    check(a, [65537], m)
    check(a, [rng.getrandbits(300)], m)


def test_the_longest_moduli_for_lanes() -> None:
    rng = random.Random(5)
    m, a = ([rng.getrandbits(64 * 512 + more) | 1 for more in (0, 0, 1, -1)] for _ in range(2))
    check(a, [5], m)
