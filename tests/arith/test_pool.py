"""Pool: mixed operations and lengths at once, on the CPU and on an emulated device."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arith import IntArray, Pool, engines
from arith.memory import NotEnoughMemoryError
from arith.pool import OPERATIONS
from kernels.bignum.costs import LONG_COSTS
from kernels.bignum.cuda import long_rows, ntt
from kernels.bignum.cuda.engine import DeviceArithmetic
from tests.emulation import EmulatedDevice
from tests.quick import examples
from tests.strategies import integers_that_hurt

numbers = integers_that_hurt(300)
batches = st.lists(
    st.tuples(st.sampled_from(OPERATIONS), st.lists(st.tuples(numbers, numbers), max_size=5)),
    max_size=4,
)
EXPECTED: dict[str, Callable[[int, int], int]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "gcd": math.gcd,
}


@pytest.fixture(scope="module", params=["host", "cuda"])
def place(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module", autouse=True)
def _emulated() -> object:
    device = DeviceArithmetic(EmulatedDevice())
    with pytest.MonkeyPatch.context() as patch:
        real = engines.named
        patch.setattr(engines, "named", lambda name: device if name == "cuda" else real(name))
        yield


@given(batches, numbers)
@settings(max_examples=examples(15))
def test_mixed_work(place: str, work: list[tuple[str, list[tuple[int, int]]]], scalar: int) -> None:
    pool = Pool(place)
    waiting = []
    for operation, pairs in work:
        pairs = [(a, b or 3) for a, b in pairs]
        a, b = [a for a, _ in pairs], [b for _, b in pairs]
        waiting.append((pool.submit(operation, a, b), [EXPECTED[operation](*p) for p in pairs]))
        expected = [EXPECTED[operation](scalar, y) for y in b]
        waiting.append((pool.submit(operation, scalar, IntArray(b)), expected))
    assert len(pool) == sum(len(expected) for _, expected in waiting)
    pool.run()
    assert len(pool) == 0
    for results, expected in waiting:
        assert len(results) == len(expected)
        assert results.get().to_ints() == expected


def test_operands_that_lie_on_the_device(place: str) -> None:
    a, b = IntArray([2**90, -5]).to(place), IntArray([7, 3])
    pool = Pool(place)
    results = pool.submit("mod", a, b)
    pool.run()
    assert results.get().to_ints() == [2**90 % 7, 1]
    assert results.get().place == ("host" if place == "host" else "device")


def test_what_is_refused(place: str) -> None:
    pool = Pool(place)
    with pytest.raises(ValueError, match="unknown operation 'power': one of add, "):
        pool.submit("power", [1], [2])
    with pytest.raises(ZeroDivisionError, match="division by zero at index 1"):
        pool.submit("floordiv", [1, 2], [1, 0])
    with pytest.raises(ValueError, match="different lengths"):
        pool.submit("add", [1, 2], [1])
    assert len(pool) == 0
    with pytest.raises(RuntimeError, match="has not run yet"):
        pool.submit("add", [1], [2]).get()


def test_what_waits_together_needs_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arith.memory._SMALL", 1 << 10)
    monkeypatch.setattr("arith.memory.available_memory", lambda: 5 << 15)
    pool = Pool()
    ragged, long = IntArray([1 << (1 << 19), *[3] * 99]), 1 << (1 << 18)
    short = pool.submit("multiply", ragged, 3)  # of 64 KiB, though the bound is 100 times more
    with pytest.raises(NotEnoughMemoryError, match="the pool needs about") as caught:
        pool.submit("multiply", [long, long], long)
    assert caught.value.needed > caught.value.available == 5 << 15
    assert len(pool) == 100
    pool.run()
    assert short.get().equals(ragged * 3)
    assert len(pool.submit("multiply", [long], long)) == 1


def test_long_numbers_are_transformed(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    real = ntt.multiply
    monkeypatch.setattr(long_rows, "LONG_COSTS", replace(LONG_COSTS, product=10))
    monkeypatch.setattr(ntt, "multiply", lambda *args: calls.append(args) or real(*args))
    pool = Pool("cuda")
    results = pool.submit("multiply", [3**400, 5], [7**400, 11])
    pool.run()
    assert results.get().to_ints() == [3**400 * 7**400, 55]
    assert len(calls) == 1
