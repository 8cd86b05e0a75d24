"""Counting and searching in pictures, against the cells themselves."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lifesim.grid import BitGrid, Box
from ui.picture.live import MOST_COUNTED, Aim, live_box, population
from ui.picture.sources import Levels, MemorySource
from ui.picture.viewport import Viewport

SIZES = st.integers(1, 1500)
PLACES = st.lists(st.tuples(st.integers(0, 1499), st.integers(0, 1499)), max_size=6)


class FarOnly:
    """Acts as a source of a large universe: it has nothing nearer than blocks of 8 x 8."""

    def __init__(self, grid: BitGrid, generation: int = 0) -> None:
        self._source = MemorySource(grid, generation)
        self.width, self.height, self.generation = grid.width, grid.height, generation

    def levels(self, box: Box, scale: int) -> Levels:
        assert scale >= 3
        assert box.x % (1 << scale) == box.y % (1 << scale) == 0
        return self._source.levels(box, scale)


def grid_of(width: int, height: int, places: list[tuple[int, int]]) -> BitGrid:
    return BitGrid.from_cells(width, height, {(x % width, y % height) for x, y in places})


@settings(deadline=None)
@given(SIZES, SIZES, PLACES)
def test_the_box_of_all_live_cells(width: int, height: int, places: list[tuple[int, int]]) -> None:
    grid = grid_of(width, height, places)
    assert live_box(MemorySource(grid)) == grid.bounding_box()


@settings(deadline=None)
@given(SIZES, SIZES, PLACES, st.integers(-99, 1500), st.integers(-99, 1500), SIZES, SIZES)
def test_the_box_of_live_cells_of_a_region(
    width: int, height: int, places: list[tuple[int, int]], x: int, y: int, across: int, down: int
) -> None:
    grid = grid_of(width, height, places)
    region = Box(x, y, across, down).common(Box(0, 0, width, height))
    expected = None if region is None else grid.crop(region).bounding_box()
    if expected is not None and region is not None:
        expected = expected._replace(x=expected.x + region.x, y=expected.y + region.y)
    assert live_box(MemorySource(grid), Box(x, y, across, down)) == expected


@settings(deadline=None)
@given(SIZES, SIZES, PLACES)
def test_the_box_in_blocks(width: int, height: int, places: list[tuple[int, int]]) -> None:
    grid = grid_of(width, height, places)
    exact, found = grid.bounding_box(), live_box(FarOnly(grid))
    if exact is None:
        assert found is None
        return
    left, top = exact.x // 8 * 8, exact.y // 8 * 8
    right = min(-(-(exact.x + exact.width) // 8) * 8, width)
    bottom = min(-(-(exact.y + exact.height) // 8) * 8, height)
    assert found == Box(left, top, right - left, bottom - top)


@settings(deadline=None)
@given(
    st.integers(1, 300), st.integers(1, 300), st.sampled_from([0.0, 0.01, 0.5, 0.99, 1.0]),
    st.integers(0, 99), st.integers(0, 12), st.integers(0, 299), st.integers(0, 299),
)  # fmt: skip
def test_counting_blocks(
    width: int, height: int, density: float, seed: int, scale: int, x: int, y: int
) -> None:
    grid = BitGrid.from_bool(np.random.default_rng(seed).random((height, width)) < density)
    side = 1 << scale
    block = Box(x % width // side * side, y % height // side * side, side, side)
    box = block.common(Box(0, 0, width, height))
    assert box is not None
    assert population(MemorySource(grid), box) == grid.crop(box).population()
    if scale >= 3:
        assert population(FarOnly(grid), box) == grid.crop(box).population()


def test_what_is_too_large_is_not_counted() -> None:
    class Huge:
        width = height = generation = 1 << 30

    assert population(Huge(), Box(0, 0, 1 << 20, MOST_COUNTED >> 19)) is None  # type: ignore[arg-type]
    assert population(Huge(), Box(1, 0, 1 << 20, 1 << 6)) is None  # type: ignore[arg-type]


def test_a_view_that_fits_stays_if_it_is_loose() -> None:
    source = MemorySource(grid_of(64, 64, [(20, 20), (30, 30)]))
    view = Viewport(0, 0, 0, 200, 100)
    once, after = Aim(fit=True).taken(source, view)
    assert after is None
    assert once == Viewport.fitting(Box(20, 20, 11, 11), 200, 100)
    loose = Aim(fit=True, loose=True)
    assert loose.taken(source, once) == (once, loose)
    assert loose.taken(source, once.moved(150, 0))[0] == once
    assert loose.taken(source, view)[0] == once  # much too wide
    empty = MemorySource(BitGrid(64, 64))
    assert Aim(fit=True).taken(empty, view)[0] == Viewport.fitting(Box(0, 0, 64, 64), 200, 100)


def test_following_what_was_near() -> None:
    aim, view = Aim(box=Box(10, 10, 3, 3), generation=0), Viewport(0, 0, -2, 80, 80)
    for generation in range(1, 20):
        grid = grid_of(100, 100, [(10 + generation, 10), (50, 90)])
        view, following = aim.taken(MemorySource(grid, generation), view)
        assert following is not None
        aim = following
        assert view == view.centred(10 + generation, 10)
    # It is gone: then all that lives.
    view, following = aim.taken(MemorySource(grid_of(100, 100, [(50, 90)]), 20), view)
    assert view == view.centred(50, 90)
    nothing = Aim().taken(MemorySource(BitGrid(9, 9)), view)
    assert nothing == (view, Aim())
