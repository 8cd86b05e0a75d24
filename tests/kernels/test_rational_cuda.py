"""Sums and products of rationals on a device, emulated and real, against Fraction's."""

from __future__ import annotations

import math
import operator
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.rational.cuda import rational
from kernels.targets.cuda.device import Device
from tests.emulation import EmulatedDevice
from tests.kernels.slab_numbers import hurting, ints_of, slabs_of
from tests.nvcc import needs_nvcc, nvcc
from tests.quick import examples

OPERATIONS: dict[Callable[[Any, Any], Any], Callable[..., rational.Ratios]] = {
    operator.add: rational.add,
    operator.sub: rational.subtract,
    operator.mul: rational.multiply,
    operator.truediv: rational.divide,
}


@pytest.fixture(
    scope="module",
    params=["forward", "shuffled:1", pytest.param("cuda", marks=pytest.mark.gpu)],
)
def device(request: pytest.FixtureRequest) -> Device:
    if request.param == "cuda":
        from kernels.targets.cuda.target import CudaDevice

        return CudaDevice()
    return EmulatedDevice(order=request.param)


def put(device: Device, values: list[Fraction]) -> rational.Ratios:
    return (
        slabs_of(device, [x.numerator for x in values]),
        slabs_of(device, [x.denominator for x in values]),
    )


def check(device: Device, a: list[Fraction], b: list[Fraction]) -> None:
    """Check all four operations; a list of one stands for all."""
    nonzero = [x or Fraction(-1, 3) for x in b]
    count = max((len(x) for x in (a, b) if len(x) != 1), default=1)
    for obvious, operation in OPERATIONS.items():
        divisors = nonzero if obvious is operator.truediv else b
        n, d = operation(device, put(device, a), put(device, divisors))
        left, right = (x * count if len(x) == 1 else x for x in (a, divisors))
        expected = [obvious(x, y) for x, y in zip(left, right, strict=True)]
        assert ints_of(device, n) == [x.numerator for x in expected]
        assert ints_of(device, d) == [x.denominator for x in expected]
        assert n.count == d.count == count
        assert n.bits == max((x.numerator.bit_length() for x in expected), default=n.bits)
        assert d.bits == max((x.denominator.bit_length() for x in expected), default=d.bits)


def fraction(n: int, d: int) -> Fraction:
    return Fraction(n, abs(d) or 1)


@pytest.mark.sample(4)
@pytest.mark.parametrize("words", range(1, rational.WIDEST + 1))
def test_values_that_hurt(device: Device, words: int) -> None:
    random_ = random.Random(words)
    columns = [hurting(words, random_) for _ in range(4)]
    # As many factors in common as there are with numbers of half the length.
    half = [hurting(max(1, words // 2), random_) for _ in range(4)]
    shared = hurting(words - words // 2, random_)
    a = [fraction(n, d) for n, d in zip(columns[0], columns[1], strict=True)]
    b = [fraction(n, d) for n, d in zip(columns[2], columns[3], strict=True)]
    check(device, a, b)
    if words > 1:
        for i in (0, 1):  # denominators; numerators and denominators, crosswise
            pairs = [
                (fraction(n, x * s), fraction(m * s if i else m, y if i else y * s))
                for n, x, m, y, s in zip(*half, shared, strict=True)
            ]
            check(device, [x for x, _ in pairs], [y for _, y in pairs])


@st.composite
def couples(draw: st.DrawFn) -> list[tuple[Fraction, Fraction]]:
    """Return rationals with shared factors: equal denominators, sums that cancel, reciprocals."""
    words = draw(st.integers(1, rational.WIDEST))
    seed = draw(st.integers(0, 2**32))
    random_ = random.Random(seed)
    parts = [random_.getrandbits(random_.randrange(1, 8 * words)) | 1 for _ in range(3)]
    parts += [2 ** random_.randrange(8 * words), 3, 1]
    result = []
    for _ in range(draw(st.integers(1, 40))):

        def number() -> int:
            return math.prod(random_.choice(parts) for _ in range(random_.randrange(5)))

        a = Fraction(number() * random_.choice([-1, 0, 1]), number())
        b = Fraction(number() * random_.choice([-1, 1]), number())
        kind = random_.randrange(8)
        if kind == 0:
            b = -a
        elif kind == 1:
            b = a
        elif kind == 2 and a:
            b = 1 / a
        elif kind == 3:
            b = Fraction(b.numerator, a.denominator)
        if max(x.bit_length() for y in (a, b) for x in y.as_integer_ratio()) <= 32 * words:
            result.append((a, b))
    return result


@given(couples())
@settings(max_examples=examples(40), deadline=None)
def test_shared_factors(device: Device, values: list[tuple[Fraction, Fraction]]) -> None:
    check(device, [a for a, _ in values], [b for _, b in values])


def test_one_for_all(device: Device) -> None:
    many = [Fraction(n - 30, 2**40 + n) for n in range(70)]
    for one in ([Fraction(-3, 7)], [Fraction(2**90, 2**40 + 1)], [Fraction(0)]):
        check(device, one, [x or Fraction(5) for x in many])
        check(device, many, one)
        check(device, one, one)


def test_nothing_and_misfits(device: Device) -> None:
    check(device, [], [])
    for operation in OPERATIONS.values():
        with pytest.raises(ValueError, match=r"numbers in one operation$"):
            operation(device, put(device, [Fraction(1)] * 2), put(device, [Fraction(2)] * 3))


def test_results_are_as_short_as_they_can_be(device: Device) -> None:
    """A sum over the same denominators does not grow, however often it is taken."""
    batch = put(device, [Fraction(n, 2**127 - 1) for n in range(1, 41)])
    total = batch
    for _ in range(4):
        total = rational.add(device, total, batch)
    assert total[1].bits == 127
    assert total[0].width == 1
    assert ints_of(device, total[0]) == [5 * n for n in range(1, 41)]


@needs_nvcc
@pytest.mark.sample(1)
@pytest.mark.parametrize("words", rational.CLASSES)
def test_nvcc_compiles_it_without_spilling(words: int) -> None:
    options = ["-cubin", "-arch=sm_90", "-diag-suppress=177,186", "-Xptxas=-v"]
    said = nvcc(rational.SOURCE, *options, f"-DWORDS={words}")
    assert said.count(" 0 bytes stack frame, 0 bytes spill stores") == 2, said
