"""Exact solutions of polynomial systems: found where they are rational, and only there."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ckyparse
from ckyparse import CKYParser, Grammar, NotRationalError
from ckyparse.normal import NormalForm
from ckyparse.roots import least_root
from ckyparse.sums import Approximate, decimal, least
from kernels.cky.weighted.semirings import Semiring

EXACT = Semiring(Fraction(1))


def empty(text: str) -> Fraction:
    (value,) = CKYParser(text).probabilities([""])
    return value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("S -> S S [0.6] | [0.4]", Fraction(2, 3)),
        ("S -> S S [0.5] | [0.5]", Fraction(1)),  # a double root
        ("S -> S S [0.6] | [0.4] | 'a' [0]", Fraction(2, 3)),
        ("S -> S S S [4/7] | [3/7]", Fraction(1, 2)),
        ("S -> A A [0.5] | [0.5]\nA -> S [0.5] | [0.3] | S S [0.2]", Fraction(1)),
        ("S -> A A [0.6] | [0.4]\nA -> S [1]", Fraction(2, 3)),
        ("S -> S A [1/2] | [1/2]\nA -> A A [0.6] | S S [0] | [0.4]", Fraction(3, 4)),
        # Neither can be substituted: each is in a product with itself.
        ("S -> S A [1/2] | [1/2]\nA -> A A [1/4] | S S [1/4] | [1/2]", Fraction(1)),
        ("S -> S S [1/2] | A [1/4] | [1/4]\nA -> A A [1/2] | S [1/4] | [1/4]", Fraction(1, 2)),
        ("S -> S A [1/4] | 'a' [1/8] | [5/8]\nA -> A A [1/4] | S S [1/3] | [5/12]", None),
        ("S -> S S [0.25] | 'a' [0.5] | [0.25]", None),
        ("S -> S S S [0.6] | [0.4]", None),
    ],
)
def test_empty_strings(text: str, expected: Fraction | None) -> None:
    if expected is None:
        with pytest.raises(NotRationalError, match=r"irrational|no fraction was found"):
            empty(text)
        return
    assert empty(text) == expected
    near = NormalForm(Grammar.fromstring(text)).empty_probability()
    assert near == pytest.approx(float(expected), rel=1e-12)


def test_strings_beside_empty_ones() -> None:
    # The empty string has 1/2, so that S → S S with either side empty is a chain of 1/2.
    parser = CKYParser("S -> S S [0.5] | [0.375] | 'a' [0.125]")
    assert list(parser.probabilities(["", "a"])) == [Fraction(1, 2), Fraction(1, 4)]
    assert parser.log_probabilities(["a"])[0] == pytest.approx(math.log(0.25))


@given(st.fractions(0, 1, max_denominator=30), st.integers(2, 6))
def test_a_root_that_is_known(root: Fraction, degree: int) -> None:
    """x = c + a xⁿ with the root in it, which is the least if the slope there is at most 1."""
    a = Fraction(1, degree + 1)
    coefficients = [root - a * root**degree, *[Fraction(0)] * (degree - 1), a]
    if coefficients[0] > 0:
        assert least_root(coefficients) == root


@given(st.lists(st.fractions(0, 1, max_denominator=9), min_size=3, max_size=5))
def test_one_unknown_beside_decimals(coefficients: list[Fraction]) -> None:
    coefficients[0] += Fraction(1, 20)
    coefficients[-1] += Fraction(1, 20)
    near = {"x": [(decimal(c), ("x",) * k) for k, c in enumerate(coefficients)]}
    expected = least(["x"], near.__getitem__, Approximate(Decimal(1)))["x"]
    try:
        found = least_root(coefficients)
    except NotRationalError:
        assert expected != Fraction(expected).limit_denominator(1000)
        return
    assert float(found) == pytest.approx(float(expected), rel=1e-12)
    if found != math.inf:
        assert isinstance(found, Fraction)
        assert sum(c * found**k for k, c in enumerate(coefficients)) == found


def test_almost_without_a_root() -> None:
    tiny = Fraction(1, 10**12)
    half = Fraction(1, 2)
    assert least_root([half + tiny, Fraction(0), half]) == math.inf
    with pytest.raises(NotRationalError, match="irrational"):
        least_root([half - tiny / 3, Fraction(0), half])
    assert least_root([half, Fraction(0), half]) == 1
    # x = x²/2 + (1 - t²)/2 with t = 10⁻⁶: 1 - t.
    assert least_root([(1 - tiny) / 2, Fraction(0), half]) == 1 - Fraction(1, 10**6)


def test_infinite_by_a_cycle() -> None:
    one = Fraction(1)
    system = {
        "x": [(one, ("x",)), (one / 2, ("y", "y")), (one / 8, ())],
        "y": [(one / 8, ("x", "y")), (one / 4, ())],
    }
    assert least(["x"], system.__getitem__, EXACT) == {"x": math.inf, "y": math.inf}


def test_it_can_be_imported() -> None:
    assert ckyparse.NotRationalError is NotRationalError
    assert "NotRationalError" in ckyparse.__all__
