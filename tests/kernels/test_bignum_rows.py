"""Operations on batches of mixed lengths, against Python's integers."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.bignum import plan
from kernels.bignum.costs import LONG_COSTS, LongCosts
from kernels.bignum.cuda import long_rows, rows
from kernels.bignum.cuda.layouts import Rows
from kernels.bignum.numbers import Indices, from_ints, to_ints
from kernels.bignum.plan import PoolOperation
from kernels.targets.cuda.device import Device
from tests.emulation import EmulatedDevice
from tests.kernels import slab_numbers
from tests.kernels.row_numbers import expected, integers, ints_of, rows_of, run_pool
from tests.quick import examples

OPERATIONS: dict[Callable[[Device, Rows, Rows], Rows], Callable[[int, int], int]] = {
    rows.add: lambda a, b: a + b,
    rows.subtract: lambda a, b: a - b,
    rows.multiply: lambda a, b: a * b,
    rows.floordiv: lambda a, b: a // b,
    rows.mod: lambda a, b: a % b,
    rows.gcd: math.gcd,
}


@cache
def device() -> EmulatedDevice:
    return EmulatedDevice()


def check_all(on: Device, a: Sequence[int], b: Sequence[int]) -> None:
    x, y = rows_of(on, a), rows_of(on, b)
    count = next((len(v) for v in (a, b) if len(v) != 1), 1)
    pairs = list(zip((list(a) * count)[:count], (list(b) * count)[:count], strict=True))
    for operation, obvious in OPERATIONS.items():
        assert ints_of(on, operation(on, x, y)) == [obvious(*p) for p in pairs], operation
    quotients, remainders = rows.divmod(on, x, y)
    assert ints_of(on, quotients) == [p // q for p, q in pairs]
    assert ints_of(on, remainders) == [p % q for p, q in pairs]
    assert rows.compare(on, x, y).tolist() == [(p > q) - (p < q) for p, q in pairs]


@settings(max_examples=examples(10))
@given(st.lists(st.tuples(integers(500), integers(500)), min_size=1, max_size=40))
def test_emulated(pairs: list[tuple[int, int]]) -> None:
    check_all(device(), [a for a, _ in pairs], [b or 1 for _, b in pairs])


def test_one_for_all() -> None:
    check_all(device(), [-7], [3, -(2**70), 5])
    check_all(device(), [2**99 - 1, 0, -5], [-(2**33)])
    check_all(device(), [5], [-3])


def test_an_operand_with_itself() -> None:
    on = device()
    values = [0, 1, -1, 2**64 - 1, -(2**100), 3**200]
    x = rows_of(on, values)
    assert ints_of(on, rows.subtract(on, x, x)) == [0] * len(values)
    assert ints_of(on, rows.multiply(on, x, x)) == [v * v for v in values]
    assert ints_of(on, rows.gcd(on, x, x)) == [abs(v) for v in values]
    assert ints_of(on, x) == values


def test_results_are_operands() -> None:
    on = device()
    values = [3**k * (-1) ** k for k in range(0, 300, 7)]
    total, wanted = rows_of(on, values), list(values)
    for _ in range(5):
        total = rows.add(on, rows.multiply(on, total, rows_of(on, [-3])), rows_of(on, values))
        wanted = [-3 * w + v for w, v in zip(wanted, values, strict=True)]
    assert ints_of(on, total) == wanted
    assert total.total <= sum(-(-abs(w).bit_length() // 32) for w in wanted)


@settings(max_examples=examples(20))
@given(st.lists(integers(200), max_size=70), st.integers(0, 3), st.integers(0, 2))
def test_bit_lengths_and_signs(values: list[int], gap: int, zeros: int) -> None:
    x = rows_of(device(), values, gap=gap, zeros=zeros)
    assert rows.bit_length(device(), x).tolist() == [v.bit_length() for v in values]
    assert rows.sign(device(), x).tolist() == [(v > 0) - (v < 0) for v in values]


@settings(max_examples=examples(20))
@given(st.lists(integers(1100), max_size=70), st.integers(0, 3), st.integers(0, 2))
def test_to_slabs_and_back(values: list[int], gap: int, zeros: int) -> None:
    on = device()
    slabs = rows.slabs_from_rows(on, rows_of(on, values, gap=gap, zeros=zeros))
    assert slab_numbers.ints_of(on, slabs) == values
    assert slabs.bits == max((v.bit_length() for v in values), default=0)
    assert ints_of(on, rows.rows_from_slabs(on, slabs)) == values


@settings(max_examples=examples(12))
@given(
    st.lists(st.tuples(integers(3000), integers(3000)), min_size=1, max_size=6),
    st.integers(0, 2),
    st.booleans(),
)
def test_long_ones_among_short(pairs: list[tuple[int, int]], single: int, all_short: bool) -> None:
    """Take numbers of ten words for long: sums by many warps, transforms, the host."""
    a, b = [a for a, _ in pairs], [b or 1 for _, b in pairs]
    a, b = a[:1] if single == 1 else a, b[:1] if single == 2 else b
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(long_rows, "LONG_COSTS", LongCosts(*[1000 if all_short else 10] * 3, 64))
        check_all(device(), a, b)


def test_products_too_long_for_transforms() -> None:
    on = device()
    a, b = [5, -(2**900) + 1, 7], [3, 2**800 - 1, 2**700]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(long_rows, "LONG_COSTS", replace(LONG_COSTS, product=1))
        patch.setattr(plan, "MAX_WORDS", 50)
        found = rows.multiply(on, rows_of(on, a), rows_of(on, b))
    assert ints_of(on, found) == [x * y for x, y in zip(a, b, strict=True)]


def test_a_pool_with_long_ones() -> None:
    rng = random.Random(5)
    a, b = ([rng.getrandbits(rng.choice([40, 900])) + 1 for _ in range(40)] for _ in range(2))
    codes = np.array([rng.randrange(len(PoolOperation)) for _ in a], np.uint8)
    on = device()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(long_rows, "LONG_COSTS", LongCosts(10, 10, 10, 64))
        results, remainders = run_pool(on, codes, from_ints(a), from_ints(b))
    wanted = [expected(PoolOperation(c), x, y) for c, x, y in zip(codes, a, b, strict=True)]
    assert remainders is not None
    assert to_ints(results) == [w[0] for w in wanted]
    assert to_ints(remainders) == [w[1] for w in wanted]


def test_what_is_long() -> None:
    lengths = np.array([0, 1, 2000, 2048, 1 << 14, 1 << 20])
    shorter = np.minimum(lengths, 5000)

    def which(operation: PoolOperation, a: Indices, b: Indices) -> list[bool]:
        return plan.which_are_long(np.full(len(a), operation, np.uint8), a, b).tolist()

    assert which(PoolOperation.ADD, lengths, shorter) == [False] * 5 + [True]
    assert which(PoolOperation.MULTIPLY, shorter, lengths) == [False] * 3 + [True] * 3
    assert which(PoolOperation.MOD, lengths, shorter) == [False] * 3 + [True] * 3
    assert not any(which(PoolOperation.COMPARE, lengths, lengths))
    many = np.full(1000, 5000)  # a warp each is quicker than the host
    assert not any(which(PoolOperation.GCD, many, many))
    assert all(which(PoolOperation.MULTIPLY, many, many))


def test_division_by_zero() -> None:
    x, y = rows_of(device(), [1, 2, 3]), rows_of(device(), [5, 0, 0])
    for operation in (rows.divmod, rows.floordiv, rows.mod):
        with pytest.raises(ZeroDivisionError, match=r"index 1$"):
            operation(device(), x, y)


@pytest.mark.gpu
def test_on_a_gpu() -> None:
    from kernels.targets.cuda.target import CudaDevice

    on = CudaDevice()
    rng = random.Random(1)
    for bits, count in ((500, 20_000), (20_000, 200), (100_000, 20), (300_000, 2)):
        a, b = (
            [rng.getrandbits(rng.randrange(1, bits)) - (1 << bits // 2) for _ in range(count)]
            for _ in range(2)
        )
        check_all(on, a, [v or 1 for v in b])
        slabs = rows.slabs_from_rows(on, rows_of(on, a))
        assert ints_of(on, rows.rows_from_slabs(on, slabs)) == a
