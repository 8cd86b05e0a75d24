"""Pairs with a common factor, found on a device, against the GCDs of all pairs."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.bignum.cuda.layouts import Slabs
from kernels.gcd import plan
from kernels.gcd.cuda import pairs
from kernels.targets.cuda.device import Device
from tests.emulation import EmulatedDevice
from tests.quick import examples


@pytest.fixture(
    scope="module",
    params=["forward", "shuffled:1", pytest.param("cuda", marks=pytest.mark.gpu)],
)
def device(request: pytest.FixtureRequest) -> Device:
    if request.param == "cuda":
        from kernels.targets.cuda.target import CudaDevice

        return CudaDevice()
    return EmulatedDevice(order=request.param)


def put(device: Device, values: list[int], bits: int = 0) -> Slabs:
    """bits: that there is room for, at least."""
    bits = max([bits, *(value.bit_length() for value in values)])
    width, slabs = max(1, -(-bits // 32)), -(-len(values) // 32)
    rows = np.zeros((slabs * 32, width), np.uint32)
    raw = b"".join(value.to_bytes(4 * width, "little") for value in values)
    rows[: len(values)] = np.frombuffer(raw, np.uint32).reshape(-1, width)
    words = np.ascontiguousarray(rows.reshape(-1, 32, width).transpose(0, 2, 1))
    buffer = device.alloc(words.nbytes)
    device.upload(buffer, words)
    return Slabs(buffer, len(values), bits)


def expected(moduli: list[int], others: list[int] | None = None) -> list[list[int]]:
    return [
        [i, j]
        for i, n in enumerate(moduli)
        for j, m in enumerate(others if others is not None else moduli)
        if (others is not None or i < j) and math.gcd(n, m) > 1
    ]


def check(
    device: Device, moduli: list[int], others: list[int] | None = None, bits: int = 0
) -> list[list[int]]:
    batch = None if others is None else put(device, others)
    found = pairs.shared_pairs(device, put(device, moduli, bits), batch)
    assert found.dtype == np.int64
    assert found.shape == (len(found), 2)
    assert found.tolist() == expected(moduli, others)
    return found.tolist()


def numbers_of(bits: int, count: int, primes: int = 0, seed: int = 1) -> list[int]:
    """Odd numbers that are free of small factors, but a few share one of `primes` long ones."""
    rng = random.Random(seed)
    small = math.prod(p for p in range(3, 2000, 2) if all(p % q for q in range(3, 45, 2) if q < p))

    def factor(length: int) -> int:
        while True:
            value = rng.getrandbits(length) | 1 | 1 << length - 1
            if math.gcd(value, small) == 1:
                return value

    shared = [factor(bits // 2) for _ in range(primes)]
    values = []
    for i in range(count):
        first = shared[rng.randrange(primes)] if primes and i % 11 == 3 else factor(bits // 2)
        values.append(first * factor(bits - bits // 2))
    return values


@pytest.mark.sample(3)
@pytest.mark.parametrize(("bits", "count"), [(64, 75), (512, 75), (1024, 40), (1500, 35)])
def test_moduli_that_share_primes(device: Device, bits: int, count: int) -> None:
    assert check(device, numbers_of(bits, count, primes=2))


def test_none_and_all_share_a_prime(device: Device) -> None:
    assert not check(device, [p for p in range(3, 600, 2) if all(p % q for q in range(2, p))])
    assert len(check(device, [3 * n for n in range(1, 131, 2)], bits=500)) == 65 * 64 // 2


@pytest.mark.parametrize("count", [0, 1, 2, 31, 32, 33, 64, 65])
def test_counts(device: Device, count: int) -> None:
    values = numbers_of(96, count, primes=1)
    check(device, values)
    check(device, values, [values[-1]] if values else [15])
    check(device, [15], values)
    check(device, values, [])


def test_numbers_of_other_lengths_and_kinds(device: Device) -> None:
    rng = random.Random(5)
    moduli = [1, 3, 1, 2**500 - 1, 2**499 + 1, *(rng.getrandbits(n) | 1 for n in range(1, 400, 9))]
    others = [0, 1, 2, 2**800, 2**800 - 1, 6, *(rng.getrandbits(n) for n in range(1, 900, 17))]
    check(device, moduli, others)
    check(device, moduli, bits=1000)
    check(device, [2**1024 - 1, 2**1024 - 3, 2**1024 - 15], [2**1024 - 1, 2**1024 - 2, 0])


def test_equal_moduli(device: Device) -> None:
    values = numbers_of(128, 40)
    found = check(device, values + values)
    assert found == [[i, i + 40] for i in range(40)]


@settings(max_examples=examples(25))
@given(
    st.lists(st.integers(0, 2**70).map(lambda n: 2 * n + 1), min_size=1, max_size=40),
    st.none() | st.lists(st.integers(0, 2**90), min_size=1, max_size=40),
)
def test_any_numbers(device: Device, moduli: list[int], others: list[int] | None) -> None:
    check(device, moduli, others)


def test_a_list_that_is_too_short_is_made_anew(
    device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pairs, "ROOM", 5)
    assert len(check(device, [3 * n for n in range(1, 141, 2)])) > 5


def test_slices_and_progress(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "SLICE", 200)
    values = numbers_of(96, 161, primes=3)
    told: list[tuple[int, int]] = []
    found = pairs.shared_pairs(
        device, put(device, values), progress=lambda *done: told.append(done)
    )
    assert found.tolist() == expected(values)
    assert told == [(0, 6), (1, 6), (2, 6), (3, 6), (4, 6), (5, 6), (6, 6)]

    def stop(done: int, _: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pairs.shared_pairs(device, put(device, values), progress=stop)


@pytest.mark.parametrize("cuts", [(0, 5), (0, 1, 5), (0, 2, 3, 3, 5)])
def test_searches_of_some_groups_each(device: Device, cuts: tuple[int, ...]) -> None:
    """Find together, in any order, what one finds, each of them in memory of its own."""
    moduli, others = numbers_of(96, 150, primes=2), numbers_of(96, 140, primes=2)
    ranges = [range(*bounds) for bounds in pairwise(cuts)]
    for batch in (None, others):
        found = []
        for groups in reversed(ranges):
            theirs = None if batch is None else put(device, batch)
            search = pairs.Search(device, put(device, moduli), theirs)
            assert search.groups == 5
            found.append(search.pairs(groups, lambda _: None))
        assert pairs.in_order(found).tolist() == expected(moduli, batch)
    assert pairs.in_order([]).shape == (0, 2)


def test_numbers_too_long_for_products(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "residue_shape", lambda bits: None)
    values = numbers_of(96, 70, primes=2)
    assert check(device, values)
    check(device, values, values[::-1])


def test_an_even_modulus_is_refused(device: Device) -> None:
    with pytest.raises(ValueError, match="modulus 34 is even"):
        pairs.shared_pairs(device, put(device, [7] * 34 + [6, 5, 4]))
    with pytest.raises(ValueError, match="modulus 0 is even"):
        pairs.shared_pairs(device, put(device, [0]), put(device, [3]))


def lengths() -> Iterable[int]:
    return [*range(1, 200), *range(200, 20000, 37), 1024, 2048, 3072, 4096, 8192, 16384]


def test_shapes() -> None:
    for bits in lengths():
        shape = plan.residue_shape(bits)
        assert shape is not None or bits > 8192
        if shape is None:
            continue
        assert shape.bits * shape.rows >= bits
        # A limb that comes in and the products that are added to it.
        assert 2**32 + (shape.rows + 1) * 2 ** (2 * shape.bits) < 2**63
        assert shape.limbs <= plan.THREAD_LIMBS
        assert shape.shared <= 48 << 10
    assert plan.residue_shape(1024) == plan.ResidueShape(28, 37, 1)
    assert plan.residue_shape(10**6) is None


@pytest.mark.gpu
@pytest.mark.parametrize("bits", [256, 1024, 2048, 4096, 6000, 10000])
def test_many_on_a_gpu(bits: int) -> None:
    from kernels.targets.cuda.target import CudaDevice

    values = numbers_of(bits, 400, primes=5)
    assert check(CudaDevice(), values)
    check(CudaDevice(), values[:150], values[100:])
