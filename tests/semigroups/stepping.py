"""Semigroups on an engine of few steps, and what must be true of them at any time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kernels.transformations import CayleyTables, EnumerationProblem, Enumerator, SemigroupEngine
from kernels.transformations.ref import ReferenceSemigroupEngine
from semigroups import Semigroup
from semigroups.engines import EngineChoice
from tests.transformations_oracle import Enumeration


class Small(SemigroupEngine):
    """Expands by the reference, a few numbers at a time; `trouble` is called before each."""

    name = "small"
    memory = 1 << 30

    def __init__(self, most: int = 3, trouble: Callable[[Enumerator], None] | None = None) -> None:
        self.most, self.trouble = most, trouble
        self.problems: list[EnumerationProblem] = []

    def start(self, problem: EnumerationProblem, tables: CayleyTables | None = None) -> Enumerator:
        self.problems.append(problem)
        enumerator = ReferenceSemigroupEngine().start(problem, tables)
        expand = enumerator.expand

        def few(most: int) -> None:
            if self.trouble is not None:
                self.trouble(enumerator)
            expand(min(most, self.most))

        enumerator.expand = few  # type: ignore[method-assign]
        return enumerator


@dataclass(frozen=True)
class Given(EngineChoice):
    """These, whatever the name."""

    small: SemigroupEngine = field(default_factory=Small)
    large: SemigroupEngine | None = None

    def first(self) -> SemigroupEngine:
        return self.small

    def at_once(self, problem: EnumerationProblem) -> Enumerator | None:
        return None  # steps are what is asked of it

    def larger(self) -> SemigroupEngine | None:
        return self.large


def made(generators: Any, engine: SemigroupEngine | None = None, **options: Any) -> Semigroup:
    """Make a semigroup on that engine."""
    found = Semigroup(generators, backend="reference", **options)
    chosen = engine or Small()
    found._enumeration.runner._engines = Given(small=chosen)
    return found


def assert_part(found: Semigroup, expected: Enumeration) -> None:
    """Assert that all that is found is right, however far it is."""
    size = found.current_size
    levels = found.current_levels
    assert sum(levels) == size
    assert levels[:-1] == expected.levels[: len(levels) - 1] or not levels
    assert np.array_equal(found.elements(np.arange(size)), expected.elements[:size])
    some = range(0, size, size // 10 + 1)
    assert [found.word(i) for i in some] == [expected.words[i] for i in some]
    places = found.current_positions(expected.elements)
    assert places.tolist() == [*range(size), *[-1] * (len(expected) - size)]
    assert found.current_size == size
