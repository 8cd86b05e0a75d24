"""Where patterns go, and in what universe."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifesim import patterns
from lifesim.engine import Life
from lifesim.grid import BitGrid, GridError
from lifesim.outputs import pattern_of
from lifesim.patterns import Pattern
from lifesim.rule import LIFE, Rule
from lifesim.soup import SoupError, random_grid
from lifesim.start import SOUP_SIZE, WIDEST_UNBOUNDED, place, soup
from lifesim.topology import Topology

DATA = Path(__file__).parents[2] / "data" / "patterns"
PLANE, TORUS = Topology.PLANE, Topology.TORUS
DOMINO = BitGrid.from_cells(2, 1, [(0, 0), (1, 0)])
SEEDS = Rule.parse("B2/S")


def rle(text: str) -> Pattern:
    return patterns.read(io.BytesIO(text.encode()))


def cells(start) -> list[list[int]]:
    return start.grid.cells().tolist()


def test_a_soup():
    start = soup(None, 0.3, 5)
    assert start.grid == random_grid(*SOUP_SIZE, 0.3, 5)
    assert (start.rule, start.topology, start.generation, start.note) == (LIFE, TORUS, 0, "")
    start = soup((70, 3), 0.3, 5, SEEDS, PLANE)
    assert start.grid == random_grid(70, 3, 0.3, 5)
    assert (start.rule, start.topology) == (SEEDS, PLANE)
    with pytest.raises(GridError, match="of memory"):
        soup((10**12, 10**12), 0.3, 5)
    with pytest.raises(SoupError, match="density"):
        soup((3, 3), 1.5, 5)


def test_an_unbounded_pattern_gets_a_plane_it_cannot_fill():
    start = place(Pattern(DOMINO, x=77, y=-5, generation=9), 10)
    assert (start.grid.width, start.grid.height) == (24, 23)
    assert cells(start) == [[11, 11], [12, 11]]
    assert (start.rule, start.topology, start.generation, start.note) == (LIFE, PLANE, 9, "")


def test_without_steps_there_is_no_margin():
    assert place(Pattern(DOMINO), 0).grid == DOMINO


def test_the_gun_on_its_own_plane():
    start = place(patterns.read(DATA / "gosper-gun.rle"), 30)
    life = Life(start.grid, rule=start.rule, topology=start.topology, backend="reference")
    life.run(30)
    assert life.grid().population() == 41
    assert start.note == ""


def test_the_widest_plane():
    start = place(Pattern(DOMINO), 10**18)
    assert (start.grid.width, start.grid.height) == (WIDEST_UNBOUNDED, WIDEST_UNBOUNDED)
    assert "8192x8192" in start.note
    wide = BitGrid.from_cells(9000, 1, [(0, 0), (8999, 0)])
    start = place(Pattern(wide), 5)
    assert (start.grid.width, start.grid.height) == (9000, 13)
    assert "9000x13" in start.note


def test_a_size_alone_makes_a_torus():
    start = place(Pattern(DOMINO), 10**9, (10, 7))
    assert (start.grid.width, start.grid.height, start.topology) == (10, 7, TORUS)
    assert cells(start) == [[4, 3], [5, 3]]
    assert place(Pattern(DOMINO), 5, (10, 7), topology=PLANE).topology is PLANE


def test_the_file_s_rule_and_bounds_and_what_overrides_them():
    pattern = Pattern(DOMINO, -4, -3, SEEDS, PLANE, (10, 7))
    start = place(pattern, 100)
    assert (start.grid.width, start.grid.height) == (10, 7)
    assert (start.rule, start.topology) == (SEEDS, PLANE)
    assert cells(start) == [[1, 0], [2, 0]]  # the universe begins at (-5, -3)
    start = place(pattern, 100, (20, 20), rule=LIFE, topology=TORUS)
    assert (start.rule, start.topology) == (LIFE, TORUS)
    assert cells(start) == [[9, 9], [10, 9]]  # another size: the middle
    assert place(pattern, 100, (20, 20)).topology is PLANE
    assert cells(place(pattern, 100, centre=True)) == [[4, 3], [5, 3]]
    assert cells(place(pattern, 100, at=(0, 6))) == [[0, 6], [1, 6]]


@pytest.mark.parametrize(
    ("text", "size", "topology", "where"),
    [
        ("x = 1, y = 1, rule = B3/S23:T8,6\no!", (8, 6), TORUS, [4, 3]),
        ("#CXRLE Pos=-4,-3\nx = 1, y = 1, rule = B3/S23:T8,6\no!", (8, 6), TORUS, [0, 0]),
        ("#CXRLE Pos=3,2\nx = 1, y = 1, rule = B3/S23:P8,6\no!", (8, 6), PLANE, [7, 5]),
        ("#CXRLE Pos=4,-4\nx = 1, y = 1, rule = B3/S23:T8,6\no!", (8, 6), TORUS, [0, 5]),
        # Without bounds in one direction: wide enough there, the middle there.
        ("#CXRLE Pos=-4,9\nx = 1, y = 1, rule = B3/S23:T8,0\no!", (8, 13), TORUS, [0, 6]),
        ("#CXRLE Pos=9,2\nx = 1, y = 1, rule = B3/S23:P0,6\no!", (13, 6), PLANE, [6, 5]),
        ("x = 1, y = 1, rule = B3/S23:T0\no!", (13, 13), PLANE, [6, 6]),
    ],
)
def test_bounded_files(text, size, topology, where):
    start = place(rle(text), 5)
    assert (start.grid.width, start.grid.height) == size
    assert start.topology is topology
    assert cells(start) == [where]


def test_places_on_a_torus_wrap_and_on_a_plane_do_not():
    start = place(Pattern(DOMINO), 5, (10, 7), at=(-1, 10**18))
    assert sorted(cells(start)) == [[0, 10**18 % 7], [9, 10**18 % 7]]
    for at in [(-1, 0), (9, 0), (0, 7), (10**18, -(10**18))]:
        with pytest.raises(GridError, match="leave the 10x7 universe"):
            place(Pattern(DOMINO), 5, (10, 7), at=at, topology=PLANE)
    # Dead cells may stand outside.
    roomy = Pattern(BitGrid.from_cells(6, 6, [(3, 3)]))
    assert cells(place(roomy, 5, (6, 6), at=(-3, -3), topology=PLANE)) == [[0, 0]]


@pytest.mark.parametrize("topology", [PLANE, TORUS])
def test_patterns_larger_than_the_universe(topology):
    with pytest.raises(GridError, match=r"the pattern is 2x1 cells, the \w+ 1x1"):
        place(Pattern(DOMINO), 5, (1, 1), topology=topology)


def test_sizes_that_no_machine_has():
    for size in [(10**12, 10**12), (10**18, 1)]:
        with pytest.raises(GridError, match="of memory"):
            place(Pattern(DOMINO), 5, size)
    with pytest.raises(GridError, match="of memory"):
        place(Pattern(DOMINO, topology=TORUS, size=(10**12, 10**12)), 5)


def test_empty_space_that_comes_alive_is_said():
    assert "edges of 24x23 cells" in place(Pattern(DOMINO), 10, rule=Rule.parse("B0/S8")).note
    assert place(Pattern(DOMINO), 10, (9, 9), rule=Rule.parse("B0/S8")).note == ""


@given(
    st.tuples(st.integers(1, 130), st.integers(1, 20)),
    st.sampled_from([0.0, 0.02, 0.5]),
    st.sampled_from(Topology),
    st.sampled_from(["rle", "macrocell"]),
)
def test_what_is_written_goes_back_to_its_place(size, density, topology, form):
    grid = random_grid(*size, density, 3)
    life = Life(grid, rule="B36/S23", topology=topology, generation=12, backend="reference")
    out = io.BytesIO()
    patterns.write(pattern_of(life), out, format=form)
    start = place(patterns.read(io.BytesIO(out.getvalue())), 5)
    assert start.grid == grid
    assert (str(start.rule), start.topology, start.generation) == ("B36/S23", topology, 12)
