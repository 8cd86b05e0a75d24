"""Test small semigroups, which are enumerated in one call, against the reference and the engine."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels import transformations
from kernels.targets.cpu import CpuTarget, levels
from kernels.targets.reference import ReferenceTarget
from kernels.transformations import EnumerationProblem, Enumerator
from kernels.transformations.counts import count_many
from kernels.transformations.cpu import small
from kernels.transformations.cpu.engine import CpuSemigroupEngine
from semigroups.families import Family
from tests.quick import examples
from tests.transformations_contract.cases import (
    DEEP,
    check_elements,
    check_state,
    family,
    padded,
    small_problems,
)
from tests.transformations_model import assert_equal_tables, expected, make_problem
from tests.transformations_oracle import enumerate_maps

pytestmark = pytest.mark.skipif(not levels(), reason="the CPU kernels are not built")


def enumerated(problem: EnumerationProblem, level: str) -> Enumerator:
    with mock.patch.object(small, "_level", return_value=level):
        found = small.enumerate_small(problem)
    assert found is not None
    return found


def by_the_engine(problem: EnumerationProblem) -> Enumerator:
    enumerator = CpuSemigroupEngine(CpuTarget(1)).start(problem)
    while not enumerator.finished:
        enumerator.expand_on()
    return enumerator


@given(small_problems(), st.sampled_from(levels() or [""]))
@settings(max_examples=examples(25))
def test_it_is_what_the_reference_finds(problem: EnumerationProblem, level: str) -> None:
    found = enumerated(problem, level)
    check_state(found, expected(problem))
    check_elements(found)
    assert found.counts == by_the_engine(problem).counts


@pytest.mark.parametrize("level", levels())
@pytest.mark.parametrize("degree", [15, 16, 17, 32, 33, 48, 49, 63, 64, 65, 128, 129, 256])
def test_all_lengths_of_rows(degree: int, level: str) -> None:
    problem = padded(degree, monoid=degree % 2 == 0)
    assert_equal_tables(enumerated(problem, level).tables(), by_the_engine(problem).tables())


@pytest.mark.parametrize("case", [*(case for case, _ in DEEP), Family.parse("catalan:9")], ids=str)
@pytest.mark.parametrize("monoid", [False, True])
def test_more_memory_is_taken_on_the_way(case: Any, monoid: bool) -> None:
    maps = case.generators() if isinstance(case, Family) else case
    problem = make_problem(maps, monoid=monoid)
    found, engine = enumerated(problem, levels()[-1]), by_the_engine(problem)
    assert_equal_tables(found.tables(), engine.tables())
    assert (found.starts, found.counts) == (engine.starts, engine.counts)
    some = np.arange(0, found.size, 7)
    assert np.array_equal(found.maps(some), engine.maps(some))
    assert np.array_equal(found.positions(engine.maps(some)), engine.positions(engine.maps(some)))
    words, letters = some.astype(np.uint32), (some % problem.letters).astype(np.uint32)
    others = found.array("right")[words, letters]
    assert found.differ(words, letters, others) is None
    others[5] += 1
    assert found.differ(words, letters, others) == engine.differ(words, letters, others)
    with pytest.raises(IndexError):
        found.maps(np.array([found.size]))


@pytest.mark.parametrize("case", ["catalan:4", "full:5"])
@pytest.mark.parametrize("monoid", [False, True])
def test_what_is_too_large_is_left_to_the_engine(case: str, monoid: bool) -> None:
    problem = family(case, monoid=monoid)
    size = enumerated(problem, levels()[-1]).size
    for most in (1, size // 2, size - 1):
        with mock.patch.object(small, "MOST_NUMBERS", most):
            assert small.enumerate_small(problem) is None
    with mock.patch.object(small, "MOST_NUMBERS", size):
        assert enumerated(problem, levels()[-1]).size == size


def test_what_it_is_not_for() -> None:
    problem = family("catalan:4")
    assert small.enumerate_small(replace(problem, points=problem.points[1:])) is None
    assert small.enumerate_small(padded(257)) is None
    assert small.enumerate_small(make_problem([[0, 1]] * 65)) is None
    with mock.patch.object(small, "_cpu", None):
        assert small.enumerate_small(problem) is None
    with mock.patch.object(small, "_level", return_value=None):
        assert small.enumerate_small(problem) is None
    with mock.patch.object(small, "_cpu") as extension:
        extension.semigroup_small.side_effect = MemoryError
        assert small.enumerate_small(problem) is None


@given(
    st.integers(1, 5).flatmap(
        lambda degree: st.lists(
            st.lists(
                st.lists(st.integers(0, degree - 1), min_size=degree, max_size=degree),
                min_size=2,
                max_size=2,
            ),
            min_size=1,
            max_size=5,
        )
    ),
    st.booleans(),
    st.sampled_from([3, 40, 4000]),
)
@settings(max_examples=examples(60))
def test_counts(sets: list[Any], monoid: bool, limit: int) -> None:
    wanted = []
    for maps in sets:
        all_of_it = enumerate_maps(maps, monoid)
        of_it = (len(all_of_it), len(all_of_it.idempotents), max(map(len, all_of_it.words)))
        wanted.append(of_it if len(all_of_it) <= limit else (-1, -1, -1))
    array = np.array(sets, np.uint8)
    targets = (*(CpuTarget(2, level) for level in levels()), ReferenceTarget())
    for target in targets:
        counts = count_many(target, array, monoid, limit)
        found = (counts.sizes, counts.idempotents, counts.longest)
        assert list(zip(*(column.tolist() for column in found), strict=True)) == wanted


def test_counts_of_many_sets_do_not_depend_on_their_neighbours() -> None:
    rng = np.random.default_rng(4)
    sets = np.tile(np.arange(40, dtype=np.uint8), (300, 2, 1))
    sets[:, :, [3, 20, 39]] = rng.choice([3, 17, 20, 39], (300, 2, 3))
    together = count_many(CpuTarget(2), sets, False, 500)
    for k in (0, 63, 64, 299):
        alone = count_many(CpuTarget(1), sets[k : k + 1], False, 500)
        assert (alone.sizes[0], alone.idempotents[0]) == (
            together.sizes[k],
            together.idempotents[k],
        )
        assert together.sizes[k] == len(enumerate_maps(sets[k], False))
    assert len(set(together.sizes.tolist())) > 5


def test_no_other_target_counts() -> None:
    class Elsewhere(ReferenceTarget):
        is_reference = False

    with pytest.raises(TypeError, match="counted on the CPU"):
        count_many(Elsewhere(), np.zeros((1, 1, 1), np.uint8), True, 1)


def test_the_points_of_few_are_one_array() -> None:
    points = transformations.all_points(5)
    assert points is transformations.all_points(5)
    assert points.tolist() == [0, 1, 2, 3, 4]
    assert not points.flags.writeable
    assert transformations.all_points(5000).tolist() == list(range(5000))


@pytest.mark.parametrize("rows", [128, 129])
def test_maps_are_made_the_same_of_few_and_of_more(rows: int) -> None:
    wanted = np.zeros((rows, 1), np.uint8)
    for given_as in (wanted, wanted.astype(np.int64), wanted.tolist(), list(wanted)):
        maps = transformations.as_maps(given_as)
        assert np.array_equal(maps, wanted)
        assert maps.dtype == np.uint8
        assert maps.flags.writeable
        assert not np.shares_memory(maps, wanted)
    some = (wanted * 0.5, wanted.astype(bool), wanted + 1)
    for wrong in (*some, *(each.tolist() for each in some), wanted.astype("m8[ns]")):
        with pytest.raises(ValueError, match="generator 0"):
            transformations.as_maps(wrong)
