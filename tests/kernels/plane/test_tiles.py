"""Tiles on the CPU: the contract of the unbounded plane at every level."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("kernels._cpu")

from kernels.life.rules import LifeRule, NineCellRule
from kernels.plane.tiles.cpu.engine import CpuTilesEngine
from kernels.targets.cpu import CpuTarget, levels
from tests.plane_contract import GLIDER, LIFE, TILTED, Cells, gun, opened, soup, squares_of
from tests.plane_tiles_contract import FAST, TEN, TilesContract, assert_like, moved
from tests.quick import examples

HIGH_LIFE = LifeRule(1 << 3 | 1 << 6, 1 << 2 | 1 << 3)
NO_GLIDERS = LifeRule(1 << 3, 1 << 2 | 1 << 3 | 1 << 4)
BLOCK = {(0, 0), (1, 0), (0, 1), (1, 1)}
FILLING = LifeRule(1 << 2, 511)  # spreads at the speed of light, and nothing dies
FAR = st.integers(-400, 400)
LARGE = 2048  # tiles from which on cycles are chosen


def walk(universe: Any, generations: int) -> None:
    """Move on by steps so short that no glider is left uncomputed."""
    for done in range(0, generations, 60):
        universe.step(min(60, generations - done))


@pytest.fixture(
    scope="module",
    params=[*((level, 1) for level in levels()), (levels()[-1], 3)],
    ids=lambda p: f"{p[0]}x{p[1]}",
)
def engine(request: pytest.FixtureRequest) -> CpuTilesEngine:
    """Return the engine at each level that this CPU has, and with several threads."""
    level, threads = request.param
    return CpuTilesEngine(CpuTarget(threads, level))


class TestTiles(TilesContract):
    """Tiles beside a set of cells."""

    @staticmethod
    def settled(universe: Any) -> bool:
        return bool(universe._plane.settled())

    @settings(max_examples=examples(40), deadline=None)
    @given(
        st.lists(st.tuples(FAR, FAR, st.booleans(), st.booleans()), min_size=1, max_size=5),
        st.lists(st.tuples(FAR, FAR), max_size=2),
        st.sampled_from((LIFE, LIFE, HIGH_LIFE, NO_GLIDERS, TILTED)),
        st.lists(st.integers(1, 900), min_size=1, max_size=3),
    )
    def test_gliders_from_afar(
        self,
        engine: CpuTilesEngine,
        gliders: list[tuple[int, int, bool, bool]],
        blocks: list[tuple[int, int]],
        rule: NineCellRule,
        steps: list[int],
    ) -> None:
        """Gliders that fly alone for long meet each other, or what rests."""
        cells: Cells = set()
        for x, y, to_left, to_top in gliders:
            turned = {(-i if to_left else i, -j if to_top else j) for i, j in GLIDER}
            cells |= moved(turned, x, y)
        for x, y in blocks:
            cells |= moved(BLOCK, x, y)
        ours, witness = (opened(engine, cells, rule) for _ in range(2))
        for step in steps:
            ours.step(step)
            walk(witness, step)
            assert_like(ours, witness)

    @pytest.mark.parametrize("apart", [10, 150, 301])
    def test_gliders_that_meet(self, engine: CpuTilesEngine, apart: int) -> None:
        """Two gliders fly towards each other from far away, beside a third one."""
        back = moved({(-i, -j) for i, j in GLIDER}, 2 * apart, 2 * apart + 3)
        cells = GLIDER | back | moved(GLIDER, 40, 0)
        ours, witness = (opened(engine, cells) for _ in range(2))
        ours.step(12 * apart)
        walk(witness, 12 * apart)
        assert_like(ours, witness)

    def test_memory_ends_while_gliders_fly(self, engine: CpuTilesEngine) -> None:
        cells = gun() | {(-500 - x, -500 - y) for x, y in GLIDER}
        universe, witness = opened(engine, cells, LIFE, 400_000), opened(engine, cells)
        with pytest.raises(MemoryError):
            universe.step(10**6)
        assert universe.generation > 1000
        assert universe.nbytes <= 400_000
        witness.step(universe.generation)
        assert_like(universe, witness)

    def test_much_that_repeats_is_left_alone(self, engine: CpuTilesEngine) -> None:
        """A large plane learns of a period of 15, for which its first cycles are too short."""
        cells = {cell for i in range(LARGE) for cell in moved(TEN, 64 * (i % 64), 64 * (i // 64))}
        universe = opened(engine, cells)
        universe.step(300)
        assert not self.settled(universe)
        universe.step(900)
        assert self.settled(universe)
        one = opened(engine, TEN)
        one.step(1200)
        assert universe.population() == LARGE * one.population()
        universe.put(*squares_of(moved(GLIDER, -40, -40)))
        universe.step(60)
        assert not self.settled(universe)

    def test_what_becomes_large(self, engine: CpuTilesEngine) -> None:
        """A plane that boils keeps less of each tile once it is large."""
        universe, witness = (opened(engine, soup(60), FAST) for _ in range(2))
        witness.step(700)
        again = engine.universe(FAST, 1 << 32)
        for places, squares in witness.squares():
            again.put(places, squares)
        again.step(1300)
        again.generation = 2000
        universe.step(1000)
        box = universe.box()
        assert universe.nbytes > box.width * box.height
        universe.step(1000)
        box = universe.box()
        assert universe.nbytes < box.width * box.height / 2
        assert_like(universe, again)

    @pytest.mark.sample(1)
    def test_what_grows_around_its_rest(self, engine: CpuTilesEngine) -> None:
        """A large plane that is still but for its rim keeps less of each tile, too."""
        universe, witness = (opened(engine, soup(20), FILLING) for _ in range(2))
        witness.step(700)
        again = engine.universe(FILLING, 1 << 32)
        for places, squares in witness.squares():
            again.put(places, squares)
        again.step(1300)
        again.generation = 2000
        universe.step(1000)
        long_cycle = universe.nbytes / universe.box().width ** 2
        universe.step(1000)
        assert universe.nbytes / universe.box().width ** 2 < long_cycle / 2
        assert_like(universe, again)

    @pytest.mark.sample(1)
    def test_rest_of_a_long_period_keeps_its_cycle(self, engine: CpuTilesEngine) -> None:
        """Much that repeats every 15 generations stays at rest while something else goes on."""
        cells = {cell for i in range(LARGE) for cell in moved(TEN, 64 * (i % 64), 64 * (i // 64))}
        universe, alone, one = opened(engine, cells), opened(engine, soup(400)), opened(engine, TEN)
        universe.step(1200)
        settled = universe.nbytes
        for places, squares in alone.squares():
            universe.put(places + np.array((-20, 10)), squares)
        for each, generations in ((universe, 800), (alone, 800), (one, 2000)):
            each.step(generations)
        assert universe.population() == LARGE * one.population() + alone.population()
        assert universe.nbytes >= settled
