"""Runs until something is true, against universes of which every generation was looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("kernels._cpu")

from kernels.plane.ref import Cell, step
from kernels.targets.cpu import CpuTarget
from lifesim import patterns
from lifesim.engine import Life
from lifesim.errors import LifesimError
from lifesim.grid import BitGrid
from lifesim.rule import LIFE, Rule
from lifesim.until import Found, Population, parse
from tests.quick import examples

DATA = Path(__file__).parents[3] / "data" / "patterns"
CPU = CpuTarget(1)
ENGINES = ("dense", "tiles", "hashlife")
BLOCK = {(0, 0), (1, 0), (0, 1), (1, 1)}
BLINKER = {(0, 0), (1, 0), (2, 0)}
GLIDER = {(1, 0), (2, 1), (0, 2), (1, 2), (2, 2)}
LWSS = {(0, 0), (3, 0), (4, 1), (0, 2), (4, 2), (1, 3), (2, 3), (3, 3), (4, 3)}


def plane(cells: set[Cell], engine: str = "tiles", rule: Rule | str = LIFE) -> Life:
    left, top = (min(cell[axis] for cell in cells) for axis in range(2)) if cells else (0, 0)
    right, bottom = (max(cell[axis] for cell in cells) for axis in range(2)) if cells else (0, 0)
    grid = BitGrid.from_cells(
        right - left + 1, bottom - top + 1, [(x - left, y - top) for x, y in cells]
    )
    return Life(grid, rule=rule, topology="plane", bounds=(0, 0), at=(left, top), backend=CPU,
                engine=engine)  # fmt: skip


def cells_of(life: Life) -> set[Cell]:
    return set(map(tuple, life.live_cells().tolist()))


def own(cells: set[Cell]) -> frozenset[Cell]:
    left, top = (min((cell[axis] for cell in cells), default=0) for axis in range(2))
    return frozenset((x - left, y - top) for x, y in cells)


def history(cells: set[Cell], generations: int, rule: Rule = LIFE) -> list[set[Cell]]:
    found = [cells]
    for _ in range(generations):
        found.append(step(found[-1], rule.cells.table))
    return found


def naive_parts(cells: set[Cell]) -> Iterator[set[Cell]]:
    """Yield sets of cells, two of which are never closer than 3."""
    left = set(cells)
    while left:
        part, todo = set(), [left.pop()]
        while todo:
            x, y = todo.pop()
            part.add((x, y))
            near = {(x + dx, y + dy) for dx in range(-2, 3) for dy in range(-2, 3)} & left
            left -= near
            todo += near
        yield part


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("name", "kind", "period", "displacement", "began", "growth", "ships", "population"),
    [
        ("glider.rle", "spaceship", 4, (1, 1), 0, 0, 0, 5),
        ("lwss.rle", "spaceship", 4, (-2, 0), 0, 0, 0, 9),
        ("pulsar.cells", "oscillator", 3, (0, 0), 0, 0, 0, 48),
        ("diehard.rle", "empty", 1, (0, 0), 130, 0, 0, 0),
        ("r-pentomino.rle", "debris with ships", 4, None, 1103, 0, 6, 116),
        ("gosper-gun.rle", "growing", 30, (0, 0), 0, 5, None, 36),
    ],
)
@pytest.mark.sample(7)
def test_well_known_patterns(
    engine, name, kind, period, displacement, began, growth, ships, population
):
    life = Life.from_pattern(DATA / name, engine=engine, backend="cpu", threads=1)
    found = life.run_until("stable")
    wanted = Found(
        "stable", True, began, kind, period, displacement, began, Fraction(growth), ships, True
    )
    assert found == wanted
    assert (life.generation, life.population()) == (began, population)
    fresh = Life.from_pattern(DATA / name, backend="cpu", threads=1)
    fresh.run(began)
    assert life.digest() == fresh.digest()


def test_acorn():
    life = Life.from_pattern(DATA / "acorn.rle", engine="tiles", threads=1)
    found = life.run_until("stable")
    assert (found.began, life.population(), found.ships, found.proved) == (5206, 633, 13, True)


@pytest.mark.slow
def test_lidka():
    cells = {(1, 0), (0, 1), (2, 1), (1, 2), (8, 10), (6, 11), (8, 11)}
    cells |= {(5, 12), (6, 12), (8, 12), (4, 14), (5, 14), (6, 14)}
    life = plane(cells)
    found = life.run_until("stable")
    assert (found.began, found.ships, found.proved) == (29055, 28, True)
    populations = [life.population()]
    life.run(1)
    assert [*populations, life.population()] == [1625, 1623]  # the one that is known is the second


def test_switch_engines_leave_blocks_behind():
    rows = ["......O.", "....O.OO", "....O.O.", "....O...", "..O.....", "O.O....."]
    cells = {(x, y) for y, row in enumerate(rows) for x, cell in enumerate(row) if cell == "O"}
    found = plane(cells).run_until("stable")
    assert (found.kind, found.period, found.growth) == ("growing", 288, 32)
    assert (found.displacement, found.proved) == ((-24, -24), True)
    sizes = [len(now) for now in history(cells, found.began + 3 * 288)]
    law = [sizes[t + 576] - 2 * sizes[t + 288] + sizes[t] for t in range(len(sizes) - 576)]
    assert not any(law[found.began :])
    assert law[found.began - 1]


def test_what_is_only_seen_is_not_called_proved(tmp_path):
    """Blinkers that lie so close to each other that they share neighbours, without harm."""
    file = tmp_path / "puffer.rle"
    file.write_text(
        "x = 9, y = 18, rule = B3/S23\n3bo5b$bo3bo3b$o8b$o4bo3b$5o4b4$b2o6b$2ob3o3b$b4o4b$2b2o5b2$"
        "5b2o2b$3bo4bo$2bo6b$2bo5bo$2b6o!\n"
    )
    pattern = patterns.read(file)
    found = Life.from_pattern(pattern, engine="tiles", threads=1).run_until("stable")
    assert (found.kind, found.period, found.growth) == ("growing", 8, 3)
    assert found.proved is False
    assert found.observed > 2000
    assert "not proved" in str(found)


@pytest.mark.parametrize("rule", ["B3/S23", "B36/S23", "B2/S", "B0/S"])
@given(data=st.data())
@settings(max_examples=examples(60), deadline=None)
def test_soups_on_small_tori(rule, data):
    width, height = (data.draw(st.integers(1, 9)) for _ in range(2))
    alive = data.draw(st.lists(st.booleans(), min_size=width * height, max_size=width * height))
    grid = BitGrid.from_bool(np.array(alive).reshape(height, width))
    every, states = Life(grid, rule=rule, backend=CPU), []
    while (now := every.grid().words.tobytes()) not in states:
        states.append(now)
        every.run(1)
    began, populations = states.index(now), []
    period = len(states) - began
    life = Life(grid, rule=rule, backend=CPU)
    found = life.run_until("stable")
    assert (found.began, found.period, found.proved) == (began, period, True)
    assert (life.generation, life.grid().words.tobytes()) == (began, states[began])
    assert (found.kind == "empty") == (period == 1 and not any(states[began]))

    other = Life(grid, rule=rule, backend=CPU)
    again = other.run_until(f"period:{3 * period}", data.draw(st.none() | st.just(6000)))
    assert (again.began, again.period, other.generation) == (began, period, began)
    if period > 1:
        never = Life(grid, rule=rule, backend=CPU).run_until(f"period:{period * 4 - 1}")
        assert (never.met, never.never, never.period) == (False, True, period)

    every = Life(grid, rule=rule, backend=CPU)
    for _ in states:
        populations.append(every.population())
        every.run(1)
    condition = f"population:{data.draw(comparisons)}{data.draw(st.integers(0, 20))}"
    check_first(condition, populations, lambda: Life(grid, rule=rule, backend=CPU), cyclic=True)
    check_first("empty", populations, lambda: Life(grid, rule=rule, backend=CPU), cyclic=True)


comparisons = st.sampled_from([">", ">=", "<", "<=", "=", "==", "!="])


def check_first(
    condition: str, populations: list[int], make: Callable[[], Life], *, cyclic: bool
) -> None:
    """Hold where a run until some population ends against populations of all generations.

    cyclic: whether these are all that there ever will be.
    """
    test = Population("=", 0) if condition == "empty" else parse(condition)
    first = next((at for at, count in enumerate(populations) if test.holds(count)), None)
    if cyclic or first is not None:
        found = make().run_until(condition)
        assert (found.met, found.never) == (first is not None, first is None)
        assert not found.met or found.generation == first
    life = make()
    limit = len(populations) - 1
    found = life.run_until(condition, limit)
    wanted = limit if first is None else first
    assert (found.met, found.generation, life.generation) == (first is not None, wanted, wanted)


@pytest.mark.parametrize("engine", ENGINES)
@given(
    cells=st.sets(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), max_size=24),
    condition=st.builds(lambda how, count: f"population:{how}{count}", comparisons,
                        st.integers(0, 30)) | st.just("empty"),
)  # fmt: skip
@settings(max_examples=examples(30), deadline=None)
def test_populations_of_planes(engine, cells, condition):
    sizes = [len(now) for now in history(cells, 60)]
    check_first(condition, sizes, lambda: plane(cells, engine), cyclic=False)


@pytest.mark.parametrize("engine", ENGINES)
@given(
    cells=st.sets(st.tuples(st.integers(-2, 2), st.integers(-2, 2)), max_size=16),
    rule=st.sampled_from(
        ["B3/S23", "B36/S23", "B3678/S34678", "B3/S2-i34q", "B2-a/S12", "B2/S34H"]
    ),
)
@settings(max_examples=examples(30), deadline=None)
def test_small_patterns_that_repeat_themselves_on_planes(engine, cells, rule):
    rule = Rule.parse(rule)
    then = history(cells, 120, rule)
    shapes = [own(now) for now in then]
    ends = [(at, p) for p in range(1, 41) for at in range(81) if shapes[at] == shapes[at + p]]
    life = plane(cells, engine, rule)
    found = life.run_until("stable", 400)
    if not ends:
        assert (
            not found.met
            or found.displacement is None
            or found.growth
            or found.began > 80
            or found.period > 40
        )
        return
    period = min(p for _, p in ends)
    began = min(at for at, p in ends if p == period)
    assert (found.met, found.began, found.period) == (True, began, period)
    x, y = found.displacement
    assert {(a + x, b + y) for a, b in then[began]} == then[began + period]
    assert cells_of(life) == then[began]
    assert found.kind == (
        "empty" if not then[began] else "spaceship" if x or y
        else "oscillator" if period > 1 else "still life"
    )  # fmt: skip


def turned(cells: set[Cell], turns: int, x: int, y: int) -> set[Cell]:
    for _ in range(turns):
        cells = {(-b, a) for a, b in cells}
    return {(a + x, b + y) for a, b in cells}


@given(
    st.lists(
        st.tuples(
            st.sampled_from([BLOCK, BLINKER, GLIDER, GLIDER, LWSS]),
            st.integers(0, 3), st.integers(-22, 22), st.integers(-22, 22),
        ),
        min_size=2, max_size=4,
    )
)  # fmt: skip
@settings(max_examples=examples(100), deadline=None)
def test_what_flies_apart_is_what_its_parts_are_alone(things):
    cells = set().union(*(turned(*thing) for thing in things))
    then = history(cells, 200)
    life = plane(cells)
    found = life.run_until("stable", 400)
    if found.kind not in ("ships", "debris with ships") or found.began > 100:
        return
    assert found.proved
    # Far from each other all are known by what they become alone, in a number of generations that
    # all periods divide; a common past is theirs as long as it is the whole.
    parts = [history(part, 12) for part in naive_parts(then[200])]
    assert all(own(part[0]) == own(part[12]) for part in parts)
    ships = sum(part[0] != part[12] for part in parts)
    assert ships == found.ships or ships > 1
    past = 200
    while past and is_all(then[past - 1], [at_time(part, past - 201) for part in parts]):
        past -= 1
    assert found.began == past
    assert cells_of(life) == then[past]


def is_all(cells: set[Cell], parts: list[set[Cell]]) -> bool:
    """Tell whether cells are those of parts, each of one of them."""
    return cells == set().union(*parts) and len(cells) == sum(map(len, parts))


def at_time(part: list[set[Cell]], time: int) -> set[Cell]:
    """Return the cells of what repeats itself in 12 generations, before or after the first."""
    rounds, phase = divmod(time, 12)
    x, y = (min(c[axis] for c in part[12]) - min(c[axis] for c in part[0]) for axis in range(2))
    return {(a + rounds * x, b + rounds * y) for a, b in part[phase]}


def test_a_collision_to_come_is_waited_for():
    """A glider flies towards a block that is far away, and all is quiet meanwhile."""
    cells = GLIDER | {(300 + x, 300 + y) for x, y in BLOCK}
    found = plane(cells).run_until("stable")
    assert found.began > 1100


def test_a_limit_holds_and_the_run_ends_there():
    for condition in ("stable", "empty", "period:7", "population:>900"):
        life = Life.from_pattern(DATA / "r-pentomino.rle", engine="tiles", threads=1)
        found = life.run_until(condition, 150)
        assert (found.met, found.never, found.generation, life.generation) == (
            False, False, 150, 150,
        )  # fmt: skip
    assert life.run_until("population:>0", 0).met
    with pytest.raises(ValueError, match="cannot go back"):
        life.run_until("empty", -1)


def test_snapshots_are_those_of_a_run_that_ends_there():
    seen = []
    life = Life.from_pattern(DATA / "diehard.rle", backend="cpu", threads=1)
    life.run(7)
    found = life.run_until(
        "empty", every=[50, 35], on_snapshot=lambda now: seen.append((now.generation, now.digest()))
    )
    assert (found.generation, life.generation) == (130, 130)
    fresh = Life.from_pattern(DATA / "diehard.rle", backend="cpu", threads=1)
    fresh.run(7)
    wanted = []
    fresh.run(123, every=[50, 35],
              on_snapshot=lambda now: wanted.append((now.generation, now.digest())))  # fmt: skip
    assert seen == wanted
    assert [at for at, _ in seen] == [42, 57, 77, 107, 112]


@pytest.mark.parametrize("bounds", [(0, 40), (40, 0)])
def test_with_bounds_one_way_a_pattern_moves_along_the_other_only(bounds):
    width, height = bounds
    grid = BitGrid(width or 5, height or 5)
    for x, y in LWSS:
        grid[(x, y + 10) if height else (y + 10, x)] = True
    life = Life(grid, topology="torus", bounds=bounds, backend=CPU)
    found = life.run_until("stable")
    assert (found.kind, found.period) == ("spaceship", 4)
    assert found.displacement == ((2, 0) if height else (0, 2))


def test_edges_are_known_after_going_back():
    grid = patterns.read(DATA / "glider.rle").grid
    universe = BitGrid(64, 64)
    universe.paste(grid, 30, 30)
    life = Life(universe, backend=CPU, watch=True)
    assert life.run_until("stable").period == 256
    assert (life.generation, life.edge) == (0, None)
    life.run(256)
    fresh = Life(universe, backend=CPU, watch=True)
    fresh.run(256)
    assert life.edge == fresh.edge is not None


@pytest.mark.parametrize("engine", ENGINES[1:])
def test_an_interrupt_leaves_a_whole_generation(engine):
    life = Life.from_pattern(DATA / "r-pentomino.rle", engine=engine, backend="cpu", threads=1)
    calls = []

    def stop(progress):
        calls.append(progress)
        if progress.generation > 300:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        life.run_until("stable", progress=stop)
    fresh = Life.from_pattern(DATA / "r-pentomino.rle", backend="cpu", threads=1)
    fresh.run(life.generation)
    assert life.digest() == fresh.digest()
    assert life.run_until("stable").began == max(1103, fresh.generation)


@pytest.mark.parametrize(
    "text",
    ["", "stables", "period", "period:", "period:0", "period:-3", "period:9999999999999",
     "population", "population:", "population:5", "population:>", "population:<>5",
     "population:>1.5", "population:=>5", "period:5 ", "x" * 1000, "population:>" + "9" * 100],
)  # fmt: skip
def test_no_conditions(text):
    with pytest.raises(LifesimError, match=r"condition|period|compares") as error:
        parse(text)
    assert len(str(error.value)) < 200


@pytest.mark.parametrize(
    "text", ["stable", "empty", "period:30", "population:>=12", "population:= 5", "period: 4"]
)
def test_conditions_are_their_texts(text):
    assert str(parse(text)) == text.replace(" ", "")
    assert parse(str(parse(text))) == parse(text)
