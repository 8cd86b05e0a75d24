"""Test rows that are parts of maps, and hashes that rows share."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import strategies as st

from kernels.transformations import (
    CayleyTables,
    EnumerationProblem,
    Enumerator,
    HashCollisionError,
    SemigroupEngine,
)
from kernels.transformations.ref import ReferenceSemigroupEngine
from tests.transformations_model import assert_equal_tables, at, deduced, elements, expected

from .cases import ALL, Contract, check_elements, check_state, family, run, small_problems, step


class Points(Contract):
    def test_points_that_suffice(self, engine: SemigroupEngine) -> None:
        """Points that suffice, in any order, give all that whole maps give, but the hashes."""

        def body(problem: EnumerationProblem, draw: random.Random) -> None:
            final = expected(problem, 300)
            if len(final.right) < len(final.first):
                return
            maps = elements(problem).elements
            order = draw.sample(range(problem.degree), problem.degree)
            count = 1
            while len(np.unique(maps[:, order[:count]], axis=0)) < len(maps):
                count += 1
            few = replace(problem, points=np.array(order[:count], np.uint32))
            enumerator = engine.start(few)
            found = run(enumerator, [draw.randrange(1, 20)])
            assert_equal_tables(replace(found, hashes=final.hashes), final)
            check_elements(enumerator)

        self.run_property((small_problems(), st.randoms(use_true_random=False)), body)

    def unsound(self, problem: EnumerationProblem) -> CayleyTables:
        """Return what is found where different elements pass for the same."""
        return deduced(problem).tables if self.deduces else expected(problem)

    def check_unsound(
        self, engine: SemigroupEngine, problem: EnumerationProblem, draw: random.Random
    ) -> None:
        final = self.unsound(problem)
        for batches in ([ALL], [1], [draw.randrange(1, 9), draw.randrange(1, 30)]):
            enumerator = engine.start(problem)
            assert_equal_tables(run(enumerator, batches), final)
        if self.deduces:  # else suffixes are no suffixes
            enumerator = engine.start(problem, at(final, draw.randrange(len(final.first) + 1)))
            assert_equal_tables(run(enumerator), final)

    def test_points_that_do_not_suffice(self, engine: SemigroupEngine) -> None:
        """No semigroup, but the same on all engines."""

        def body(problem: EnumerationProblem, draw: random.Random) -> None:
            if len(expected(problem, 200).right) > 150:
                return
            count = draw.randint(1, max(1, problem.degree - 1))
            points = draw.sample(range(problem.degree), count)
            few = replace(problem, points=np.array(points, np.uint32))
            self.check_unsound(engine, few, draw)

        self.run_property((small_problems(), st.randoms(use_true_random=False)), body)

    # --- equal hashes --------------------------------------------------------

    @pytest.mark.parametrize("bits", [0, 1, 3, 5])
    def test_hashes_that_are_trusted(self, engine: SemigroupEngine, bits: int) -> None:
        draw = random.Random(bits)
        for text, monoid in (("bihecke:3", True), ("symmetric:4", False), ("full:3", True)):
            problem = family(text, monoid=monoid, compare=False, hash_bits=bits, seed=bits)
            assert len(self.unsound(problem).first) <= (1 << bits) + (not monoid)
            self.check_unsound(engine, problem, draw)

    @pytest.mark.parametrize("bits", [0, 4, 6, 70])
    def test_hashes_that_are_settled(self, engine: SemigroupEngine, bits: int) -> None:
        """The row that is not the element's is found where it first comes, and no later."""
        seed, text = (3, "zero_rook:3") if bits < 70 else (0, "bihecke:3")
        problem = family(text, hash_bits=bits, seed=seed)
        final = expected(family(text))
        reference = ReferenceSemigroupEngine().start(problem)
        if bits == 70:
            assert_equal_tables(run(engine.start(problem), [3]), run(reference))
            return
        with pytest.raises(HashCollisionError):
            run(reference, [1])
        wanted = reference.tables()
        for batch in (1, 2, 5, ALL):
            enumerator = engine.start(problem)
            for _ in range(2):  # the second time, nothing of the first was kept
                place = self.collision(enumerator, batch)
                assert place == reference.expanded if batch == 1 else place <= reference.expanded
                check_state(enumerator, wanted)
        again = engine.start(replace(problem, hash_bits=128, seed=1))
        assert_equal_tables(replace(run(again), hashes=final.hashes), final)

    def collision(self, enumerator: Enumerator, batch: int) -> int:
        """Return where the next collision is found."""
        while True:
            place, counts = enumerator.expanded, replace(enumerator.counts)
            try:
                step(enumerator, batch)
            except HashCollisionError:
                assert enumerator.expanded == place
                assert enumerator.counts == counts
                return place

    def test_seeds(self, engine: SemigroupEngine) -> None:
        """Hashes depend on them, and nothing else does."""
        final = expected(family("bihecke:3"))
        for seed in (1, 2**63 + 5, 2**64 - 1):
            enumerator = engine.start(family("bihecke:3", seed=seed))
            tables = run(enumerator)
            check_elements(enumerator)
            assert not np.array_equal(tables.hashes, final.hashes)
            assert_equal_tables(replace(tables, hashes=final.hashes), final)
