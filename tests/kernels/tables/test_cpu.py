"""Tables on the CPU: by columns, by pairs of columns, and by a path through the levels."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from kernels.life.bytewise import packed
from kernels.life.contract import LifeEngine, LifeShape
from kernels.tables import columns
from kernels.tables.columns import columns_of
from kernels.tables.diagram import Transition
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


def test_states_that_the_rule_does_not_have() -> None:
    universe = CpuTablesEngine(cpu.CpuTarget(threads=1), 3).universe(
        some_states(5, 70, 9), LifeShape(70, 9, True, 3), A_CASE.rule
    )
    with pytest.raises(ValueError, match="state that the rule does not have"):
        universe.put(0, packed(np.full((2, 70), 5, np.uint8), 3))


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


@pytest.mark.parametrize("torus", [False, True])
def test_rows_without_live_cells_are_as_those_that_are_put(torus: bool) -> None:
    words = some_states(A_CASE.states, 150, 70)
    words[(np.arange(70) // 7) % 2 == int(torus)] = 0
    shape = LifeShape(150, 70, torus, A_CASE.rule.planes)
    universe = TestCpu().made(shape.planes).universe(words, shape, A_CASE.rule)
    np.testing.assert_array_equal(universe.words(), words)
    universe.step(5)
    np.testing.assert_array_equal(universe.words(), A_CASE.moved(words, shape, 5))
