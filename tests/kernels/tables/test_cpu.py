"""Tables on the CPU: by columns, by pairs of columns, and by a path through the levels."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
import pytest

from kernels.life.bytewise import packed
from kernels.life.contract import LifeEngine, LifeShape
from kernels.tables import columns
from kernels.tables.columns import columns_of
from kernels.tables.diagram import Transition, of_transitions
from kernels.tables.ref import ReferenceTablesEngine
from kernels.tables.rules import CELLS, TableRule
from tests.life_cells_contract import assert_holds
from tests.tables_contract import A_CASE, Case, TablesContract, some_case, some_states

cpu = pytest.importorskip("kernels.targets.cpu")
if not cpu.levels():
    pytest.skip("the CPU kernels are not built", allow_module_level=True)

from kernels.tables.cpu.engine import CpuTablesEngine  # noqa: E402


class TestCpu(TablesContract):
    def made(self, planes: int) -> LifeEngine[TableRule]:
        return CpuTablesEngine(cpu.CpuTarget(threads=1), planes)


@pytest.mark.slow
class TestThreads(TablesContract):
    sizes = (600, 600)

    def made(self, planes: int) -> LifeEngine[TableRule]:
        return CpuTablesEngine(cpu.CpuTarget(threads=3), planes)


class TestPairs(TestCpu):
    @pytest.fixture(autouse=True)
    def few_triples(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        monkeypatch.setattr(columns, "_MOST_TRIPLES", 0)
        columns_of.cache_clear()
        assert columns_of(A_CASE.rule).pairs.size
        yield
        columns_of.cache_clear()


class TestWalk(TestCpu):
    @pytest.fixture(autouse=True)
    def few_columns(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        monkeypatch.setattr(columns, "_MOST_COLUMNS", 0)
        columns_of.cache_clear()
        assert columns_of(A_CASE.rule).walk.size
        yield
        columns_of.cache_clear()


@pytest.mark.parametrize("threads", [1, 2])
def test_a_step_that_is_stopped_is_of_whole_generations(threads: int) -> None:
    """A universe that is stopped stands where as many generations lead, and goes on from there."""
    case = some_case(5, 3)
    engine = CpuTablesEngine(cpu.CpuTarget(threads=threads), 3)
    shape = LifeShape(900, 700, True, 3)
    words = some_states(5, 900, 700)
    stopped = engine.universe(words, shape, case.rule)
    stopped.step_until(lambda: True, 10**9)
    assert 0 <= stopped.generation < 10**9
    stopped.step(2)
    whole = engine.universe(words, shape, case.rule)
    whole.step(stopped.generation)
    assert_holds(stopped, whole.words())


def test_what_a_stopped_function_raises() -> None:
    case = some_case(5, 3)
    engine = CpuTablesEngine(cpu.CpuTarget(threads=1), 3)
    universe = engine.universe(some_states(5, 900, 700), LifeShape(900, 700, True, 3), case.rule)

    def fail() -> bool:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        universe.step_until(fail, 10**9)
    made = universe.generation
    universe.step(1)
    assert universe.generation == made + 1


def test_what_has_settled_costs_nothing() -> None:
    """A universe in which nothing changes is moved on by any number of generations at once."""
    keeps = Case([], 5)
    words = some_states(5, 300, 200)
    engine = CpuTablesEngine(cpu.CpuTarget(threads=1), 3)
    universe = engine.universe(words, LifeShape(300, 200, True, 3), keeps.rule)
    universe.step(10**15)
    assert universe.generation == 10**15
    assert_holds(universe, words)
    universe.put(0, words[::-1].copy())
    universe.step(1)
    assert_holds(universe, words[::-1])


def test_a_lone_cell_that_walks_over_all_tiles() -> None:
    """A cell that moves a column and a row a generation crosses tiles at their corners."""
    arrives, leaves = [0b11] * len(CELLS), [0b11] * len(CELLS)
    arrives[CELLS.index((-1, -1))] = 0b10
    leaves[CELLS.index((0, 0))] = 0b10
    case = Case([Transition(tuple(arrives), 1), Transition(tuple(leaves), 0)], 2)
    cells = np.zeros((130, 195), np.uint8)
    cells[0, 0] = 1
    engine = CpuTablesEngine(cpu.CpuTarget(threads=1), 1)
    universe = engine.universe(packed(cells, 1), LifeShape(195, 130, True), case.rule)
    for t in range(1, 400):
        universe.step(1)
        assert_holds(universe, packed(np.roll(cells, (t, t), (0, 1)), 1), t)


@pytest.mark.parametrize("threads", [1, 2])
def test_what_comes_back_in_two_generations(threads: int) -> None:
    """A background that blinks for ever is marked no more, and what moves over it still is."""
    blinking = [
        Transition(tuple(1 << state if cell == (0, 0) else 0b111 for cell in CELLS), after)
        for state, after in ((0, 1), (1, 0), (2, 0))
    ]
    walker = Transition(tuple(0b100 if cell == (0, -1) else 0b111 for cell in CELLS), 2)
    case = Case([walker, *blinking], 3)
    # Two threads share the work where there are 64 tiles.
    width, height = (200, 150) if threads == 1 else (520, 515)
    shape = LifeShape(width, height, True, 2)
    cells = np.zeros((height, width), np.uint8)
    cells[5, 100] = 2
    words = packed(cells, 2)
    universe = CpuTablesEngine(cpu.CpuTarget(threads=threads), 2).universe(words, shape, case.rule)
    draw = np.random.default_rng(1)
    for t in (63, 1, 1, 2, 30, 1, 7):
        universe.step(t)
        words = case.moved(words, shape, t)
        assert_holds(universe, words, t)
        rows = packed(draw.integers(0, 3, (3, width), np.uint8), 2)
        y = 63 * (t % 3)
        universe.put(y, rows)
        words[y : y + 3] = rows


def test_a_blinking_universe_costs_nothing() -> None:
    case = Case([Transition((0b11,) * 4 + (1 << s,) + (0b11,) * 4, 1 - s) for s in (0, 1)], 2)
    words = some_states(2, 300, 200)
    shape = LifeShape(300, 200, True)
    engine = CpuTablesEngine(cpu.CpuTarget(threads=1), 1)
    universe = engine.universe(words, shape, case.rule)
    universe.step(10**15)
    assert_holds(universe, words)
    universe.step(10**15 + 1)
    assert_holds(universe, case.moved(words, shape, 1))


@pytest.mark.parametrize("states", [3, 5, 16])
def test_what_comes_back_in_some_generations_costs_nothing(states: int) -> None:
    """Cells that go round all states are soon passed over, so that any number of generations is
    made at once."""
    anything = (1 << states) - 1
    case = Case(
        [
            Transition(
                tuple(1 << s if cell == (0, 0) else anything for cell in CELLS), (s + 1) % states
            )
            for s in range(states)
        ],
        states,
    )
    planes = case.rule.planes
    words = some_states(states, 100, 70)
    shape = LifeShape(100, 70, True, planes)
    engine = CpuTablesEngine(cpu.CpuTarget(threads=1), planes)
    universe = engine.universe(words, shape, case.rule)
    universe.step(10**15)
    words = case.moved(words, shape, 10**15 % states)
    assert_holds(universe, words)
    rows = some_states(states, 100, 9, 1)
    universe.put(60, rows)
    words[60:69] = rows
    universe.step(10**15)
    assert_holds(universe, case.moved(words, shape, 10**15 % states))


def wires() -> TableRule:
    """Return WireWorld: 1 is the head of an electron, 2 its tail, 3 wire."""

    def where(centre: int, heads: tuple[int, ...]) -> tuple[int, ...]:
        near = [0b0010 if i in heads else 0b1101 for i in range(len(CELLS))]
        near[CELLS.index((0, 0))] = 1 << centre
        return tuple(near)

    beside = [i for i, cell in enumerate(CELLS) if cell != (0, 0)]
    few = [(i,) for i in beside] + list(combinations(beside, 2))
    every = [0b1111] * len(CELLS)
    changes = [Transition(where(3, heads), 1) for heads in few]
    for state, after in ((1, 2), (2, 3)):
        every[CELLS.index((0, 0))] = 1 << state
        changes.append(Transition(tuple(every), after))
    return of_transitions(changes, 4)


@pytest.mark.parametrize("level", cpu.levels())
def test_levels(level: str) -> None:
    """Rows are the same at every level: by vectors of bytes, by gathers, and cell by cell."""
    few, many = wires(), some_case(7, 2).rule
    assert columns_of(few).columns.size <= 64
    assert columns_of(few).finals.size <= 256 < columns_of(many).finals.size
    for rule in (few, many):
        for width in (1, 15, 63, 64, 65, 80, 129, 200):
            for torus in (True, False):
                given = some_states(rule.states, width, 67, width)
                shape = LifeShape(width, 67, torus, rule.planes)
                made = CpuTablesEngine(cpu.CpuTarget(1, level=level), rule.planes)
                universe = made.universe(given, shape, rule)
                expected = ReferenceTablesEngine(rule.planes).universe(given, shape, rule)
                for t in (1, 8, 20):
                    universe.step(t)
                    expected.step(t)
                    assert_holds(universe, expected.words(), (rule.states, width, torus, t))


@pytest.mark.parametrize("torus", [True, False])
@pytest.mark.parametrize("seed", range(2))
def test_periods_of_wires(torus: bool, seed: int) -> None:
    """Electrons that go round in circles of many lengths, between rows that are put."""
    rule, shape = wires(), LifeShape(150, 131, torus, 2)
    draw = np.random.default_rng(seed)

    def some(rows: int) -> np.ndarray:
        cells = draw.choice(4, (rows, 150), p=(0.7, 0.02, 0.02, 0.26)).astype(np.uint8)
        cells[:, :: 50 * (seed + 1)] = 0
        return packed(cells, 2)

    given = some(131)
    made = [
        engine.universe(given, shape, rule)
        for engine in (CpuTablesEngine(cpu.CpuTarget(1), 2), ReferenceTablesEngine(2))
    ]
    for t in (7, 1, 40, 90, 1, 1, 3, 20, 130):
        for universe in made:
            universe.step(t)
        assert_holds(made[0], made[1].words(), t)
        rows, y = some(3), int(draw.integers(0, 128))
        for universe in made:
            universe.put(y, rows)


def test_one_period_after_another() -> None:
    """Cells of a period among many of another one, and then a front that leaves all at rest.

    States 0 to 4 and 5 to 8 go round; 9 rests, until a cell of state 10 stands left of it.
    """
    anything = (1 << 11) - 1
    following = {**{s: (s + 1) % 5 for s in range(5)}, **{5: 6, 6: 7, 7: 8, 8: 5, 10: 10}}

    def where(state: int, left: int = anything) -> tuple[int, ...]:
        return tuple({(0, 0): 1 << state, (0, -1): left}.get(cell, anything) for cell in CELLS)

    changes = [Transition(where(state), after) for state, after in following.items()]
    rule = of_transitions([Transition(where(9, 1 << 10), 10), *changes], 11)
    shape, draw = LifeShape(300, 40, False, 4), np.random.default_rng(1)
    cells = draw.integers(0, 5, (40, 300), np.uint8)
    cells[:, 90:120] = draw.integers(5, 9, (40, 30), np.uint8)
    front = np.full((40, 300), 9, np.uint8)
    front[::2, 0] = 10
    universe = CpuTablesEngine(cpu.CpuTarget(1), 4).universe(packed(cells, 4), shape, rule)
    reference = ReferenceTablesEngine(4)
    for given in (cells, front, cells):
        universe.put(0, packed(given, 4))
        for _ in range(65):
            universe.step(3)
            for _ in range(3):
                given = reference.step(given, rule, False)
            assert_holds(universe, packed(given, 4))


def test_a_generation_that_is_broken_off_again_and_again() -> None:
    """Its marks are not lost where cells are compared with those of a period before."""
    blinking = [
        Transition(tuple(1 << state if cell == (0, 0) else 0b111 for cell in CELLS), after)
        for state, after in ((0, 1), (1, 0), (2, 0))
    ]
    walker = Transition(tuple(0b100 if cell == (0, -1) else 0b111 for cell in CELLS), 2)
    rule = Case([walker, *blinking], 3).rule
    shape, words = LifeShape(1500, 1300, True, 2), some_states(3, 1500, 1300)
    engine = CpuTablesEngine(cpu.CpuTarget(threads=1), 2)
    stopped, whole = (engine.universe(words, shape, rule) for _ in range(2))
    stopped.step(20)
    for _ in range(4):
        stopped.step_until(lambda: True, 10**9)
    stopped.step(3)
    whole.step(stopped.generation)
    assert_holds(stopped, whole.words())


@pytest.mark.parametrize("torus", [False, True])
def test_rows_without_live_cells_are_as_those_that_are_put(torus: bool) -> None:
    words = some_states(A_CASE.states, 150, 70)
    words[(np.arange(70) // 7) % 2 == int(torus)] = 0
    shape = LifeShape(150, 70, torus, A_CASE.rule.planes)
    universe = TestCpu().made(shape.planes).universe(words, shape, A_CASE.rule)
    np.testing.assert_array_equal(universe.words(), words)
    universe.step(5)
    np.testing.assert_array_equal(universe.words(), A_CASE.moved(words, shape, 5))
