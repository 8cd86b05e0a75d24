"""HashLife: the contract of the unbounded plane, and what only a tree of squares can do."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("kernels._cpu")

from kernels.life.rules import NineCellRule
from kernels.plane.contract import PlaneUniverse
from kernels.plane.hashlife.cpu.engine import LEAST_MEMORY, HashPlane, HashPlaneEngine
from kernels.targets.cpu import CpuTarget, levels
from tests.plane_contract import (
    LIFE,
    MEMORY,
    RULES,
    Cells,
    PlaneContract,
    assert_same_cells,
    cells_of,
    gun,
    opened,
    patterns,
    soup,
    spreads,
)
from tests.quick import examples


@pytest.fixture(scope="module", params=levels())
def engine(request: pytest.FixtureRequest) -> HashPlaneEngine:
    """Return the engine at each level that this CPU has."""
    return HashPlaneEngine(CpuTarget(1, request.param))


class Helped(HashPlaneEngine):
    """HashLife on three threads, of which two help from the beginning of each step."""

    def universe(self, rule: NineCellRule, memory: int) -> HashPlane:
        """Return an empty plane."""
        universe = super().universe(rule, memory)
        universe._tree.set_pause(0)
        return universe


class TestHashLife(PlaneContract):
    """HashLife beside a set of cells."""

    @settings(max_examples=examples(30), deadline=None)
    @given(patterns(), RULES, st.integers(0, 3000), st.integers(0, 3000))
    def test_steps_add_up(self, engine: Any, cells: Cells, rule: Any, a: int, b: int) -> None:
        if spreads(rule):
            a, b = a % 200, b % 200
        once, twice = (opened(engine, cells, rule) for _ in range(2))
        once.step(a + b)
        twice.step(a)
        twice.step(b)
        assert once.population() == twice.population()
        assert once.box() == twice.box()
        assert once.generation == twice.generation

    @settings(max_examples=examples(30), deadline=None)
    @given(patterns(), st.booleans())
    def test_a_list_is_the_tree(self, engine: Any, cells: Cells, down: bool) -> None:
        universe = opened(engine, cells)
        other = engine.universe(LIFE, MEMORY)
        if cells:
            other.put_list(universe.list())
        assert cells_of(other) == cells
        if cells:
            again = engine.universe(LIFE, MEMORY)
            again.put_list(other.list(lifted=True))
            assert cells_of(again) == {(x, y - 1) for x, y in cells}
            assert cells_of(other) == cells
        other.move_a_row(down=down)
        by = 1 if down else -1
        assert cells_of(other) == {(x, y + by) for x, y in cells}

    def test_a_gun_for_very_long(self, engine: HashPlaneEngine) -> None:
        universe = opened(engine, gun())
        for exponent in (6, 9, 30):
            universe.step(10**exponent - universe.generation)
            # A glider every 30 generations; what stands between two of them depends on the phase.
            assert abs(universe.population() - (36 + universe.generation // 6)) < 60
        assert opened_at(engine, 10**6).population() == 166_713  # as Golly has it

    def test_two_to_the_200(self, engine: HashPlaneEngine) -> None:
        universe = opened(engine, gun())
        universe.step(2**200)
        other = opened(engine, gun())
        other.step(2**200 - 120)
        assert universe.generation == 2**200
        assert universe.population() == other.population() + 5 * 120 // 30
        box = universe.box()
        assert box is not None
        assert box.width > 2**197
        assert box.width - other.box().width == 30  # type: ignore[union-attr]
        with pytest.raises(OverflowError):
            list(universe.squares())
        with pytest.raises(OverflowError):
            universe.step(2**244)
        assert universe.generation == 2**200
        whole = universe.counts(-1, -1, 240, (2, 2)).sum()
        assert whole == pytest.approx(float(universe.population()))

    def test_counts_of_a_wide_plane_are_sums_of_finer_ones(self, engine: HashPlaneEngine) -> None:
        """Levels are such that coordinates fit no 64 bits, and such that blocks divide leaves."""
        universe = opened(engine, gun())
        universe.step(2**200)
        for level in (3, 4, 5, 59, 60, 61, 100, 150, 190):
            x, y = ((2**197) >> level, (2**197) >> level) if level > 5 else (-2, -3)
            fine = universe.counts(2 * x, 2 * y, level - 1, (40, 60)).reshape(20, 2, 30, 2)
            coarse = universe.counts(x, y, level, (20, 30))
            assert np.array_equal(fine.sum(axis=(1, 3)), coarse)
            assert coarse.any()

    def test_the_end_of_the_plane(self, engine: HashPlaneEngine) -> None:
        universe = opened(engine, gun())
        with pytest.raises(MemoryError):  # noqa: PT012
            while True:
                universe.step(2**243)
        assert universe.generation % 2**243 == 0
        assert universe.population() > universe.generation // 6

    def test_little_memory(self, engine: HashPlaneEngine) -> None:
        large, small = (engine.universe(LIFE, memory) for memory in (MEMORY, LEAST_MEMORY))
        places = np.stack(np.divmod(np.arange(16 * 16), 16), axis=1)
        first, second, third = np.random.default_rng(5).integers(0, 2**64, (3, 256, 64), np.uint64)
        for universe in (large, small):
            universe.put(places, first & (second | third))  # three eighths of the cells
        for _ in range(60):
            small.step(16)
        large.step(960)
        assert_same_cells(small, large)
        assert isinstance(small, HashPlane)
        assert small.statistics()["collections"] > 0
        assert small.nbytes <= LEAST_MEMORY

    def test_too_little_memory_is_said_and_nothing_lost(self, engine: HashPlaneEngine) -> None:
        with pytest.raises(MemoryError):
            engine.universe(LIFE, LEAST_MEMORY - 1)
        universe = engine.universe(LIFE, LEAST_MEMORY)
        rng = np.random.default_rng(4)
        places = np.stack(np.divmod(np.arange(110 * 110), 110), axis=1)
        squares = rng.integers(0, 2**64, (len(places), 64), np.uint64)
        universe.put(places, squares)
        before = universe.population(), universe.box()
        with pytest.raises(MemoryError):
            universe.step(1)
        with pytest.raises(MemoryError):
            universe.put(places + 200, ~squares)
        assert (universe.population(), universe.box()) == before
        assert universe.generation == 0
        universe.put(places[1:], np.zeros_like(squares[1:]))
        universe.step(1)
        assert universe.generation == 1

    def test_collections_are_left_at_once_and_lose_nothing(self, engine: HashPlaneEngine) -> None:
        """Steps are broken off after 1, 2, ... looks at whether to stop, in collections too."""
        left, whole = (engine.universe(LIFE, LEAST_MEMORY) for _ in range(2))
        places = np.stack(np.divmod(np.arange(24 * 24), 24), axis=1)
        squares = np.random.default_rng(5).integers(0, 2**64, (len(places), 64), np.uint64)
        for universe in (left, whole):
            universe.put(places, squares)
        left._tree.set_pause(0)
        states: Counter[str] = Counter()
        most = 1
        for _ in range(40):
            goal = left.generation + 16
            while left.generation < goal:
                before = left.statistics()
                looks = Looks(most)
                left.step_until(looks, 16)
                assert looks.late <= 0
                after = left.statistics()
                states["abandoned"] += after["abandoned"] > before["abandoned"]
                states["unfinished"] += after["unfinished"]
                most = most + 1 if after["squares"] == before["squares"] else 1
            whole.step(16)
            assert left.population() == whole.population()
        assert whole.statistics()["collections"] >= 3
        assert_same_cells(left, whole)
        # A table of some 100 000 squares is looked through in pieces of 8192, from which all left.
        assert states["abandoned"] >= 10
        assert states["unfinished"] >= 10

    def test_wrong_lists_are_refused(self, engine: HashPlaneEngine) -> None:
        universe = opened(engine, gun())
        squares = universe.list()
        for change in ("levels", "children", "leaves"):
            wrong = getattr(squares, change).copy()
            wrong.reshape(-1)[-1 if change != "leaves" else 0] += 1
            with pytest.raises(ValueError, match="contradict"):
                universe.put_list(replace(squares, **{change: wrong}))
        assert cells_of(universe) == gun()


class TestHelped:
    """HashLife on several threads beside HashLife on one, and beside a set of cells."""

    @settings(max_examples=examples(40), deadline=None)
    @given(patterns(), RULES, st.lists(st.integers(0, 300), min_size=1, max_size=3))
    def test_steps(self, cells: Cells, rule: NineCellRule, steps: list[int]) -> None:
        PlaneContract.check_steps(Helped(CpuTarget(3)), cells, rule, [step % 71 for step in steps])
        one, three = (opened(each, cells, rule) for each in engines())
        for step in steps:
            for universe in (one, three):
                universe.step(step % 40 if spreads(rule) else step)
            assert one.population() == three.population()
            assert listed(one) == listed(three)

    @settings(max_examples=examples(6), deadline=None)
    @given(st.integers(300, 700), st.integers(1, 300))
    def test_little_memory(self, side: int, step: int) -> None:
        """Tables grow, and garbage is collected, while others wait in the middle of their work."""
        one, three = (opened(each, soup(side), memory=LEAST_MEMORY) for each in engines())
        for universe in (one, three):
            for _ in range(4):
                universe.step(step)
        assert listed(one) == listed(three)

    def test_all_is_shared_out_and_collected(self) -> None:
        one, three = (opened(each, soup(700), memory=LEAST_MEMORY) for each in engines())
        while not (three.statistics()["collections"] > 1 and three.statistics()["shared"]):
            for universe in (one, three):
                universe.step(37)
            assert one.population() == three.population()
        assert listed(one) == listed(three)
        assert three.nbytes <= LEAST_MEMORY

    def test_too_little_memory_is_said_and_nothing_lost(self) -> None:
        TestHashLife().test_too_little_memory_is_said_and_nothing_lost(Helped(CpuTarget(3)))

    def test_steps_are_left_at_once_and_lose_nothing(self) -> None:
        TestHashLife().test_collections_are_left_at_once_and_lose_nothing(Helped(CpuTarget(3)))

    def test_an_error_of_who_is_asked_comes_through(self) -> None:
        universe = opened(Helped(CpuTarget(3)), soup(300))

        def broken() -> bool:
            raise RuntimeError("asked")

        with pytest.raises(RuntimeError, match="asked"):
            universe.step_until(broken, 10**4)
        assert universe.generation == 0
        universe.step(100)
        assert listed(universe) == listed(opened_after(soup(300), 100))


def engines() -> tuple[HashPlaneEngine, Helped]:
    """Return an engine on one thread, and one on three."""
    return HashPlaneEngine(CpuTarget(1)), Helped(CpuTarget(3))


def opened_after(cells: Cells, generations: int) -> PlaneUniverse:
    """Return a universe on one thread after some generations."""
    universe = opened(engines()[0], cells)
    universe.step(generations)
    return universe


def listed(universe: Any) -> tuple[bytes, ...]:
    """Return the tree as a list, to be compared."""
    squares = universe.list()
    return tuple(each.tobytes() for each in (squares.levels, squares.children, squares.leaves))


class Looks:
    """Says to stop from a look on, and counts those that come later still."""

    def __init__(self, most: int) -> None:
        self.left, self.late = most, -1

    def __call__(self) -> bool:
        self.left -= 1
        self.late += self.left <= 0
        return self.left <= 0


def opened_at(engine: HashPlaneEngine, generation: int) -> HashPlane:
    """Return Gosper's gun at a generation."""
    universe = opened(engine, gun())
    assert isinstance(universe, HashPlane)
    universe.step(generation)
    return universe
