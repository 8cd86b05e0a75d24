"""Enumerations that stop, go on, fail and begin anew: what is found is always right."""

from __future__ import annotations

import itertools
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kernels.targets import memory
from kernels.targets.contract import BackendUnavailableError
from kernels.targets.costs import StartCosts
from kernels.targets.cpu import levels
from kernels.targets.reference import ReferenceTarget
from kernels.transformations import (
    EnumerationProblem,
    Enumerator,
    HashCollisionError,
    ProductCounts,
)
from kernels.transformations.cpu.engine import CpuEnumerator
from semigroups import CancelledError, Family, Progress, Semigroup
from semigroups.bases import first_points
from semigroups.engines import EngineChoice
from semigroups.running import EnumerationRunner, MemoryFullError
from tests.quick import examples
from tests.semigroups.stepping import Given, Small, assert_part, made
from tests.transformations_oracle import enumerate_maps

MAPS = [[3, 0, 2, 1], [1, 1, 2, 0], [0, 1, 3, 3]]
BIHECKE = Family.parse("bihecke:4")
BASES = st.sampled_from(["all", "auto", [1]])


@given(st.integers(1, 200), st.booleans(), BASES, st.integers(1, 5))
@example(1, True, "all", 1)
@example(1, False, "all", 1)
@settings(max_examples=examples(12))
def test_a_limit(limit: int, monoid: bool, base: Any, most: int) -> None:
    expected = enumerate_maps(MAPS, monoid)
    found = made(MAPS, Small(most), monoid=monoid, base=base)
    finished = found.run(limit=limit)
    assert finished == found.finished == (limit >= len(expected))
    assert found.current_size <= limit
    if not finished:
        assert_stopped_late(found, limit)
    assert_part(found, expected)
    assert found.run(limit=1) == finished  # nothing more
    assert found.size == len(expected)
    assert_part(found, expected)


def assert_stopped_late(found: Semigroup, limit: int) -> None:
    """Once more, and there would be too many."""
    enumerator = found._enumeration.runner.enumerator
    larger = made(MAPS, Small(1), monoid=found.monoid)
    while larger._enumeration.runner.enumerator.expanded <= enumerator.expanded:
        larger._enumeration.runner.enumerator.expand(1)
    assert larger.current_size > limit


def test_a_limit_far_away_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    found = made(BIHECKE, Small(1000))
    monkeypatch.setattr(
        found._enumeration.runner.enumerator, "maps", None
    )  # by which it looks ahead
    monkeypatch.setattr(found._enumeration.runner.enumerator, "positions", None)
    assert found.run(limit=10_000)


def test_a_limit_is_a_number_of_elements() -> None:
    with pytest.raises(ValueError, match=r"^limit is a number of elements, not 0$"):
        made(MAPS).run(limit=0)


@given(st.lists(st.integers(1, 90), max_size=4), st.booleans(), BASES)
@settings(max_examples=examples(8))
def test_it_goes_on_from_a_file(limits: list[int], monoid: bool, base: Any) -> None:
    expected = enumerate_maps(MAPS, monoid)
    found = made(MAPS, monoid=monoid, base=base)
    with tempfile.TemporaryDirectory() as folder:
        for limit in limits:
            found.run(limit=limit)
            found.save(Path(folder) / "S.h5")
            told = repr(found)
            found = Semigroup.load(Path(folder) / "S.h5", backend="reference")
            assert repr(found) == told
            assert_part(found, expected)
    assert found.size == len(expected)
    assert found.monoid == monoid
    assert_part(found, expected)
    assert found.right_cayley.tolist() == expected.right.tolist()


def test_elements_are_found_as_they_are_asked_for() -> None:
    expected = enumerate_maps(BIHECKE.generators())
    found = made(BIHECKE)
    assert found.element(9).tolist() == expected.elements[9].tolist()
    assert found.word(20) == expected.words[20]
    assert found.position(expected.elements[30]) == 30
    assert [x.tolist() for x, _ in zip(found, range(40), strict=False)] == (
        expected.elements[:40].tolist()
    )
    assert 40 <= found.current_size < 477
    assert repr(found) == (
        "<Semigroup of maps of 24 points, 6 generators, with the identity; "
        f"stopped at {found.current_size} maps, level {len(found.current_levels) - 1}>"
    )
    assert found.position([0] * 23 + [1]) is None
    assert found.finished


def test_progress() -> None:
    told: list[Progress] = []
    found = made(BIHECKE)
    assert found.run(progress=told.append)
    sizes = [now.size for now in told]
    assert len(told) > 100
    assert sizes == sorted(sizes)
    assert told[0] == Progress(7, 1, 1, told[0].counts, told[0].nbytes)
    assert told[0].counts.computed == 6
    last = told[-1]
    assert (last.size, last.expanded, last.level) == (477, 477, 8)
    assert last == found.progress
    assert last.nbytes > told[0].nbytes
    without = made([[0, 0]], monoid=False)
    assert (without.progress.size, without.progress.expanded) == (0, 0)
    without.run()
    assert (without.progress.size, without.progress.expanded) == (1, 1)


class Enough(Exception):
    pass


@given(st.integers(1, 60), BASES)
@settings(max_examples=examples(12))
def test_progress_that_raises(steps: int, base: Any) -> None:
    expected = enumerate_maps(MAPS)
    found = made(MAPS, base=base)
    left = steps

    def stop(now: Progress) -> None:
        nonlocal left
        left -= 1
        if not left:
            raise Enough

    try:
        found.run(progress=stop)
    except Enough:
        assert_part(found, expected)
    assert found.size == len(expected)


@given(st.integers(0, 60), BASES, st.sampled_from([KeyboardInterrupt, MemoryError]))
@settings(max_examples=examples(12))
def test_interrupted(steps: int, base: Any, error: type[BaseException]) -> None:
    expected = enumerate_maps(MAPS)
    left = steps

    def trouble(enumerator: Enumerator) -> None:
        nonlocal left
        left -= 1
        if left == -1:
            raise error

    found = made(MAPS, Small(3, trouble), base=base)
    try:
        found.run()
    except error:
        assert not found.finished
        assert_part(found, expected)
    assert found.size == len(expected)
    assert_part(found, expected)


def test_seconds() -> None:
    found = made(BIHECKE)
    assert not found.run(seconds=0)
    assert found.current_size < 2
    assert found.run(seconds=600)
    assert found.run(seconds=0)


def test_cancelled_from_another_thread() -> None:
    found = made(BIHECKE)
    going = threading.Event()
    result: list[bool] = []
    gate = threading.Semaphore(5)

    def progress(now: Progress) -> None:
        gate.acquire()
        going.set()

    thread = threading.Thread(target=lambda: result.append(found.run(progress=progress)))
    thread.start()
    assert going.wait(60)
    assert found.current_size > 1  # asked while it runs
    found.cancel()
    assert not found.run(limit=1)  # another run, which must not undo that
    gate.release(1000)
    thread.join(60)
    assert result == [False]
    assert not found.finished
    assert found.size == 477


def test_progress_waits_for_nothing() -> None:
    """Progress is told without waiting for a step that another thread is at."""
    going, gate = threading.Event(), threading.Event()

    def wait(enumerator: Enumerator) -> None:
        going.set()
        assert gate.wait(60)

    found = made(BIHECKE, Small(20, wait))
    thread = threading.Thread(target=found.run)
    thread.start()
    assert going.wait(60)
    assert found.progress == Progress(1, 0, 0, ProductCounts(), found.progress.nbytes)
    gate.set()
    thread.join(60)
    assert found.finished


def test_cancelled_where_all_is_needed() -> None:
    engine = Small()
    found = made(BIHECKE, engine)
    engine.trouble = lambda enumerator: found.cancel() if enumerator.size > 99 else None
    with pytest.raises(CancelledError, match=r"^cancelled at 1[0-9][0-9] elements$"):
        _ = found.size
    with pytest.raises(CancelledError, match=r"^cancelled at 1[0-9][0-9] elements$"):
        found.element(300)
    engine.trouble = None
    assert found.size == 477


def test_many_threads_ask_at_once() -> None:
    expected = enumerate_maps(BIHECKE.generators())
    asked: list[tuple[Callable[[Semigroup], Any], Any]] = [
        (lambda found: found.size, 477),
        (lambda found: found.word(476), expected.words[476]),
        (lambda found: found.words()[9], expected.words[9]),
        (lambda found: len(found.rules), len(expected.rules)),
        (lambda found: found.right_cayley[100].tolist(), expected.right[100].tolist()),
        (lambda found: found.position(expected.elements[300]), 300),
        (lambda found: found.idempotents.tolist(), expected.idempotents),
        (lambda found: found.green("D").of.tolist(), expected.green("D").tolist()),
        (lambda found: found.product(5, 6), expected.product(5, 6)),
        (lambda found: sum(1 for _ in found), 477),
        (lambda found: repr(found).startswith("<Semigroup of "), True),
    ]
    for _ in range(5):
        found = made(BIHECKE, Small(20))
        with ThreadPoolExecutor(len(asked)) as pool:
            answers = [pool.submit(ask, found) for ask, _ in asked]
            for answer, (_, right) in zip(answers, asked, strict=True):
                assert answer.result(60) == right


def test_memory() -> None:
    expected = enumerate_maps(BIHECKE.generators())
    found = Semigroup(BIHECKE, backend="reference", memory=60_000)
    with pytest.raises(MemoryError, match=r"^stopped at [0-9]+ elements, level [0-9]: ") as error:
        found.run()
    assert "\n" not in str(error.value)
    assert 1 < found.current_size < 477
    assert isinstance(error.value, MemoryFullError)
    assert error.value.found == found.current_size
    assert error.value.level == len(found._enumeration.runner.enumerator.starts) - 2
    assert str(found.current_size) in str(error.value)
    assert_part(found, expected)
    with pytest.raises(MemoryError):
        _ = found.size
    size = found.current_size
    with pytest.raises(MemoryError):
        found.memory = 1000
    assert (found.memory, found.current_size) == (60_000, size)
    found.memory = 10_000_000
    assert (found.memory, found.current_size) == (10_000_000, size)
    assert found.size == 477
    assert_part(found, expected)
    with pytest.raises(ValueError, match=r"^memory is a number of bytes, not -1$"):
        found.memory = -1
    waiting = Semigroup(BIHECKE, backend="reference", memory=1000)
    waiting.memory = 10_000_000
    assert waiting.size == 477
    assert Semigroup(BIHECKE, backend="reference").memory > 1 << 20


class Large(Small):
    name = "large"
    memory = 1 << 20


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The larger engine is wanted at once."""
    monkeypatch.setattr("semigroups.running.START_COSTS", StartCosts(-1.0))


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("base", ["all", "auto", [1]])
@pytest.mark.parametrize("memory", [None, 1 << 22])
def test_what_is_large_goes_on_elsewhere(base: Any, memory: int | None) -> None:
    expected = enumerate_maps(MAPS)
    small, large = Small(4), Large(5)
    found = made(MAPS, base=base, memory=memory)
    found._enumeration.runner._engines = Given(small=small, large=large)
    assert found.backend == "small"
    told: list[Progress] = []
    assert found.run(progress=told.append)
    assert found.backend == "large"
    assert [problem.memory for problem in small.problems] == [memory or 1 << 30]
    assert {problem.memory for problem in large.problems} == {memory or 1 << 20}
    assert found.memory == large.problems[0].memory
    assert_part(found, expected)
    if base == "all":
        assert [now.counts.computed for now in told] == [3 * now.expanded for now in told]
    assert found.right_cayley.tolist() == expected.right.tolist()


@pytest.mark.usefixtures("impatient")
def test_what_is_large_stays_where_there_is_nothing_larger() -> None:
    full = Large()
    full.memory = 1  # not even what there is
    for larger in (None, full, Small()):
        found = made(MAPS)
        found._enumeration.runner._engines = Given(small=Small(), large=larger)
        assert found.size == 96
        assert found.backend == "small"


def test_what_is_small_stays_where_it_began() -> None:
    found = made([[1, 2, 0]])
    found._enumeration.runner._engines = Given(large=Large())
    assert found.size == 3
    assert found.backend == "small"


def test_engines_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    def pick(name: str, **options: Any) -> Any:
        asked.append((name, options))
        if name in missing:
            raise BackendUnavailableError("none here")
        return ReferenceTarget()

    asked: list[tuple[str, dict[str, Any]]] = []
    missing = {"cuda"}
    monkeypatch.setattr("semigroups.engines.pick", pick)
    assert EngineChoice("reference").first().name == "reference"
    assert EngineChoice("cpu").larger() is None
    with pytest.raises(BackendUnavailableError):
        EngineChoice("cuda", device=3).first()
    assert EngineChoice("auto", threads=2).first().name == "reference"
    assert EngineChoice("auto").larger() is None
    missing = {"cpu"}
    assert EngineChoice("auto", device=1).first().name == "reference"
    assert EngineChoice("auto", device=1).larger() is not None
    either = {"device": 0, "threads": None}
    assert asked == [
        ("reference", either),
        ("cuda", {"device": 3, "threads": None}),
        ("cpu", {"threads": 2}),
        ("cuda", {"device": 0}),
        ("cpu", {"threads": None}),
        ("auto", {"device": 1, "threads": None}),
        ("cuda", {"device": 1}),
    ]


def test_not_even_the_generators_fit() -> None:
    found = Semigroup(BIHECKE, backend="reference", memory=1)
    with pytest.raises(MemoryError):
        found.run()
    assert found.current_size == 0
    assert found.current_levels == []


@pytest.mark.parametrize("base", ["all", "auto"])
@pytest.mark.parametrize("compare", [True, False])
@pytest.mark.parametrize("bits", [1, 3, 8])
def test_equal_hashes(base: str, compare: bool, bits: int) -> None:
    """Begun anew with 128 bits, where rows or rules tell; on trust the result is wrong."""
    engine = Small(100)
    generators = Family.parse("0-rook:4").generators()
    points = first_points(generators) if base == "auto" else np.arange(209, dtype=np.uint32)
    problem = EnumerationProblem(generators, points, compare=compare, hash_bits=bits)
    runner = EnumerationRunner(Given(small=engine), problem)
    assert runner.run() == "finished"
    hash_bits = [each.hash_bits for each in engine.problems]
    if compare or base == "auto":
        assert runner.enumerator.size == 209
        assert hash_bits == [bits, 128]
        assert [each.seed for each in engine.problems] == [0, 1]
    else:
        assert runner.enumerator.size < 209
        assert hash_bits == [bits]


def test_a_collision_on_the_way() -> None:
    """A collision at any place does no harm, with a limit that counts."""
    expected = enumerate_maps(MAPS)
    for place in range(0, len(expected) - 5, 7):
        raised = []

        def trouble(enumerator: Enumerator, place: int = place, raised: Any = raised) -> None:
            if enumerator.expanded >= place and not raised:
                raised.append(place)
                raise HashCollisionError("made up")

        found = made(MAPS, Small(5, trouble))
        found.run(limit=len(expected) // 2)
        assert_part(found, expected)
        assert found.size == len(expected)
        assert raised


@pytest.mark.skipif(not levels(), reason="the CPU kernels are not built")
def test_small_ones_cost_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """One call for each, of the engine too, and free memory is not asked for again and again."""
    calls: list[str] = []
    expand, available = CpuEnumerator._expand, memory.available_memory

    def expanded(*given: Any) -> None:
        calls.append("expand")
        expand(*given)

    def asked() -> int:
        calls.append("memory")
        return available()

    monkeypatch.setattr(CpuEnumerator, "_expand", expanded)
    monkeypatch.setattr(memory, "available_memory", asked)
    monkeypatch.setattr(memory.time, "monotonic", lambda: 5.0)
    maps = list(itertools.product(range(3), repeat=3))
    sizes = [Semigroup([x, y], backend="cpu").size for x, y in itertools.pairwise(maps)]
    assert max(sizes) > 10
    assert not calls
    pairs = itertools.pairwise(maps)
    assert [Semigroup(pair, backend="cpu", hash_only=True).size for pair in pairs] == sizes
    assert calls.count("expand") == len(sizes)
    assert calls.count("memory") <= 1
