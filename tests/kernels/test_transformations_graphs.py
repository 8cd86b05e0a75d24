"""Test what finished tables tell, compiled and plain, against obvious code and by brute force."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kernels.transformations import NONE, CayleyTables, EnumerationProblem, Maps, as_maps, graphs
from kernels.transformations.graphs import CayleyGraph
from kernels.transformations.ref import ReferenceSemigroupEngine
from semigroups.families import Family
from tests.transformations_oracle import Enumeration, enumerate_maps

Images = tuple[int, ...]


WAYS = [way for way in ("compiled", "plain") if way == "plain" or graphs._cpu is not None]
each_way = pytest.mark.parametrize("way", WAYS)


@contextmanager
def done(way: str) -> Iterator[None]:
    """Compiled, or as where the extension is not built."""
    with pytest.MonkeyPatch.context() as patch:
        if way == "plain":
            patch.setattr(graphs, "_cpu", None)
        yield


def tables_of(generators: Maps, monoid: bool = True) -> CayleyTables:
    points = np.arange(generators.shape[1], dtype=np.uint32)
    enumerator = ReferenceSemigroupEngine().start(EnumerationProblem(generators, points, monoid))
    while not enumerator.finished:
        enumerator.expand(1 << 20)
    return enumerator.tables()


def numbered(labels: Iterable[Any]) -> list[int]:
    """Classes of equal labels, numbered by their first members."""
    numbers: dict[Any, int] = {}
    return [numbers.setdefault(label, len(numbers)) for label in labels]


@st.composite
def generator_sets(draw: st.DrawFn, most: int = 3) -> list[Images]:
    """Draw generators of degree 1 to `most`, also equal ones and the identity."""
    degree = draw(st.integers(1, most))
    images = st.tuples(*[st.integers(0, degree - 1)] * degree)
    chosen = images | st.just(tuple(range(degree))) | st.permutations(range(degree)).map(tuple)
    return draw(st.lists(chosen, min_size=1, max_size=4))


# Semigroups.


def check_semigroup(tables: CayleyTables, expected: Enumeration, threads: int) -> None:
    """Check all functions against the obvious ones, which count from 0 also without an identity."""
    monoid, size = expected.monoid, len(tables.first)
    less = int(not monoid)
    shown = slice(less, None)

    green = graphs.green(tables.right, tables.left, threads)
    for kind, classes in zip("RLHD", (green.r, green.l, green.h, green.d), strict=True):
        assert classes.dtype == np.uint32
        assert (classes[shown] - less).tolist() == expected.green(kind).tolist()
    assert (green.d[shown] - less).tolist() == expected.green("J").tolist()
    assert graphs.strong_components(tables.right).tolist() == green.r.tolist()

    found = []
    for classes in (None, green.r, green.d):
        found = graphs.idempotents(
            tables.right, tables.first, tables.suffix, classes, monoid, threads
        )
        assert found.dtype == np.uint32
        assert (found - less).tolist() == expected.idempotents
    for classes in (green.r, green.h):
        regular = {classes[e] for e in found.tolist()}
        count = int(classes.max()) + 1
        assert graphs.regular(classes, found).tolist() == [c in regular for c in range(count)]

    u, g, r = graphs.rules(tables.right, tables.suffix)
    assert u.dtype == g.dtype == r.dtype == np.uint32
    all_words = expected.words if monoid else [(), *expected.words]
    sides = [((*all_words[a], b), all_words[c]) for a, b, c in zip(u, g, r, strict=True)]
    assert sides == expected.rules

    numbers = np.arange(size)[::-1]
    letters, offsets = graphs.words(numbers, tables.starts, tables.first, tables.suffix, threads)
    assert letters.dtype == np.uint32
    split = [tuple(letters[a:b].tolist()) for a, b in itertools.pairwise(offsets.tolist())]
    assert split == all_words[::-1]

    i, j = (
        np.repeat(np.arange(less, size), size - less),
        np.tile(np.arange(less, size), size - less),
    )
    some = np.random.default_rng(size).permutation(len(i))[:300]
    i, j = i[some], j[some]
    right = (tables.right, tables.first, tables.suffix)
    left = (tables.left, tables.last, tables.prefix)
    multiplied = [expected.product(a - less, b - less) for a, b in zip(i, j, strict=True)]
    for sides in (right, right + left):
        product = graphs.products(i, j, *sides, threads=threads)
        assert product.dtype == np.uint32
        assert (product - less).tolist() == multiplied


@given(generator_sets(), st.booleans(), st.integers(1, 3))
@example([(0,)], False, 1)
@example([(0,)], True, 1)
@example([(1, 0), (1, 0)], False, 2)
@example([(0, 0), (0, 1), (0, 0)], False, 2)
@example([(1, 2, 0), (1, 0, 2)], True, 2)
@example([(1, 2, 0)], False, 1)
def test_small_semigroups(generators: list[Images], monoid: bool, threads: int) -> None:
    tables = tables_of(as_maps(generators), monoid)
    expected = enumerate_maps(generators, monoid)
    for way in WAYS:
        with done(way):
            check_semigroup(tables, expected, threads)


@pytest.mark.sample(10)
@each_way
@pytest.mark.parametrize("monoid", [True, False])
@pytest.mark.parametrize("text", ["bihecke:4", "full:4", "symmetric:5", "order_preserving:5"])
def test_families(text: str, monoid: bool, way: str) -> None:
    tables, expected = known(text, monoid)
    with done(way):
        check_semigroup(tables, expected, 2)


@cache
def known(text: str, monoid: bool) -> tuple[CayleyTables, Enumeration]:
    generators = Family.parse(text).generators()
    tables = tables_of(generators, monoid)
    for name in CayleyTables.ARRAYS:
        getattr(tables, name).flags.writeable = False
    return tables, enumerate_maps(generators, monoid)


@each_way
def test_many_generators(way: str) -> None:
    """More than a word has bits, and all equal to one of a few."""
    few = [(1, 2, 0, 3), (0, 0, 2, 3), (0, 1, 2, 2)]
    generators = [few[k * k % 3] for k in range(150)]
    tables, expected = tables_of(as_maps(generators)), enumerate_maps(generators)
    with done(way):
        check_semigroup(tables, expected, 2)


@given(generator_sets(), st.integers(0, 12))
def test_rules_so_far(generators: list[Images], expanded: int) -> None:
    """Rules of an unfinished enumeration are those among the products that are known."""
    tables = tables_of(as_maps(generators))
    every = np.stack(graphs.rules(tables.right, tables.suffix), axis=1)
    size = max([1, *tables.right[:expanded].ravel().tolist()])
    for way in WAYS:
        with done(way):
            part = graphs.rules(tables.right[:expanded], tables.suffix[: size + 1])
            expected = every[every[:, 0] < min(expanded, len(tables.right))]
            assert np.array_equal(np.stack(part, axis=1), expected)


# Graphs of any kind.


@st.composite
def any_graphs(draw: st.DrawFn) -> CayleyGraph:
    size, letters = draw(st.integers(0, 24)), draw(st.integers(0, 4))
    # Edges mostly to near nodes: components of every size.
    reach = draw(st.integers(0, 24))
    ahead = draw(st.integers(-reach, reach))
    steps = st.integers(-reach + ahead, reach + ahead)
    rows = [[min(max(u + draw(steps), 0), size - 1) for _ in range(letters)] for u in range(size)]
    return np.array(rows, np.uint32).reshape(size, letters)


@given(any_graphs(), st.integers(1, 3))
def test_strong_components(graph: CayleyGraph, threads: int) -> None:
    reached = np.eye(len(graph), dtype=bool)
    for _ in graph:
        for targets in graph.T:
            reached |= reached[targets]
    expected = numbered((reached & reached.T).argmax(axis=1).tolist() if len(graph) else [])
    for way in WAYS:
        with done(way):
            assert graphs.strong_components(graph, threads).tolist() == expected
            other = np.ascontiguousarray(graph[:, ::-1])
            both = graphs.green(graph, other, threads)
            assert both.r.tolist() == both.l.tolist() == both.d.tolist() == expected


def path(size: int) -> CayleyGraph:
    return np.minimum(np.arange(1, size + 1), size - 1)[:, None].astype(np.uint32)


@each_way
@pytest.mark.parametrize("letters", [1, 3])
def test_deep_graphs(way: str, letters: int) -> None:
    """A search through them goes as deep as there are nodes."""
    size = 200_000 if way == "compiled" else 10_000
    there = np.repeat(path(size), letters, axis=1)
    order = np.random.default_rng(1).permutation(size)
    shuffled = np.empty_like(there)
    shuffled[order] = order[there]
    with done(way):
        assert graphs.strong_components(there).tolist() == list(range(size))
        assert graphs.strong_components(shuffled).tolist() == list(range(size))
        for graph, last in ((there, size - 1), (shuffled, order[-1])):
            graph[last, -1] = order[0] if graph is shuffled else 0
            assert not graphs.strong_components(graph).any()


@pytest.mark.skipif(graphs._cpu is None, reason="the CPU kernels are not built")
@pytest.mark.parametrize("seed", range(6))
def test_large_graphs(seed: int) -> None:
    """Compiled as plainly, where there are components of all sizes."""
    random = np.random.default_rng(seed)
    size, letters = 20_000, 1 + seed % 3
    near = random.integers(-40, 44, (size, letters)) * (random.random((size, letters)) < 0.9)
    graph = np.clip(np.arange(size)[:, None] + near, 0, size - 1).astype(np.uint32)
    if seed % 2:
        order = random.permutation(size).astype(np.uint32)
        shuffled = np.empty_like(graph)
        shuffled[order] = order[graph]
        graph = shuffled
    found = graphs.strong_components(graph)
    with done("plain"):
        assert np.array_equal(found, graphs.strong_components(graph))


@pytest.mark.skipif(graphs._cpu is None, reason="the CPU kernels are not built")
@pytest.mark.parametrize("threads", [1, 3])
def test_large_tables(threads: int) -> None:
    """Compiled as plainly, where there is more than one part; no semigroup has such tables."""
    random = np.random.default_rng(threads)
    starts = [0, 1, 5, 40, 700, 9_000, 50_000, 120_000]
    size, letters = starts[-1], 4
    rests = [random.integers(*starts[k : k + 2], starts[k + 2] - starts[k + 1]) for k in range(6)]
    suffix = np.concatenate([[NONE], *rests]).astype(np.uint32)
    first = np.append(NONE, random.integers(0, letters, size - 1)).astype(np.uint32)
    graph = np.where(random.random((size, letters)) < 0.8, np.arange(size)[:, None], 0)
    graph = np.where(graph, graph, random.integers(0, size, graph.shape)).astype(np.uint32)
    classes = random.integers(0, 5, size).astype(np.uint32)
    i, j = random.integers(0, size, (2, 100_000))

    def found() -> list[np.ndarray]:
        return [
            graphs.idempotents(graph, first, suffix, threads=threads),
            graphs.idempotents(graph, first, suffix, classes, False, threads),
            *graphs.words(i, starts, first, suffix, threads),
            graphs.products(i, j, graph, first, suffix, graph, first, suffix, threads),
            graphs.products(i, j, graph, first, suffix, threads=threads),
            *graphs.rules(ordered, parents),
        ]

    # Numbers that are first met in order.
    fresh = random.random(30_000 * 67) < 0.02
    count = np.cumsum(fresh)
    ordered = np.where(fresh, count, random.random(len(count)) * count).astype(np.uint32)
    ordered = ordered.reshape(30_000, 67)
    parents = (random.random(count[-1] + 1) * np.arange(count[-1] + 1)).astype(np.uint32)

    compiled = found()
    with done("plain"):
        for x, y in zip(compiled, found(), strict=True):
            assert x.dtype == y.dtype
            assert x.size
            assert np.array_equal(x, y)


classes_of = st.integers(0, 30).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(0, max(n - 1, 0)), min_size=n, max_size=n)] * 2)
)


@given(classes_of, st.booleans())
def test_join_and_meet(labels: tuple[list[int], list[int]], first: bool) -> None:
    """Joins and meets are right of classes numbered by their first members, and of any."""
    a, b = ([numbered(each) for each in labels]) if first else labels
    joined = list(range(len(a)))
    for _ in a:
        for same in (a, b):
            least = {c: min(joined[k] for k in range(len(a)) if same[k] == c) for c in set(same)}
            joined = [least[c] for c in same]
    for way in WAYS:
        with done(way):
            x, y = np.array(a, np.uint32), np.array(b, np.uint32)
            assert graphs.join(x, y).tolist() == numbered(joined)
            assert graphs.meet(x, y).tolist() == numbered(zip(a, b, strict=True))


@each_way
def test_long_chains_are_joined(way: str) -> None:
    """a joins pairs of neighbours, b the pairs between: all is one class, far apart."""
    n = 2000
    a = np.arange(n, dtype=np.uint32) // 2
    b = (np.arange(n, dtype=np.uint32) + 1) // 2
    with done(way):
        assert not graphs.join(a, b).any()
        assert not graphs.join(a[::-1].copy(), b).any()
        assert graphs.meet(a, b).tolist() == list(range(n))


# What contradicts itself.


def damaged(values: np.ndarray, place: int | tuple[int, ...], value: int) -> np.ndarray:
    copy = values.copy()
    copy[place] = value
    return copy


@each_way
def test_contradictions(way: str) -> None:
    tables, _ = known("bihecke:4", True)
    starts, right, first, suffix = tables.starts, tables.right, tables.first, tables.suffix
    size = len(right)
    last = size - 1
    with done(way):
        for value in (size, NONE):
            graph = damaged(right, (last, 0), value)
            with pytest.raises(ValueError, match="leads to"):
                graphs.strong_components(graph)
            with pytest.raises(ValueError, match="leads to"):
                graphs.rules(graph, suffix)
            with pytest.raises(ValueError, match="leads to"):
                graphs.products([last], [1 + int(first[1])], graph, first, suffix)
            with pytest.raises(ValueError, match="leads to"):
                graphs.idempotents(damaged(right, (1, 0), value), first, suffix)
            for other in (damaged(first, last, value), first):
                rest = suffix if other is not first else damaged(suffix, last, value)
                with pytest.raises(ValueError, match="a word"):
                    graphs.products([0], [last], right, other, rest)
                with pytest.raises(ValueError, match="a word"):
                    graphs.idempotents(right, other, rest)
            with pytest.raises(ValueError, match="leads to"):
                graphs.join(damaged(first, 0, value), damaged(first, 0, 0))
            with pytest.raises(ValueError, match="leads to"):
                graphs.meet(damaged(first, 0, 0), damaged(first, 0, value))
        for rest in (last, size, 0, 1):
            with pytest.raises(ValueError, match="a word"):
                graphs.words([last], starts, first, damaged(suffix, last, rest))
        with pytest.raises(ValueError, match="a word"):
            graphs.rules(right, damaged(suffix, last, last))


@each_way
def test_bad_arguments(way: str) -> None:
    tables, _ = known("bihecke:4", True)
    starts, right, first, suffix = tables.starts, tables.right, tables.first, tables.suffix
    with done(way):
        for wrong in (right.astype(np.int64), right[:, ::2], right.ravel()):
            with pytest.raises(ValueError, match=r"^graph is "):
                graphs.strong_components(wrong)
            with pytest.raises(ValueError, match=r"^right is "):
                graphs.idempotents(wrong, first, suffix)
        with pytest.raises(ValueError, match=r"^b is "):
            graphs.join(first, first[1:])
        with pytest.raises(ValueError, match=r"^suffix is "):
            graphs.idempotents(right, first, suffix[1:])
        with pytest.raises(ValueError, match=r"^right has products of 477 numbers, of 5$"):
            graphs.rules(right, suffix[:5])
        for numbers in ([477], [-1], [2**40]):
            with pytest.raises(IndexError, match=r"^there are 477 numbers, from 0$"):
                graphs.words(numbers, starts, first, suffix)
            with pytest.raises(IndexError, match=r"^there are 477 numbers, from 0$"):
                graphs.products(numbers, 1, right, first, suffix)
        with pytest.raises(TypeError, match=r"^numbers must be integers"):
            graphs.words([0.5], starts, first, suffix)
        with pytest.raises(ValueError, match=r"^at least one thread must work$"):
            graphs.strong_components(right, threads=0)
        with pytest.raises(ValueError, match=r"^at least one thread must work$"):
            graphs.idempotents(right, first, suffix, threads=0)


@each_way
def test_nothing(way: str) -> None:
    none = np.empty(0, np.uint32)
    tables, _ = known("bihecke:4", True)
    starts, right, first, suffix = tables.starts, tables.right, tables.first, tables.suffix
    with done(way):
        for letters in (0, 3):
            assert graphs.strong_components(np.empty((0, letters), np.uint32)).shape == (0,)
        assert graphs.join(none, none).shape == graphs.meet(none, none).shape == (0,)
        found, offsets = graphs.words([], starts, first, suffix)
        assert (found.size, offsets.tolist()) == (0, [0])
        assert graphs.words(0, starts, first, suffix)[1].tolist() == [0, 0]
        assert graphs.products([], [], right, first, suffix).shape == (0,)
        assert graphs.products(5, 0, right, first, suffix).tolist() == [5]
        assert graphs.products(0, [5, 6], right, first, suffix).tolist() == [5, 6]
        assert graphs.regular(none, none).shape == (0,)
        assert [part.size for part in graphs.rules(right[:0], suffix[:1])] == [0, 0, 0]
