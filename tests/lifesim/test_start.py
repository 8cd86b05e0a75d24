"""The places of patterns, and the universes that they are put in."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifesim import patterns
from lifesim.engine import Life
from lifesim.grid import BitGrid, GridError
from lifesim.pattern_of import pattern_of
from lifesim.patterns import Pattern
from lifesim.rule import LIFE, Rule
from lifesim.soup import SoupError, random_grid
from lifesim.start import SOUP_SIZE, Start, place, placement, soup
from lifesim.topology import JoinedEdges, Topology, TopologyError

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
    assert (start.rule, start.topology, start.generation) == (LIFE, TORUS, 0)
    start = soup((70, 3), 0.3, 5, SEEDS, PLANE)
    assert start.grid == random_grid(70, 3, 0.3, 5)
    assert (start.rule, start.topology) == (SEEDS, PLANE)
    with pytest.raises(GridError, match="of memory"):
        soup((10**12, 10**12), 0.3, 5)
    with pytest.raises(SoupError, match="density"):
        soup((3, 3), 1.5, 5)


def test_a_pattern_lies_on_a_plane_without_bounds():
    start = place(Pattern(DOMINO, x=77, y=-5, generation=9))
    assert start == Start(DOMINO, LIFE, PLANE, 9, (0, 0), (77, -5))
    assert place(Pattern(DOMINO, x=7), at=(-3, 10**18)).at == (-3, 10**18)
    assert place(Pattern(DOMINO, x=7), centre=True).at == (-1, 0)


def test_a_size_alone_makes_a_plane():
    start = place(Pattern(DOMINO), (10, 7))
    assert (start.grid.width, start.grid.height, start.topology) == (10, 7, PLANE)
    assert cells(start) == [[4, 3], [5, 3]]
    assert place(Pattern(DOMINO), (10, 7), topology=TORUS).topology is TORUS


def test_a_torus_has_a_size():
    with pytest.raises(GridError, match="a torus has a size"):
        place(Pattern(DOMINO), topology=TORUS)


def test_the_file_s_rule_and_bounds_and_what_overrides_them():
    pattern = Pattern(DOMINO, -4, -3, SEEDS, PLANE, (10, 7))
    start = place(pattern)
    assert (start.grid.width, start.grid.height) == (10, 7)
    assert (start.rule, start.topology) == (SEEDS, PLANE)
    assert cells(start) == [[1, 0], [2, 0]]  # the universe begins at (-5, -3)
    start = place(pattern, (20, 20), rule=LIFE, topology=TORUS)
    assert (start.rule, start.topology) == (LIFE, TORUS)
    assert cells(start) == [[9, 9], [10, 9]]  # another size: the middle
    assert place(pattern, (20, 20)).topology is PLANE
    assert place(Pattern(DOMINO), (20, 20), topology=TORUS).topology is TORUS
    assert cells(place(pattern, centre=True)) == [[4, 3], [5, 3]]
    assert cells(place(pattern, at=(0, 6))) == [[0, 6], [1, 6]]


@pytest.mark.parametrize(
    ("text", "size", "bounds", "topology", "at", "where"),
    [
        ("x = 1, y = 1, rule = B3/S23:T8,6\no!", (8, 6), (8, 6), TORUS, (0, 0), [4, 3]),
        (
            "#CXRLE Pos=-4,-3\nx = 1, y = 1, rule = B3/S23:T8,6\no!",
            (8, 6), (8, 6), TORUS, (0, 0), [0, 0],
        ),
        (
            "#CXRLE Pos=3,2\nx = 1, y = 1, rule = B3/S23:P8,6\no!",
            (8, 6), (8, 6), PLANE, (0, 0), [7, 5],
        ),
        (
            "#CXRLE Pos=4,-4\nx = 1, y = 1, rule = B3/S23:T8,6\no!",
            (8, 6), (8, 6), TORUS, (0, 0), [0, 5],
        ),
        # Without bounds in one direction: by the file's coordinates there.
        (
            "#CXRLE Pos=-4,9\nx = 1, y = 1, rule = B3/S23:T8,0\no!",
            (8, 1), (8, 0), TORUS, (0, 9), [0, 0],
        ),
        (
            "#CXRLE Pos=9,2\nx = 1, y = 1, rule = B3/S23:P0,6\no!",
            (1, 6), (0, 6), PLANE, (9, 0), [0, 5],
        ),
        ("x = 1, y = 1, rule = B3/S23:T0\no!", (1, 1), (0, 0), PLANE, (0, 0), [0, 0]),
        (
            "#CXRLE Pos=-1,2\nx = 1, y = 1, rule = B3/S23:K8,6\no!",
            (8, 6), (8, 6), JoinedEdges(8, 6, twist=(False, True)), (0, 0), [3, 5],
        ),
    ],
)  # fmt: skip
def test_bounded_files(text, size, bounds, topology, at, where):
    start = place(rle(text))
    assert (start.grid.width, start.grid.height) == size
    assert (start.bounds, start.topology, start.at) == (bounds, topology, at)
    assert cells(start) == [where]


def test_places_on_a_torus_wrap_and_on_a_plane_do_not():
    start = place(Pattern(DOMINO), (10, 7), at=(-1, 10**18), topology=TORUS)
    assert sorted(cells(start)) == [[0, 10**18 % 7], [9, 10**18 % 7]]
    for at in [(-1, 0), (9, 0), (0, 7), (10**18, -(10**18))]:
        with pytest.raises(GridError, match="leave the 10x7 universe"):
            place(Pattern(DOMINO), (10, 7), at=at, topology=PLANE)
    # Dead cells may stand outside.
    roomy = Pattern(BitGrid.from_cells(6, 6, [(3, 3)]))
    assert cells(place(roomy, (6, 6), at=(-3, -3), topology=PLANE)) == [[0, 0]]


@pytest.mark.parametrize("topology", [PLANE, TORUS])
def test_patterns_larger_than_the_universe(topology):
    with pytest.raises(GridError, match=r"the pattern is 2x1 cells, the \w+ 1x1"):
        place(Pattern(DOMINO), (1, 1), topology=topology)


def test_topologies_by_name():
    bounded = Pattern(DOMINO, topology=TORUS, size=(8, 6))
    assert placement(bounded, topology="klein").topology == JoinedEdges(8, 6, twist=(True, False))
    assert placement(bounded, topology="klein").at == (4, 3)
    found = placement(bounded, topology="T9+2,7")
    assert (found.size, found.topology) == ((9, 7), JoinedEdges(9, 7, shift=(2, 0)))
    assert found.at == (3, 3)  # in the middle of another size
    found = placement(bounded, topology="unbounded")
    assert (found.size, found.topology, found.at) == ((0, 0), PLANE, (0, 0))
    found = placement(
        Pattern(DOMINO, topology=JoinedEdges(8, 6, (True, True)), size=(8, 6)), (5, 4)
    )
    assert found.topology == JoinedEdges(5, 4, (True, True))
    for wrong, size, says in [
        ("sphere", None, "as high as wide, not 8x6"),
        ("unbounded", (5, 5), "has no size"),
        ("T9+2,7", (5, 5), "says its size"),
        ("disc", None, "no topology"),
    ]:
        with pytest.raises(TopologyError, match=says):
            placement(bounded, size, topology=wrong)
    with pytest.raises(TopologyError, match="a sphere has a size"):
        placement(Pattern(DOMINO), topology="sphere")
    with pytest.raises(GridError, match="leave the 8x6 universe"):
        place(bounded, at=(7, 0), topology="klein")
    assert soup((5, 5), 0.5, 1, topology="sphere").topology == JoinedEdges(5, 5, is_sphere=True)
    with pytest.raises(TopologyError, match="bounds both ways"):
        soup(None, 0.5, 1, topology="unbounded")


def test_sizes_that_no_machine_has():
    for size in [(10**12, 10**12), (10**18, 1)]:
        with pytest.raises(GridError, match="of memory"):
            place(Pattern(DOMINO), size)
    with pytest.raises(GridError, match="of memory"):
        place(Pattern(DOMINO, topology=TORUS, size=(10**12, 10**12)))


def test_empty_space_that_comes_alive_needs_bounds():
    strange = Rule.parse("B0/S8")
    with pytest.raises(GridError, match="empty space"):
        placement(Pattern(DOMINO), rule=strange, steps=1)
    assert placement(Pattern(DOMINO), rule=strange).size == (0, 0)
    assert placement(Pattern(DOMINO), (9, 9), rule=strange, steps=1).size == (9, 9)
    blinking = Rule.parse("B0/S")
    assert placement(Pattern(DOMINO), rule=blinking, steps=4).size == (0, 0)
    assert placement(Pattern(DOMINO), (9, 9), rule=blinking, steps=1).size == (9, 9)
    for steps in (1, None):
        with pytest.raises(GridError, match="odd generations"):
            placement(Pattern(DOMINO), rule=blinking, steps=steps)


@given(
    st.tuples(st.integers(1, 130), st.integers(1, 20)),
    st.sampled_from([0.0, 0.02, 0.5]),
    st.sampled_from([*Topology, "klein", "cross-surface"]),
    st.sampled_from(["rle", "macrocell"]),
)
def test_what_is_written_goes_back_to_its_place(size, density, topology, form):
    grid = random_grid(*size, density, 3)
    life = Life(grid, rule="B36/S23", topology=topology, generation=12, backend="reference")
    out = io.BytesIO()
    patterns.write(pattern_of(life), out, format=form)
    start = place(patterns.read(io.BytesIO(out.getvalue())))
    assert start.grid == grid
    assert (str(start.rule), start.topology, start.generation) == ("B36/S23", life.topology, 12)
