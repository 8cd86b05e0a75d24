"""Hold the engine of plain Python to what all engines must do."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from kernels.transformations import EnumerationProblem
from kernels.transformations.ref import ReferenceSemigroupEngine
from tests.quick import examples
from tests.transformations_contract import SemigroupEngineContract
from tests.transformations_contract.cases import small_problems
from tests.transformations_model import assert_equal_tables, deduced, elements, expected


class TestReference(SemigroupEngineContract):
    deduces = False
    drops_rows = False

    @pytest.fixture
    def engine(self) -> ReferenceSemigroupEngine:
        return ReferenceSemigroupEngine()


@settings(max_examples=examples(30))
@given(small_problems())
def test_deduced_products_are_right(problem: EnumerationProblem) -> None:
    """The model of the engines that deduce, against the one that computes everything."""
    final = expected(problem, 200)
    if len(final.right) < 200:
        found = deduced(problem)
        assert_equal_tables(found.tables, final)
        # What is computed is a new element, or the left side of a rule.
        rules = len(elements(problem).rules)
        assert found.computed == len(final.first) - 1 + rules
