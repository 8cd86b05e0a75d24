"""Several threads at once: what the class says of it is so."""

from __future__ import annotations

import numpy as np
import pytest

from semigroups import Semigroup
from tests.at_once import at_once

GENERATORS = [[1, 2, 3, 4, 0], [1, 0, 2, 3, 4], [0, 0, 2, 3, 4]]  # all 3125 maps


@pytest.mark.parametrize("backend", ["cpu", "reference"])
def test_a_semigroup_is_used_by_several_threads(backend: str) -> None:
    generators = GENERATORS if backend == "cpu" else [[1, 2, 0], [1, 0, 2], [0, 0, 2]]
    alone, shared = (Semigroup(generators, backend=backend, threads=2) for _ in range(2))
    right = alone.size, alone.levels, alone.word(alone.size - 1), alone.right_cayley

    def work(number: int) -> None:
        if number % 2:
            shared.run(limit=10 + number)
        assert shared.position(generators[-1]) == alone.position(generators[-1])
        found = shared.size, shared.levels, shared.word(shared.size - 1), shared.right_cayley
        assert found[:3] == right[:3]
        assert np.array_equal(found[3], right[3])
        assert np.array_equal(shared.idempotents, alone.idempotents)

    at_once(work)
