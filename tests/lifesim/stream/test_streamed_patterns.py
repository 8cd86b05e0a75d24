"""Streamed runs of spaceships, which cross tiles, and of what has settled, which is jumped over."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from lifesim import Life
from lifesim.grid import BitGrid
from lifesim.rule import Rule
from lifesim.stream.run import StreamedLife
from tests.life_contract import GLIDER, SPACESHIP
from tests.lifesim.stream.streamed import CPU, PLENTY, assert_same, settled
from tests.universes import on_disk, reopened, stored_level, whole_grid

pytestmark = pytest.mark.usefixtures("no_syncs")


# --- spaceships ----------------------------------------------------------------------


def turned(pattern: Sequence[str], quarters: int) -> np.ndarray:
    return np.rot90(np.array([[cell != "." for cell in row] for row in pattern]), quarters)


def place(cells: np.ndarray, pattern: np.ndarray, x: int, y: int) -> None:
    """Put the middle of the pattern at (x, y), on a torus."""
    h, w = pattern.shape
    rows = (y - h // 2 + np.arange(h)) % cells.shape[0]
    columns = (x - w // 2 + np.arange(w)) % cells.shape[1]
    cells[np.ix_(rows, columns)] |= pattern


def fleet(side: int, tile: int) -> tuple[BitGrid, int]:
    """Return gliders that start before the corners of tiles and cross them, in each of the four
    directions, and lightweight spaceships that cross the seams between; and their number."""
    cells = np.zeros((side, side), bool)
    count = 0
    back = 8  # cells before the seam
    glider_ways = [(1, 1), (1, -1), (-1, -1), (-1, 1)]  # of the glider, turned 0 to 3 times
    ship_ways = [(1, 0), (0, -1), (-1, 0), (0, 1)]
    corners = range(0, side, tile)
    for n, (x, y) in enumerate((x, y) for y in corners for x in corners):
        dx, dy = glider_ways[n % 4]
        place(cells, turned(GLIDER, n % 4), x - back * dx, y - back * dy)
        dx, dy = ship_ways[n % 4]
        middle = tile // 2
        seam = (x, y + middle) if dx else (x + middle, y)
        place(cells, turned(SPACESHIP, n % 4), seam[0] - back * dx, seam[1] - back * dy)
        count += 2
    return BitGrid.from_bool(cells), count


@pytest.mark.sample(2)
@pytest.mark.parametrize("generations", [1, 4, 7, 33, 64, 65, 100, 300])
def test_spaceships_cross_seams_and_corners(generations: int) -> None:
    """60 generations take a glider 15 cells on and a lightweight spaceship 30."""
    grid, count = fleet(256, 64)
    assert count == 32
    population = 16 * 5 + 16 * 9
    assert grid.population() == population
    steps = 40 if generations < 7 else 60
    with on_disk(grid, (4, 4)) as universe:
        life = StreamedLife(universe, [CPU], memory=4 << 20, generations=generations)
        expected = Life(grid, backend=CPU)
        life.run(steps)
        expected.run(steps)
        assert_same(universe, expected)
        assert universe.population() == population  # none has met another
        if generations == 64:
            life.run(900)  # all around
            expected.run(900)
            assert_same(universe, expected)


@pytest.mark.sample(3)
@pytest.mark.parametrize("turns", range(4))
@pytest.mark.parametrize("pattern", [GLIDER, SPACESHIP])
@pytest.mark.parametrize("side", [192, 200])
def test_a_spaceship_goes_around(pattern: Sequence[str], turns: int, side: int) -> None:
    """It goes across every seam of its way, and the universe's own, back to where it was."""
    cells = np.zeros((side, side), bool)
    place(cells, turned(pattern, turns), 60, 61)
    grid = BitGrid.from_bool(cells)
    around = side * (4 if pattern is GLIDER else 2)
    with on_disk(grid, (3, 3)) as universe:
        life = StreamedLife(universe, [CPU], memory=2 << 20, generations=48)
        life.run(around // 2)
        assert universe.population() == grid.population()
        assert universe.digest() != Life(grid, backend=CPU).digest()
        life.run(around - around // 2)
        assert np.array_equal(whole_grid(universe).words, grid.words)


@pytest.mark.sample(3)
@pytest.mark.parametrize("turns", range(4))
def test_gliders_end_at_the_edge_of_a_plane(turns: int) -> None:
    cells = np.zeros((150, 200), bool)
    place(cells, turned(GLIDER, turns), 100, 75)
    grid = BitGrid.from_bool(cells)
    with on_disk(grid, (3, 3), torus=False) as universe:
        StreamedLife(universe, [CPU], memory=2 << 20, generations=30).run(600)
        expected = Life(grid, topology="plane", backend=CPU)
        expected.run(600)
        assert_same(universe, expected)
        assert universe.population() == 4  # a block is left


# --- settled universes ---------------------------------------------------------------


@pytest.mark.sample(5)
@pytest.mark.parametrize("torus", [True, False])
@pytest.mark.parametrize("steps", [2, 3, 4, 5, 1000, 1001])
def test_a_settled_universe_is_jumped_over(steps: int, torus: bool) -> None:
    """A phase of 2 shows that all is as it was; then there is nothing to do but the rest."""
    grid = settled(256, 128)
    with on_disk(grid, (4, 4), torus=torus) as universe:
        life = StreamedLife(universe, [CPU], memory=PLENTY, generations=2)
        life.run(steps)
        expected = Life(grid, topology="torus" if torus else "plane", backend=CPU)
        expected.run(steps)
        assert_same(universe, expected)
        phases = [plan.generations for plan, _ in life.tallies]
        assert phases == ([2] if steps % 2 == 0 else [2, 1])
        assert life.tallies[0][1].unchanged == 16
        life.run(steps)
        expected.run(steps)
        assert_same(universe, expected)


def test_a_jump_that_is_reopened() -> None:
    grid = settled(256, 128)
    with on_disk(grid, (4, 4)) as universe:
        StreamedLife(universe, [CPU], generations=4).run(4)
        universe = reopened(universe)
        life = StreamedLife(universe, [CPU], generations=4)
        life.run(4 * 10**12)
        assert life.tallies == []
        assert universe.generation == 4 + 4 * 10**12
        assert np.array_equal(whole_grid(universe).words, grid.words)
        universe.close()


@pytest.mark.sample(2)
@pytest.mark.parametrize("tiles", [(4, 4), (2, 8), (1, 1)])
def test_tiles_that_repeat_are_linked(tiles: tuple[int, int]) -> None:
    """A pulsar, of period 3, keeps only its own neighbourhood from being linked."""
    grid = settled(256, 256, pulsar=True)
    with on_disk(grid, tiles) as universe:
        life = StreamedLife(universe, [CPU], memory=PLENTY, generations=2)
        expected = Life(grid, backend=CPU)
        for _ in range(6):
            life.run(2)
            expected.run(2)
            assert_same(universe, expected)
        linked = [tally.linked for _, tally in life.tallies]
        assert linked[0] == 0
        assert len(set(linked[1:])) == 1
        assert (linked[1] > 0) == (tiles != (1, 1))
        life.run(7)  # of which 1 is no whole phase
        expected.run(7)
        assert_same(universe, expected)


@pytest.mark.sample(2)
@pytest.mark.parametrize("generations", [[2, 4, 2, 6, 3, 6], [6, 2, 12, 4, 60, 1, 1], [1, 2, 3]])
@pytest.mark.parametrize("glider", [False, True])
def test_phases_of_changing_lengths(generations: list[int], glider: bool) -> None:
    """A tile that was linked with one length may not be linked with another."""
    grid = settled(256, 128)
    if glider:
        bits = np.zeros((128, 256), bool)
        place(bits, turned(GLIDER, 0), 8, 8)
        grid = BitGrid(256, 128, grid.words | BitGrid.from_bool(bits).words)
    with on_disk(grid, (4, 4)) as universe:
        expected = Life(grid, backend=CPU)
        for count in generations * 3:
            StreamedLife(universe, [CPU], memory=PLENTY, generations=count).run(count)
            expected.run(count)
            assert_same(universe, expected)


def test_a_glider_wakes_tiles_that_were_linked() -> None:
    """It flies over empty tiles, which are linked until it is near."""
    bits = np.zeros((256, 512), bool)
    place(bits, turned(GLIDER, 0), 10, 10)
    grid = BitGrid.from_bool(bits)
    with on_disk(grid, (8, 8)) as universe:
        life = StreamedLife(universe, [CPU], memory=PLENTY, generations=12)
        expected = Life(grid, backend=CPU)
        for _ in range(12):
            life.run(120)
            expected.run(120)
            assert_same(universe, expected)
        assert sum(tally.linked for _, tally in life.tallies) > 40 * len(life.tallies)


@pytest.mark.parametrize("rule", ["B3/S23", "B0/S8"])
@pytest.mark.parametrize("torus", [True, False])
def test_no_live_cells(torus: bool, rule: str) -> None:
    grid = BitGrid(300, 200)
    with on_disk(grid, (3, 5), torus=torus, rule=Rule.parse(rule), pyramid=True) as universe:
        life = StreamedLife(universe, [CPU], memory=PLENTY)
        life.run(1000)
        expected = Life(grid, rule=rule, topology="torus" if torus else "plane", backend=CPU)
        expected.run(1000)
        assert_same(universe, expected)
        if rule == "B3/S23":
            life.run(10**15)
            assert universe.generation == 10**15 + 1000
            assert universe.population() == 0
            assert not stored_level(universe, 0, 3).any()
