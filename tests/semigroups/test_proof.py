"""Bases: points on whose images elements are told apart, and the proof that they are enough."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from kernels.targets.choose import pick
from kernels.targets.contract import BackendUnavailableError
from kernels.transformations import (
    EnumerationProblem,
    Enumerator,
    SemigroupEngine,
    as_maps,
    engine_for,
)
from kernels.transformations.ref import ReferenceSemigroupEngine
from semigroups import Family, Progress, Semigroup
from semigroups.bases import first_points, more_points
from semigroups.proof import Claim
from tests.quick import examples
from tests.semigroups.stepping import Small, assert_part, made
from tests.transformations_oracle import enumerate_maps

# A fixture is the same for all examples; a busy machine is no failure.
HELD = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]


@st.composite
def maps_and_bases(draw: st.DrawFn) -> tuple[list[list[int]], list[int]]:
    degree = draw(st.integers(1, 6))
    point = st.integers(0, degree - 1)
    same = list(range(degree))
    moved = st.lists(st.tuples(point, point), max_size=2).map(
        lambda moves: [dict(moves).get(p, p) for p in same]
    )
    maps = draw(st.lists(st.permutations(same) | moved, min_size=1, max_size=2))
    return maps, draw(st.lists(point, min_size=1))


@pytest.fixture(params=["maps", "graphs"])
def proof(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Choose which of the two ways of proving is taken."""
    monkeypatch.setattr("semigroups.proof._SLOWER", 0 if request.param == "graphs" else 10**9)
    chosen: str = request.param
    return chosen


@given(
    case=maps_and_bases(),
    monoid=st.booleans(),
    hash_only=st.booleans(),
    most=st.integers(1, 4),
    patience=st.sampled_from([-1, 1 << 28]),
)
@example(case=([[1, 0]], [0]), monoid=True, hash_only=True, most=1, patience=-1)
@example(
    case=([[0, 1, 3, 2], [1, 0, 2, 3]], [0]), monoid=False, hash_only=True, most=1, patience=-1
)
@settings(max_examples=examples(25), suppress_health_check=HELD)
def test_any_base_will_do(
    proof: str,
    case: tuple[list[list[int]], list[int]],
    monoid: bool,
    hash_only: bool,
    most: int,
    patience: int,
) -> None:
    """It grows until rules hold."""
    generators, base = case
    expected = enumerate_maps(generators, monoid)
    found = made(generators, Small(most), monoid=monoid, base=base, hash_only=hash_only)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("semigroups.proving._FIRST_LOOK", 2)
        patch.setattr("semigroups.running.PATIENCE", patience)
        assert found.run(limit=len(expected) // 2 + 1) in (False, True)
        if found._enumeration.runner.proved:
            assert_part(found, expected)
        assert found.size == len(expected)
    assert found.right_cayley.tolist() == expected.right.tolist()
    assert found.words()[:] == expected.words
    points = found.base
    if points is not None:
        assert set(base) <= set(points)
        assert len({tuple(x) for x in expected.elements[:, points].tolist()}) == len(expected)
        assert found._enumeration.runner.rules == len(expected.rules)
        assert found.certainty.endswith(f"rule{'s' * (len(expected.rules) != 1)}")
    else:
        assert found.certainty.startswith("by" if hash_only else "proved by comparing")


def engines() -> list[SemigroupEngine]:
    try:
        return [ReferenceSemigroupEngine(), engine_for(pick("cpu"))]
    except (BackendUnavailableError, ImportError):
        return [ReferenceSemigroupEngine()]


@given(
    maps_and_bases(), st.booleans(), st.sampled_from(engines()), st.integers(1, 30) | st.just(10**9)
)
@example(([[0, 1, 2, 0], [3, 1, 0, 2]], [0, 1, 2]), True, ReferenceSemigroupEngine(), 1)
@settings(max_examples=examples(60), suppress_health_check=HELD)
def test_what_is_proved_is_true(
    proof: str,
    case: tuple[list[list[int]], list[int]],
    monoid: bool,
    engine: SemigroupEngine,
    most: int,
) -> None:
    """And in the end what is true is proved, be the base enough or not."""
    generators, base = case
    expected = enumerate_maps(generators, monoid)
    points = np.unique(base).astype(np.uint32)
    problem = EnumerationProblem(as_maps(generators), points, monoid=monoid)
    enumerator = engine.start(problem)
    while not enumerator.finished and enumerator.expanded < most:
        enumerator.expand(1)
    failures = Claim(enumerator, 0).failures()
    begin = np.uint32(not monoid)
    right = enumerator.array("right")[begin:]
    true = np.array_equal(right, expected.right[: len(right)] + begin)
    if enumerator.finished:
        images = {tuple(x) for x in expected.elements[:, points].tolist()}
        assert (len(failures) == 0) == (len(images) == len(expected))
        assert enumerator.size <= len(expected) + begin
    if not len(failures):
        assert true
    else:
        assert failures.any(axis=1).all()
        assert not failures[:, points].all()


class Changed:
    """Wraps an enumerator, one table of which is another."""

    def __init__(self, enumerator: Enumerator, name: str, table: Any) -> None:
        self._enumerator, self._name, self._table = enumerator, name, table

    def __getattr__(self, name: str) -> Any:
        return getattr(self._enumerator, name)

    def array(self, name: str) -> Any:
        return self._table if name == self._name else self._enumerator.array(name)


def test_graphs_with_a_wrong_edge_prove_nothing() -> None:
    problem = EnumerationProblem(Family.parse("0-rook:3").generators(), np.array([17], np.uint32))
    assert first_points(problem.generators).tolist() == [17]
    enumerator = ReferenceSemigroupEngine().start(problem)
    while not enumerator.finished:
        enumerator.expand(1000)
    assert Claim(enumerator, 0).is_consistent()
    for name in ("right", "left"):
        for place in np.ndindex(34, 3):
            table = enumerator.array(name)
            table[place] = (table[place] + 1) % 34
            changed: Any = Changed(enumerator, name, table)
            assert not Claim(changed, 0).is_consistent(), (name, place)


def test_graphs_of_something_else_prove_nothing() -> None:
    """Their edges are mapped to edges; but not all images, or all of them, are what they say."""
    generators = Family.parse("0-rook:3").generators()
    enumerator = ReferenceSemigroupEngine().start(
        EnumerationProblem(generators, np.array([17], np.uint32))
    )
    while not enumerator.finished:
        enumerator.expand(1000)
    left = Changed(enumerator, "left", enumerator.array("left")[:, [1, 0, 2]])
    assert not Claim(left, 0).is_consistent()  # type: ignore[arg-type]
    others = generators.copy()
    others[2] = np.roll(others[2], 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(enumerator, "problem", EnumerationProblem(others, np.array([17], np.uint32)))
        assert not Claim(enumerator, 0).is_consistent()


def test_failures_are_seen_early(proof: str) -> None:
    """biHecke 4, whose first generator also turns three points, which are not of the base."""
    maps = [[*x, 24, 25, 26] for x in Family.parse("bihecke:4").generators().tolist()]
    maps[0][24:] = [25, 26, 24]
    engine = Small(20)
    found = made(maps, engine, base=range(5, 11))

    def start(problem: EnumerationProblem, tables: Any = None) -> Enumerator:
        enumerators.append(Small.start(engine, problem, tables))
        return enumerators[-1]

    enumerators: list[Enumerator] = []
    engine.start = start  # type: ignore[method-assign]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("semigroups.running.PATIENCE", -1)
        found.run()
    sizes = [each.expanded for each in enumerators]
    assert len(sizes) > 1
    assert sizes[0] < 100
    assert found.size == len(enumerate_maps(maps))


def test_what_is_not_proved_is_told() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("semigroups.running.PATIENCE", -1)
        patch.setattr("semigroups.proof._SLOWER", 0)
        found = made(Family.parse("0-rook:4"), base="auto")
        assert not found.run(limit=100)
        assert found.certainty == "on the images of 1 point, not proved yet"
        assert 90 < found.current_size <= 100
        with tempfile.TemporaryDirectory() as folder:
            found.save(Path(folder) / "S.h5")
            found = Semigroup.load(Path(folder) / "S.h5", backend="reference")
        assert found.certainty == "on the images of 1 point, not proved yet"
        assert found.size == 209
    assert found.certainty == "on the images of 1 point, proved by checking 25 rules"


def sums_of_cycles(lengths: list[int]) -> list[list[int]]:
    """One generator: to tell its powers apart takes a point of each cycle, about."""
    images: list[int] = []
    for length in lengths:
        start = len(images)
        images += [start + (p + 1) % length for p in range(length)]
    return [images]


def test_the_base_grows() -> None:
    """Each rule that fails adds a point where it does."""
    cycles = sums_of_cycles([7, 2, 3, 5, 30, 30, 30, 30])
    engine = Small(1000)
    found = made(cycles, engine, base=[7])
    assert found.size == 210
    widths = [problem.width for problem in engine.problems]
    assert found.base is not None
    assert widths[0] == 1
    assert all(1.5 * a <= b for a, b in pairwise(widths))
    assert widths[-1] == len(found.base) < len(cycles[0])
    assert found.certainty == f"on the images of {widths[-1]} points, proved by checking 1 rule"


def test_a_base_of_most_points_is_all() -> None:
    swaps = [[p ^ 1 if p // 2 == k else p for p in range(12)] for k in range(6)]
    engine = Small(1000)
    found = made(swaps, engine, base="auto")
    assert found.size == 2**6
    assert found.base is None
    assert found.certainty == "proved by comparing rows"
    assert [problem.width for problem in engine.problems][-1] == 12


def test_a_base_that_fails_late() -> None:
    """Elements that were checked keep their numbers when a base fails; others are found again."""
    cycles = sums_of_cycles([100, 300, *[3] * 100])
    found = made(cycles, Small(1000), base=[0])
    assert found.run(limit=90) is False
    assert found.base == [0]
    expected = enumerate_maps(cycles)
    assert_part(found, expected)
    assert found.size == 300
    assert found.base != [0]
    assert_part(found, expected)


def test_what_was_proved_is_found_again() -> None:
    """Proved elements are found again where what was found since turns out not to hold."""
    cycles = sums_of_cycles([300, 7, *[3] * 100])
    found = made(cycles, Small(20), base=[0])
    found.run(limit=200)
    assert found.current_size == 200

    def stop(now: Progress) -> None:
        if now.size == now.expanded == 300:
            raise StopIteration

    with pytest.raises(StopIteration):
        found.run(progress=stop)
    assert not found.finished
    assert found._enumeration.runner.enumerator.finished  # of one cycle
    assert 199 <= found.current_size <= 220
    assert found.base != [0]
    assert_part(found, enumerate_maps(cycles))


def test_first_points_are_of_long_orbits() -> None:
    assert first_points(Family.parse("0-rook:5").generators()).tolist() == [
        sorted(rook_vectors(5)).index((1, 2, 3, 4, 5))
    ]
    # 3 is nobody's image, and goes nowhere; 0 leads to 1 and 2.
    assert first_points(as_maps([[1, 2, 2, 3]])).tolist() == [0]
    assert first_points(as_maps([[1, 0, 3, 4, 2]])).tolist() in ([2], [3], [4])
    assert first_points(as_maps([[0]])).tolist() == [0]
    # All but 7 and 8 are fixed.
    assert first_points(as_maps([[0, 1, 2, 3, 4, 5, 6, 8, 8, 9]])).tolist() == [7]


def rook_vectors(n: int) -> list[tuple[int, ...]]:
    vectors: list[tuple[int, ...]] = [()]
    for _ in range(n):
        vectors = [(*v, r) for v in vectors for r in range(n + 1) if not r or r not in v]
    return vectors


def test_more_points() -> None:
    problem = EnumerationProblem(np.zeros((1, 100), np.uint8), np.array([3, 40], np.uint32))

    def fail(*rules: list[int]) -> np.ndarray[Any, np.dtype[np.bool_]]:
        result = np.zeros((len(rules), 100), np.bool_)
        for row, points in zip(result, rules, strict=True):
            row[points] = True
        return result

    assert more_points(problem, fail([7, 8, 9], [8])).tolist() == [3, 8, 40]
    points = more_points(problem, fail([7, 50], [9], [2, 8], [8, 50]))
    assert points.tolist() == [3, 7, 8, 9, 40]
    assert points.dtype == np.uint32
    grown = more_points(replace(problem, points=points), fail([51])).tolist()
    assert len(grown) == 8
    assert {*points.tolist(), 51} < set(grown)
    many = replace(problem, points=np.arange(17, dtype=np.uint32))
    assert more_points(many, fail([99])).tolist() == list(range(100))
    many = replace(problem, points=np.arange(16, dtype=np.uint32))
    assert len(more_points(many, fail([99]))) == 24


def test_rules_are_checked_from_where_they_were() -> None:
    problem = EnumerationProblem(Family.parse("0-rook:4").generators(), np.array([90], np.uint32))
    enumerator = ReferenceSemigroupEngine().start(problem)
    rules, checked = 0, 0
    while not enumerator.finished:
        enumerator.expand(7)
        claim = Claim(enumerator, checked)
        assert not len(claim.failures())
        rules, checked = rules + claim.rules, enumerator.expanded
    assert rules == Claim(enumerator, 0).rules == 25
    bad = ReferenceSemigroupEngine().start(replace(problem, points=np.array([0], np.uint32)))
    bad.expand(1)
    assert len(Claim(bad, 0).failures())  # all send 0000 to itself


def test_long_maps_are_told_apart_by_few_images_by_default() -> None:
    long = [[(p + 1) % 5000 if p < 7 else p for p in range(5000)]]
    found = made(long)
    expected = enumerate_maps(long)
    assert found.size == len(expected)
    assert found.base is not None
    short = made([[(p + 1) % 2000 for p in range(2000)]])
    short.run(limit=2)
    assert short.base is None
