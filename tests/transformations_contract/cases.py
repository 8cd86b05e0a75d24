"""Cases, and what is checked in each."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kernels.transformations import CayleyTables, EnumerationProblem, Enumerator, SemigroupEngine
from kernels.transformations.hashing import HashKey, row_stride
from semigroups.families import Family
from tests.quick import examples
from tests.transformations_model import (
    assert_equal_tables,
    at,
    deduced,
    elements,
    expected,
    make_problem,
)

# Generators, and how long the longest chain of products of a level that wait for another is.
DEEP = (
    ([[3, 3, 1, 0], [2, 2, 3, 1], [1, 0, 1, 2], [3, 3, 0, 2]], 2),
    ([[0, 2, 1, 3, 4], [0, 4, 3, 1, 2], [3, 2, 1, 4, 0], [2, 0, 3, 1, 4]], 3),
)
BASE = 17  # the point whose images tell the elements of zero_rook:3 apart
SEED_12 = 3  # with which 12 bits tell the elements of zero_rook:3 apart
ALL = 1 << 40  # at a time: more than any engine takes, and than 32 bits hold


@st.composite
def small_problems(draw: st.DrawFn) -> EnumerationProblem:
    """Draw problems of degree 1 to 6; the larger ones have generators that move few points."""
    degree = draw(st.integers(1, 6))
    point = st.integers(0, degree - 1)
    same = list(range(degree))
    moved = st.lists(st.tuples(point, point), max_size=2).map(
        lambda moves: [dict(moves).get(p, p) for p in same]
    )
    maps = st.just(same) | point.map(lambda p: [p] * degree) | st.permutations(same) | moved
    if degree < 5:
        maps |= st.lists(point, min_size=degree, max_size=degree)
    chosen = draw(st.lists(maps, min_size=1, max_size=4))
    if draw(st.booleans()):
        chosen = [*chosen[:3], chosen[0]]
    return make_problem(chosen, monoid=draw(st.booleans()))


def family(text: str, **options: Any) -> EnumerationProblem:
    return make_problem(Family.parse(text).generators(), **options)


def padded(degree: int, **options: Any) -> EnumerationProblem:
    """Three generators that move points at both ends of so many, with images there too."""
    maps = np.tile(np.arange(degree), (3, 1))
    last = degree - 1
    maps[0, [0, 1, last]] = [1, last, 0]
    maps[1, [2, last - 1]] = [last - 1, 2]
    maps[2, [last, 0]] = [last - 3, 0]
    return make_problem(maps, **options)


def step(enumerator: Enumerator, most: int) -> None:
    before, waiting = enumerator.expanded, enumerator.waiting
    enumerator.expand(most)
    assert 1 <= enumerator.expanded - before <= min(most, waiting)


def run(enumerator: Enumerator, batches: Iterable[int] = (ALL,)) -> CayleyTables:
    for most in itertools.cycle(batches):
        if enumerator.finished:
            break
        step(enumerator, most)
    return enumerator.tables()


def check_state(enumerator: Enumerator, final: CayleyTables) -> None:
    """Check all that the enumerator says about itself now."""
    wanted = at(final, enumerator.expanded)
    assert_equal_tables(enumerator.tables(), wanted)
    size = len(wanted.first)
    assert (enumerator.size, enumerator.starts) == (size, wanted.starts)
    assert enumerator.left_known == len(wanted.left)
    assert enumerator.finished == (enumerator.expanded == size)
    assert enumerator.waiting == wanted.starts[-1] - enumerator.expanded
    assert 0 <= enumerator.kept <= size
    assert 0 < enumerator.nbytes <= enumerator.problem.memory


def check_elements(enumerator: Enumerator) -> None:
    """Check the elements of a finished enumeration against closure by brute force."""
    problem, tables = enumerator.problem, enumerator.tables()
    wanted = elements(problem)
    shift = 0 if problem.monoid else 1
    words: list[tuple[int, ...]] = [()]
    for prefix, last in zip(tables.prefix[1:].tolist(), tables.last[1:].tolist(), strict=True):
        words.append((*words[prefix], last))
    assert words[shift:] == wanted.words
    levels = np.diff(tables.starts).tolist()
    assert levels == [1, *wanted.levels[1:]]
    assert np.array_equal(tables.right[shift:], wanted.right + np.uint32(shift))
    assert np.array_equal(tables.left[shift:], wanted.left + np.uint32(shift))
    maps = enumerator.maps(np.arange(shift, len(words)))
    assert maps.dtype == problem.generators.dtype
    assert np.array_equal(maps, wanted.elements)
    places = enumerator.positions(maps)
    assert places.dtype == np.int64
    assert places.tolist() == list(range(shift, len(words)))
    identity = np.arange(problem.degree, dtype=maps.dtype)[None]
    place = wanted.position(identity[0])
    assert enumerator.positions(identity).tolist() == [-1 if place is None else place + shift]
    check_hashes(problem, tables, maps[:, problem.points], shift)


def check_hashes(
    problem: EnumerationProblem, tables: CayleyTables, rows: Any, shift: int = 0
) -> None:
    stride = row_stride(problem.width, rows.itemsize)
    key = HashKey.make(stride, problem.seed, problem.hash_bits)
    assert np.array_equal(tables.hashes[shift:], key.hashes(rows))


def is_edge(tables: CayleyTables, i: int, g: int) -> bool:
    """Return whether the product of number i and generator g is a word."""
    product = int(tables.right[i, g])
    return bool(tables.prefix[product] == i and tables.last[product] == g)


def images_of(enumerator: Enumerator, number: int) -> list[int]:
    """Return the images of a number, computed by its word."""
    images = np.arange(enumerator.problem.degree)
    letters = []
    while number:
        prefix, last = (int(enumerator.array(n, number, number + 1)[0]) for n in ("prefix", "last"))
        letters.append(last)
        number = prefix
    for g in reversed(letters):
        images = enumerator.problem.generators[g][images]
    return [int(image) for image in images]


class Contract:
    """Says how much is tested, and holds what the tests share."""

    deduces: ClassVar[bool] = True  # products; else all are computed
    examples: ClassVar[int] = 25  # of each property
    named: ClassVar[Sequence[str]] = (
        *("bihecke:3", "bihecke:4", "zero_rook:3", "zero_rook:4", "zero_rook:5"),
        *("full:4", "symmetric:4", "symmetric:5", "catalan:5"),
    )
    middle: ClassVar[str] = "zero_rook:4"  # of some hundred elements, where rows take most
    large: ClassVar[Sequence[str]] = ("bihecke:5", "full:5")  # where slow tests are run
    batches: ClassVar[Sequence[int]] = (*range(1, 12), 64, ALL, 1 << 63)
    degrees: ClassVar[Sequence[int]] = (255, 256, 257, 65536, 65537)
    drops_rows: ClassVar[bool] = True  # where memory is little
    cycles: ClassVar[Sequence[int]] = (8, 3, 125)  # whose product is the length of a word
    many: ClassVar[int] = 300  # generators

    def run_property(self, strategies: Sequence[Any], body: Callable[..., None]) -> None:
        @settings(
            max_examples=examples(self.examples),
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        )
        @given(st.tuples(*strategies))
        def run_it(drawn: tuple[Any, ...]) -> None:
            body(*drawn)

        run_it()

    def check_run(
        self, engine: SemigroupEngine, problem: EnumerationProblem, batches: Sequence[int]
    ) -> None:
        """Run to the end, or as far as the reference goes, with its state at every stop."""
        final = expected(problem, 300)
        enumerator = engine.start(problem)
        check_state(enumerator, final)
        for most in itertools.cycle(batches):
            if enumerator.expanded == len(final.right):
                break
            step(enumerator, min(most, len(final.right) - enumerator.expanded))
            check_state(enumerator, final)
        if enumerator.finished:
            check_elements(enumerator)
            self.check_counts(enumerator)

    def check_counts(self, enumerator: Enumerator) -> None:
        """Check the counts of an enumeration that was not begun from tables."""
        counts, problem = enumerator.counts, enumerator.problem
        everything = enumerator.expanded * problem.letters
        computed = deduced(problem).computed if self.deduces else everything
        assert (counts.computed, counts.deduced) == (computed, everything - computed)
        assert counts.moved > 0
