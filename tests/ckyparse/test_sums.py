"""Least solutions, where they are known."""

from __future__ import annotations

import math
import random
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ckyparse.graphs import components
from ckyparse.sums import Approximate, NotRationalError, closure, decimal, grown, least
from kernels.cky.weighted.semirings import Best, Counting, Semiring

EXACT = Semiring(Fraction(1))
graphs = st.lists(st.lists(st.integers(0, 6), max_size=4), min_size=7, max_size=7)


def _reach(graph: list[list[int]], a: int) -> set[int]:
    """Return what a leads to in one step or more."""
    found: set[int] = set()
    waiting = list(graph[a])
    while waiting:
        b = waiting.pop()
        if b not in found:
            found.add(b)
            waiting += graph[b]
    return found


@given(graphs)
def test_components_are_what_lead_to_each_other(graph: list[list[int]]) -> None:
    parts = list(components([0, 3], graph.__getitem__))
    place = {a: k for k, part in enumerate(parts) for a in part}
    assert set(place) == {0, 3} | _reach(graph, 0) | _reach(graph, 3)
    assert sum(map(len, parts)) == len(place)
    for a, b in product(place, place):
        mutual = a == b or (a in _reach(graph, b) and b in _reach(graph, a))
        assert mutual == (place[a] == place[b])
        if b in _reach(graph, a):
            assert place[b] <= place[a]


def test_components_of_a_long_chain() -> None:
    parts = list(components([0], lambda a: [a + 1] if a < 50_000 else [0]))
    assert [len(part) for part in parts] == [50_001]


entries = st.dictionaries(
    st.tuples(st.integers(0, 4), st.integers(0, 4)), st.fractions(0, Fraction(1, 3)), max_size=9
)


def _matrix(given: dict[tuple[int, int], Any]) -> dict[int, dict[int, Any]]:
    matrix: dict[int, dict[int, Any]] = {}
    for (a, b), weight in given.items():
        matrix.setdefault(a, {})[b] = weight
    return matrix


@given(entries)
def test_closures_solve_their_equation(given: dict[tuple[int, int], Fraction]) -> None:
    matrix = _matrix(given)
    found = closure(matrix, EXACT)
    if any(math.inf in row.values() for row in found.values()):
        # Rows that sum to less than one have no cycle that grows.
        assert any(sum(row.values()) >= 1 for row in matrix.values())
        return
    for a, b in product(found, range(5)):
        below = sum(w * found[c].get(b, 0) for c, w in matrix.get(a, {}).items())
        assert found[a].get(b, 0) == (a == b) + below


@given(entries)
def test_closures_of_maxima_are_the_best_ways(given: dict[tuple[int, int], Fraction]) -> None:
    best = {(a, b): Fraction(a == b) for a, b in product(range(5), repeat=2)}
    for _ in range(5):
        for a, c in product(range(5), repeat=2):
            ways = [w * best[b, c] for b, w in _matrix(given).get(a, {}).items()]
            best[a, c] = max([best[a, c], *ways])
    for a, row in closure(_matrix(given), Best(Fraction(1))).items():
        assert [row.get(b, 0) for b in range(5)] == [best[a, b] for b in range(5)]


@pytest.mark.parametrize("kind", [Semiring, Best])
@pytest.mark.parametrize("size", [15, 16, 25])
@given(seed=st.integers(0, 2**32))
@settings(max_examples=3)
def test_large_parts_in_floats(kind: type[Semiring], size: int, seed: int) -> None:
    source = random.Random(seed)
    matrix: dict[int, dict[int, Fraction]] = {
        a: {(a + 1) % size: Fraction(1, 2), size: Fraction(1, 3)} for a in range(size)
    }
    for _ in range(3 * size):
        a, b = source.randrange(size), source.randrange(size + 3)
        matrix[a][b] = Fraction(source.randrange(9), 8 * size)
    floats = {a: {b: float(w) for b, w in row.items()} for a, row in matrix.items()}
    exact, near = closure(matrix, kind(Fraction(1))), closure(floats, kind(1.0))
    assert exact.keys() == near.keys()
    for a, row in exact.items():
        assert row.keys() == near[a].keys()
        for b, value in row.items():
            assert near[a][b] == pytest.approx(float(value), rel=1e-12)


def test_large_parts_that_diverge() -> None:
    matrix = {a: {(a + 1) % 50: 1.0, 50: 0.5} for a in range(50)}
    assert closure(matrix, Semiring(1.0))[7] == dict.fromkeys(range(51), math.inf)
    assert closure(matrix, Best(1.0))[7] == dict.fromkeys(range(50), 1.0) | {50: 0.5}
    matrix[50] = {50: 1.0}
    for a in range(50):
        matrix[a][(a + 1) % 50] = 0.5
    found = closure(matrix, Semiring(1.0))[7]
    assert found[50] == math.inf
    assert found[7] == pytest.approx(1 / (1 - 2**-50))


def test_cycles_are_counted_without_end() -> None:
    # 0 → 1 ⇄ 2 → 3, and more than a float holds on the way.
    huge = 10**400
    matrix = {0: {1: 1, 3: huge}, 1: {2: 1}, 2: {1: 1, 3: 2}}
    found = closure(matrix, Counting(1))
    assert found[0] == {0: 1, 1: math.inf, 2: math.inf, 3: math.inf}
    assert found[3] == {3: 1}
    assert closure({0: {1: huge}, 1: {2: huge}}, Counting(1))[0][2] == huge**2


def test_sums_that_diverge() -> None:
    assert closure({0: {0: Fraction(1)}}, EXACT) == {0: {0: math.inf}}
    assert closure({0: {0: 0.5}}, Semiring(1.0)) == {0: {0: 2.0}}
    assert closure({0: {0: Fraction(2)}}, Best(Fraction(1))) == {0: {0: math.inf}}
    # Zero times infinity is zero: nothing comes out of the cycle.
    assert least([0], lambda a: [(Fraction(1), (0,))], EXACT) == {0: 0}


@pytest.mark.parametrize(
    ("p", "rest", "root"),
    [
        (Fraction(3, 10), Fraction(7, 10), 1.0),
        (Fraction(7, 10), Fraction(3, 10), 3 / 7),
        (Fraction(1, 2), Fraction(1, 2), 1.0),  # a double root
        (Fraction(1, 3), Fraction(1, 3), (3 - math.sqrt(5)) / 2),
        (Fraction(1, 3), Fraction(0), 0.0),
        (Fraction(1, 2), Fraction(51, 100), math.inf),
        (Fraction(2), Fraction(1), math.inf),
    ],
)
def test_roots_of_a_square(p: Fraction, rest: Fraction, root: float) -> None:
    """x = p x² + rest."""
    near = [(decimal(p), ("x", "x")), (decimal(rest), ())]
    found = least(["x"], lambda node: near, Approximate(Decimal(1)))
    assert float(found["x"]) == pytest.approx(root, rel=1e-15)
    exact = [(p, ("x", "x")), (rest, ())]
    if p == rest == Fraction(1, 3):
        with pytest.raises(NotRationalError, match="irrational"):
            least(["x"], lambda node: exact, EXACT)
        return
    (value,) = least(["x"], lambda node: exact, EXACT).values()
    assert value == (root if root == math.inf else Fraction(root).limit_denominator(10))


def test_polynomials_of_several_unknowns() -> None:
    # x = y²/2 + 1/4, y = x y/2 + x/4 + z, z = z/2 + 1/8: by hand from below.
    half, quarter, eighth = Decimal("0.5"), Decimal("0.25"), Decimal("0.125")
    system = {
        "x": [(half, ("y", "y")), (quarter, ())],
        "y": [(half, ("x", "y")), (quarter, ("x",)), (Decimal(1), ("z",))],
        "z": [(half, ("z",)), (eighth, ())],
    }
    found = least(["x"], system.__getitem__, Approximate(Decimal(1)))
    x = y = 0.0
    for _ in range(500):
        x, y = y * y / 2 + 0.25, x * y / 2 + x / 4 + 0.25
    assert float(found["z"]) == 0.25
    assert (float(found["x"]), float(found["y"])) == pytest.approx((x, y), rel=1e-14)


def _ring(size: int, p: Fraction, rest: Fraction) -> Any:
    """x = p x y + rest, y = p y z + rest, ...: all are the root of p x² - x + rest."""
    return lambda k: [(decimal(p), (k, (k + 1) % size)), (decimal(rest), ())]


@pytest.mark.parametrize("size", [15, 16, 60])
def test_roots_of_many_polynomials(size: int) -> None:
    def root(p: Fraction, rest: Fraction) -> list[float]:
        found = least([0], _ring(size, p, rest), Approximate(Decimal(1)))
        assert len(found) == size
        return [float(x) for x in found.values()]

    third = Fraction(1, 3)
    assert root(third, third) == pytest.approx([(3 - math.sqrt(5)) / 2] * size, rel=1e-14)
    assert root(Fraction(1, 2), Fraction(1, 2)) == pytest.approx([1] * size, rel=1e-12)
    assert root(Fraction(3, 10), Fraction(7, 10)) == pytest.approx([1] * size, rel=1e-14)
    assert root(Fraction(7, 10), Fraction(3, 10)) == pytest.approx([3 / 7] * size, rel=1e-14)
    assert root(third, Fraction(0)) == [0] * size
    assert root(Fraction(1, 2), Fraction(51, 100)) == [math.inf] * size
    assert root(Fraction(3), Fraction(1)) == [math.inf] * size


def test_best_values_of_products() -> None:
    system = {
        "a": [(Fraction(9, 10), ("b", "b")), (Fraction(1, 10), ())],
        "b": [(Fraction(1, 2), ("a", "a")), (Fraction(1, 2), ())],
    }
    found = least(["a"], system.__getitem__, Best(Fraction(1)))
    assert found == {"a": Fraction(9, 40), "b": Fraction(1, 2)}


def test_best_values_above_one() -> None:
    system = {"a": [(Fraction(2), ("a", "a")), (Fraction(3, 4), ())]}
    assert least(["a"], system.__getitem__, Best(Fraction(1))) == {"a": math.inf}


@pytest.mark.parametrize("size", [1, 20])
def test_polynomials_over_what_is_infinite(size: int) -> None:
    def edges(k: int) -> Any:
        if k < 0:
            return [(Decimal(1), (-1,)), (Decimal(1), ())]
        return [*_ring(size, Fraction(1, 4), Fraction(1, 4))(k), (Decimal(1), (-1,))]

    assert set(least([0], edges, Approximate(Decimal(1))).values()) == {math.inf}


def test_what_grows_of_rules() -> None:
    rules = [(1, (0, 0)), (2, (1, 3)), (3, (2,)), (4, ())]
    assert grown({0}, rules, all) == {0, 1}
    assert grown({0}, rules, any) == {0, 1, 2, 3}
    assert grown(set(), rules, all) == set()
