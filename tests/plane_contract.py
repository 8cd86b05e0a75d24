"""What every engine of the unbounded plane must do, beside a set of live cells."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.life.rules import LifeRule, MapRule, NineCellRule
from kernels.plane import PlaneBox, PlaneEngine, PlaneRuleError, PlaneUniverse
from kernels.plane.contract import Places, Words
from kernels.plane.ref import ReferencePlaneEngine
from tests.quick import examples

LIFE = LifeRule(1 << 3, 1 << 2 | 1 << 3)


def map_rule(lives: Callable[[int, int, list[int]], bool]) -> MapRule:
    """Return the rule by which a cell lives where lives(cell, its live neighbours, the nine cells
    row by row) says so."""
    table = 0
    for square in range(512):
        nine = [square >> 8 - i & 1 for i in range(9)]
        table |= int(lives(nine[4], sum(nine) - nine[4], nine)) << square
    return MapRule(table)


def _are_opposed(cells: list[int]) -> bool:
    return sum(cells) == 2 and any(cells[i] and cells[8 - i] for i in range(4))


# As Life, but a cell dies whose two live neighbours are opposite each other.
OPPOSED = map_rule(
    lambda c, n, nine: n == 3 or (c == 1 and n == 2 and not _are_opposed([*nine[:4], 0, *nine[5:]]))
)
# As Life, but for one birth: no glider flies to the right and down.
TILTED = map_rule(
    lambda c, n, nine: (n == 3 and nine != [1, 1, 0, 1, 0, 0, 0, 0, 0]) or (c == 1 and n == 2)
)
HEXAGONAL = map_rule(
    lambda c, n, nine: (k := n - nine[2] - nine[6]) == 2 or (c == 1 and k in (3, 4))
)
FOUR = map_rule(lambda c, n, nine: sum(nine[1:8:2]) in (1, 3) or c == 1)  # von Neumann's neighbours
DRIFT = map_rule(lambda c, n, nine: nine[0] == 1)  # all moves to the right and down, at light speed
MAPS = (OPPOSED, TILTED, HEXAGONAL, FOUR, DRIFT)
EXPLOSIVE = LifeRule(1 << 3 | 1 << 4, 1 << 3 | 1 << 4)  # nothing comes to rest
MEMORY = 1 << 30
GLIDER = {(1, 0), (2, 1), (0, 2), (1, 2), (2, 2)}
GUN = (
    "........................O",
    "......................O.O",
    "............OO......OO............OO",
    "...........O...O....OO............OO",
    "OO........O.....O...OO",
    "OO........O...O.OO....O.O",
    "..........O.....O.......O",
    "...........O...O",
    "............OO",
)

Cells = set[tuple[int, int]]


def squares_of(cells: Cells) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64]]:
    """Return cells as PlaneUniverse.put() takes them."""
    found: dict[tuple[int, int], list[int]] = {}
    for x, y in cells:
        found.setdefault((x >> 6, y >> 6), [0] * 64)[y & 63] |= 1 << (x & 63)
    places = np.array(list(found), np.int64).reshape(-1, 2)
    return places, np.array(list(found.values()), np.uint64).reshape(-1, 64)


def cells_of(universe: PlaneUniverse, box: PlaneBox | None = None) -> Cells:
    """Return the live cells of the squares that a universe tells."""
    cells: Cells = set()
    for places, squares in universe.squares(box):
        assert places.dtype == np.int64
        assert squares.shape == (len(places), 64)
        assert squares.any(axis=1).all()
        assert (abs(places) < 1 << 56).all()  # else cells would be beyond 64 bits
        bits = np.unpackbits(squares.astype("<u8").view(np.uint8), bitorder="little")
        square, row, column = np.nonzero(bits.reshape(-1, 64, 64))
        found = 64 * places[square] + np.stack([column, row], axis=1)
        new = set(map(tuple, found.tolist()))
        assert not cells & new
        cells |= new
    return cells


def in_order(universe: PlaneUniverse) -> tuple[Places, Words]:
    """Return all squares of a universe, by columns and rows."""
    found = list(universe.squares())
    places = np.concatenate([np.empty((0, 2), np.int64), *(places for places, _ in found)])
    squares = np.concatenate([np.empty((0, 64), np.uint64), *(squares for _, squares in found)])
    order = np.lexsort(places.T)
    return places[order], squares[order]


def assert_same_cells(universe: PlaneUniverse, witness: PlaneUniverse) -> None:
    """Check that the squares of two universes are the same, which may be many."""
    for told, wanted in zip(in_order(universe), in_order(witness), strict=True):
        np.testing.assert_array_equal(told, wanted)


def gun() -> Cells:
    """Return Gosper's gun: 36 cells, a glider every 30 generations."""
    return {(x, y) for y, row in enumerate(GUN) for x, cell in enumerate(row) if cell == "O"}


def soup(side: int) -> Cells:
    """Return a square of random cells, 37 % of them live."""
    live = np.random.default_rng(side).random((side, side)) < 0.37
    return set(map(tuple, np.argwhere(live.T).tolist()))


def opened(
    engine: PlaneEngine, cells: Cells, rule: NineCellRule = LIFE, memory: int = MEMORY
) -> PlaneUniverse:
    """Return a universe of some cells."""
    universe = engine.universe(rule, memory)
    universe.put(*squares_of(cells))
    return universe


LIFE_LIKE = st.builds(LifeRule, st.integers(0, 255).map(lambda n: 2 * n), st.integers(0, 511))
RULES = st.one_of(LIFE_LIKE, LIFE_LIKE, st.sampled_from(MAPS))


def spreads(rule: NineCellRule) -> bool:
    """Tell whether cells may be born of one or two, and so at the speed of light."""
    few = [square for square in range(512) if square.bit_count() < 3 and not square & 16]
    return any(rule.table >> square & 1 for square in few)


PLACES = st.one_of(
    st.integers(-3, 3), st.sampled_from([-(1 << 55), -(1 << 30), (1 << 30) - 1, (1 << 55) - 1])
)


@st.composite
def patterns(draw: st.DrawFn, most: int = 3) -> Cells:
    """Draw some clusters of cells, near each other, near corners of squares, or far apart."""
    cells: Cells = set()
    for _ in range(draw(st.integers(0, most))):
        x = 64 * draw(PLACES) + draw(st.integers(-8, 60))
        y = 64 * draw(PLACES) + draw(st.integers(-8, 60))
        seed = draw(st.integers(0, 2**32 - 1))
        size = draw(st.integers(1, 24))
        live = np.random.default_rng(seed).random((size, size)) < draw(st.sampled_from([0.2, 0.5]))
        cells |= {(x + i, y + j) for j, i in np.argwhere(live).tolist()}
    return cells


class PlaneContract:
    """Tests of an engine; a subclass has a fixture `engine`."""

    @settings(max_examples=examples(40), deadline=None)
    @given(patterns(), patterns(), st.booleans())
    def test_cells_come_back(self, engine: Any, first: Cells, second: Cells, again: bool) -> None:
        ours, reference = (each.universe(LIFE, MEMORY) for each in (engine, ReferencePlaneEngine()))
        for cells in (first, second):
            for universe in (ours, reference):
                universe.put(*squares_of(cells))
        if again:
            ours.put(*squares_of(second))
        assert cells_of(ours) == reference.cells
        assert ours.population() == len(reference.cells)
        assert ours.box() == reference.box()

    @settings(max_examples=examples(60), deadline=None)
    @given(patterns(), RULES, st.lists(st.integers(0, 70), min_size=1, max_size=3))
    def test_steps(self, engine: Any, cells: Cells, rule: NineCellRule, steps: list[int]) -> None:
        self.check_steps(engine, cells, rule, steps)

    @staticmethod
    def check_steps(engine: Any, cells: Cells, rule: NineCellRule, steps: list[int]) -> None:
        """Check some steps beside the reference's."""
        ours, reference = (opened(each, cells, rule) for each in (engine, ReferencePlaneEngine()))
        for step in steps:
            # Some rules fill the plane at the speed of light.
            step = min(step, 12) if spreads(rule) else step
            for universe in (ours, reference):
                universe.step(step)
            assert ours.generation == reference.generation
            assert cells_of(ours) == cells_of(reference)
            assert ours.population() == reference.population()
            assert ours.box() == reference.box()

    @settings(max_examples=examples(30), deadline=None)
    @given(patterns(), patterns(1), st.integers(0, 40), st.integers(0, 40))
    def test_cells_are_put_between_steps(
        self, engine: Any, cells: Cells, more: Cells, first: int, second: int
    ) -> None:
        ours, reference = (opened(each, cells) for each in (engine, ReferencePlaneEngine()))
        for universe in (ours, reference):
            universe.step(first)
            universe.put(*squares_of(more))
            universe.step(second)
        assert cells_of(ours) == cells_of(reference)

    @settings(max_examples=examples(40), deadline=None)
    @given(
        patterns(), st.integers(-200, 200), st.integers(-200, 200), st.integers(1, 90),
        st.integers(1, 3),
    )  # fmt: skip
    def test_rectangles(
        self, engine: Any, cells: Cells, x: int, y: int, height: int, width: int
    ) -> None:
        ours, reference = (opened(each, cells) for each in (engine, ReferencePlaneEngine()))
        for corner in ((x, y), *[(at_x - 70, at_y - 30) for at_x, at_y in list(cells)[:2]]):
            got, wanted = (np.full((height, width), 7, np.uint64) for _ in range(2))
            ours.get(*corner, got)
            reference.get(*corner, wanted)
            assert np.array_equal(got, wanted)
            box = PlaneBox(*corner, 64 * width, height)
            assert cells_of(ours, box) == cells_of(reference, box)

    @settings(max_examples=examples(40), deadline=None)
    @given(patterns(), st.integers(0, 75), st.integers(-3, 3), st.integers(-3, 3))
    def test_counts(self, engine: Any, cells: Cells, level: int, x: int, y: int) -> None:
        ours, reference = (opened(each, cells) for each in (engine, ReferencePlaneEngine()))
        corners = [(x, y), *[((i >> level) - 2, (j >> level) - 1) for i, j in list(cells)[:2]]]
        for corner in corners:
            got, wanted = (each.counts(*corner, level, (3, 5)) for each in (ours, reference))
            assert got.dtype == np.float64
            assert np.array_equal(got, wanted)

    def test_a_glider_travels(self, engine: Any) -> None:
        universe = opened(engine, {(x - 30, y + 50) for x, y in GLIDER})
        for generations in (4, 96, 1900, 1, 3, 7996):
            universe.step(generations)
        assert universe.generation == 10000
        assert cells_of(universe) == {(x - 30 + 2500, y + 50 + 2500) for x, y in GLIDER}

    def test_a_gun(self, engine: Any) -> None:
        universe = opened(engine, gun())
        universe.step(3000)
        reference = opened(ReferencePlaneEngine(), gun())
        reference.step(600)
        assert universe.population() == 36 + 5 * 100
        other = opened(engine, gun())
        other.step(600)
        assert cells_of(other) == cells_of(reference)

    def test_an_empty_plane(self, engine: Any) -> None:
        universe = engine.universe(LIFE, MEMORY)
        universe.step(10)
        assert universe.generation == 10
        assert universe.population() == 0
        assert universe.box() is None
        assert list(universe.squares()) == []
        assert not universe.counts(-1, -1, 6, (2, 2)).any()

    def test_what_dies_leaves_nothing(self, engine: Any) -> None:
        universe = opened(engine, {(0, 0), (1 << 40, 5)})
        universe.step(1)
        assert universe.population() == 0
        assert universe.box() is None

    def test_birth_without_neighbours_is_refused(self, engine: Any) -> None:
        for rule in (LifeRule(1, 0), MapRule(OPPOSED.table | 1)):
            with pytest.raises(PlaneRuleError):
                engine.universe(rule, MEMORY)

    def test_all_that_drifts(self, engine: Any) -> None:
        cells = soup(50)
        universe = opened(engine, cells, DRIFT)
        for generations in (1, 63, 4032):
            universe.step(generations)
        assert cells_of(universe) == {(x + 4096, y + 4096) for x, y in cells}

    @pytest.mark.parametrize(
        ("places", "squares"),
        [
            (np.zeros((1, 2), np.int32), np.zeros((1, 64), np.uint64)),
            (np.zeros((1, 3), np.int64), np.zeros((1, 64), np.uint64)),
            (np.zeros((2, 2), np.int64), np.zeros((1, 64), np.uint64)),
            (np.zeros((1, 2), np.int64), np.zeros((1, 63), np.uint64)),
            (np.zeros((1, 2), np.int64), np.zeros((1, 64), np.int64)),
            (np.full((1, 2), 1 << 56), np.ones((1, 64), np.uint64)),
            (np.full((1, 2), -(1 << 56) - 1), np.ones((1, 64), np.uint64)),
        ],
    )
    def test_other_arrays_are_refused(self, engine: Any, places: Any, squares: Any) -> None:
        universe = opened(engine, GLIDER)
        with pytest.raises(ValueError, match=r"places|squares|square"):
            universe.put(places, squares)
        assert cells_of(universe) == GLIDER

    def test_who_is_stopped_stands_at_a_generation(self, engine: Any) -> None:
        cells = soup(40)
        for asked in (1, 3):
            universe = opened(engine, cells, EXPLOSIVE)
            calls = [0]

            def stopped(calls: list[int] = calls, asked: int = asked) -> bool:
                calls[0] += 1
                return calls[0] >= asked

            self.run_until(universe, stopped)
            assert universe.generation < 1 << 30
            # Nobody stops this one. Other tests say that it is right; the reference is slow.
            witness = opened(engine, cells, EXPLOSIVE)
            witness.step(universe.generation)
            assert_same_cells(universe, witness)
            universe.step(50)
            witness.step(50)
            assert_same_cells(universe, witness)

    def test_who_is_interrupted_stands_at_a_generation(self, engine: Any) -> None:
        cells = soup(40)
        universe = opened(engine, cells, EXPLOSIVE)

        def interrupted() -> bool:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            self.run_until(universe, interrupted)
        witness = opened(engine, cells, EXPLOSIVE)
        witness.step(universe.generation)
        assert_same_cells(universe, witness)

    @staticmethod
    def run_until(universe: PlaneUniverse, stopped: Callable[[], bool]) -> None:
        """Step until stopped() was asked, or for ever longer."""
        universe.step_until(stopped, 1 << 30)
