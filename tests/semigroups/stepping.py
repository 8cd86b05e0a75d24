"""Semigroups on an engine of few steps, and what must be true of them at any time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kernels.transf import Enumerator, Problem, Tables, Transf
from kernels.transf.ref import Enumeration
from kernels.transf.reference import ReferenceTransf
from semigroups import Semigroup
from semigroups.engines import Engines


class Small(Transf):
    """The reference, a few numbers at a time; `trouble` is called before each."""

    name = "small"
    memory = 1 << 30

    def __init__(self, most: int = 3, trouble: Callable[[Enumerator], None] | None = None) -> None:
        self.most, self.trouble = most, trouble
        self.problems: list[Problem] = []

    def start(self, problem: Problem, tables: Tables | None = None) -> Enumerator:
        self.problems.append(problem)
        enumerator = ReferenceTransf().start(problem, tables)
        expand = enumerator.expand

        def few(most: int) -> None:
            if self.trouble is not None:
                self.trouble(enumerator)
            expand(min(most, self.most))

        enumerator.expand = few  # type: ignore[method-assign]
        return enumerator


@dataclass(frozen=True)
class Given(Engines):
    """These, whatever the name."""

    small: Transf = field(default_factory=Small)
    large: Transf | None = None

    def first(self) -> Transf:
        return self.small

    def larger(self) -> Transf | None:
        return self.large


def made(generators: Any, engine: Transf | None = None, **options: Any) -> Semigroup:
    """On that engine."""
    found = Semigroup(generators, backend="reference", **options)
    chosen = engine or Small()
    found._runner._engines = Given(small=chosen)
    return found


def assert_part(found: Semigroup, expected: Enumeration) -> None:
    """All that is found is right, however far it is."""
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
