"""Going on from tables, good ones and broken ones."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from kernels.transformations import (
    NONE,
    CayleyTables,
    EnumerationProblem,
    HashCollisionError,
    SemigroupEngine,
)
from tests.transformations_model import assert_equal_tables, at, expected

from .cases import Contract, check_elements, check_state, family, is_edge, run, small_problems, step


class Resumed(Contract):
    @pytest.mark.parametrize(("text", "monoid"), [("bihecke:3", True), ("symmetric:3", False)])
    def test_goes_on_from_every_place(
        self, engine: SemigroupEngine, text: str, monoid: bool
    ) -> None:
        problem = family(text, monoid=monoid)
        final = expected(problem)
        for place in range(len(final.first) + 1):
            tables = at(final, place)
            kept = at(final, place)
            enumerator = engine.start(problem, tables)
            assert enumerator.expanded == place
            check_state(enumerator, final)
            assert enumerator.counts.computed == enumerator.counts.deduced == 0
            while not enumerator.finished:
                step(enumerator, 4)
                check_state(enumerator, final)
            done = enumerator.counts.computed + enumerator.counts.deduced
            assert done == (len(final.first) - place) * problem.letters
            check_elements(enumerator)
            assert_equal_tables(tables, kept)

    def test_goes_on_anywhere(self, engine: SemigroupEngine) -> None:
        def body(problem: EnumerationProblem, draw: random.Random) -> None:
            final = expected(problem, 300)
            most = len(final.right)
            enumerator = engine.start(problem, at(final, draw.randint(0, most)))
            while enumerator.expanded < most:
                step(enumerator, min(draw.randint(1, 40), most - enumerator.expanded))
            check_state(enumerator, final)

        self.run_property((small_problems(), st.randoms(use_true_random=False)), body)

    def test_nothing_to_expand(self, engine: SemigroupEngine) -> None:
        problem = family("zero_rook:2")
        enumerator = engine.start(problem)
        for most in (0, -1):
            with pytest.raises(ValueError, match="expand"):
                enumerator.expand(most)
        final = run(enumerator)
        for finished in (enumerator, engine.start(problem, final)):
            assert finished.finished
            with pytest.raises(ValueError, match="expand"):
                finished.expand(1)
            check_state(finished, final)

    @pytest.mark.parametrize("name", CayleyTables.ARRAYS)
    def test_arrays_of_another_shape(self, engine: SemigroupEngine, name: str) -> None:
        problem = family("zero_rook:3")
        tables = at(expected(problem), 20)
        array = getattr(tables, name)
        others = [
            array[:-1],
            array[1:],
            array[:0],
            np.append(array, array, axis=0),
            array.astype(np.int64),
            array.astype(np.uint16),
            array.astype(np.float64),
            array[..., None],
            *([array[0], array[:, :-1], array.reshape(-1)] if array.ndim > 1 else []),
        ]
        for other in others:
            with pytest.raises(ValueError, match=r"."):
                engine.start(problem, replace(tables, **{name: other}))

    @pytest.mark.parametrize(
        "change",
        [
            lambda starts: [],
            lambda starts: [0],
            lambda starts: [0, 1],
            lambda starts: starts[1:],
            lambda starts: starts[:-1],
            lambda starts: [*starts, starts[-1]],
            lambda starts: [*starts, starts[-1] + 1],
            lambda starts: [*starts, 2**40],
            lambda starts: [*starts[:-1], starts[-1] + 1],
            lambda starts: [*starts[:-1], -1],
            lambda starts: [*starts[:-2], starts[-1], starts[-2]],
            lambda starts: [*starts[:2], starts[2] - 1, *starts[3:]],
            lambda starts: [*starts[:2], starts[2] + 1, *starts[3:]],
            lambda starts: [1, *starts[1:]],
            lambda starts: [0, *starts],
        ],
    )
    def test_levels_that_are_none(self, engine: SemigroupEngine, change: Any) -> None:
        problem = family("zero_rook:3")
        for place in (20, 34):
            tables = at(expected(problem), place)
            with pytest.raises(ValueError, match=r"."):
                engine.start(problem, replace(tables, starts=change(tables.starts)))

    @pytest.mark.parametrize("place", [20, 34])
    @pytest.mark.parametrize("name", CayleyTables.ARRAYS)
    def test_entries_that_contradict(self, engine: SemigroupEngine, name: str, place: int) -> None:
        """Any entry of any array, with a value that others do not bear out."""
        problem = family("zero_rook:3")
        tables = at(expected(problem), place)
        for index in np.ndindex(getattr(tables, name).shape):
            if name == "hashes" and index[0] % 7:
                continue  # they take long
            if name == "right" and index[0] and not is_edge(tables, *index):
                continue  # a product that nothing else tells
            value = int(getattr(tables, name)[index])
            below = problem.letters if name in ("first", "last") else len(tables.first)
            wrong = {value ^ 1, value ^ 2**31, 0, (value + 1) % below, below, NONE} - {value}
            for other in wrong:
                array = getattr(tables, name).copy()
                array[index] = other
                with pytest.raises(ValueError, match=r"."):
                    engine.start(problem, replace(tables, **{name: array}))

    def test_products_that_are_no_elements(self, engine: SemigroupEngine) -> None:
        problem = family("zero_rook:3", monoid=False)
        tables = at(expected(problem), 20)
        for index in [(5, 0), (5, 1), (5, 2), (19, 2)]:
            right = tables.right.copy()
            right[index] = 0  # the empty word
            with pytest.raises(ValueError, match=r"."):
                engine.start(problem, replace(tables, right=right))

    def test_entries_that_are_wrong(self, engine: SemigroupEngine) -> None:
        """Whatever they are, it comes to an end: refused, or not noticed."""

        def body(problem: EnumerationProblem, draw: random.Random) -> None:
            final = expected(problem, 100)
            tables = at(final, draw.randint(0, len(final.right)))
            for _ in range(draw.randint(1, 3)):
                name = draw.choice(CayleyTables.ARRAYS)
                array = getattr(tables, name)
                if array.size:
                    below = draw.choice([problem.letters, len(tables.first)])
                    array[tuple(draw.randrange(n) for n in array.shape)] = draw.randrange(below)
            try:
                enumerator = engine.start(problem, tables)
            except ValueError:
                return
            for _ in range(10):
                if enumerator.finished:
                    break
                try:
                    enumerator.expand(draw.randint(1, 30))
                except (HashCollisionError, ValueError):
                    break

        self.run_property((small_problems(), st.randoms(use_true_random=False)), body)

    def test_tables_of_another_problem(self, engine: SemigroupEngine) -> None:
        problem = family("zero_rook:3")
        for place in (20, 34):
            tables = at(expected(problem), place)
            others = [
                replace(problem, seed=1),
                replace(problem, hash_bits=100),
                replace(problem, generators=problem.generators[::-1].copy()),
                replace(problem, generators=problem.generators[:2]),
                family("zero_hecke:4"),
                family("catalan:4"),
            ]
            for other in others:
                with pytest.raises(ValueError, match=r"."):
                    engine.start(other, tables)
