"""Semigroups as libsemigroups finds them, where it is installed.

It enumerates by Froidure and Pin's algorithm too, but has its own code for all of it. The
identity counts there only where it is a product of generators, as with monoid=False here, and
elements have the same order, from 0.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kernels.transformations import EnumerationProblem, as_maps
from semigroups import Family, Semigroup
from tests.transformations_contract.cases import small_problems
from tests.transformations_model import expected

other = pytest.importorskip("libsemigroups_pybind11")
Word = tuple[int, ...]
NAMED = [
    *("bihecke:3", "bihecke:4", "zero_rook:3", "zero_rook:4", "zero_rook:5", "zero_hecke:4"),
    *("full:4", "symmetric:5", "order_preserving:4", "regressive:5", "catalan:6"),
]


@pytest.fixture(scope="module", autouse=True)
def silent() -> None:
    other.ReportGuard(False)


def theirs_of(generators: Any) -> Any:
    return other.FroidurePin([other.Transf(row) for row in generators.tolist()])


def graph_of(graph: Any, letters: int) -> list[list[int]]:
    return [[graph.target(i, g) for g in range(letters)] for i in range(graph.number_of_nodes())]


def check(generators: Any) -> None:
    ours, theirs = Semigroup(generators, monoid=False), theirs_of(generators)
    size, letters = len(ours), len(generators)
    assert theirs.size() == size
    longest = theirs.current_max_word_length()
    lengths = [theirs.number_of_elements_of_length(k) for k in range(1, longest + 1)]
    assert ours.levels == [0, *lengths]
    for i in range(size):
        assert theirs[i] == other.Transf(ours.element(i).tolist())
        assert tuple(other.froidure_pin.minimal_factorisation(theirs, i)) == ours.word(i)
    assert theirs.number_of_idempotents() == len(ours.idempotents)
    assert [i for i in range(size) if theirs.is_idempotent(i)] == ours.idempotents.tolist()
    assert graph_of(theirs.right_cayley_graph(), letters) == ours.right_cayley.tolist()
    assert graph_of(theirs.left_cayley_graph(), letters) == ours.left_cayley.tolist()
    draw = random.Random(size)
    for i, j in [(draw.randrange(size), draw.randrange(size)) for _ in range(20)]:
        assert theirs.fast_product(i, j) == ours.product(i, j)
    rules = [(tuple(left), tuple(right)) for left, right in other.froidure_pin.rules(theirs)]
    assert theirs.number_of_rules() == len(rules)
    # With generators that repeat others it has rules that follow from others.
    repeated = {left[0] for left, _ in rules if len(left) == 1}
    rules = [rule for rule in rules if len(rule[0]) == 1 or repeated.isdisjoint(rule[0])]
    assert sorted(rules) == sorted((tuple(left), tuple(right)) for left, right in ours.rules)


@pytest.mark.parametrize("text", NAMED)
def test_known_ones(text: str) -> None:
    check(Family.parse(text).generators())


@given(small_problems())
@example(EnumerationProblem(as_maps([[0]]), np.zeros(1, np.uint32)))
@example(EnumerationProblem(as_maps([[1, 0], [0, 1], [1, 0]]), np.arange(2, dtype=np.uint32)))
def test_random_ones(problem: EnumerationProblem) -> None:
    if len(expected(problem, 200).right) < 200:
        check(problem.generators)


@given(small_problems(), st.booleans())
def test_rules_are_complete(problem: EnumerationProblem, monoid: bool) -> None:
    """Knuth and Bendix need no more rules than ours, and have as many normal forms."""
    if len(expected(problem, 100).right) == 100:
        return
    ours = Semigroup(problem.generators, monoid=monoid)
    presentation = other.Presentation(list(range(len(problem.generators))))
    presentation.contains_empty_word(True)
    for left, right in ours.rules:
        other.presentation.add_rule(presentation, list(left), list(right))
    system = other.KnuthBendix(other.congruence_kind.twosided, presentation)
    assert system.confluent()
    # The empty word has no rule where the identity is no element, or is a product.
    empty = 0 if monoid else 1
    assert system.number_of_classes() == len(ours) + empty
