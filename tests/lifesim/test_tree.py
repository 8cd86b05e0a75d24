"""Trees of squares: what is read off them is what a grid of the same cells has."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.plane.hashlife.listing import SquareList
from lifesim.grid import BitGrid, Box
from lifesim.patterns import Pattern, cells, life106, macrocell, rle
from lifesim.render import density_levels, level_of
from lifesim.soup import random_grid
from lifesim.tree import densities, rows
from lifesim.tree.quadtree import Quadtree
from tests.lifesim.far_patterns import far_gliders
from tests.quick import examples


def squares_of(grid: BitGrid, x: int, y: int) -> SquareList:
    """Return the squares of a macrocell file of a grid."""
    out = io.BytesIO()
    macrocell.write(Pattern(grid, x, y), out)
    return macrocell._Tree(out.getvalue(), "a test", range(4, 241)).squares


def full(level: int) -> Quadtree:
    """Return a tree of one square in which all cells live."""
    count = level - 1
    levels = np.array([0, *range(3, level + 1)], np.uint8)
    children = np.zeros((count, 4), np.int64)
    children[2:] = np.arange(1, count - 1)[:, None]
    leaves = np.zeros(count, np.uint64)
    leaves[1] = np.iinfo(np.uint64).max
    return Quadtree(SquareList(levels, children, leaves))


def cells_of(tree: Quadtree) -> set[tuple[int, int]]:
    """Return the live cells of a tree by their runs, which must be maximal and in order."""
    box, found, last = tree.box(), set(), (-1, -2)
    for part in rows.live_runs(tree):
        assert box
        for row, start, length in zip(
            part.rows.tolist(), part.starts.tolist(), part.lengths.tolist(), strict=True
        ):
            y = part.row + row
            assert length > 0
            assert (y, start) > last
            last = y, start + length
            found |= {(box.x + x, box.y + y) for x in range(start, start + length)}
    return found


places = st.tuples(st.integers(-300, 300), st.integers(-300, 300))
grids = st.builds(
    random_grid,
    st.integers(1, 150),
    st.integers(1, 150),
    st.sampled_from([0.02, 0.3, 0.9]),
    st.integers(0, 2**32),
)


@settings(max_examples=examples(60), deadline=None)
@given(grids, places, st.integers(1, 3))
def test_a_tree_has_the_cells_of_a_grid(grid, place, few):
    tree, live = Quadtree(squares_of(grid, *place)), grid.bounding_box()
    assert tree.population() == grid.population()
    x, y = place
    assert tree.box() == (live and Box(live.x + x, live.y + y, live.width, live.height))
    wide = Box(x - 70, y - 3, grid.width + 90, grid.height + 5)
    expected = BitGrid(wide.width, wide.height)
    expected.paste(grid, 70, 3)
    assert tree.part(wide) == expected
    cells = np.argwhere(np.unpackbits(grid.words.view(np.uint8), axis=1, bitorder="little"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows, "_CHUNK", 10**few)
        assert cells_of(tree) == {(x + int(column), y + int(row)) for row, column in cells}


@settings(max_examples=examples(150), deadline=None)
@given(
    grids,
    places,
    st.tuples(st.integers(-400, 300), st.integers(-400, 300)),
    st.tuples(st.integers(1, 600), st.integers(1, 600)),
    st.integers(-1, 12),
    st.sampled_from([1 << 20, 5]),
)
def test_pictures_are_those_of_a_grid(grid, place, corner, size, scale, band):
    tree, box = Quadtree(squares_of(grid, *place)), Box(*corner, *size)
    expected = density_levels(grid, Box(box.x - place[0], box.y - place[1], *size), scale)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(densities, "_BAND", band)
        assert (densities.levels(tree, box, scale) == expected).all()


@settings(max_examples=examples(40), deadline=None)
@given(
    st.integers(4, 200),
    st.integers(3, 200),
    st.tuples(st.fractions(-2, 2), st.fractions(-2, 2)),
    st.tuples(st.integers(1, 40), st.integers(1, 40)),
    st.integers(0, 2**200),
)
def test_large_numbers_are_exact(level, scale, corner, blocks, rest):
    tree, side, block = full(level), 1 << level, 1 << scale
    assert tree.population() == side**2
    x, y = (tree.x + int(side * each) + rest % 7 for each in corner)
    width, height = (max(1, count * block - rest % block) for count in blocks)
    found = densities.levels(tree, Box(x, y, width, height), scale)

    def lengths(start, length, first):
        """Return how long blocks are, and how much of each lies in the square."""
        begins = range(start, start + length, block)
        ends = [min(begin + block, start + length) for begin in begins]
        inside = [
            max(0, min(end, first + side) - max(begin, first))
            for begin, end in zip(begins, ends, strict=True)
        ]
        whole = [end - begin for begin, end in zip(begins, ends, strict=True)]
        return np.array(inside, object), np.array(whole, object)

    across, wide = lengths(x, width, tree.x)
    down, high = lengths(y, height, tree.y)
    expected = level_of(down[:, None] * across, high[:, None] * wide)
    assert (found == expected).all()


@pytest.mark.parametrize("level", [40, 63, 64, 65, 100, 240])
def test_cells_far_apart(level):
    tree = Quadtree(macrocell.read_squares(far_gliders(level), "a test").squares)
    half = 1 << level - 1
    glider = {(1, 0), (2, 1), (0, 2), (1, 2), (2, 2)}
    assert cells_of(tree) == {
        (x + i, y + j + 1) for x in (-half, half - 8) for y in (-half, half - 8) for i, j in glider
    }
    assert tree.part(Box(half - 8, half - 7, 8, 8)).population() == 5
    levels = densities.levels(tree, Box(-half, -half + 1, 2 * half, 2 * half), level - 1)
    assert (levels == 1).all()
    assert not densities.levels(tree, Box(-half // 2, -half // 2, half, half), level - 3).any()


@pytest.mark.parametrize("module", [rle, cells, life106])
@settings(max_examples=examples(25), deadline=None)
@given(grid=grids, place=places)
def test_files_are_those_of_a_grid(module, grid, place):
    by_grid, by_tree = io.BytesIO(), io.BytesIO()
    module.write(Pattern(grid, *place), by_grid)
    module.write(Pattern(BitGrid(1, 1), squares=squares_of(grid, *place)), by_tree)
    if grid.population():
        assert by_tree.getvalue() == by_grid.getvalue()
    assert module.read(by_tree.getvalue(), "a test").grid == Pattern(grid).trimmed().grid
