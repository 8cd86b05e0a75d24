"""Several engines as one: those of the CPU, emulated devices, GPUs."""

from __future__ import annotations

import random
import threading
import time
from functools import cache, partial
from itertools import pairwise
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.cky import Batch, Cky, Rules
from kernels.cky.cpu.engine import CpuCky
from kernels.cky.cuda.engine import CudaCky
from kernels.cky.cuda.sparse import SparseColumns
from kernels.cky.dispatch import each_part, unless
from kernels.cky.plan import parts, worth_a_part
from kernels.cky.ref import ReferenceCky
from kernels.cky.several import SeveralCky
from kernels.cky.weighted import INSIDE, VITERBI, WeightedCky, Weights, primes
from kernels.cky.weighted.cuda.engine import CudaWeighted
from kernels.cky.weighted.ref import ReferenceWeighted
from kernels.cky.weighted.several import SeveralWeighted
from kernels.targets.cpu import CpuTarget, levels
from kernels.targets.cuda.device import Device
from tests import quick
from tests.cky_contract import CkyContract, Make, random_rules, random_strings, small_cases
from tests.emulation import EmulatedDevice
from tests.interrupts import assert_threads_end, interrupted_after

built = pytest.mark.skipif(not levels(), reason="the extension is not built")
RULES = Rules.make(4, 2, [(0, 0, 0), (0, 1, 3), (3, 0, 2), (0, 1, 2)], [(1, 0), (2, 1)])


@cache
def devices(name: str) -> list[Device]:
    if name == "cuda":
        return gpus()
    return [cast(Device, EmulatedDevice(order=f"shuffled:{n}")) for n in range(int(name))]


def gpus() -> list[Device]:
    from kernels.targets.contract import BackendUnavailableError
    from kernels.targets.cuda.target import CudaDevice

    try:
        return [CudaDevice(0), CudaDevice(1)]
    except BackendUnavailableError as error:
        pytest.skip(str(error))


def of_references(count: int, rules: Rules = RULES, memory: int = 1 << 30) -> SeveralCky:
    return SeveralCky([ReferenceCky(rules, memory) for _ in range(count)])


class TestReferences(CkyContract):
    examples = 10
    counts = (1, 2, 40)
    symbols = (1, 9)
    lengths = (1, 8)

    @pytest.fixture(params=[1, 2, 3])
    def make(self, request: pytest.FixtureRequest) -> Make:
        def make(rules: Rules, memory: int = 1 << 30) -> Cky:
            return of_references(request.param, rules, memory)

        return make


@built
class TestCpus(CkyContract):
    examples = 10
    symbols = (2, 9)
    lengths = (1, 8, 33)

    @pytest.fixture
    def make(self, monkeypatch: pytest.MonkeyPatch) -> Make:
        def make(rules: Rules, memory: int = 1 << 28) -> Cky:
            engine = SeveralCky([CpuCky(CpuTarget(1), rules, memory) for _ in range(2)])
            monkeypatch.setattr(engine, "_least", 64)
            return engine

        return make


class TestDevices(CkyContract):
    examples = 2
    length = 5
    counts = (3, 1100)
    symbols = (2, 9)
    lengths = (1, 8)

    @pytest.fixture(params=["2", "3", pytest.param("cuda", marks=pytest.mark.gpu)])
    def make(self, request: pytest.FixtureRequest) -> Make:
        def make(rules: Rules, memory: int | None = None) -> Cky:
            return SeveralCky(
                [
                    CudaCky(on, rules, memory, SparseColumns(on, rules, threads=128))
                    for on in devices(request.param)
                ]
            )

        return make


# --- parts ------------------------------------------------------------------------


@given(st.lists(st.integers(0, 300), max_size=200), st.integers(2, 5), st.integers(1, 60))
def test_parts_cover_a_batch_and_become_smaller(
    lengths: list[int], engines: int, least: int
) -> None:
    n = np.array(lengths, np.int64)
    found = parts(n, engines, least)
    assert [i for part in found for i in range(*part)] == list(range(len(lengths)))
    assert all(start < stop for start, stop in found)
    assert len(found) <= 2 * engines + 2 * len(lengths) // least + 2
    equal = parts(np.full(1000, 7), engines, least)
    sizes = [stop - start for start, stop in equal]
    assert max(sizes) <= 1000 / engines + 1
    assert min(sizes) >= min(least, 1000 // engines) // 2
    assert all(a >= b for a, b in pairwise(sizes[:-1]))


def test_long_strings_are_dealt_out() -> None:
    """Long strings are parts of their own where a few of them are nearly all the work."""
    n = np.array([5] * 5000 + [400] * 8)
    assert [stop - start for start, stop in parts(n, 2, 1)][-4:] == [1] * 4
    assert len(parts(np.array([9]), 4, 100)) == 1
    assert len(parts(np.array([9, 9]), 4, 1)) == 2


def test_little_work_is_one_part() -> None:
    """Handing a part to a device takes longer than the part."""
    n = np.full(1000, 12)
    assert worth_a_part(n, 4, 0.0) == 1
    each = 12**3 / 6 * 4
    least = worth_a_part(n, 4, 1e6)
    assert (least - 1) * each <= 1e6 < (least + 1) * each
    assert len(parts(n, 4, worth_a_part(n, 4, 1e9))) == 1
    assert len(parts(n, 4, worth_a_part(n, 4, 1e3))) > 4
    assert worth_a_part(np.empty(0, np.int64), 4, 5.0) >= 1


def test_whoever_is_free_takes_the_next_part() -> None:
    """One waits until the other has done all the rest."""
    taken: dict[str, int] = {"slow": 0, "quick": 0}
    begun, rest = threading.Event(), threading.Event()

    def slow(start: int, stop: int) -> None:
        taken["slow"] += stop - start
        begun.set()
        assert rest.wait(60)

    def quick(start: int, stop: int) -> None:
        taken["quick"] += stop - start
        assert begun.wait(60)
        if taken["slow"] + taken["quick"] >= 99:  # the last one is for whoever had less
            rest.set()

    done: list[int] = []
    each_part([slow, quick], parts(np.full(100, 1), 2, 1), threading.Event(), done.append)
    assert sum(taken.values()) == 100
    assert taken["quick"] >= 70 > taken["slow"] > 0
    assert done == sorted(set(done))
    assert done[-1] == 100


@pytest.mark.parametrize("engines", [2, 3])
def test_an_engine_does_not_take_all_that_is_left(engines: int) -> None:
    """Its works end all at once, a moment before those of the others."""
    count = [0] * engines
    first, go = threading.Barrier(3 * engines), [threading.Event() for _ in range(engines)]

    def work(engine: int, start: int, stop: int) -> None:
        if start < 3 * engines:
            first.wait(60)
            count[engine] += 1
            if engine:  # ... until nothing is left that engine 0 would take
                assert go[0].wait(60)
        else:
            count[engine] += 1
            if engine == 0:
                time.sleep(0.1)
                go[0].set()

    of = [engine for _ in range(3) for engine in range(engines)]
    works = [partial(work, engine) for engine in of]
    pieces = [(i, i + 1) for i in range(4 * engines)]
    each_part(works, pieces, threading.Event(), None, of)
    assert count == [4] * engines


@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=12),
    st.lists(st.integers(0, 3), min_size=2, max_size=8),
    st.integers(0, 99),
)
@settings(max_examples=quick.examples(40), deadline=None)
def test_nothing_is_left(sizes: list[int], of: list[int], seed: int) -> None:
    """However large the pieces are, whichever engine takes them."""
    ends = np.cumsum([0, *sizes]).tolist()
    draw, done = random.Random(seed), list[tuple[int, int]]()

    def work(start: int, stop: int) -> None:
        time.sleep(0.002 * draw.random())
        done.append((start, stop))

    each_part([work] * len(of), pairwise(ends), threading.Event(), None, of)
    assert sorted(done) == list(pairwise(ends))


def test_each_work_has_a_thread_of_its_own() -> None:
    threads: dict[int, set[int]] = {0: set(), 1: set(), 2: set()}
    all_here = threading.Barrier(3)

    def work(of: int, start: int, stop: int) -> None:
        if start < 3:
            all_here.wait(60)
        threads[of].add(threading.get_ident())

    works = [partial(work, of) for of in range(3)]
    each_part(works, [(i, i + 1) for i in range(50)], threading.Event(), None)
    assert all(len(seen) == 1 for seen in threads.values())
    assert len(set.union(*threads.values())) == 3
    # A single piece needs none.
    each_part(works, [(3, 4)], threading.Event(), None)
    assert threading.get_ident() in threads[0]


def test_an_error_of_a_part_ends_the_others() -> None:
    ended, stop = [], threading.Event()
    look = unless(stop)

    def bad(start: int, end: int) -> None:
        raise MemoryError("of one device")

    def endless(start: int, end: int) -> None:
        try:
            while True:
                look(0)
        finally:
            ended.append(start)

    with pytest.raises(MemoryError, match="of one device"):
        each_part([bad, endless, endless], [(i, i + 1) for i in range(100)], stop, None)
    assert len(ended) <= 2


@given(st.integers(2, 3), small_cases(40, 8))
@settings(max_examples=quick.examples(30), deadline=None)
def test_the_same_as_one(count: int, drawn: tuple[Rules, list[list[int]]]) -> None:
    rules, strings = drawn
    batch, one, several = Batch.of(strings), ReferenceCky(rules), of_references(count, rules)
    np.testing.assert_array_equal(several.accept(batch, 0), one.accept(batch, 0))
    np.testing.assert_array_equal(several.longest(batch, 0), one.longest(batch, 0))


def test_an_interrupt_leaves_it_usable() -> None:
    engine = of_references(2)
    threads = threading.active_count()
    long = Batch.of([[0, 1] * 20] * 200)
    with pytest.raises(KeyboardInterrupt), interrupted_after(0.2):
        engine.accept(long, 0)
    assert_threads_end(threads)
    assert engine.accept(Batch.of([[0, 1], [0], [0, 1]]), 0).tolist() == [True, False, True]


# --- weights ----------------------------------------------------------------------


def weights(rules: Rules, draw: random.Random, dtype: Any) -> Weights:
    def row(count: int) -> Any:
        return np.array([draw.randrange(1, 9) for _ in range(count)], dtype)

    sizes = len(rules.binary), len(rules.units), len(rules.lexical), rules.symbols
    return Weights(*map(row, sizes))


@pytest.mark.parametrize("name", ["reference", "2", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_weights(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kernels.cky.weighted.several.LEAST", 3)
    draw = random.Random(name)
    rules = random_rules(draw, 4, 2, 12, 0, 4)
    engines: list[WeightedCky] = (
        [ReferenceWeighted(rules) for _ in range(3)]
        if name == "reference"
        else [CudaWeighted(on, rules, 1 << 25) for on in devices(name)]
    )
    one, several = engines[0], SeveralWeighted(engines)
    whole, floats = weights(rules, draw, object), weights(rules, draw, np.float64)
    for count in (0, 1, 25):
        batch = Batch.of(random_strings(draw, rules, count, 6))
        for symbol in (0, 3):
            np.testing.assert_array_equal(
                several.residues(batch, symbol, whole, primes(3)),
                one.residues(batch, symbol, whole, primes(3)),
            )
            for kind in (INSIDE, VITERBI):
                done: list[int] = []
                found = several.values(batch, symbol, floats, kind, done.append)
                np.testing.assert_array_equal(found, one.values(batch, symbol, floats, kind))
                assert done == sorted(done)
                assert (done or [0])[-1] == count
    string = np.array([0, 1, 0], np.uint32)
    np.testing.assert_array_equal(
        several.chart(string, floats, INSIDE), one.chart(string, floats, INSIDE)
    )
    assert several.max_length == one.max_length
