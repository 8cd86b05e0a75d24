"""Test the compiled enumeration of semigroups: by the contract, and what only it has."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.targets.cpu import CpuTarget, levels
from kernels.targets.reference import ReferenceTarget
from kernels.transformations import (
    CayleyTables,
    EnumerationProblem,
    Enumerator,
    SemigroupEngine,
    TooLittleMemoryError,
    engine_for,
    image_dtype,
)
from kernels.transformations.cpu.engine import CpuEnumerator, CpuSemigroupEngine
from kernels.transformations.hashing import HashKey, row_stride
from kernels.transformations.tables import check_tables
from semigroups.families import Family
from tests import quick
from tests.interrupts import interrupted_at
from tests.limits import needs_limits
from tests.transformations_contract import SemigroupEngineContract
from tests.transformations_contract.cases import ALL, check_state, family, padded, run
from tests.transformations_model import assert_equal_tables, expected, make_problem

pytestmark = pytest.mark.skipif(not levels(), reason="the CPU kernels are not built")


class TestCpu(SemigroupEngineContract):
    """Holds one thread of the best level, and three of the least, to the contract."""

    examples = 15

    @pytest.fixture(params=[(1, -1), (3, 0)], ids=["best", "threads"])
    def engine(self, request: pytest.FixtureRequest) -> SemigroupEngine:
        threads, level = request.param
        return CpuSemigroupEngine(CpuTarget(threads, levels()[level]))


def ways() -> Iterator[CpuSemigroupEngine]:
    for level in levels():
        for threads in (1, 2, 5):
            yield CpuSemigroupEngine(CpuTarget(threads, level))


def test_of_a_backend() -> None:
    assert isinstance(engine_for(CpuTarget(1)), CpuSemigroupEngine)
    with pytest.raises(TypeError, match="reference"):
        CpuSemigroupEngine.of(ReferenceTarget())


def check_products(enumerator: Enumerator) -> None:
    """Check what tables say by maps: numbers in order, and products as they should be."""
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
    final: CayleyTables | None = None
    for engine in ways():
        enumerator = engine.start(family(text))
        tables = run(enumerator)
        if final is None:
            check_products(enumerator)
            final = tables
        assert_equal_tables(tables, final)
        numbers = np.arange(0, enumerator.size, 7)
        assert np.array_equal(enumerator.positions(enumerator.maps(numbers)), numbers)
    assert final is not None
    assert_equal_tables(engine.start(family(text), final).tables(), final)


@given(st.data())
@settings(max_examples=quick.examples(40), deadline=None)
def test_hashes_of_all_sizes(data: st.DataObject) -> None:
    """Hashes are right on every level, of rows that fill no vector and of several blocks."""
    degree = data.draw(st.integers(1, 300) | st.integers(1000, 1100) | st.integers(8000, 8400))
    width = data.draw(st.integers(1, degree))
    draw = np.random.default_rng(data.draw(st.integers(0, 99)))
    maps = draw.integers(0, degree, (2, degree)).astype(image_dtype(degree))
    points = draw.permutation(degree)[:width]
    problem = make_problem(maps, points, seed=data.draw(st.integers(0, 9)))
    key = HashKey.make(row_stride(width, maps.itemsize), problem.seed)
    rows = np.array([points, *maps[:, points]], maps.dtype)
    for level in levels():
        enumerator = CpuSemigroupEngine(CpuTarget(1, level)).start(problem)
        enumerator.expand(1)
        count = enumerator.size
        hashes = enumerator.array("hashes")
        if count == 3:
            assert np.array_equal(hashes, key.hashes(rows))
        assert np.array_equal(hashes[:1], key.hashes(rows[:1]))


@pytest.mark.sample(2)
@pytest.mark.parametrize("degree", [20000, 40000, 70000])
def test_rows_in_parts(degree: int) -> None:
    """Rows are right, even those made from words because there is no memory for them."""
    problem = padded(degree)
    final = expected(problem)
    fewest: list[int] = []
    for engine in (CpuSemigroupEngine(CpuTarget(1)), CpuSemigroupEngine(CpuTarget(3))):
        memory = problem.generators.nbytes
        while True:
            memory += memory // 8
            try:
                enumerator = engine.start(replace(problem, memory=memory))
                run(enumerator, [3, ALL])
            except MemoryError:
                continue
            break
        check_state(enumerator, final)
        fewest.append(enumerator.size - enumerator.kept)
        maps = enumerator.maps(np.arange(enumerator.size)[::-1])
        whole = engine.start(replace(problem, memory=1 << 28))
        run(whole)
        assert whole.kept == 0
        assert np.array_equal(maps, whole.maps(np.arange(whole.size))[::-1])
        assert enumerator.positions(maps).tolist() == list(range(enumerator.size))[::-1]
        again = engine.start(replace(problem, memory=memory), final)
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
    enumerator = CpuSemigroupEngine(CpuTarget(2)).start(family("bihecke:6", memory=1 << 30))
    assert interrupted(enumerator, 0.15) < 2
    tables = enumerator.tables()
    assert 10 < enumerator.expanded == len(tables.right)
    check_tables(enumerator.problem, tables)
    enumerator.expand(5)
    other = CpuSemigroupEngine(CpuTarget(1)).start(enumerator.problem, tables)
    while other.expanded < enumerator.expanded:
        other.expand(enumerator.expanded - other.expanded)
    assert_equal_tables(other.tables(), enumerator.tables())


def test_interrupted_within_a_batch() -> None:
    """An interrupt leaves nothing of products that take long to make."""
    degree = 1 << 21
    cycle = np.arange(1, degree + 1, dtype=np.uint32)
    cycle[-1] = 0
    problem = EnumerationProblem(
        np.tile(cycle, (24, 1)), np.arange(degree, dtype=np.uint32), memory=4 << 30
    )
    enumerator = CpuSemigroupEngine(CpuTarget(1)).start(problem)
    interrupted(enumerator, 0.3)
    expanded = enumerator.expanded
    assert enumerator.size == expanded + 1
    assert enumerator.array("right").tolist() == [[i + 1] * 24 for i in range(expanded)]


def test_interrupted_while_the_state_is_read() -> None:
    """An interrupt between any two instructions of Python leaves all of the state or nothing."""
    problem = family("symmetric:4")
    final, update = expected(problem), vars(CpuEnumerator)["_update"]
    for instruction in itertools.count():
        enumerator = CpuSemigroupEngine(CpuTarget(1)).start(problem)
        enumerator.expand(3)
        with interrupted_at(update, instruction) as came:
            enumerator.expand(60)
        if not came:
            break
        check_state(enumerator, final)
        while not enumerator.finished:
            enumerator.expand(ALL)
        check_state(enumerator, final)
    assert instruction > 50


def test_levels_are_counted_in_place() -> None:
    """A copy of all of them a level would take long where there are a million."""
    enumerator = CpuSemigroupEngine(CpuTarget(1)).start(family("symmetric:5"))
    starts = enumerator.starts
    run(enumerator)
    assert enumerator.starts is starts
    assert starts == expected(enumerator.problem).starts


def test_many_threads() -> None:
    problem = family("zero_rook:5")
    assert_equal_tables(run(CpuSemigroupEngine(CpuTarget(64)).start(problem)), expected(problem))


def test_asked_while_it_works() -> None:
    """Another thread may ask while it works: answers are of some moment between batches."""
    enumerator = CpuSemigroupEngine(CpuTarget(2)).start(family("bihecke:5"))
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
    engine = CpuSemigroupEngine(CpuTarget(1))
    for memory in (1 << 44, 1 << 60, 2**64 - 1):
        enumerator = engine.start(replace(problem, memory=memory))
        assert_equal_tables(run(enumerator), final)
    for memory in (0, 1, problem.generators.nbytes):
        with pytest.raises(MemoryError, match="begin"):
            engine.start(replace(problem, memory=memory))
    with mock.patch("kernels.transformations.cpu.engine.recent_memory", return_value=1 << 33):
        assert engine.memory == 1 << 31


@pytest.mark.slow
def test_zero_rook_6() -> None:
    generators = Family.parse("zero_rook:6").generators()
    problem = make_problem(generators)
    enumerator = CpuSemigroupEngine(CpuTarget()).start(problem)
    run(enumerator)
    assert (enumerator.size, len(enumerator.starts)) == (13327, 29)
    base = 4642  # this point tells all elements apart
    assert len(np.unique(enumerator.maps(np.arange(13327))[:, base])) == 13327
    few = CpuSemigroupEngine(CpuTarget()).start(make_problem(generators, [base]))
    assert_equal_tables(replace(run(few), hashes=enumerator.array("hashes")), enumerator.tables())


def test_levels_in_one_call() -> None:
    """expand_on() goes on through levels; what comes of it is the same."""
    for text in ("full:4", "catalan:5", "bihecke:4"):
        problem = family(text)
        enumerator = CpuSemigroupEngine(CpuTarget(2)).start(problem)
        enumerator.expand_on()
        assert enumerator.finished
        assert_equal_tables(
            enumerator.tables(), run(CpuSemigroupEngine(CpuTarget(2)).start(problem))
        )
        with pytest.raises(ValueError, match="nothing to expand"):
            enumerator.expand_on()


def test_what_is_needed_to_begin_is_said() -> None:
    problem = replace(family("full:3"), memory=1000)
    with pytest.raises(
        MemoryError, match=r"^[\d,]{6,} bytes are needed to begin, .* is 1,000$"
    ) as raised:
        CpuSemigroupEngine(CpuTarget(1)).start(problem)
    assert isinstance(raised.value, TooLittleMemoryError)
    assert (raised.value.memory, raised.value.elements) == (1000, 0)
    assert raised.value.needed > 1000
    assert str(raised.value).startswith(f"{raised.value.needed:,} bytes")


FEW_ADDRESSES = """
import hashlib, resource, sys
from pathlib import Path
from kernels.targets.cpu import CpuTarget
from kernels.transformations.cpu.engine import CpuSemigroupEngine
from tests.transformations_contract.cases import family, run
from dataclasses import replace

engine = CpuSemigroupEngine(CpuTarget(2))
def digest(problem):
    tables = run(engine.start(problem))
    arrays = [getattr(tables, name) for name in tables.ARRAYS]
    return hashlib.blake2b(b"".join(a.tobytes() for a in arrays)).hexdigest()

problem = replace(family("bihecke:5"), memory=8 << 30)
free = digest(problem)
size = 4096 * int(Path("/proc/self/statm").read_text().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (size + (200 << 20), resource.RLIM_INFINITY))
assert digest(problem) == free
resource.setrlimit(resource.RLIMIT_AS, (size + (1 << 20), resource.RLIM_INFINITY))
enumerator = engine.start(problem)
try:
    run(enumerator)
except MemoryError as error:
    print(error)
resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
run(enumerator)
print("finished", enumerator.size)
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="the process's size is not told")
@needs_limits
def test_where_addresses_are_few() -> None:
    """Less than the memory given by far, and more than is needed; then less than that."""
    done = subprocess.run(
        [sys.executable, "-c", FEW_ADDRESSES], capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stderr) == (0, "")
    said, finished = done.stdout.splitlines()
    assert "bytes given (--memory) are taken, and no more fit" in said
    assert finished == "finished 31103"
