"""Rationals for tests, and what results of them are to be."""

from __future__ import annotations

import operator
import sys
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from arith import IntArray
from arith.rational import RationalArray
from tests.strategies import integers_that_hurt

ARITHMETIC = (operator.add, operator.sub, operator.mul, operator.truediv, operator.mod)
COMPARISONS = (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)


def small(bits: int) -> st.SearchStrategy[int]:
    return st.integers(-(2**bits), 2**bits)


# Small ones often meet equal denominators, common factors and zeros.
integers = st.one_of(small(3), small(8), integers_that_hurt(300))
positive = integers.map(lambda n: abs(n) + (n == 0))
rationals = st.builds(Fraction, integers, positive)
lists = st.lists(rationals, max_size=10)
couples = st.lists(st.tuples(rationals, rationals), max_size=10)


def arrays_of(values: list[tuple[Any, Any]]) -> tuple[RationalArray, RationalArray]:
    return RationalArray([a for a, _ in values]), RationalArray([b for _, b in values])


def check(array: Any, expected: list[Any]) -> None:
    """Equal, and of the type and form that it is to have."""
    if isinstance(array, RationalArray):
        numerators = [Fraction(x).numerator for x in expected]
        denominators = [Fraction(x).denominator for x in expected]
        assert array.reduced
        assert array.numerator.to_ints() == numerators
        assert array.denominator.to_ints() == denominators
    else:
        assert isinstance(array, IntArray)
        assert array.to_ints() == expected
    assert len(array) == len(expected)


FLOATS_THAT_HURT = [
    0.0, -0.0, 0.1, 5e-324, -5e-324, 2**-1022, 2**-1022 - 5e-324, sys.float_info.max, 1.0, 2.0**53,
    2.0**53 - 1, 2.0**52 + 0.5, 1 + 2**-52, 2.0**1023, 2.0**64, 2.0**-64,
]  # fmt: skip
floats = st.sampled_from(FLOATS_THAT_HURT) | st.floats(allow_nan=False, allow_infinity=False)


def loosely(values: list[Fraction]) -> RationalArray:
    """Return rationals not in lowest terms, and not to come to them."""
    n, d = [x.numerator for x in values], [x.denominator for x in values]
    factors = [i % 4 + 1 for i in range(len(values))]
    return RationalArray(IntArray(n) * factors, IntArray(d) * factors, reduce=False)
