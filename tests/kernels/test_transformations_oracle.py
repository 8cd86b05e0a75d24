"""Test the brute force against known values, and against closure computed in another way."""

from __future__ import annotations

import itertools
from math import comb, factorial

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kernels.transformations import MAX_DEGREE, as_maps, image_dtype
from semigroups.families import Family, bihecke, zero_rook
from tests.transformations_oracle import Enumeration, Word, enumerate_maps

Images = tuple[int, ...]


def known(text: str) -> Enumeration:
    return enumerate_maps(Family.parse(text).generators())


LEVELS = {
    "bihecke:3": [1, 4, 8, 10],
    "bihecke:4": [1, 6, 20, 52, 94, 134, 126, 34, 10],
    "bihecke:5": [
        *(1, 8, 36, 126, 356, 860, 1764, 3054, 4594),
        *(5714, 5778, 4118, 2678, 1358, 486, 136, 28, 8),
    ],
    "zero_rook:1": [1, 1],
    "zero_rook:2": [1, 2, 2, 2],
    "zero_rook:4": [1, 4, 9, 16, 23, 29, 32, 31, 26, 19, 12, 5, 2],
    # Permutations by inversions.
    "zero_hecke:4": [1, 3, 5, 6, 5, 3, 1],
    "zero_hecke:5": [1, 4, 9, 15, 20, 22, 20, 15, 9, 4, 1],
}
SIZES = {
    "bihecke:2": 3,
    "bihecke:3": 23,
    "bihecke:4": 477,
    "bihecke:5": 31103,
    "zero_rook:4": 209,
    "zero_rook:5": 1546,
    "zero_hecke:5": 120,
    **{f"full:{n}": n**n for n in range(1, 6)},
    **{f"symmetric:{n}": factorial(n) for n in range(1, 7)},
    **{f"order_preserving:{n}": comb(2 * n - 1, n) for n in range(2, 7)},
    **{f"regressive:{n}": factorial(n) for n in range(2, 7)},
    **{f"catalan:{n}": comb(2 * n, n) // (n + 1) for n in range(2, 8)},
}
IDEMPOTENTS = {
    "bihecke:4": 251,
    "bihecke:5": 7859,
    **{f"zero_rook:{n}": 2**n for n in range(1, 6)},
    **{f"zero_hecke:{n}": 2 ** (n - 1) for n in range(2, 6)},
    **{f"full:{n}": sum(comb(n, k) * k ** (n - k) for k in range(1, n + 1)) for n in range(1, 6)},
    "symmetric:5": 1,
    **{f"catalan:{n}": 2 ** (n - 1) for n in range(2, 8)},
}


@pytest.mark.sample(3)
@pytest.mark.parametrize("text", {**LEVELS, **SIZES, **IDEMPOTENTS})
def test_known_values(text: str) -> None:
    found = known(text)
    assert len(found) == sum(found.levels) == len(found.elements)
    assert len(found) == SIZES.get(text, len(found))
    assert found.levels == LEVELS.get(text, found.levels)
    assert len(found.idempotents) == IDEMPOTENTS.get(text, len(found.idempotents))


@pytest.mark.slow
def test_zero_rook_6() -> None:
    found = known("zero_rook:6")
    assert len(found) == 13327
    assert len(found.idempotents) == 2**6
    # An element is what it makes of 12 … n.
    words = itertools.product(range(7), repeat=6)
    rook_vectors = (w for w in words if all(w.count(letter) <= 1 for letter in range(1, 7)))
    base = next(i for i, word in enumerate(rook_vectors) if word == (1, 2, 3, 4, 5, 6))
    assert len(np.unique(found.elements[:, base])) == len(found)


def stirling(n: int, k: int) -> int:
    """Partitions of n points into k parts."""
    if n == 0 or k == 0:
        return int(n == k)
    return k * stirling(n - 1, k) + stirling(n - 1, k - 1)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_green_of_all_maps(n: int) -> None:
    """R: equal kernels; L: equal images; J and D: equal ranks."""
    found = known(f"full:{n}")
    ranks = range(1, n + 1)
    classes = {kind: int(found.green(kind).max()) + 1 for kind in "RLJHD"}
    assert classes == {
        "R": sum(stirling(n, k) for k in ranks),
        "L": 2**n - 1,
        "J": n,
        "H": sum(stirling(n, k) * comb(n, k) for k in ranks),
        "D": n,
    }


@pytest.mark.parametrize("text", ["zero_rook:3", "zero_rook:4", "zero_hecke:4", "catalan:5"])
def test_j_trivial(text: str) -> None:
    found = known(text)
    for kind in ("R", "L", "J", "H", "D"):
        assert found.green(kind).tolist() == list(range(len(found)))


# By brute force, on tuples.


def multiply(x: Images, y: Images) -> Images:
    return tuple(y[p] for p in x)


def closure(generators: list[Images]) -> set[Images]:
    found = set(generators)
    while True:
        grown = found | {multiply(x, y) for x in found for y in generators}
        if grown == found:
            return found
        found = grown


def key(word: Word) -> tuple[int, Word]:
    return len(word), word


def least_words(generators: list[Images], monoid: bool) -> dict[Images, Word]:
    """Return the least word of each element, found by making words less until none can be."""
    least: dict[Images, Word] = {}
    changed = True
    while changed:
        changed = False
        known = [(tuple(range(len(generators[0]))), ()), *least.items()]
        if monoid:
            least[known[0][0]] = ()
        for x, word in known:
            for g, y in enumerate(generators):
                product, longer = multiply(x, y), (*word, g)
                if product not in least or key(longer) < key(least[product]):
                    least[product] = longer
                    changed = True
    return least


@st.composite
def generator_sets(draw: st.DrawFn, most: int = 3) -> list[Images]:
    """Draw generators of degree 1 to `most`, also equal ones and the identity."""
    degree = draw(st.integers(1, most))
    images = st.tuples(*[st.integers(0, degree - 1)] * degree)
    chosen = images | st.just(tuple(range(degree))) | st.permutations(range(degree)).map(tuple)
    return draw(st.lists(chosen, min_size=1, max_size=4))


def value(generators: list[Images], word: Word) -> Images:
    x = tuple(range(len(generators[0])))
    for g in word:
        x = multiply(x, generators[g])
    return x


def elements(found: Enumeration) -> list[Images]:
    return [tuple(x) for x in found.elements.tolist()]


@given(generator_sets(), st.booleans())
@example([(0,)], False)
@example([(0, 1)], True)
@example([(1, 0), (1, 0)], False)
@example([(0, 0), (0, 1), (0, 0)], False)
def test_elements_and_words(generators: list[Images], monoid: bool) -> None:
    found = enumerate_maps(generators, monoid)
    identity = tuple(range(len(generators[0])))
    assert set(elements(found)) == closure(generators) | ({identity} if monoid else set())
    assert len(found) == len(set(elements(found)))
    least = least_words(generators, monoid)
    assert found.words == sorted(least.values(), key=key)
    assert [least[x] for x in elements(found)] == found.words
    lengths = [len(word) for word in found.words]
    assert found.levels == [lengths.count(k) for k in range(max(lengths) + 1)]
    assert found.levels[0] == int(monoid)


@given(generator_sets(), st.booleans())
def test_graphs_products_and_positions(generators: list[Images], monoid: bool) -> None:
    found = enumerate_maps(generators, monoid)
    place = {x: i for i, x in enumerate(elements(found))}
    for x, i in place.items():
        assert found.right[i].tolist() == [place[multiply(x, g)] for g in generators]
        assert found.left[i].tolist() == [place[multiply(g, x)] for g in generators]
        assert found.position(x) == i
    for (x, i), (y, j) in itertools.product(list(place.items())[:20], repeat=2):
        assert found.product(i, j) == place[multiply(x, y)]
    degree = len(generators[0])
    for x in itertools.product(range(degree), repeat=degree):
        assert found.position(x) == place.get(x)
    assert found.position([256] + [0] * (degree - 1)) is None
    assert found.position([0] * (degree + 1)) is None
    assert found.idempotents == [i for x, i in place.items() if multiply(x, x) == x]


@given(generator_sets(), st.booleans(), st.data())
def test_rules(generators: list[Images], monoid: bool, data: st.DataObject) -> None:
    found = enumerate_maps(generators, monoid)
    least = set(found.words) | {()}

    def factors(word: Word) -> set[Word]:
        return {word[i:j] for i in range(len(word)) for j in range(i + 1, len(word) + 1)}

    longer = [(*word, g) for word in least for g in range(len(generators))]
    minimal = [word for word in longer if word not in least and factors(word) - {word} <= least]
    assert [left for left, _ in found.rules] == sorted(minimal, key=key)
    for left, right in found.rules:
        assert right in found.words
        assert value(generators, left) == value(generators, right)
    # Rewriting anywhere, in any order, ends at the least word.
    rules = dict(found.rules)
    letters = st.integers(0, len(generators) - 1)
    start = word = tuple(data.draw(st.lists(letters, min_size=1, max_size=12)))
    while places := [
        (i, j) for i in range(len(word)) for j in range(i + 1, len(word) + 1) if word[i:j] in rules
    ]:
        i, j = data.draw(st.sampled_from(places))
        word = word[:i] + rules[word[i:j]] + word[j:]
    position = found.position(value(generators, start))
    assert position is not None
    assert word == found.words[position]


@given(generator_sets(), st.booleans())
def test_green(generators: list[Images], monoid: bool) -> None:
    """Green's classes are those of the ideals: what all elements, on one side or both, make of
    each."""
    found = enumerate_maps(generators, monoid)
    all_elements = elements(found)
    one = tuple(range(len(generators[0])))
    factors = [one, *all_elements]
    right = [frozenset(multiply(x, s) for s in factors) for x in all_elements]
    left = [frozenset(multiply(s, x) for s in factors) for x in all_elements]
    both = [frozenset(multiply(s, y) for y in ideal for s in factors) for ideal in right]

    def numbered(labels: list) -> list[int]:
        numbers: dict = {}
        return [numbers.setdefault(label, len(numbers)) for label in labels]

    assert found.green("R").tolist() == numbered(right)
    assert found.green("L").tolist() == numbered(left)
    assert found.green("J").tolist() == numbered(both)
    assert found.green("H").tolist() == numbered(list(zip(right, left, strict=True)))
    # In a finite semigroup D is J.
    assert found.green("D").tolist() == numbered(both)


def test_no_such_relation() -> None:
    with pytest.raises(ValueError, match=r"^Green's relations are R, L, J, H and D, not 'K'$"):
        enumerate_maps([[0]]).green("K")


@pytest.mark.parametrize("text", ["bihecke:3", "bihecke:4", "zero_rook:4", "full:4", "symmetric:4"])
def test_libsemigroups_finds_the_same(text: str) -> None:
    """It counts the identity only where it is a product of generators."""
    other = pytest.importorskip("libsemigroups_pybind11")
    other.ReportGuard(False)
    generators = Family.parse(text).generators()
    found = enumerate_maps(generators, monoid=False)
    theirs = other.FroidurePin([other.Transf(row) for row in generators.tolist()])
    assert theirs.size() == len(found)
    assert theirs.number_of_idempotents() == len(found.idempotents)
    for i, row in enumerate(found.elements.tolist()):
        assert theirs[i] == other.Transf(row)
        assert tuple(other.froidure_pin.minimal_factorisation(theirs, i)) == found.words[i]
    rules = [(tuple(left), tuple(right)) for left, right in other.froidure_pin.rules(theirs)]
    assert sorted(rules) == sorted(found.rules)


# What comes in.


def test_maps_are_copied_and_small() -> None:
    wide = np.array([[1, 0, 2]], np.int64)
    maps = as_maps(wide)
    assert maps.dtype == np.uint8
    assert maps.flags.c_contiguous
    small = as_maps(maps)
    small[0, 0] = 2
    assert maps.tolist() == wide.tolist() == [[1, 0, 2]]
    assert as_maps(iter([(0, 1), np.array([1, 1], np.uint64)])).tolist() == [[0, 1], [1, 1]]
    assert as_maps(zero_rook(3)[:, :]).dtype == np.uint8
    assert np.array_equal(as_maps(bihecke(6).astype(np.int32)), bihecke(6))


@pytest.mark.parametrize(
    ("degree", "dtype"),
    [
        (1, np.uint8),
        (256, np.uint8),
        (257, np.uint16),
        (65536, np.uint16),
        (65537, np.uint32),
        (MAX_DEGREE, np.uint32),
    ],
)
def test_the_smallest_type_that_fits(degree: int, dtype: type) -> None:
    assert image_dtype(degree) == dtype


@pytest.mark.parametrize("degree", [-1, 0, MAX_DEGREE + 1])
def test_degrees_without_maps(degree: int) -> None:
    with pytest.raises(ValueError, match=f"^degree {degree}: "):
        image_dtype(degree)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "no generators"),
        (np.zeros((0, 3), np.uint8), "no generators"),
        ([[]], "degree 0: a map has at least one point"),
        (np.zeros((2, 0), np.uint8), "degree 0: a map has at least one point"),
        ([[0, 1], [0]], "degrees differ: generator 0 has 2 points, generator 1 has 1"),
        ([[0, 1], []], "degrees differ: generator 0 has 2 points, generator 1 has 0"),
        ([[0, 1], [1, 2]], "generator 1 sends 1 to 2: no map of the points 0 to 1"),
        ([[0, -1]], "generator 0 sends 1 to -1: no map of the points 0 to 1"),
        (
            [np.array([0, 2**63], np.uint64)],
            f"generator 0 sends 1 to {2**63}: no map of the points 0 to 1",
        ),
        ([[0.0, 1.0]], "generator 0: images are integers, not float64"),
        ([[False, True]], "generator 0: images are integers, not bool"),
        ([["0"]], "generator 0: images are integers, not <U1"),
        ([[0, 2**64]], "generator 0: images are integers, not object"),
        ([[[0]]], "generator 0: 2 dimensions instead of a row of images"),
        ([0, 1], "generator 0: 0 dimensions instead of a row of images"),
    ],
)
def test_what_is_no_generators(rows: list[list[int]], message: str) -> None:
    with pytest.raises(ValueError, match=r"^(no|degree|generator)") as error:
        enumerate_maps(rows)
    assert str(error.value) == message
