"""tests.quick: what of a test that repeats itself is run by default."""

from __future__ import annotations

import itertools

from tests import quick


def _cases(*counts: int) -> list[frozenset[tuple[str, object]]]:
    """Return all combinations of parameters named a, b, ... of so many values each."""
    ranges = [range(count) for count in counts]
    return [frozenset(zip("abcdef", values, strict=False)) for values in itertools.product(*ranges)]


def test_a_sample_has_each_value_of_each_parameter() -> None:
    cases = _cases(4, 3, 2)
    kept = [cases[place] for place in quick._spread(cases, 6, "name")]
    assert len(kept) == len(set(kept)) == 6
    assert frozenset.union(*kept) == frozenset.union(*cases)


def test_a_sample_is_the_same_each_time_and_no_larger_than_all() -> None:
    cases = _cases(5, 5)
    assert quick._spread(cases, 9, "name") == quick._spread(cases, 9, "name")
    assert sorted(quick._spread(cases, 99, "name")) == list(range(25))
