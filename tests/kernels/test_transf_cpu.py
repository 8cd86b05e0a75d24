"""The compiled enumeration of semigroups: by the contract, and what only it has."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.cpu import CpuBackend, levels
from kernels.reference import ReferenceBackend
from kernels.transf import Enumerator, Problem, Tables, Transf, image_dtype, transf_for
from kernels.transf.cpu import CpuTransf
from kernels.transf.hashing import HashKey, row_stride
from kernels.transf.tables import check_tables
from semigroups.families import Family
from tests.transf_contract import TransfContract
from tests.transf_contract.cases import ALL, check_state, family, padded, run
from tests.transf_model import assert_equal_tables, expected, make_problem

pytestmark = pytest.mark.skipif(not levels(), reason="the CPU kernels are not built")


class TestCpu(TransfContract):
    """On one thread of the best level, and on three of the least."""

    examples = 15

    @pytest.fixture(params=[(1, -1), (3, 0)], ids=["best", "threads"])
    def transf(self, request: pytest.FixtureRequest) -> Transf:
        threads, level = request.param
        return CpuTransf(CpuBackend(threads, levels()[level]))


def ways() -> Iterator[CpuTransf]:
    for level in levels():
        for threads in (1, 2, 5):
            yield CpuTransf(CpuBackend(threads, level))


def test_of_a_backend() -> None:
    assert isinstance(transf_for(CpuBackend(1)), CpuTransf)
    with pytest.raises(TypeError, match="reference"):
        CpuTransf.of(ReferenceBackend())


def check_products(enumerator: Enumerator) -> None:
    """All that tables say, by maps: numbers are in order, and products are what they should be."""
    problem, tables = enumerator.problem, enumerator.tables()
    check_tables(problem, tables)
    maps = enumerator.maps(np.arange(enumerator.size))
    assert len(np.unique(maps, axis=0)) == enumerator.size
    for g, images in enumerate(problem.generators):
        assert np.array_equal(maps[tables.right[:, g]], images[maps])
        assert np.array_equal(maps[tables.left[:, g]], maps[:, images])


@pytest.mark.parametrize("text", ["full:6", "bihecke:5"])
def test_threads_and_levels(text: str) -> None:
    """A table of many shards, and batches that are worth several threads."""
    final: Tables | None = None
    for transf in ways():
        enumerator = transf.start(family(text))
        tables = run(enumerator)
        if final is None:
            check_products(enumerator)
            final = tables
        assert_equal_tables(tables, final)
        numbers = np.arange(0, enumerator.size, 7)
        assert np.array_equal(enumerator.positions(enumerator.maps(numbers)), numbers)
    assert final is not None
    assert_equal_tables(transf.start(family(text), final).tables(), final)


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_hashes_of_all_sizes(data: st.DataObject) -> None:
    """On every level: of rows that fill no vector, and of several blocks."""
    degree = data.draw(st.integers(1, 300) | st.integers(1000, 1100) | st.integers(8000, 8400))
    width = data.draw(st.integers(1, degree))
    draw = np.random.default_rng(data.draw(st.integers(0, 99)))
    maps = draw.integers(0, degree, (2, degree)).astype(image_dtype(degree))
    points = draw.permutation(degree)[:width]
    problem = make_problem(maps, points, seed=data.draw(st.integers(0, 9)))
    key = HashKey.make(row_stride(width, maps.itemsize), problem.seed)
    rows = np.array([points, *maps[:, points]], maps.dtype)
    for level in levels():
        enumerator = CpuTransf(CpuBackend(1, level)).start(problem)
        enumerator.expand(1)
        count = enumerator.size
        hashes = enumerator.array("hashes")
        if count == 3:
            assert np.array_equal(hashes, key.hashes(rows))
        assert np.array_equal(hashes[:1], key.hashes(rows[:1]))


@pytest.mark.parametrize("degree", [20000, 40000, 70000])
def test_rows_in_parts(degree: int) -> None:
    """Also those that are made from words, because there is no memory for them."""
    problem = padded(degree)
    final = expected(problem)
    fewest: list[int] = []
    for transf in (CpuTransf(CpuBackend(1)), CpuTransf(CpuBackend(3))):
        memory = problem.generators.nbytes
        while True:
            memory += memory // 8
            try:
                enumerator = transf.start(replace(problem, memory=memory))
                run(enumerator, [3, ALL])
            except MemoryError:
                continue
            break
        check_state(enumerator, final)
        fewest.append(enumerator.size - enumerator.kept)
        maps = enumerator.maps(np.arange(enumerator.size)[::-1])
        whole = transf.start(replace(problem, memory=1 << 28))
        run(whole)
        assert whole.kept == 0
        assert np.array_equal(maps, whole.maps(np.arange(whole.size))[::-1])
        assert enumerator.positions(maps).tolist() == list(range(enumerator.size))[::-1]
        again = transf.start(replace(problem, memory=memory), final)
        assert again.positions(maps[:3]).tolist() == [again.size - 1 - i for i in range(3)]
    assert min(fewest) < len(final.first)


def interrupted(enumerator: Enumerator, after: float) -> float:
    """Enumerates until a signal comes; how long it took then, in seconds."""
    sent: list[float] = []

    def send() -> None:
        time.sleep(after)
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=send)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        run(enumerator)
    took = time.monotonic() - sent[0]
    thread.join()
    return took


def test_interrupted_between_batches() -> None:
    enumerator = CpuTransf(CpuBackend(2)).start(family("bihecke:6", memory=1 << 30))
    assert interrupted(enumerator, 0.15) < 2
    tables = enumerator.tables()
    assert 10 < enumerator.expanded == len(tables.right)
    check_tables(enumerator.problem, tables)
    enumerator.expand(5)
    other = CpuTransf(CpuBackend(1)).start(enumerator.problem, tables)
    while other.expanded < enumerator.expanded:
        other.expand(enumerator.expanded - other.expanded)
    assert_equal_tables(other.tables(), enumerator.tables())


def test_interrupted_within_a_batch() -> None:
    """Where products take long, nothing of them is left."""
    degree = 1 << 21
    cycle = np.arange(1, degree + 1, dtype=np.uint32)
    cycle[-1] = 0
    problem = Problem(np.tile(cycle, (24, 1)), np.arange(degree, dtype=np.uint32), memory=4 << 30)
    enumerator = CpuTransf(CpuBackend(1)).start(problem)
    interrupted(enumerator, 0.3)
    expanded = enumerator.expanded
    assert enumerator.size == expanded + 1
    assert enumerator.array("right").tolist() == [[i + 1] * 24 for i in range(expanded)]


def test_levels_are_counted_in_place() -> None:
    """A copy of all of them a level would take long where there are a million."""
    enumerator = CpuTransf(CpuBackend(1)).start(family("symmetric:5"))
    starts = enumerator.starts
    run(enumerator)
    assert enumerator.starts is starts
    assert starts == expected(enumerator.problem).starts


def test_many_threads() -> None:
    problem = family("zero_rook:5")
    assert_equal_tables(run(CpuTransf(CpuBackend(64)).start(problem)), expected(problem))


def test_asked_while_it_works() -> None:
    """By another thread: answers are of some moment between batches."""
    enumerator = CpuTransf(CpuBackend(2)).start(family("bihecke:5"))
    identity = np.arange(120, dtype=np.uint8)[None]
    wrong: list[object] = []

    def ask() -> None:
        while not enumerator.finished:
            maps = enumerator.maps(np.zeros(1, np.uint32))
            place = enumerator.positions(identity).tolist()
            right = enumerator.array("right", 0, 1).tolist()
            if place != [0] or maps.tolist() != identity.tolist() or len(right) > 1:
                wrong.append((place, maps, right))

    thread = threading.Thread(target=ask)
    thread.start()
    run(enumerator, [100])
    thread.join()
    assert not wrong
    assert enumerator.size == 31103


def test_memory_that_nobody_has() -> None:
    problem = family("zero_rook:3")
    final = expected(problem)
    transf = CpuTransf(CpuBackend(1))
    for memory in (1 << 44, 1 << 60, 2**64 - 1):
        enumerator = transf.start(replace(problem, memory=memory))
        assert_equal_tables(run(enumerator), final)
    for memory in (0, 1, problem.generators.nbytes):
        with pytest.raises(MemoryError, match="begin"):
            transf.start(replace(problem, memory=memory))
    with mock.patch("kernels.transf.cpu.available_memory", return_value=1 << 33):
        assert transf.memory == 1 << 31


@pytest.mark.slow
def test_zero_rook_6() -> None:
    generators = Family.parse("zero_rook:6").generators()
    problem = make_problem(generators)
    enumerator = CpuTransf(CpuBackend()).start(problem)
    run(enumerator)
    assert (enumerator.size, len(enumerator.starts)) == (13327, 29)
    base = 4642  # this point tells all elements apart
    assert len(np.unique(enumerator.maps(np.arange(13327))[:, base])) == 13327
    few = CpuTransf(CpuBackend()).start(make_problem(generators, [base]))
    assert_equal_tables(replace(run(few), hashes=enumerator.array("hashes")), enumerator.tables())
