"""Universes that are computed where they change, against those that are computed as a whole."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.life import engine_for
from kernels.life.contract import LifeShape, LifeUniverse
from kernels.life.rules import AgeingRule, LifeRule, MapRule, NineCellRule
from kernels.life.settling import universe as module
from kernels.life.settling.costs import SettlingCosts
from kernels.life.settling.universe import SettlingLife, settling
from kernels.targets import cpu
from kernels.targets.choose import pick
from kernels.targets.cpu import CpuTarget
from lifesim import Life
from lifesim.grid import BitGrid
from lifesim.rule import Rule
from tests.interrupts import interrupted_after
from tests.life_contract import Cells, pack, rule_of, soup
from tests.quick import examples

if not cpu.levels():
    pytest.skip("the extension is not built", allow_module_level=True)

LIFE = LifeRule(*rule_of("B3/S23"))
RULES = [
    LIFE,
    *(LifeRule(*rule_of(text)) for text in ("B36/S23", "B2/S", "B35678/S5678", "B3/S012345678")),
    LifeRule(*rule_of("B0123478/S34678")),
]
PLACES = [  # rules that mind where neighbours are, the last by no symmetry, with B0
    *(Rule.parse(text).cells for text in ("B2-a/S12", "B2/S34H", "B3/S2-i34q")),
    MapRule(int.from_bytes(np.random.default_rng(5).bytes(64), "little") | 1),
]
ALWAYS = SettlingCosts(
    span=12, begin=2, leave=1e9, look=0, work=0, worth=0
)  # computed where it changes
EAGER = SettlingCosts(
    span=24, begin=2, leave=0.01, look=24, work=0, worth=0
)  # and as a whole, by turns
PULSAR = ["..###...###..", "", *["#....#.#....#"] * 3, "..###...###..", ""]
PULSAR += [*PULSAR[-2::-1]]
GLIDER = [".#.", "..#", "###"]


def target(level: int = -1, threads: int = 1) -> CpuTarget:
    levels = cpu.levels()
    return CpuTarget(threads, levels[level % len(levels)])


def whole(on: CpuTarget, cells: Cells, rule: NineCellRule, torus: bool) -> LifeUniverse:
    height, width = cells.shape
    return engine_for(on).universe(pack(cells), LifeShape(width, height, torus), rule)


def opened(
    on: CpuTarget, cells: Cells, rule: NineCellRule, torus: bool, costs: SettlingCosts = ALWAYS
) -> SettlingLife:
    shape = LifeShape(cells.shape[1], cells.shape[0], torus)
    return SettlingLife(whole(on, cells, rule, torus), on, shape, rule, costs)


def placed(pattern: list[str], width: int, height: int, x: int, y: int) -> Cells:
    """Return a universe of these cells alone, their corner at (x, y), modulo the size."""
    cells = np.zeros((height, width), np.bool_)
    for dy, line in enumerate(pattern):
        for dx, cell in enumerate(line):
            cells[(y + dy) % height, (x + dx) % width] = cell == "#"
    return cells


def sizes() -> st.SearchStrategy[tuple[int, int]]:
    """Widths and heights: whole words and blocks, and others."""
    side = st.one_of(st.integers(128, 330), st.sampled_from([128, 192, 256, 320]))
    return st.tuples(side, side)


@settings(max_examples=examples(60))
@given(
    size=sizes(),
    rule=st.sampled_from([*RULES, *PLACES]),
    torus=st.booleans(),
    density=st.sampled_from([0.003, 0.02, 0.3]),
    machine=st.tuples(st.integers(0, 3), st.sampled_from([1, 3])),
    costs=st.sampled_from([ALWAYS, EAGER]),
    steps=st.lists(st.sampled_from([1, 2, 3, 5, 12, 24, 50, 131]), min_size=1, max_size=6),
    seed=st.integers(0, 999),
)
def test_any_universe(
    size: tuple[int, int],
    rule: NineCellRule,
    torus: bool,
    density: float,
    machine: tuple[int, int],
    costs: SettlingCosts,
    steps: list[int],
    seed: int,
) -> None:
    on, cells = target(*machine), soup(*size, seed, density)
    universe, witness = opened(on, cells, rule, torus, costs), whole(on, cells, rule, torus)
    for step in steps:
        universe.step(step)
        witness.step(step)
        assert universe.generation == witness.generation
        np.testing.assert_array_equal(universe.words(), witness.words(), f"after {step} more")


SPOTS = [
    GLIDER,
    [".##", "##.", ".#."],
    *(["#" * cells] for cells in (5, 11, 26)),  # lines
    *(["#"] * cells for cells in (5, 8, 11, 15, 26, 40)),
]


@settings(max_examples=examples(60))
@given(
    size=sizes(),
    torus=st.booleans(),
    rule=st.sampled_from([LIFE, RULES[1], PLACES[2]]),
    spots=st.lists(
        st.tuples(st.sampled_from(SPOTS), st.integers(-45, 45), st.integers(-45, 45)),
        min_size=1,
        max_size=3,
    ),
    machine=st.tuples(st.integers(0, 3), st.sampled_from([1, 3])),
)
def test_lone_spots_anywhere(
    size: tuple[int, int],
    torus: bool,
    rule: NineCellRule,
    spots: list[tuple[list[str], int, int]],
    machine: tuple[int, int],
) -> None:
    """Check windows of both heights, at seams, edges and corners: spots near the corner."""
    on, cells = target(*machine), np.zeros(size[::-1], np.bool_)
    for pattern, x, y in spots:
        cells |= placed(pattern, *size, x, y)
    universe, witness = opened(on, cells, rule, torus), whole(on, cells, rule, torus)
    for _ in range(14):
        universe.step(12)
        witness.step(12)
        np.testing.assert_array_equal(universe.words(), witness.words())
    assert universe.by_windows


@pytest.mark.parametrize("torus", [True, False])
@pytest.mark.parametrize("size", [(128, 128), (200, 150), (131, 257), (193, 141)])
def test_what_moves_crosses_all_edges(size: tuple[int, int], torus: bool) -> None:
    width, height = size
    on = target(-1, 2)
    cells = placed(GLIDER, *size, width - 5, height - 9) | placed(PULSAR, *size, -6, 60)
    cells |= placed([line[::-1] for line in GLIDER], *size, 70, -2)
    universe, witness = opened(on, cells, LIFE, torus), whole(on, cells, LIFE, torus)
    for _ in range(30):
        universe.step(36)
        witness.step(36)
        np.testing.assert_array_equal(universe.words(), witness.words())
    assert universe.by_windows


def test_only_what_changes_is_computed() -> None:
    """Check that what has a period that divides twelve takes no window, and a glider one or two."""
    on = target()
    cells = placed(PULSAR, 512, 512, 100, 100) | placed(["###"], 512, 512, 300, 300)
    rounds = rounds_of(opened(on, cells, LIFE, True))
    assert rounds.windows() == 0
    rounds = rounds_of(opened(on, cells | placed(GLIDER, 512, 512, 400, 100), LIFE, True))
    assert 1 <= rounds.windows() <= 2


def rounds_of(universe: SettlingLife) -> Any:
    universe.step(120)
    assert universe.by_windows
    return universe._rounds


def test_cells_that_are_set_meanwhile() -> None:
    on = target()
    cells = soup(300, 200, 3, 0.02)
    universe, witness = opened(on, cells, LIFE, True), whole(on, cells, LIFE, True)
    for y, rows in ((17, 40), (0, 200), (199, 1)):
        universe.step(101)
        witness.step(101)
        band = pack(soup(300, rows, y, 0.3))
        universe.put(y, band)
        witness.put(y, band)
        np.testing.assert_array_equal(universe.words(), witness.words())
    universe.step(50)
    witness.step(50)
    part = np.empty((7, 5), np.uint64)
    universe.get(90, part)
    np.testing.assert_array_equal(part, witness.words()[90:97])


def test_what_rests_takes_no_time() -> None:
    universe = opened(target(), placed(["###"], 200, 200, 50, 50), LIFE, True)
    universe.step(10**15 + 1)
    witness = whole(target(), placed(["###"], 200, 200, 50, 50), LIFE, True)
    witness.step(1)
    assert universe.generation == 10**15 + 1
    np.testing.assert_array_equal(universe.words(), witness.words())


# --- when it changes how it is computed ---------------------------------------


def test_a_soup_is_a_whole_until_it_has_settled() -> None:
    on = target()
    universe = opened(on, soup(256, 256), LIFE, True, SettlingCosts(look=96, work=0))
    universe.step(96)
    assert not universe.by_windows
    universe.step(20_000)
    assert universe.by_windows
    universe.put(0, pack(soup(256, 256, 1)))
    assert not universe.by_windows


def test_what_boils_again_is_a_whole_again() -> None:
    """A few cells that fill the universe, by a rule under which nothing comes to rest."""
    on, cells = target(), np.zeros((600, 600), np.bool_)
    cells[300:320, 300:320] = soup(20, 20)
    universe = opened(on, cells, RULES[2], True, SettlingCosts(span=12, look=0, work=0, worth=24))
    universe.step(48)
    assert universe.by_windows
    universe.step(600)
    assert not universe.by_windows


def test_without_memory_it_stays_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "available_memory", lambda: 1 << 16)
    on, cells = target(), soup(512, 512, 0, 0.01)
    universe, witness = opened(on, cells, LIFE, True), whole(on, cells, LIFE, True)
    universe.step(100)
    witness.step(100)
    assert not universe.by_windows
    np.testing.assert_array_equal(universe.words(), witness.words())


def test_without_memory_for_windows_it_is_a_whole_again() -> None:
    """A round that finds no memory leaves the cells as they were, and all of them are computed."""

    class Full:
        """Rounds that have become too many windows."""

        def __init__(self, rounds: Any) -> None:
            self.rounds, self.windows, self.get = rounds.rounds, rounds.windows, rounds.get

        def step(self, count: int, stopped: Any) -> None:
            raise MemoryError

    on, cells = target(), soup(300, 200, 0, 0.05)
    universe, witness = opened(on, cells, LIFE, True), whole(on, cells, LIFE, True)
    universe.step(50)
    assert universe.by_windows
    universe._rounds = Full(universe._rounds)  # type: ignore[assignment]
    universe._costs = SettlingCosts()
    universe._pause = 512
    universe.step(100)
    assert not universe.by_windows
    witness.step(150)
    assert universe.generation == 150
    np.testing.assert_array_equal(universe.words(), witness.words())


def test_which_universes_settle() -> None:
    on = target()
    large, small = whole(on, soup(128, 128), LIFE, True), whole(on, soup(127, 128), LIFE, True)
    assert isinstance(settling(large, on, LIFE, torus=True), SettlingLife)
    assert settling(small, on, LIFE, torus=True) is small
    assert settling(large, pick("reference"), LIFE, torus=True) is large
    assert settling(large, on, AgeingRule(0, 4), torus=True) is large
    assert isinstance(settling(large, on, MapRule(0), torus=True), SettlingLife)


@pytest.mark.parametrize("topology", ["torus", "plane"])
def test_life_takes_them(topology: str) -> None:
    """Life moves a settled universe on by windows, and tells the same of it."""
    grid = BitGrid(700, 500, pack(soup(700, 500, 1, 0.01)))
    life = Life(grid, topology=topology, backend=target(-1, 2))
    life.run(20003)
    held: Any = life._held
    assert held._fixed.by_windows
    plain = whole(target(), soup(700, 500, 1, 0.01), LIFE, topology == "torus")
    plain.step(20003)
    np.testing.assert_array_equal(life.grid().words, plain.words())
    assert life.generation == 20003


# --- what breaks a step off ------------------------------------------------------


def test_stopped_at_a_whole_generation() -> None:
    on, cells, seeds = target(-1, 2), soup(1024, 1024, 0, 0.05), RULES[2]
    universe, witness = opened(on, cells, seeds, True), whole(on, cells, seeds, True)
    asked = iter([False, False, True])
    universe.step_until(lambda: next(asked, True), 1 << 40)
    assert 0 < universe.generation < 1 << 40
    witness.step(universe.generation)
    np.testing.assert_array_equal(universe.words(), witness.words())


def test_interrupted_at_a_whole_generation() -> None:
    on, cells, seeds = target(), soup(1024, 1024, 0, 0.05), RULES[2]  # under which all boils
    universe, witness = opened(on, cells, seeds, False), whole(on, cells, seeds, False)
    for attempt in range(4):
        with interrupted_after(0.05 + 0.03 * attempt), pytest.raises(KeyboardInterrupt):
            universe.step(1 << 40)
        witness.step(universe.generation - witness.generation)
        np.testing.assert_array_equal(universe.words(), witness.words())
    universe.step(7)
    witness.step(7)
    np.testing.assert_array_equal(universe.words(), witness.words())


@pytest.mark.parametrize("steps", [36, 37])
def test_several_threads_read_rows_at_once(steps: int) -> None:
    """Check that they may, whether the last round has made all the generations or not."""
    on, cells = target(-1, 2), placed(PULSAR, 256, 200, 30, 60)
    universe, witness = opened(on, cells, LIFE, True), whole(on, cells, LIFE, True)
    with ThreadPoolExecutor(4) as pool:
        for _ in range(5):
            universe.step(steps)
            witness.step(steps)
            assert universe.by_windows
            assert universe.view() is None
            rows = [np.empty((50, 4), np.uint64) for _ in range(40)]
            list(pool.map(lambda k: universe.get(50 * (k % 4), rows[k]), range(40)))  # noqa: B023
            expected = witness.words()
            for k, read in enumerate(rows):
                np.testing.assert_array_equal(read, expected[50 * (k % 4) : 50 * (k % 4) + 50])


def test_who_makes_few_generations_at_a_time_is_told_how_many_to_make() -> None:
    on, cells = target(), placed(PULSAR, 256, 256, 30, 60)
    costs = SettlingCosts(look=600, work=1)
    universe, witness = opened(on, cells, LIFE, True, costs), whole(on, cells, LIFE, True)
    asked = []
    while not universe.by_windows:
        assert universe.generation < 2000
        asked.append(universe.due)
        universe.ahead = universe.generation
        assert universe.first_pass(asked[-1] or 40) == (asked[-1] or 40)
        universe.step(asked[-1] or 40)
    assert asked == [0] * 15 + [costs.span]
    assert not universe.due
    assert not universe.reads_beside_steps
    witness.step(universe.generation)
    np.testing.assert_array_equal(universe.words(), witness.words())
