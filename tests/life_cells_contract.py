"""What every engine of Life must do however many states a cell has, as tests.

A test class that inherits CellsContract gives a fixture `engine`, and the rule that it computes.
"""

from __future__ import annotations

import random
import threading
from abc import abstractmethod
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, ClassVar, cast

import numpy as np
import pytest

from kernels.life.bytewise import packed, unpacked
from kernels.life.contract import ChainShape, LifeEngine, LifeShape, LifeUniverse, Words

Size = tuple[int, int]  # width, height


def assert_holds(universe: LifeUniverse, expected: Words, note: object = "") -> None:
    """The very words: padding bits, which must be zero, included."""
    words = universe.words()
    assert words.dtype == np.uint64
    assert words.shape == expected.shape
    if not np.array_equal(words, expected):
        y, *word = (int(i[0]) for i in np.nonzero(words != expected))
        wrong = int(np.bitwise_count(words ^ expected).sum())
        pytest.fail(
            f"{wrong} cells of {universe.width}x{universe.height} are wrong, first in row {y}, "
            f"word {word}: {words[y, *word]:#x}, not {expected[y, *word]:#x} {note}"
        )


class CellsContract:
    """The attributes are for backends that are slow, or slow to compile for a rule.

    planes: bits of a cell. a_rule, another_rule: that the engine computes.
    """

    planes: ClassVar[int] = 1
    a_rule: ClassVar[Any]
    another_rule: ClassVar[Any]
    few_times: ClassVar[tuple[int, ...]] = (1, 2, 9, 50)  # of wide universes, and of each rule
    arena_sizes: ClassVar[tuple[tuple[int, int, bool], ...]] = (  # width, height, torus
        (65, 33, True),
        (131, 20, False),
        (63, 7, True),
        (1, 41, False),
        (577, 5, False),
        (200, 1, True),
    )

    @abstractmethod
    def some_rows(self, width: int, height: int, seed: int = 0) -> Words:
        """Return cells in all states, packed: the same for the same arguments."""

    @abstractmethod
    def moved(self, rows: Words, shape: LifeShape, t: int, rule: Any = None) -> Words:
        """Return what becomes of packed rows in t generations of a rule, by the definition."""

    def shape(self, width: int, height: int, torus: bool = True) -> LifeShape:
        """Return a shape of as many planes as the rule needs."""
        return LifeShape(width, height, torus, self.planes)

    def started(self, engine: LifeEngine[Any], size: Size, seed: int = 0) -> LifeUniverse:
        """Return a torus of some_rows()."""
        return engine.universe(self.some_rows(*size, seed), self.shape(*size), self.a_rule)

    # --- the manners of a universe -------------------------------------------

    def test_steps_add_up(self, engine: LifeEngine[Any]) -> None:
        size, top = (131, 37), max(self.few_times)
        for torus in (True, False):
            given, shape = self.some_rows(*size), self.shape(*size, torus)
            once = engine.universe(given, shape, self.a_rule)
            once.step(top)
            assert_holds(once, self.moved(given, shape, top))
            for first in {0, 1, once.stride, top // 3, top - 1}:
                twice = engine.universe(given, shape, self.a_rule)
                twice.step(min(first, top))
                twice.step(top - min(first, top))
                assert twice.generation == once.generation == top
                assert_holds(twice, once.words(), f"after {first} and the others")

    def test_generation_counts(self, engine: LifeEngine[Any]) -> None:
        universe = self.started(engine, (65, 33))
        assert (universe.width, universe.height, universe.generation) == (65, 33, 0)
        assert universe.planes == self.planes
        assert universe.stride >= 1
        assert_holds(universe, self.some_rows(65, 33), "at the start")
        passed = 0
        for t in (0, 1, universe.stride, 0, 3):
            universe.step(t)
            passed += t
            assert universe.generation == passed

    def test_words_are_the_callers(self, engine: LifeEngine[Any]) -> None:
        """Words belong to the caller in both directions, before and after steps."""
        given, start = self.some_rows(65, 33).copy(), self.some_rows(65, 33)
        universe = engine.universe(given, self.shape(65, 33), self.a_rule)
        given[:] = 0
        first = universe.words()
        assert_holds(universe, start)
        for steps in (0, 1, universe.stride):
            universe.step(steps)
            before = universe.words()
            kept = before.copy()
            universe.words()[:] = 0
            assert_holds(universe, kept, "after the caller's array was cleared")
            universe.step(1)
            universe.step(1)
            np.testing.assert_array_equal(before, kept)
        np.testing.assert_array_equal(first, start)

    def test_words_that_nobody_may_write(self, engine: LifeEngine[Any]) -> None:
        given = self.some_rows(65, 33).copy()
        given.flags.writeable = False
        universe = engine.universe(given, self.shape(65, 33), self.a_rule)
        universe.step(3)
        assert_holds(universe, self.moved(given, self.shape(65, 33), 3))
        universe.words()[:] = 0

    def test_universes_are_apart(self, engine: LifeEngine[Any]) -> None:
        given, shape = self.some_rows(65, 33), self.shape(65, 33)
        one = engine.universe(given, shape, self.a_rule)
        other = engine.universe(given, shape, self.another_rule)
        for _ in range(3):
            one.step(2)
            other.step(3)
        assert_holds(one, self.moved(given, shape, 6))
        assert_holds(other, self.moved(given, shape, 9, self.another_rule))

    # --- rows ----------------------------------------------------------------

    @pytest.mark.parametrize("sides", [(1, 1), (63, 5), (65, 33), (131, 20), (257, 19)], ids=str)
    def test_rows_are_put_and_got_anywhere(self, engine: LifeEngine[Any], sides: Size) -> None:
        """Rows are put and got in bands of any height and order; those beside them stay."""
        width, height = sides
        draw = random.Random(width)
        expected = self.some_rows(width, height).copy()
        other = self.some_rows(width, height, seed=1)
        shape = self.shape(width, height)
        universe = engine.arena([shape], 1, self.a_rule).open(0, shape)
        cuts = sorted({0, height, *(draw.randrange(height + 1) for _ in range(4))})
        bands = list(pairwise(cuts))
        draw.shuffle(bands)
        for low, high in bands:
            given = expected[low:high].copy()
            universe.put(low, given)
            given[:] = 0
        assert_holds(universe, expected, bands)
        for _ in range(10):
            low, high = sorted(draw.randrange(height + 1) for _ in range(2))
            universe.put(low, other[low:high])
            expected[low:high] = other[low:high]
            low, high = sorted(draw.randrange(height + 1) for _ in range(2))
            found = np.full_like(expected[low:high], 2**64 - 1)
            universe.get(low, found)
            np.testing.assert_array_equal(found, expected[low:high])
        assert_holds(universe, expected)
        assert universe.generation == 0
        t = self.few_times[0]
        universe.step(t)
        assert_holds(universe, self.moved(expected, shape, t))

    def test_rows_that_are_refused(self, engine: LifeEngine[Any]) -> None:
        universe = self.started(engine, (65, 33))
        row = self.some_rows(65, 33).shape[1:]
        rows = np.zeros((4, *row), np.uint64)
        wrong: list[tuple[int, Words]] = [
            (-1, rows),
            (30, rows),
            (33, rows),
            (0, np.zeros((4, *row[:-1], 1), np.uint64)),
            (0, np.zeros((4, *row[:-1], 3), np.uint64)),
            (0, np.zeros(8, np.uint64)),
            (0, np.zeros((), np.uint64)),
            (0, np.zeros((4, 1, 2), np.uint64)),
            (0, np.zeros((4, self.planes + 1, 2), np.uint64)),
            (0, np.zeros((4, 1, self.planes, 2), np.uint64)),
            (0, np.zeros((4, *row[:-1], 4), np.uint64)[..., ::2]),
            (0, np.asfortranarray(rows)),
            (0, cast(Words, np.zeros((4, *row), np.int64))),
            (0, cast(Words, np.zeros((4, *row), np.dtype(">u8")))),
        ]
        if self.planes > 1:
            wrong.append((0, np.zeros((4, 2), np.uint64)))
        for y, words in wrong:
            with pytest.raises(ValueError, match="rows"):
                universe.put(y, words)
            with pytest.raises(ValueError, match="rows"):
                universe.get(y, words)
        rows.flags.writeable = False
        with pytest.raises(ValueError, match="writable"):
            universe.get(0, rows)
        assert_holds(universe, self.some_rows(65, 33))
        universe.put(29, rows)
        assert not universe.words()[29:].any()

    def test_states_that_are_refused(self, engine: LifeEngine[Any]) -> None:
        """A state that the rule does not have is none of a universe's, and changes nothing."""
        states = self.a_rule.states
        if states == 1 << self.planes:
            pytest.skip("every number that the planes hold is a state")
        rows = self.some_rows(131, 9)
        universe = engine.universe(rows, self.shape(131, 9), self.a_rule)
        for state in (states, (1 << self.planes) - 1):
            wrong = unpacked(rows, 131)
            wrong[4, 130] = state
            with pytest.raises(ValueError, match=f"state {state}.* 0 to {states - 1}$"):
                universe.put(0, packed(wrong, self.planes))
        assert_holds(universe, rows)

    def test_planes_that_are_refused(self, engine: LifeEngine[Any]) -> None:
        """One line says so, before anything is computed with too few or too many."""
        right, chain = self.shape(65, 33), ChainShape(65, 3, True, 20, self.planes)
        arena = engine.arena([right], 1, self.a_rule)
        for planes in (0, self.planes + 1):
            wrong = LifeShape(65, 33, True, planes)
            wrong_chain = ChainShape(65, 3, True, 20, planes)
            with pytest.raises(ValueError, match=f"^cells in {planes} bit planes.*{self.planes}$"):
                arena.open(0, wrong)
            with pytest.raises(ValueError, match="bit planes"):
                engine.universe(self.some_rows(65, 33), wrong, self.a_rule)
            with pytest.raises(ValueError, match="bit planes"):
                engine.arena([right, wrong], 1, self.a_rule)
            with pytest.raises(ValueError, match="bit planes"):
                engine.arena([right], 1, self.a_rule, wrong_chain)
            with pytest.raises(ValueError, match="bit planes"):
                engine.arena_bytes([wrong], 1)
            with pytest.raises(ValueError, match="bit planes"):
                engine.arena_bytes([right], 1, wrong_chain)
            with pytest.raises(ValueError, match="bit planes"):
                engine.chain(wrong_chain)
        assert engine.chain(chain).planes == self.planes

    # --- universes that take turns -------------------------------------------

    @pytest.mark.parametrize("slots", [1, 2, 3])
    def test_universes_take_turns(self, engine: LifeEngine[Any], slots: int) -> None:
        """Universes of all shapes share all slots; what steps leaves the others as they are."""
        draw, t = random.Random(slots), self.few_times[0]
        shapes = [self.shape(*size) for size in self.arena_sizes]
        arena = engine.arena(shapes, slots, self.a_rule)
        assert arena.slots == slots
        held: list[tuple[LifeUniverse, Words, LifeShape]] = []
        for turn, shape in enumerate(shapes * 2):
            width, height = shape.width, shape.height
            rows = self.some_rows(width, height, turn)
            universe = arena.open(turn % slots, shape)
            assert (universe.width, universe.height, universe.generation) == (width, height, 0)
            middle = draw.randrange(height + 1)
            universe.put(middle, rows[middle:])
            if held and slots > 1:  # the turn of another, half way through
                stepped, before, other = held[-1]
                stepped.step(t)
                held[-1] = stepped, self.moved(before, other, t), other
            universe.put(0, rows[:middle])
            held = [*held, (universe, rows, shape)][-slots:]
            for i, (one, before, other) in enumerate(held):
                one.step(t)
                held[i] = one, self.moved(before, other, t), other
            for one, now, _ in held:
                assert_holds(one, now, (turn, shape))
        arena.close()

    @pytest.mark.sample(2)
    def test_threads_put_and_get_while_one_steps(self, engine: LifeEngine[Any]) -> None:
        shapes = [self.shape(*size) for size in self.arena_sizes[:3]]
        arena = engine.arena(shapes, 3, self.a_rule)
        stepped, filled, drained = (arena.open(i, shape) for i, shape in enumerate(shapes))
        starts = [self.some_rows(shape.width, shape.height) for shape in shapes]
        for universe, start in zip((stepped, filled, drained), starts, strict=True):
            universe.put(0, start)
        expected = drained.words()
        done = threading.Event()
        last = [self.some_rows(filled.width, filled.height, seed) for seed in range(2)]

        def fill(first: int) -> int:
            """Every other row; ends with those of last[1]."""
            rounds = 0
            while rounds < 2 or rounds % 2 or not done.is_set():
                for y in range(first, filled.height, 2):
                    filled.put(y, last[rounds % 2][y : y + 1])
                rounds += 1
            return rounds

        def drain() -> int:
            rounds = 0
            while rounds < 2 or not done.is_set():
                found = np.empty_like(expected)
                for y in range(0, drained.height, 3):
                    drained.get(y, found[y : y + 3])
                np.testing.assert_array_equal(found, expected)
                rounds += 1
            return rounds

        t = self.few_times[0]
        with ThreadPoolExecutor(3) as pool:
            threads = [pool.submit(fill, 0), pool.submit(fill, 1), pool.submit(drain)]
            try:
                for _ in range(12):
                    stepped.step(t)
            finally:
                done.set()
            assert all(thread.result(60) >= 2 for thread in threads)
        assert_holds(stepped, self.moved(starts[0], shapes[0], 12 * t))
        assert_holds(filled, last[1])
        assert_holds(drained, expected)
        filled.step(t)
        assert_holds(filled, self.moved(last[1], shapes[1], t))

    def test_what_does_not_fit_an_arena(self, engine: LifeEngine[Any]) -> None:
        arena = engine.arena([self.shape(128, 64), self.shape(64, 100, False)], 2, self.a_rule)
        for slot in (-1, 2):
            with pytest.raises(ValueError, match="slot"):
                arena.open(slot, self.shape(64, 100, False))
        for width, height in ((0, 5), (5, 0), (128, 4000), (100_000, 64), (1 << 40, 1 << 40)):
            with pytest.raises(ValueError, match="cells"):
                arena.open(0, self.shape(width, height, False))
        arena.open(1, self.shape(64, 100, False))
