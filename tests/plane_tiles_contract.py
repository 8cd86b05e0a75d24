"""What every engine of tiles must do, beside a set of live cells: what only tiles can get wrong."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.life.rules import LifeRule, NineCellRule
from kernels.plane.contract import PlaneBox
from kernels.plane.ref import ReferencePlaneEngine
from tests.interrupts import interrupted_after
from tests.plane_contract import (
    EXPLOSIVE,
    GLIDER,
    LIFE,
    RULES,
    TILTED,
    Cells,
    PlaneContract,
    assert_same_cells,
    cells_of,
    gun,
    opened,
    patterns,
    soup,
    spreads,
    squares_of,
)
from tests.quick import examples

R_PENTOMINO = {(1, 0), (2, 0), (0, 1), (1, 1), (1, 2)}
ACORN = {(1, 0), (3, 1), (0, 2), (1, 2), (4, 2), (5, 2), (6, 2)}
PULSAR = {  # of period 3
    (x, y) for a, b in product((2, 3, 4, 8, 9, 10), (0, 5, 7, 12)) for x, y in ((a, b), (b, a))
}
TEN = {(x, 0) for x in range(10)}  # becomes a pentadecathlon, of period 15
SPACESHIP = {(0, 0), (3, 0), (4, 1), (0, 2), (4, 2), (1, 3), (2, 3), (3, 3), (4, 3)}  # to the right
FAST = LifeRule(1 << 2, 0)  # Seeds: at the speed of light
THICK = LifeRule(1 << 3, 511)  # nothing dies
PERIOD = 60  # generations after which tiles that repeat themselves are known to


def moved(cells: Cells, x: int, y: int) -> Cells:
    """Return cells moved by (x, y)."""
    return {(i + x, j + y) for i, j in cells}


def assert_like(universe: Any, witness: Any) -> None:
    """Check that all that is told of two universes is the same."""
    assert universe.generation == witness.generation
    assert_same_cells(universe, witness)
    assert universe.population() == witness.population()
    assert universe.box() == witness.box()


class TilesContract(PlaneContract):
    """Tests of an engine of tiles; a subclass has a fixture `engine`."""

    @staticmethod
    def settled(universe: Any) -> bool:
        """Return whether every PERIOD generations bring back what is there, as the engine knows."""
        raise NotImplementedError

    @settings(max_examples=examples(80), deadline=None)
    @given(
        st.integers(0, 2**32 - 1), st.integers(1, 8), st.sampled_from((LIFE, FAST, THICK, TILTED)),
        st.lists(st.integers(1, 80), min_size=1, max_size=6),
    )  # fmt: skip
    def test_clusters_that_meet(
        self, engine: Any, seed: int, count: int, rule: NineCellRule, steps: list[int]
    ) -> None:
        """Much is alive at the corners of tiles, comes to rest, and is woken again."""
        random = np.random.default_rng(seed)
        cells: Cells = set()
        for _ in range(count):
            x, y = (32 * int(n) - 4 for n in random.integers(-2, 3, 2))
            live = random.random((8, 8)) < 0.4
            cells |= {(x + int(i), y + int(j)) for j, i in np.argwhere(live)}
        ours, reference = (opened(each, cells, rule) for each in (engine, ReferencePlaneEngine()))
        for step in steps:
            step = step if rule in (LIFE, TILTED) else step % 16 + 1
            for universe in (ours, reference):
                universe.step(step)
            assert_like(ours, reference)

    @settings(max_examples=examples(60), deadline=None)
    @given(patterns(), RULES, st.integers(0, 400), st.lists(st.integers(0, 90), max_size=6))
    def test_steps_add_up(
        self, engine: Any, cells: Cells, rule: NineCellRule, first: int, steps: list[int]
    ) -> None:
        self.check_sums(engine, cells, rule, [first, *steps])

    @staticmethod
    def check_sums(engine: Any, cells: Cells, rule: NineCellRule, steps: list[int]) -> None:
        """Check that many steps are as good as one."""
        if spreads(rule):
            steps = [step % 30 for step in steps]
        once, often = (opened(engine, cells, rule) for _ in range(2))
        once.step(sum(steps))
        for step in steps:
            often.step(step)
        assert_like(often, once)

    @pytest.mark.parametrize(
        ("cells", "period"),
        [(PULSAR, 3), (moved(PULSAR, 25, 25), 3), (TEN, 15), (moved(TEN, 27, 31), 15)],
    )
    def test_what_repeats_is_left_alone(self, engine: Any, cells: Cells, period: int) -> None:
        universe = opened(engine, cells)
        universe.step(10 * PERIOD)
        assert self.settled(universe)
        for step in range(1, 2 * period):
            universe.step(step)
            witness = opened(ReferencePlaneEngine(), cells)
            witness.step(60 + universe.generation % PERIOD)
            assert cells_of(universe) == cells_of(witness)
        before, cells = universe.generation, cells_of(universe)
        universe.step(PERIOD * 10**40)
        assert universe.generation == before + PERIOD * 10**40
        assert cells_of(universe) == cells
        universe.step(1)
        witness = opened(ReferencePlaneEngine(), cells)
        witness.step(1)
        assert cells_of(universe) == cells_of(witness)

    @settings(max_examples=examples(60), deadline=None)
    @given(
        st.sampled_from((GLIDER, SPACESHIP)), st.integers(-40, 0), st.integers(-40, 0),
        st.sampled_from((TEN, PULSAR, gun(), {(0, 0), (1, 0), (0, 1), (1, 1)})),
        st.integers(1, 90), st.integers(0, 500), st.integers(0, 80),
    )  # fmt: skip
    def test_what_rests_is_hit(
        self,
        engine: Any,
        ship: Cells,
        x: int,
        y: int,
        target: Cells,
        far: int,
        rest: int,
        more: int,
    ) -> None:
        """Something comes to what has repeated for a while, or was put there meanwhile."""
        ours, reference = (opened(each, target) for each in (engine, ReferencePlaneEngine()))
        for universe in (ours, reference):
            universe.step(rest)
            universe.put(*squares_of(moved(ship, 64 * -2 + x % 60, 64 * -2 + y % 60)))
            universe.step(4 * far)
        assert_like(ours, reference)
        for universe in (ours, reference):
            universe.step(more)
        assert_like(ours, reference)

    @pytest.mark.parametrize(
        ("cells", "generations", "population"), [(R_PENTOMINO, 1103, 116), (ACORN, 5206, 633)]
    )
    def test_methuselahs(
        self, engine: Any, cells: Cells, generations: int, population: int
    ) -> None:
        for at in (0, -17, 1 << 40):
            universe = opened(engine, moved(cells, at, -at))
            universe.step(generations)
            assert universe.population() == population

    def test_a_gun_fires_for_long(self, engine: Any) -> None:
        universe = opened(engine, gun())
        universe.step(90_000)
        assert universe.population() == 36 + 5 * 3000
        assert universe.box() == PlaneBox(0, 0, *self._reach(universe))

    @staticmethod
    def _reach(universe: Any) -> tuple[int, int]:
        """Return how far to the right and down anything lives, by its squares."""
        xs, ys = zip(*cells_of(universe), strict=True)
        return max(xs) + 1, max(ys) + 1

    def test_what_flies_away_leaves_no_tiles(self, engine: Any) -> None:
        universe = opened(engine, GLIDER)
        universe.step(100)
        taken = universe.nbytes
        universe.step(100_000)
        assert universe.nbytes == taken

    def test_a_step_beyond_all_places(self, engine: Any) -> None:
        far = (1 << 62) - 64
        universe = opened(engine, moved(GLIDER, far, far))
        universe.step(400)
        assert universe.population() == 5
        box = universe.box()
        assert box == PlaneBox(far + 100, far + 100, 3, 3)
        words = np.zeros((3, 1), np.uint64)
        universe.get(box.x, box.y, words)
        assert words[:, 0].tolist() == [0b010, 0b100, 0b111]
        with pytest.raises(OverflowError, match="2\\^56 squares"):
            list(universe.squares())

    # --- memory, and being broken off ----------------------------------------

    def test_too_little_memory_for_any(self, engine: Any) -> None:
        with pytest.raises(MemoryError):
            engine.universe(LIFE, 1000)

    @pytest.mark.parametrize("steps", [(10_000,), (7,) * 2000, (15,) * 1000])
    def test_out_of_memory_at_a_generation(self, engine: Any, steps: tuple[int, ...]) -> None:
        universe = opened(engine, soup(20), FAST, 300_000)

        def run() -> None:
            for step in steps:
                universe.step(step)

        with pytest.raises(MemoryError, match="300000 bytes"):
            run()
        assert 0 < universe.nbytes <= 300_000
        assert universe.generation > 15
        witness = opened(engine, soup(20), FAST)
        witness.step(universe.generation)
        assert_like(universe, witness)
        with pytest.raises(MemoryError):
            universe.step(10_000)
        witness.step(universe.generation - witness.generation)
        assert_like(universe, witness)

    def test_no_memory_for_more_cells(self, engine: Any) -> None:
        universe = opened(engine, GLIDER, LIFE, 100_000)
        with pytest.raises(MemoryError):
            universe.put(*squares_of({(70 * i, 0) for i in range(1000)}))
        assert cells_of(universe) == GLIDER
        universe.step(40)
        assert cells_of(universe) == moved(GLIDER, 10, 10)

    def test_interrupts(self, engine: Any) -> None:
        universe, witness = (opened(engine, soup(300), EXPLOSIVE) for _ in range(2))
        for seconds in (0.02, 0.11, 0.06):
            with interrupted_after(seconds), pytest.raises(KeyboardInterrupt):
                universe.step(10**9)
            witness.step(universe.generation - witness.generation)
            assert_like(universe, witness)

    def test_who_is_asked_may_not_ask_back(self, engine: Any) -> None:
        universe = opened(engine, soup(100), EXPLOSIVE)

        def stopped() -> bool:
            universe.population()
            return True

        with pytest.raises(RuntimeError, match="in use"):
            universe.step_until(stopped, 10**9)
        assert universe.population() > 0

    def test_squares_of_a_plane_that_moves_on(self, engine: Any) -> None:
        universe = opened(engine, {(200 * i, 0) for i in range(5000)}, THICK)
        seen = universe.squares()
        next(seen)
        universe.step(1)
        with pytest.raises(RuntimeError, match="changed"):
            next(seen)
