"""The pool of mixed computations: every operation by every size of team, against Python."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from benchmarks import mixed
from kernels.bignum.cuda import pool
from kernels.bignum.cuda.transfer import Transfer
from kernels.bignum.numbers import Numbers, from_ints, to_ints
from kernels.bignum.plan import BUDGET, Operations, PoolLaunch, PoolOperation, choose
from kernels.targets.contract import BackendUnavailableError
from kernels.targets.cuda.device import Device, DeviceInfo
from tests.emulation import EmulatedDevice
from tests.kernels.row_numbers import (
    DIVISIONS,
    expected,
    integers,
    ints_of,
    rows_of,
    run_pool,
)
from tests.nvcc import needs_nvcc, nvcc
from tests.quick import examples

ALL = 15  # kinds
TEAMS = range(4)  # levels, by the size of teams
# Words of shared memory: for all, for some, for none.
BUDGETS = (BUDGET, 600, 0)


@cache
def device(order: str = "forward") -> EmulatedDevice:
    return EmulatedDevice(order=order)


def check(
    on: Device,
    operations: Operations | PoolOperation,
    a: Sequence[int],
    b: Sequence[int],
    params: PoolLaunch | None = None,
    **places: int,
) -> None:
    count = next((len(x) for x in (a, b) if len(x) != 1), 1)
    first, second = pool.run(
        on, operations, rows_of(on, a, **places), rows_of(on, b, **places), params=params
    )
    codes = [operations] * count if isinstance(operations, PoolOperation) else operations.tolist()
    pairs = zip(codes, (a * count)[:count], (b * count)[:count], strict=True)
    wanted = [expected(PoolOperation(code), x, y) for code, x, y in pairs]
    assert ints_of(on, first) == [w[0] for w in wanted]
    asked = [operations] if isinstance(operations, PoolOperation) else codes
    assert (second is not None) == (PoolOperation.DIVMOD in asked)
    if second is not None:
        assert ints_of(on, second) == [w[1] for w in wanted]


def params(level: int, budget: int = BUDGET, kinds: int = ALL) -> PoolLaunch:
    return PoolLaunch(kinds, level, budget, 3, 1 << level)


def divisors(operation: PoolOperation, values: Sequence[int]) -> list[int]:
    return [v or 1 for v in values] if operation in DIVISIONS else list(values)


# Numbers in which carries, borrows and quotient digits go wrong easily.
def hurting(bits: int, rng: random.Random) -> list[int]:
    values = [0, 1, (1 << bits) - 1, 1 << bits, (1 << bits) + 1, (1 << bits // 2) - 1]
    values += [(1 << bits) - (1 << bits // 2), (1 << bits) - (1 << 32), rng.getrandbits(bits)]
    values += [rng.getrandbits(rng.randrange(1, bits + 1)) for _ in range(4)]
    return [v if rng.random() < 0.6 else -v for v in values]


@pytest.mark.sample(8)
@pytest.mark.parametrize("operation", PoolOperation)
@pytest.mark.parametrize("level", TEAMS)
def test_emulated(operation: PoolOperation, level: int) -> None:
    rng = random.Random(level)
    a = [v for bits in (31, 96, 300, 1030) for v in hurting(bits, rng)]
    b = [v for bits in (64, 256, 32, 1000) for v in hurting(bits, rng)]
    b = divisors(operation, b)
    for budget in BUDGETS:
        check(device(), operation, a, b, params(level, budget))
    check(device(), operation, a[:33], divisors(operation, a[:33]), params(level))  # equal


@pytest.mark.parametrize("order", ["reverse", "shuffled:1", "shuffled:2"])
def test_emulated_in_other_orders(order: str) -> None:
    rng = random.Random(order)
    a, b = ([rng.getrandbits(rng.randrange(1, 900)) for _ in range(80)] for _ in range(2))
    codes = np.array([rng.randrange(len(PoolOperation)) for _ in a], np.uint8)
    for level in TEAMS:
        check(device(order), codes, a, [v or 1 for v in b], params(level))


@st.composite
def workloads(draw: st.DrawFn, bits: int) -> tuple[list[int], list[int], list[int]]:
    count = draw(st.integers(1, 40))
    codes = draw(st.lists(st.sampled_from(list(PoolOperation)), min_size=count, max_size=count))
    a, b = (draw(st.lists(integers(bits), min_size=count, max_size=count)) for _ in range(2))
    b = [x if draw(st.integers(0, 9)) == 0 else y for x, y in zip(a, b, strict=True)]
    b = [1 if c in DIVISIONS and not y else y for c, y in zip(codes, b, strict=True)]
    return codes, a, b


@settings(max_examples=examples(40))
@given(workloads(1400), st.sampled_from(TEAMS), st.sampled_from(BUDGETS))
# The quotient digit estimated from three words is one too large.
@example(([PoolOperation.DIVMOD], [(1 << 127) - 1 << 64], [(1 << 127) + (1 << 96) - 1]), 0, BUDGET)
# Leading bits that agree, and quotients that no 31 bits hold.
@example(([PoolOperation.GCD], [(1 << 70) + 1], [(1 << 202) + 1]), 0, BUDGET)
@example(([PoolOperation.GCD], [(1 << 1200) + 1], [(1 << 1200) - 1]), 3, BUDGET)
def test_any_workload(
    workload: tuple[list[int], list[int], list[int]], level: int, budget: int
) -> None:
    codes, a, b = workload
    check(device(), np.array(codes, np.uint8), a, b, params(level, budget))


@settings(max_examples=examples(15))
@given(workloads(400))
def test_what_the_library_chooses(workload: tuple[list[int], list[int], list[int]]) -> None:
    codes, a, b = workload
    check(device(), np.array(codes, np.uint8), a, b)


@settings(max_examples=examples(25))
@given(
    st.sampled_from(list(PoolOperation)),
    st.lists(integers(300), min_size=1, max_size=40),
    integers(300),
    st.booleans(),
)
def test_one_operand_for_all(
    operation: PoolOperation, many: list[int], one: int, left: bool
) -> None:
    if left:
        check(device(), operation, [one], divisors(operation, many))
    else:
        check(device(), operation, many, divisors(operation, [one]))


@pytest.mark.parametrize(("gap", "zeros"), [(1, 0), (2, 1), (3, 5)])
def test_words_lie_anywhere(gap: int, zeros: int) -> None:
    rng = random.Random(gap)
    a, b = (hurting(200, rng) + hurting(64, rng) for _ in range(2))
    codes = np.arange(len(a), dtype=np.uint8) % len(PoolOperation)
    check(device(), codes, a, [v or 1 for v in b], gap=gap, zeros=zeros)


def test_fibonacci_numbers() -> None:
    """Quotients of Fibonacci numbers are all 1: the longest gcd, and the most steps at once."""
    a, b = 1, 1
    pairs = []
    for _ in range(1300):
        a, b = a + b, a
        pairs.append((a, b))
    for level in TEAMS:
        chosen = pairs[level::41]
        check(device(), PoolOperation.GCD, *map(list, zip(*chosen, strict=True)), params(level))


def test_more_computations_than_a_block_scans() -> None:
    """Every size class, and more of one than a warp has lanes."""
    rng = random.Random(3)
    a = [rng.getrandbits(32 * rng.randrange(1, 40)) for _ in range(700)] + [5] * 100
    b = [rng.getrandbits(32 * rng.randrange(1, 40)) for _ in range(700)] + [7] * 100
    check(device(), PoolOperation.MULTIPLY, a, b)
    check(device(), PoolOperation.ADD, a, b)


# --- bad input, and none ----------------------------------------------------------


def test_division_by_zero_names_the_first() -> None:
    a, b = [7] * 50, [3] * 50
    b[41] = b[17] = 0
    for operation in DIVISIONS:
        with pytest.raises(ZeroDivisionError, match=r"index 17$"):
            check(device(), operation, a, b)
    with pytest.raises(ZeroDivisionError, match=r"index 0$"):
        check(device(), PoolOperation.MOD, a, [0])


@pytest.mark.parametrize("operation", PoolOperation)
def test_no_computations(operation: PoolOperation) -> None:
    check(device(), operation, [], [])
    check(device(), operation, [5], [])


def test_bad_arguments() -> None:
    on = device()
    two, three = rows_of(on, [1, 2]), rows_of(on, [1, 2, 3])
    with pytest.raises(ValueError, match="do not match: 2, 3"):
        pool.run(on, PoolOperation.ADD, two, three)
    with pytest.raises(ValueError, match="do not match: 2, 2 and 3"):
        pool.run(on, np.zeros(3, np.uint8), two, two)
    with pytest.raises(ValueError, match="the code 8"):
        pool.run(on, np.array([0, 8], np.uint8), two, two)
    with pytest.raises(ValueError, match="uint8"):
        pool.run(on, np.zeros(2, np.int64), two, two)
    with pytest.raises(MemoryError):
        pool.run(EmulatedDevice(memory=1 << 12), PoolOperation.ADD, two, two)


# --- from and to the host -----------------------------------------------------------


@settings(max_examples=examples(20))
@given(workloads(400))
def test_from_and_to_the_host(workload: tuple[list[int], list[int], list[int]]) -> None:
    codes, a, b = workload
    operations = np.array(codes, np.uint8)
    results, remainders = run_pool(device(), operations, from_ints(a), from_ints(b))
    wanted = [expected(PoolOperation(c), x, y) for c, x, y in zip(codes, a, b, strict=True)]
    assert to_ints(results) == [w[0] for w in wanted]
    if remainders is not None:
        assert to_ints(remainders) == [w[1] for w in wanted]


def test_parts_of_batches() -> None:
    """Numbers that are views: equally wide, every other, one for all."""
    words = np.arange(1, 41, dtype=np.uint64)
    a = Numbers(words, 10, 4, 4)
    b = a.take(slice(0, 10, 2)).take(np.array([4, 1, 0, 3, 2, 2, 1, 0, 4, 3]))
    one = Numbers(words, 1, 2).repeat(10)
    codes = np.full(10, PoolOperation.MULTIPLY, np.uint8)
    for x, y in ((a, b), (b, one), (one, a)):
        results, _ = run_pool(device(), codes, x, y)
        assert to_ints(results) == [i * j for i, j in zip(to_ints(x), to_ints(y), strict=True)]


# --- the choice -----------------------------------------------------------------------


def test_few_computations_get_large_teams() -> None:
    info = DeviceInfo("", 132, 1 << 30, (9, 0), None)
    levels = [choose(4, n, info).lowest for n in (1, 3000, 10_000, 30_000, 10**6)]
    assert levels == sorted(levels, reverse=True)
    assert (levels[0], levels[-1]) == (3, 0)
    assert choose(8, 10**6, info).shared == 0
    for kinds in range(1, 16):
        assert choose(kinds, 1, info).kinds & kinds == kinds


@needs_nvcc
@pytest.mark.parametrize(
    "kinds", [8, *(pytest.param(kinds, marks=pytest.mark.slow) for kinds in (12, 15))]
)
def test_nvcc_compiles(kinds: int) -> None:
    nvcc(pool.SOURCE, "-arch=sm_75", "-cubin", f"-DKINDS={kinds}")


def test_the_benchmark_refuses_emulation() -> None:
    with pytest.raises(BackendUnavailableError, match="emulated"):
        mixed.measure(device(), 100, [8])


def test_the_benchmarks_numbers() -> None:
    rng = np.random.default_rng(1)
    words = mixed.lengths(8, 0.5, 1000, rng)
    assert words.min() >= 1
    assert abs(words.mean() - 8) < 0.5
    a, b = (mixed.numbers(words, rng) for _ in range(2))
    bits = np.array([v.bit_length() for v in to_ints(a)])
    assert (bits <= 32 * words).all()
    assert (bits > 32 * words - 32).all()
    for operation in mixed.OPERATIONS:
        mixed.check(device(), Transfer(device()), operation, a.take(slice(50)), b.take(slice(50)))


# --- on a GPU ---------------------------------------------------------------------------


@pytest.mark.gpu
@pytest.mark.parametrize("level", [None, *TEAMS])
def test_on_a_gpu(level: int | None) -> None:
    from kernels.targets.cuda.target import CudaDevice

    on = CudaDevice()
    rng = random.Random(level)
    for bits in (70, 1000, 5000, 70_000 if level in (None, 3) else 9000):
        count = 8000 if bits < 3000 else 400
        a = [rng.getrandbits(rng.randrange(1, bits)) for _ in range(count)] + hurting(bits, rng)
        b = [rng.getrandbits(rng.randrange(1, bits)) for _ in range(count)] + hurting(bits, rng)
        a = [v if rng.random() < 0.6 else -v for v in a]
        codes = np.array([rng.randrange(len(PoolOperation)) for _ in a], np.uint8)
        forced = (
            None
            if level is None
            else PoolLaunch(ALL, level, BUDGET, 6 * on.info.multiprocessors, 8)
        )
        check(on, codes, a, [v or 1 for v in b], forced)
        for operation in PoolOperation:
            check(on, operation, a[-999:], [v or 1 for v in b[-999:]])
