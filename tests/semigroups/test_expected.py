"""data/semigroups: what is known of monoids of maps is what is found."""

from __future__ import annotations

import json
from math import comb, factorial
from pathlib import Path
from typing import Any

import pytest

from semigroups import Family, Semigroup

FILE = Path(__file__).parents[2] / "data" / "semigroups" / "expected.json"
MONOIDS: dict[str, dict[str, Any]] = json.loads(FILE.read_text("utf-8"))["monoids"]
SMALL = [case for case, known in MONOIDS.items() if known["size"] < 2000]
# zero_rook:7 on the images of a point; by whole maps it would take long.
LARGE = ["full:5", "bihecke:5", "zero_rook:6", "zero_rook:7"]


def check(case: str, **options: Any) -> None:
    known, found = MONOIDS[case], Semigroup(Family.parse(case), **options)
    assert found.size == known["size"]
    assert found.levels == known["levels"]
    assert len(found.idempotents) == known["idempotents"]
    assert len(found.rules) == known["rules"]


@pytest.mark.parametrize("case", SMALL)
def test_small_ones(case: str) -> None:
    check(case)


@pytest.mark.slow
@pytest.mark.parametrize("case", LARGE)
def test_large_ones(case: str) -> None:
    check(case)


@pytest.mark.slow
def test_bihecke_6() -> None:
    """Some 5 GB, and a minute."""
    if Semigroup(Family("symmetric", 2)).backend == "reference":
        pytest.skip("needs an engine")
    check("bihecke:6")


def test_what_the_numbers_are() -> None:
    for case, known in MONOIDS.items():
        assert sum(known["levels"]) == known["size"]
        family = Family.parse(case)
        sizes = {
            "symmetric": factorial(family.n),
            "full": family.n**family.n,
            "catalan": comb(2 * family.n, family.n) // (family.n + 1),
            "zero_rook": family.degree,
        }
        assert known["size"] == sizes.get(family.name, known["size"])
        if family.name == "zero_rook":
            assert known["idempotents"] == 2**family.n
