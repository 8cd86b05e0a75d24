"""The engine of plain Python, by what all engines must do."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from kernels.transf import Problem
from kernels.transf.reference import ReferenceTransf
from tests.transf_contract import TransfContract
from tests.transf_contract.cases import small_problems
from tests.transf_model import assert_equal_tables, deduced, elements, expected


class TestReference(TransfContract):
    deduces = False
    drops_rows = False

    @pytest.fixture
    def transf(self) -> ReferenceTransf:
        return ReferenceTransf()


@settings(max_examples=30)
@given(small_problems())
def test_deduced_products_are_right(problem: Problem) -> None:
    """The model of the engines that deduce, against the one that computes everything."""
    final = expected(problem, 200)
    if len(final.right) < 200:
        found = deduced(problem)
        assert_equal_tables(found.tables, final)
        # What is computed is a new element, or the left side of a rule.
        rules = len(elements(problem).rules)
        assert found.computed == len(final.first) - 1 + rules
