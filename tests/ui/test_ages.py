"""Ages of cells in pictures, against a plain model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lifesim.grid import BitGrid, Box
from lifesim.render import PALETTES, palette_table
from tests.quick import examples
from ui.picture.age_colours import age_table, colour_of_age
from ui.picture.ages import OLDEST, Ages
from ui.picture.draw import draw
from ui.picture.request import FARTHEST_AGES, FrameRequest
from ui.picture.sources import Levels, MemorySource
from ui.picture.viewport import Viewport

SIDE = 24
Cell = tuple[int, int]


@dataclass(frozen=True)
class AgedPicture:
    """passed: generations since the one before, below 0 back in time."""

    view: Viewport
    seed: int
    width: int = SIDE
    passed: int = 1
    ages: bool = True
    any_cell: bool = False


VIEWS = st.builds(
    Viewport,
    st.integers(-20, 40), st.integers(-20, 60), st.integers(-2, 3),
    st.integers(1, 30), st.integers(1, 60),
)  # fmt: skip
WHOLE, PART = Viewport(0, 0, 0, 30, 70), Viewport(5, 9, -1, 40, 60)
FAR, FARTHER = Viewport(-2, 1, 1, 20, 30), Viewport(0, 2, 2, 9, 11)
PICTURES = st.builds(
    AgedPicture,
    st.sampled_from([WHOLE, WHOLE, PART, PART.moved(2, -6), FAR, FAR.moved(1, 0), FARTHER]) | VIEWS,
    st.integers(0, 3),
    st.sampled_from([SIDE, SIDE, SIDE, SIDE, SIDE + 7]),
    st.sampled_from([0, 0, 1, 1, 1, 3, 1000, 10**12, -1]),
    st.sampled_from([True, True, True, True, False]),
    st.booleans(),
)


def grid_of(picture: AgedPicture) -> BitGrid:
    rng = np.random.default_rng(picture.seed)
    return BitGrid.from_bool(rng.random((70, picture.width)) < 0.2 + 0.25 * (picture.seed % 3))


def level(age: int) -> int:
    """Return how bright an age is, as the palettes are lifted by the inverse."""
    along = np.log2(1 + min(age, OLDEST)) / np.log2(1 + OLDEST)
    return int(np.ceil(255 * (0.25 + 0.75 * along) ** 2.2))


class Plain:
    """Remembers the age of every live cell of the last picture."""

    def __init__(self) -> None:
        self.known: dict[Cell, int] = {}
        self.width = self.generation = 0

    def go_on(self, width: int, generation: int, aged: bool) -> int:
        """Generations that have passed."""
        passed = generation - self.generation
        if width != self.width or passed < 0 or (passed and not aged):
            self.known = {}
        self.width, self.generation = width, generation
        return passed

    def picture(self, grid: BitGrid, box: Box, scale: int, generation: int) -> dict[Cell, int]:
        """Levels of blocks, the first at the corner of the box."""

        def block(cell: Cell) -> Cell:
            return (cell[0] - box.x) >> scale, (cell[1] - box.y) >> scale

        def seen(cell: Cell) -> bool:
            return 0 <= cell[0] - box.x < box.width and 0 <= cell[1] - box.y < box.height

        def youngest(ages: dict[Cell, int]) -> dict[Cell, int]:
            found: dict[Cell, int] = {}
            for cell, age in ages.items():
                found[block(cell)] = min(age, found.get(block(cell), age))
            return found

        passed = self.go_on(grid.width, generation, True)
        blocks = youngest({cell: age for cell, age in self.known.items() if seen(cell)})
        before = {cell: blocks[block(cell)] + passed for cell in self.known if seen(cell)}
        cells = [(int(x), int(y)) for x, y in grid.cells() if seen((x, y))]
        blocks = youngest({cell: min(before.get(cell, 0), OLDEST) for cell in cells})
        self.known = {cell: blocks[block(cell)] for cell in cells}
        return {at: level(age) for at, age in blocks.items()}


@given(st.lists(PICTURES, min_size=1, max_size=6))
@example([AgedPicture(PART, 0), AgedPicture(PART, 0), AgedPicture(PART.moved(2, -6), 0)])
@example([AgedPicture(WHOLE, 0), AgedPicture(WHOLE, 0, passed=5), AgedPicture(WHOLE, 0, passed=-1)])
@example(
    [AgedPicture(WHOLE, 1), AgedPicture(FAR, 1), AgedPicture(FARTHER, 1), AgedPicture(WHOLE, 1)]
)
@example([AgedPicture(FARTHER, 1), AgedPicture(FARTHER, 2), AgedPicture(FARTHER.moved(1, 1), 2)])
@settings(deadline=None, max_examples=examples(60))
def test_ages_are_those_of_a_plain_model(pictures: list[AgedPicture]) -> None:
    ages, plain, generation = Ages(), Plain(), 10
    for picture in pictures:
        generation += picture.passed
        view, grid = picture.view, grid_of(picture)
        request = FrameRequest(view, picture.any_cell, ages=picture.ages)
        source = MemorySource(grid, generation)
        frame = draw(request, ages.seen(request, source))
        assert frame.generation == generation
        if not (picture.ages and view.scale <= FARTHEST_AGES):
            plain.go_on(grid.width, generation, False)
            assert np.array_equal(frame.pixels, draw(request, source).pixels)
            continue
        scale, box = max(view.scale, 0), view.box
        levels = plain.picture(grid, box, scale, generation)
        for y in range(view.height):
            for x in range(view.width):
                cell = view.cells_at(x, y)
                block = (cell.x - box.x) >> scale, (cell.y - box.y) >> scale
                assert frame.pixels[y, x] == levels.get(block, 0)


ALL = Box(0, 0, SIDE, 70)
REGIONS = st.builds(
    Box, st.integers(-9, 30), st.integers(-9, 60), st.integers(1, 40), st.integers(1, 80)
)


@given(
    st.lists(
        st.tuples(REGIONS, st.integers(0, FARTHEST_AGES), st.integers(0, 3), st.integers(0, 9)),
        min_size=1, max_size=4,
    )
)  # fmt: skip
@example([(ALL, 2, 1, 0), (Box(3, 9, 13, 30), 1, 1, 4)])
@example([(ALL, 1, 0, 0), (ALL, 1, 3, 5), (Box(1, 0, 20, 60), 1, 3, 2)])
@example([(ALL, 1, 0, 0), (ALL, 1, 3, 5), (Box(1, 3, 20, 60), 2, 3, 2)])
@settings(deadline=None, max_examples=examples(60))
def test_blocks_of_any_region_begin_at_its_corner(
    pictures: list[tuple[Box, int, int, int]],
) -> None:
    ages, plain, generation = Ages(), Plain(), 10
    for region, scale, seed, passed in pictures:
        generation += passed
        grid = grid_of(AgedPicture(WHOLE, seed))
        source = MemorySource(grid, generation)
        copy = ages.copy()
        found = ages.levels(source, region, scale)
        expected = np.zeros((-(-region.height >> scale), -(-region.width >> scale)), np.uint8)
        for (x, y), bright in plain.picture(grid, region, scale, generation).items():
            expected[y, x] = bright
        assert np.array_equal(found, expected)
        assert np.array_equal(copy.levels(source, region, scale), expected)  # by itself


def test_levels_grow_with_age() -> None:
    levels = [level(age) for age in range(OLDEST + 1)]
    assert levels == sorted(levels)
    assert levels[0] > 0
    assert levels[-1] == 255
    assert len({level((1 << k) - 1) for k in range(13)}) == 13


class Unread(MemorySource):
    """Has a part that has not been read yet."""

    missing = 1


def test_what_is_still_being_read_has_no_ages() -> None:
    request = FrameRequest(Viewport(0, 0, 0, 8, 8), ages=True)
    grid, ages = BitGrid.from_cells(8, 8, [(3, 4)]), Ages()

    def pixel(source: MemorySource) -> int:
        return int(draw(request, ages.seen(request, source)).pixels[4, 3])

    assert pixel(MemorySource(grid, 1)) == level(0)
    assert pixel(Unread(grid, 4)) == 255
    assert pixel(MemorySource(grid, 6)) == level(5)


class Elsewhere:
    """A universe that is not in memory: its cells are seen one by one."""

    def __init__(self, grid: BitGrid) -> None:
        self._source = MemorySource(grid)
        self.width, self.height, self.generation = grid.width, grid.height, 0

    def levels(self, box: Box, scale: int) -> Levels:
        return self._source.levels(box, scale)


def test_cells_that_are_not_in_memory() -> None:
    grid = grid_of(AgedPicture(WHOLE, 1))
    for scale in range(FARTHEST_AGES + 1):
        request = FrameRequest(Viewport(0, 0, scale, 20, 40), ages=True)
        frames = [
            draw(request, Ages().seen(request, source))
            for source in (MemorySource(grid), Elsewhere(grid))
        ]
        assert np.array_equal(frames[0].pixels, frames[1].pixels)
        assert set(np.unique(frames[0].pixels)) == {0, level(0)}


@pytest.mark.parametrize("palette", PALETTES)
def test_colours_go_from_blue_to_orange(palette: str) -> None:
    """And differ for ages that differ by a tenth or more; what is dead is as in the palette."""
    table = age_table(palette)
    assert table[0].tolist() == palette_table(palette)[0].tolist()
    young, old = colour_of_age(table, 0), colour_of_age(table, OLDEST)
    assert young[2] > young[0] + 100
    assert old[0] > old[2] + 100
    assert colour_of_age(table, 10 * OLDEST) == old
    ages = sorted({round(1.5**power) for power in range(1, 20)})
    shades = [colour_of_age(table, age) for age in ages]
    assert len(set(shades)) == len(ages)
    reds = [red for red, _, _ in shades]
    assert reds == sorted(reds)


def test_ages_say_since_when_they_are_counted() -> None:
    ages, grid = Ages(), grid_of(AgedPicture(WHOLE, 1))
    aged, plain = FrameRequest(WHOLE, ages=True), FrameRequest(WHOLE)

    def since(request: FrameRequest, generation: int) -> int | None:
        return draw(request, ages.seen(request, MemorySource(grid, generation))).aged_since

    assert since(plain, 3) is None
    assert [since(aged, generation) for generation in (5, 6, 9)] == [5, 5, 5]
    assert since(aged, 2) == 2  # time went back
    assert since(plain, 4) is None
    assert since(aged, 7) == 7
    far = FrameRequest(Viewport(0, 0, FARTHEST_AGES + 1, 9, 9), ages=True)
    assert since(far, 7) is None
    assert since(aged, 7) == 7
