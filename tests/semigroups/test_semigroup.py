"""Semigroups, against the obvious enumeration of tests.transformations_oracle and known values."""

from __future__ import annotations

import doctest
import itertools
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import semigroups
from kernels.targets.choose import pick
from kernels.targets.contract import BackendUnavailableError
from semigroups import Family, Semigroup, parse_generators
from semigroups.families import zero_rook
from tests.quick import examples
from tests.transformations_oracle import Enumeration, enumerate_maps

Rows = list[list[int]]
KINDS = ("R", "L", "J", "H", "D")
HURT: list[Rows] = [
    [[0]],
    [[0, 1]],
    [[1, 0], [1, 0]],
    [[0, 0], [0, 1], [0, 0]],
    [[1, 1], [0, 0]],
    [[1, 2, 3, 4, 0]],
    [[1, 2, 0, 3, 4], [0, 1, 2, 4, 3]],
]


@st.composite
def generator_sets(draw: st.DrawFn) -> Rows:
    """Draw maps of degree 1 to 5; those of large degrees are of few kinds, to remain small."""
    degree = draw(st.integers(1, 5))
    points = list(range(degree))
    images = st.lists(st.sampled_from(points), min_size=degree, max_size=degree)
    moved = st.tuples(st.sampled_from(points), st.sampled_from(points)).map(
        lambda move: [move[1] if p == move[0] else p for p in points]
    )
    few = st.just(points) | moved | st.permutations(points) | st.just([draw(images)[0]] * degree)
    return draw(st.lists(few if degree > 3 else images | few, min_size=1, max_size=3))


def small(generators: Any, **options: Any) -> Semigroup:
    return Semigroup(generators, backend="reference", **options)


def quick(generators: Any, **options: Any) -> Semigroup:
    try:
        pick("cpu")
    except BackendUnavailableError:
        return small(generators, **options)
    return Semigroup(generators, backend="cpu", **options)


bases = st.sampled_from(["all", "auto", [0]])


@given(generator_sets(), st.booleans(), bases)
@example(HURT[0], False, "all")
@example(HURT[1], False, "auto")
@example(HURT[3], True, [0])
@example(HURT[6], False, [0])
@settings(max_examples=examples(40))
def test_all_of_it(generators: Rows, monoid: bool, base: Any) -> None:
    expected = enumerate_maps(generators, monoid)
    found = small(generators, monoid=monoid, base=base)
    assert not found.finished
    assert found.current_size == 0
    assert found.size == len(found) == len(expected)
    assert found.finished
    assert_graphs(found, expected)
    assert_elements(found, expected)
    assert_structure(found, expected)


def assert_graphs(found: Semigroup, expected: Enumeration) -> None:
    assert found.levels == found.current_levels == expected.levels
    for graph, other in (
        (found.right_cayley, expected.right),
        (found.left_cayley, expected.left),
    ):
        assert graph.dtype == np.uint32
        assert graph.tolist() == other.tolist()
        assert not graph.flags.writeable
    assert list(found.rules) == expected.rules
    assert len(found.rules) == len(expected.rules)


def assert_elements(found: Semigroup, expected: Enumeration) -> None:
    numbers = range(len(expected))
    assert [found.word(i) for i in numbers] == list(found.words()) == expected.words
    assert np.array_equal(found.elements(numbers), expected.elements)
    assert found.elements([0]).dtype == expected.elements.dtype
    assert np.array_equal(list(found), expected.elements)
    assert found.positions(expected.elements).tolist() == list(numbers)
    for x in itertools.islice(itertools.product(range(found.degree), repeat=found.degree), 50):
        assert found.position(x) == expected.position(x)
        assert (x in found) == (expected.position(x) is not None)
    identity = np.arange(found.degree)
    assert found.contains_identity == (expected.position(identity) is not None)


def assert_structure(found: Semigroup, expected: Enumeration) -> None:
    some = np.arange(len(expected))[:40]
    products = found.product(some[:, None], some)
    assert products.dtype == np.uint32
    assert products.tolist() == [[expected.product(i, j) for j in some] for i in some]
    assert found.product(0, len(found) - 1) == expected.product(0, len(found) - 1)
    assert found.idempotents.tolist() == expected.idempotents
    pairs = itertools.product(range(len(expected)), repeat=2)
    whole = range(len(expected)) if len(expected) <= 40 else ()
    if whole:
        regular = {i for i, j in pairs if expected.product(expected.product(i, j), i) == i}
    for kind in KINDS:
        classes = found.green(kind)
        of = expected.green(kind)
        assert classes.kind == kind
        assert classes.of.tolist() == of.tolist()
        assert len(classes) == classes.count == of.max() + 1
        members = [classes.members(k).tolist() for k in range(classes.count)]
        assert members == [np.flatnonzero(of == k).tolist() for k in range(classes.count)]
        assert classes.sizes.tolist() == [len(each) for each in members]
        some_idempotent = [bool(set(each) & set(expected.idempotents)) for each in members]
        assert classes.groups.tolist() == some_idempotent
        if whole:
            assert classes.regular.tolist() == [set(each) <= regular for each in members]
            assert classes.regular.tolist() == [bool(set(each) & regular) for each in members]


SIZES = {
    "bihecke:3": ([1, 4, 8, 10], None),
    "bihecke:4": ([1, 6, 20, 52, 94, 134, 126, 34, 10], 251),
    "0-rook:4": ([1, 4, 9, 16, 23, 29, 32, 31, 26, 19, 12, 5, 2], 16),
}


@pytest.mark.parametrize("text", SIZES)
def test_known_values(text: str) -> None:
    levels, idempotents = SIZES[text]
    found = quick(Family.parse(text))
    assert found.levels == levels
    assert found.size == sum(levels)
    assert idempotents in (None, len(found.idempotents))


def test_zero_rook_is_j_trivial() -> None:
    found = quick(Family.parse("0-rook:5"), monoid=False)
    assert found.size == 1546 - 1
    assert found.levels[0] == 0
    assert len(found.idempotents) == 2**5 - 1
    assert not found.contains_identity
    for kind in KINDS:
        assert found.green(kind).count == found.size


def test_a_group() -> None:
    found = quick(Family.parse("S:5"), monoid=False)
    assert (found.size, found.levels[0], len(found.idempotents)) == (120, 0, 1)
    assert found.contains_identity
    for kind in KINDS:
        classes = found.green(kind)
        assert (classes.count, classes.sizes.tolist()) == (1, [120])
        assert classes.regular.all()
        assert classes.groups.all()
    assert repr(found.green("H")) == "<1 H-class, 1 regular>"


@given(generator_sets(), st.booleans())
@example([[1, 2, 3, 4, 5, 0]], False)
@example([[1, 2, 0, 4, 3]], True)
@example([[0]], False)
def test_idempotents_of_groups(generators: Rows, monoid: bool) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("semigroups.structure._DEEP", 0)
        found = quick(generators, monoid=monoid).idempotents
    assert found.tolist() == enumerate_maps(generators, monoid).idempotents


def test_long_words_take_no_longer() -> None:
    """Two cycles, of 256 and 81 points: few words are followed."""
    cycle = [*range(1, 256), 0, *range(257, 337), 256]
    for monoid, first in ((True, 0), (False, 256 * 81 - 1)):
        found = quick([cycle], monoid=monoid)
        found.run(limit=3000)
        assert found.current_size == 3000
        if found.backend == "cpu":
            assert found.size == 256 * 81
            assert found.idempotents.tolist() == [first]


def test_words_are_made_when_asked_for() -> None:
    found = small(Family.parse("bihecke:4"))
    words, rules = found.words(), found.rules
    assert (len(words), words[0], words[-1]) == (477, (), found.word(476))
    assert words[5:476:200] == [found.word(i) for i in (5, 205, 405)]
    assert rules[:2] == [((0, 0), (0,)), ((0, 3), (3,))]
    assert rules[-1] == list(rules)[-1]
    assert (repr(words), repr(rules)) == ("<words of 477 elements>", f"<{len(rules)} rules>")
    with pytest.raises(IndexError):
        words[477]
    with pytest.raises(IndexError):
        rules[len(rules)]


def test_what_is_told_of_it() -> None:
    def told(**options: Any) -> str:
        found = small([[1, 0, 2], [0, 0, 2]], **options)
        found.run()
        return repr(found)

    head = "<Semigroup of 4 maps of 3 points, 2 generators, with the identity; "
    assert told() == f"{head}proved by comparing rows>"
    assert told(monoid=False) == told()  # it is a product
    assert told(hash_only=True) == f"{head}by 128-bit hashes only>"
    assert told(base=[2, 1, 0]) == told()
    constant = small([[0]], monoid=False)
    assert repr(constant) == (
        "<Semigroup of maps of 1 point, 1 generator, the identity not added; not enumerated>"
    )
    constant.run()
    assert repr(constant).startswith("<Semigroup of 1 map of 1 point, 1 generator, with the iden")
    constants = small([[0, 0], [1, 1]], monoid=False)
    assert constants.size == 2
    assert repr(constants) == (
        "<Semigroup of 2 maps of 2 points, 2 generators, without the identity; "
        "proved by comparing rows>"
    )
    rook = small(zero_rook(4), base="auto")
    assert rook.size == 209
    assert rook.base == [90]  # 1234
    assert repr(rook) == (
        "<Semigroup of 209 maps of 209 points, 4 generators, with the identity; "
        "on the images of 1 point, proved by checking 25 rules>"
    )
    assert rook.monoid
    assert rook.backend == "reference"
    assert bool(small([[0]]))
    generators = rook.generators
    generators[0, 0] = 1
    assert rook.generators.tolist() == zero_rook(4).tolist()


def test_questions_without_answers() -> None:
    found = small([[1, 2, 0]])
    for ask in (found.element, found.word, lambda i: found.product(i, 0), found.green("R").members):
        for i in (-1, 3):
            with pytest.raises(IndexError, match=r"^there (is no element|are 1 R-classes)"):
                ask(i)
    for many in (found.element, found.word):
        with pytest.raises(TypeError, match=r"^a row of numbers of elements is needed, not \(1, 2"):
            many([0, 1])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^a row of numbers of elements is needed, not \(\)$"):
        found.elements(1)
    with pytest.raises(IndexError, match=r"^there is no element -1: numbers are 0 or more$"):
        small([[0]]).element(-1)  # not that there are 0 of them
    with pytest.raises(TypeError, match=r"^numbers of elements are integers, not float64$"):
        found.elements([0.5])
    assert found.elements([]).shape == (0, 3)
    for x in ([0, 1], [0, 1, 3], [0, 1, -1], [0, 1, 258], [0.0, 1, 2], [[0, 1, 2]], [], "abc", 5):
        assert found.position(x) is None
        assert x not in found
    assert [[0], [1, 2]] not in found
    assert found.positions([[0, 1, 2], [0, 1, 3], [-1, 0, 0], [2, 0, 1]]).tolist() == [0, -1, -1, 2]
    assert found.positions(np.empty((0, 3), int)).tolist() == []
    with pytest.raises(ValueError, match=r"^maps are integers \(count, 3\), not int64 \(1, 2\)$"):
        found.positions([[0, 1]])
    with pytest.raises(ValueError, match=r"^Green's relations are R, L, J, H and D, not 'K'$"):
        found.green("K")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^a Cayley graph is right or left, not 'up'$"):
        found.to_networkx("up")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("generators", "options", "error", "message"),
    [
        ([], {}, ValueError, "no generators"),
        ([[0, 2]], {}, ValueError, "generator 0 sends 1 to 2: no map of the points 0 to 1"),
        (5, {}, TypeError, "generators are maps or a Family, not 5"),
        ("S:3", {}, TypeError, "generators are maps or a Family, not 'S:3'"),
        (Family("symmetric", 3), {"backend": "gpu"}, ValueError, "unknown backend 'gpu': one of "),
        ([[0]], {"memory": 0}, ValueError, "memory is a number of bytes, not 0"),
        ([[0]], {"memory": 1.5}, ValueError, "memory is a number of bytes, not 1.5"),
        ([[0]], {"threads": 0}, ValueError, "threads is how many work, at least one, not 0"),
        ([[0]], {"threads": 1.5}, ValueError, "threads is how many work, at least one, not 1.5"),
        ([[0]], {"device": -1}, ValueError, "device is the number of a GPU, from 0, not -1"),
        ([[0]], {"base": []}, ValueError, "a base has at least one point"),
        ([[0]], {"base": [1]}, ValueError, "1 is no point: they are 0 to 0"),
        ([[0]], {"base": [-1, 0]}, ValueError, "-1 is no point: they are 0 to 0"),
        ([[0]], {"base": [0.5]}, ValueError, "points of a base are integers, not float64"),
        ([[0]], {"base": "some"}, ValueError, "base is auto, all or a list of points, not 'some'"),
    ],
)
def test_what_makes_none(
    generators: Any, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as raised:
        Semigroup(generators, **options)
    assert str(raised.value).startswith(message)


def test_a_family_that_is_too_large_is_not_made() -> None:
    with pytest.raises(MemoryError, match=r"^bihecke:12: generators of [0-9,]+ bytes, [0-9,]+ are"):
        Semigroup(Family("bihecke", 12))


@given(generator_sets(), st.booleans())
@settings(max_examples=examples(20))
def test_gap_reads_it(generators: Rows, monoid: bool) -> None:
    text = small(generators, monoid=monoid).to_gap()
    assert text.startswith("Monoid([" if monoid else "Semigroup([")
    assert parse_generators(text).tolist() == generators


class Graph:
    """Offers what of networkx.MultiDiGraph is used."""

    def __init__(self) -> None:
        self.nodes: list[int] = []
        self.edges: list[tuple[int, int, int, dict[str, int]]] = []

    def add_nodes_from(self, nodes: Any) -> None:
        self.nodes += nodes

    def add_edges_from(self, edges: Any) -> None:
        self.edges += edges


def test_networkx(monkeypatch: pytest.MonkeyPatch) -> None:
    module = type(sys)("networkx")
    module.MultiDiGraph = Graph  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "networkx", module)
    found = small([[1, 0, 2], [0, 0, 2]], monoid=False)
    for side, graph in (("right", found.right_cayley), ("left", found.left_cayley)):
        made = found.to_networkx(side)  # type: ignore[arg-type]
        assert made.nodes == list(range(4))
        wanted = [(i, int(graph[i, g]), g, {"generator": g}) for g in range(2) for i in range(4)]
        assert made.edges == wanted


def test_networkx_itself() -> None:
    networkx = pytest.importorskip("networkx")
    found = small([[1, 0, 2], [0, 0, 2]])
    graph = found.to_networkx()
    assert isinstance(graph, networkx.MultiDiGraph)
    assert graph.number_of_nodes() == 4
    for i, j, g in graph.edges(keys=True):
        assert found.right_cayley[i, g] == j
        assert graph.edges[i, j, g] == {"generator": g}
    assert graph.number_of_edges() == 8


def test_networkx_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(ImportError, match=r"^to_networkx\(\) needs networkx: pip install"):
        small([[0]]).to_networkx()


@pytest.mark.parametrize("name", ["semigroups", "semigroups.semigroup"])
def test_examples_in_docstrings(name: str) -> None:
    module = sys.modules[name] if name in sys.modules else __import__(name, fromlist=["x"])
    assert module.__name__ == name
    tested = doctest.testmod(module)
    assert tested.attempted
    assert not tested.failed


def test_all_names_are_there() -> None:
    for name in semigroups.__all__:
        assert getattr(semigroups, name).__name__ == name
