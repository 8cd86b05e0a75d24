"""What the default suite takes of tests that repeat themselves; `-m slow` takes all of it.

Two kinds repeat: properties, with one example after another, and tests with many parameters.
"""

from __future__ import annotations

import itertools
import os
import random
from collections import defaultdict

import pytest

QUICK, WHOLE = 6, 40  # examples of a property by default, and with -m slow
_taken = QUICK


def take_examples(slow: bool) -> int:
    """Set how many examples properties take, and return it: EXAMPLES of the environment if set."""
    global _taken
    _taken = int(os.environ.get("EXAMPLES", WHOLE if slow else QUICK))
    return _taken


def examples(count: int) -> int:
    """Return how many examples a property takes that takes `count` with -m slow."""
    return max(2, round(count * _taken / WHOLE))


def is_property(item: pytest.Item) -> bool:
    """Return whether the test is one of Hypothesis's."""
    return bool(getattr(getattr(item, "obj", None), "is_hypothesis_test", False))


def leave_out(items: list[pytest.Item]) -> None:
    """Mark as slow what `@pytest.mark.sample(N)` does not take of a test's cases.

    N cases stay, the same ones each time, and each value of each parameter among them as far as N
    goes.
    """
    cases: dict[tuple[str, str], list[pytest.Function]] = defaultdict(list)
    for item in items:
        if isinstance(item, pytest.Function) and item.get_closest_marker("sample"):
            assert item.parent
            cases[item.parent.nodeid, item.originalname].append(item)
    for (_, name), functions in cases.items():
        marker = functions[0].get_closest_marker("sample")
        assert marker
        (count,) = marker.args
        kept = set(_spread([_values(function) for function in functions], count, name))
        for place, function in enumerate(functions):
            if place not in kept:
                function.add_marker(pytest.mark.slow)


def _values(function: pytest.Function) -> frozenset[tuple[str, object]]:
    """Return the parameters of a case, each as its name and the number of its value."""
    call = getattr(function, "callspec", None)
    return frozenset(call.indices.items()) if call else frozenset()


def _spread(cases: list[frozenset[tuple[str, object]]], count: int, seed: str) -> list[int]:
    """Return the places of `count` cases: first those that bring most values not seen yet."""
    places = list(range(len(cases)))
    random.Random(seed).shuffle(places)
    taken: list[int] = []
    seen: set[tuple[str, object]] = set()
    for _ in itertools.repeat(None, min(count, len(cases))):
        best = max(places, key=lambda place: len(cases[place] - seen))
        places.remove(best)
        taken.append(best)
        seen |= cases[best]
    return taken
