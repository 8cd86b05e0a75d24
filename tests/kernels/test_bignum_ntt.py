"""Products by transforms, against Python's."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.bignum import plan
from kernels.bignum.cuda import ntt, stretches
from kernels.targets.cuda.device import Device
from tests.emulation import EmulatedDevice
from tests.kernels.row_numbers import magnitudes
from tests.nvcc import needs_nvcc, nvcc
from tests.quick import examples

WORD = 1 << 32


@cache
def device(order: str = "forward") -> EmulatedDevice:
    return EmulatedDevice(order=order)


def words_of(value: int) -> list[int]:
    length = -(-value.bit_length() // 32)
    return np.frombuffer(value.to_bytes(4 * length, "little"), "<u4").tolist()


def value_of(words: Sequence[int]) -> int:
    return int.from_bytes(np.array(words, "<u4").tobytes(), "little")


def place(on: Device, numbers: Sequence[int]) -> tuple[list[tuple[int, int]], object]:
    """Return where each begins and how long it is, at odd distances."""
    words, places = [7], []
    for number in numbers:
        digits = words_of(number)
        places.append((len(words), len(digits)))
        words += [*digits, 0xDEAD]
    array = np.array(words, np.uint32)
    buffer = on.alloc(array.nbytes)
    on.upload(buffer, array)
    return places, buffer


def products(on: Device, a: Sequence[int], b: Sequence[int]) -> list[int]:
    (a_places, a_words), (b_places, b_words) = place(on, a), place(on, b)
    table, at = [], 3
    for x, y in zip(a_places, b_places, strict=True):
        table.append([*x, *y, at, x[1] + y[1]])
        at += x[1] + y[1] + 1
    found = np.full(at, 0xC0FFEE, np.uint32)
    words = on.alloc(found.nbytes)
    on.upload(words, found)
    lengths = ntt.multiply(on, a_words, b_words, np.array(table, np.uint64), words)
    on.download(found, words)
    used = np.zeros(at, np.bool_)
    values = []
    for (*_, start, room), length in zip(table, lengths.tolist(), strict=True):
        used[start : start + room] = True
        assert length <= room
        assert not found[start + length : start + room].any()
        values.append(value_of(found[start : start + length].tolist()))
        assert values[-1].bit_length() > 32 * (length - 1)
    assert (found[~used] == 0xC0FFEE).all(), "a write between the products"
    return values


@settings(max_examples=examples(15))
@given(st.lists(st.tuples(magnitudes(6000), magnitudes(6000)), min_size=1, max_size=4))
def test_emulated(pairs: list[tuple[int, int]]) -> None:
    assert products(device(), *zip(*pairs, strict=True)) == [x * y for x, y in pairs]


@pytest.mark.parametrize("bits", [16, 31, 500, 4096, 33_000])
def test_emulated_extremes(bits: int) -> None:
    """Operands that are all ones make the largest sums, and carries through all stretches."""
    ones = (1 << bits) - 1
    a, b = [ones, ones, 1 << bits, ones - 1, 0], [ones, (1 << bits) + 1, ones, 3, ones]
    assert products(device(), a, b) == [x * y for x, y in zip(a, b, strict=True)]


@pytest.mark.parametrize("order", ["reverse", "shuffled:1"])
def test_emulated_in_other_orders(order: str) -> None:
    rng = random.Random(order)
    a, b = rng.getrandbits(9000), rng.getrandbits(4000)
    assert products(device(order), [a], [b]) == [a * b]


def test_the_roots() -> None:
    fine, coarse = ntt.root_tables().reshape(2, -1).tolist()
    p = ntt.MODULUS
    assert pow(fine[1], 1 << 22, p) == 1
    assert pow(fine[1], 1 << 21, p) == p - 1
    assert fine[-1] * fine[1] % p == coarse[1]
    assert all(x * coarse[1] % p == y for x, y in pairwise(coarse))


def test_the_choice_fits_shared_memory() -> None:
    for words in [*range(1, 70), *(1 << k for k in range(6, 22)), plan.MAX_WORDS]:
        chosen = plan.transforms_for(words)
        assert 1 << chosen.n_log >= 2 * words
        assert chosen.n_log <= plan.MAX_LOG
        assert 8 * chosen.apart << chosen.n1_log <= 48 << 10
        assert 16 << chosen.n2_log <= 48 << 10
        assert (1 << chosen.n2_log) % chosen.apart == 0
    with pytest.raises(ValueError, match="too long"):
        plan.transforms_for(plan.MAX_WORDS + 1)
    # The largest sum of products of digits is below the modulus.
    assert (1 << plan.MAX_LOG - 1) * (2**16 - 1) ** 2 < ntt.MODULUS


# --- sums by stretches --------------------------------------------------------------


def sums(
    on: Device, a: Sequence[int], b: Sequence[int], subtract: bool, stretch: int
) -> list[tuple[int, int]]:
    """Values and the words that each had room for."""
    (a_places, a_words), (b_places, b_words) = place(on, a), place(on, b)
    table, at = [], 0
    for x, y in zip(a_places, b_places, strict=True):
        room = max(x[1], y[1]) + 1
        table.append([*x, *y, at, room])
        at += room
    words = on.alloc(4 * at)
    minus = np.full(len(table), subtract)
    lengths = stretches.add(on, a_words, b_words, np.array(table, np.uint64), minus, words, stretch)
    found = np.empty(at, np.uint32)
    on.download(found, words)
    return [
        (value_of(found[start : start + length].tolist()), room)
        for (*_, start, room), length in zip(table, lengths.tolist(), strict=True)
    ]


@settings(max_examples=examples(25))
@given(
    st.lists(st.tuples(magnitudes(9000), magnitudes(9000)), min_size=1, max_size=4),
    st.booleans(),
    st.sampled_from([32, 64, 1024]),
)
def test_sums_by_stretches(pairs: list[tuple[int, int]], subtract: bool, stretch: int) -> None:
    found = sums(device(), *zip(*pairs, strict=True), subtract, stretch)
    for (x, y), (value, room) in zip(pairs, found, strict=True):
        assert value == (x - y if subtract else x + y) % (1 << 32 * room)


def test_carries_through_many_stretches() -> None:
    ones = (1 << 32 * 3000) - 1
    for x, y in ((ones, 1), (1 << 32 * 3000, 1), (ones, ones), (1, ones)):
        for stretch in (32, 1024):
            ((value, _),) = sums(device(), [x], [y], False, stretch)
            assert value == x + y
            ((value, room),) = sums(device(), [x], [y], True, stretch)
            assert value == (x - y) % (1 << 32 * room)


@needs_nvcc
@pytest.mark.parametrize("source", [ntt.SOURCE, stretches.SOURCE], ids=lambda path: path.stem)
def test_nvcc_compiles(source: Path) -> None:
    nvcc(source, "-arch=sm_75", "-cubin")


# --- on a GPU -----------------------------------------------------------------------


@pytest.mark.gpu
def test_on_a_gpu() -> None:
    from kernels.targets.cuda.target import CudaDevice

    gmpy2 = pytest.importorskip("gmpy2")
    on = CudaDevice()
    rng = random.Random(1)
    for bits in (1000, 2**15, 2**17, 2**20 - 1, 2**22 + 5, 2**25):
        a, b = rng.getrandbits(bits), (1 << bits) - 1
        found = products(on, [a, b], [b, b])
        assert found == [int(gmpy2.mpz(x) * y) for x, y in ((a, b), (b, b))]
        ((value, _),) = sums(on, [b], [1], False, stretches.STRETCH)
        assert value == 1 << bits
