"""Memory, and what an engine answers."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace

import numpy as np
import pytest

from kernels.transformations import (
    NONE,
    CayleyTables,
    EnumerationProblem,
    Enumerator,
    SemigroupEngine,
)
from tests.transformations_model import assert_equal_tables, at, elements, expected

from .cases import BASE, SEED_12, Contract, check_state, family, images_of, run, step


class Asked(Contract):
    def test_little_memory(self, engine: SemigroupEngine) -> None:
        """Memory that suffices is enough, and so is a bit more; with less nothing is changed, and
        it goes on where there is more."""
        problem = family(self.middle)
        final = expected(problem)
        memory, whole, kept = problem.generators.nbytes, 0, []
        while whole < 6:
            little = replace(problem, memory=memory)
            enumerator = self.as_far_as_fits(engine, little, final)
            if enumerator and enumerator.finished:
                whole += 1
                kept.append(enumerator.kept)
                self.check_questions(enumerator, count=3)
            elif enumerator:
                more = engine.start(problem, enumerator.tables())
                assert_equal_tables(run(more, [50]), final)
            memory += memory // 3 if whole else memory // 2
            assert memory < 1 << 30
        assert (max(kept) > 0) == self.drops_rows
        assert kept == sorted(kept, reverse=True)

    def as_far_as_fits(
        self,
        engine: SemigroupEngine,
        problem: EnumerationProblem,
        final: CayleyTables,
        most: int = 50,
    ) -> Enumerator | None:
        try:
            enumerator = engine.start(problem)
        except MemoryError:
            return None
        while not enumerator.finished:
            place = enumerator.expanded
            try:
                step(enumerator, most)
            except MemoryError:
                assert enumerator.expanded == place
                break
            finally:
                check_state(enumerator, final)
        return enumerator

    def test_goes_on_in_little_memory(self, engine: SemigroupEngine) -> None:
        """An enumeration goes on from anywhere, though rows of the words before are not there."""
        problem = family(self.middle)
        final = expected(problem)
        memory, size = problem.generators.nbytes, len(final.first)
        while not self.fits(engine, replace(problem, memory=memory), final):
            memory += memory // 3
        for more, place in itertools.product((2, 4), (1, size // 3, size // 2, size - 1, size)):
            enumerator = engine.start(replace(problem, memory=memory * more), at(final, place))
            run(enumerator, [size])
            check_state(enumerator, final)
            self.check_questions(enumerator, count=2)

    def fits(
        self, engine: SemigroupEngine, problem: EnumerationProblem, final: CayleyTables
    ) -> bool:
        enumerator = self.as_far_as_fits(engine, problem, final)
        return enumerator is not None and enumerator.finished

    # --- questions -----------------------------------------------------------

    def check_questions(self, enumerator: Enumerator, count: int) -> None:
        """Ask a few questions of each kind, of a finished enumeration of distinct whole maps."""
        draw = random.Random(enumerator.kept)
        problem = enumerator.problem
        numbers = np.array([draw.randrange(enumerator.size) for _ in range(count)], np.uint32)
        letters = np.array([draw.randrange(problem.letters) for _ in range(count)], np.uint32)
        maps = enumerator.maps(numbers)
        for number, images in zip(numbers.tolist(), maps, strict=True):
            assert images.tolist() == images_of(enumerator, number)
        assert enumerator.positions(maps).tolist() == numbers.tolist()
        products = np.array(
            [enumerator.array("right")[i, g] for i, g in zip(numbers, letters, strict=True)],
            np.uint32,
        )
        assert enumerator.differ(numbers, letters, products) is None
        k = draw.randrange(count)
        other = int((products[k] + draw.randrange(1, enumerator.size)) % enumerator.size)
        wrong = products.copy()
        wrong[k:] = other
        x, y = images_of(enumerator, int(products[k])), images_of(enumerator, other)
        point = next(p for p in range(problem.degree) if x[p] != y[p])
        assert enumerator.differ(numbers, letters, wrong) == (k, point)

    @pytest.mark.parametrize("base", [False, True])
    def test_maps(self, engine: SemigroupEngine, base: bool) -> None:
        problem = family("zero_rook:3", points=[BASE] if base else None)
        wanted = elements(problem).elements
        enumerator = engine.start(problem)
        for place in (0, 1, 4, 20, 34):
            while enumerator.expanded < place:
                step(enumerator, place - enumerator.expanded)
            size = enumerator.size
            for numbers in ([], [0], [size - 1, 0, size - 1], range(size), range(0, size, 3)):
                for dtype in (np.uint32, np.int64):
                    maps = enumerator.maps(np.array(list(numbers), dtype))
                    assert maps.dtype == problem.generators.dtype
                    assert np.array_equal(maps, wanted[list(numbers)])
            for numbers in ([size], [0, -1], [NONE], [2**40, 0], [-(2**40)]):
                with pytest.raises(IndexError, match=r"."):
                    enumerator.maps(np.array(numbers))

    @pytest.mark.parametrize("base", [False, True])
    @pytest.mark.parametrize("bits", [128, 12])
    def test_positions(self, engine: SemigroupEngine, base: bool, bits: int) -> None:
        """Maps that merely share an element's images of the points, or its hash, are not found."""
        points = [BASE] if base else None
        problem = family("zero_rook:3", points=points, hash_bits=bits, seed=SEED_12)
        wanted = elements(problem).elements
        enumerator = engine.start(problem)
        draw = np.random.default_rng(1)
        while True:
            size = enumerator.size
            found = enumerator.positions(wanted)
            assert found.dtype == np.int64
            assert found.tolist() == [*range(size), *[-1] * (34 - size)]
            assert enumerator.positions(wanted[:0]).shape == (0,)
            maps = wanted[draw.integers(0, 34, 300)]
            rows = np.arange(300)
            maps[rows, draw.integers(0, 34, 300)] = draw.integers(0, 256, 300)
            places = {row.tobytes(): n for n, row in enumerate(wanted[:size])}
            assert enumerator.positions(maps).tolist() == [
                places.get(row.tobytes(), -1) for row in maps
            ]
            if enumerator.finished:
                break
            step(enumerator, 5)

    def test_positions_of_the_identity(self, engine: SemigroupEngine) -> None:
        """Number 0 if it is an element though no product, else only as a product."""
        for text, monoid, place in (
            ("zero_rook:2", True, 0),
            ("zero_rook:2", False, -1),
            ("symmetric:2", True, 0),
            ("symmetric:2", False, 2),
        ):
            problem = family(text, monoid=monoid)
            enumerator = engine.start(problem)
            identity = np.arange(problem.degree, dtype=problem.generators.dtype)[None]
            before = enumerator.positions(identity).tolist()
            assert before == [0 if monoid else -1]
            run(enumerator)
            assert enumerator.positions(identity).tolist() == [place]

    def test_positions_of_other_maps(self, engine: SemigroupEngine) -> None:
        problem = family("zero_rook:3")
        enumerator = engine.start(problem)
        run(enumerator)
        maps = problem.generators
        for other in (
            maps[:, :-1],
            np.append(maps, maps[:, :1], axis=1),
            maps[0],
            maps[None],
            maps.astype(np.uint16),
            maps.astype(np.int64),
            maps[:, :0],
        ):
            with pytest.raises(ValueError, match=r"."):
                enumerator.positions(other)
        assert enumerator.positions(maps[::-1, ::-1][:, ::-1]).tolist() == [3, 2, 1]

    @pytest.mark.parametrize("base", [False, True])
    def test_words_that_differ(self, engine: SemigroupEngine, base: bool) -> None:
        problem = family("zero_rook:3", points=[BASE] if base else None)
        wanted = elements(problem)
        enumerator = engine.start(problem)
        run(enumerator)
        words, letters = (a.ravel() for a in np.indices(wanted.right.shape, np.uint32))
        others = wanted.right.ravel()
        assert enumerator.differ(words, letters, others) is None
        assert enumerator.differ(words[:0], letters[:0], others[:0]) is None
        draw = random.Random(5)
        for _ in range(self.examples):
            changed = others.copy()
            for _ in range(draw.randint(1, 4)):
                changed[draw.randrange(len(changed))] = draw.randrange(len(wanted))
            unequal = np.flatnonzero(changed != others)
            answer = None
            if unequal.size:
                k = int(unequal[0])
                x, y = wanted.elements[[others[k], changed[k]]]
                answer = k, int((x != y).argmax())
            assert enumerator.differ(words, letters, changed) == answer
        one = np.zeros(1, np.uint32)
        for arguments in ((one + 34, one, one), (one, one + 3, one), (one, one, one + 34)):
            with pytest.raises(IndexError, match=r"."):
                enumerator.differ(*arguments)

    def test_parts_of_arrays(self, engine: SemigroupEngine) -> None:
        problem = family("zero_rook:3")
        final = expected(problem)
        enumerator = engine.start(problem)
        for place in (0, 20, 34):
            while enumerator.expanded < place:
                step(enumerator, place - enumerator.expanded)
            tables = at(final, place)
            for name in CayleyTables.ARRAYS:
                array = getattr(tables, name)
                count = len(array)
                for start, stop in ((0, None), (0, 0), (0, 1), (count // 2, None), (3, 11)):
                    part = enumerator.array(name, min(start, count), stop and min(stop, count))
                    assert part.dtype == array.dtype
                    assert np.array_equal(part, array[start:stop])
                part = enumerator.array(name)
                part[...] = 77  # a copy
                assert np.array_equal(enumerator.array(name), array)
        assert engine.memory > 0
