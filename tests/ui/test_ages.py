"""Ages of cells in pictures, against a plain model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lifesim.grid import BitGrid
from ui.picture.ages import OLDEST, Ages
from ui.picture.draw import draw
from ui.picture.request import FrameRequest
from ui.picture.sources import MemorySource
from ui.picture.viewport import Viewport

SIDE = 24


@dataclass(frozen=True)
class Picture:
    """passed: generations since the one before, below 0 back in time."""

    view: Viewport
    seed: int
    width: int = SIDE
    passed: int = 1
    ages: bool = True
    any_cell: bool = False


VIEWS = st.builds(
    Viewport,
    st.integers(-20, 40), st.integers(-20, 60), st.integers(-2, 1),
    st.integers(1, 30), st.integers(1, 60),
)  # fmt: skip
WHOLE, PART = Viewport(0, 0, 0, 30, 70), Viewport(5, 9, -1, 40, 60)
PICTURES = st.builds(
    Picture,
    st.sampled_from([WHOLE, WHOLE, PART, PART.moved(2, -6)]) | VIEWS,
    st.integers(0, 3),
    st.sampled_from([SIDE, SIDE, SIDE, SIDE, SIDE + 7]),
    st.sampled_from([0, 0, 1, 1, 1, 3, 1000, 10**12, -1]),
    st.sampled_from([True, True, True, True, False]),
    st.booleans(),
)


def grid_of(picture: Picture) -> BitGrid:
    rng = np.random.default_rng(picture.seed)
    return BitGrid.from_bool(rng.random((70, picture.width)) < 0.7)


def level(age: int) -> int:
    """How bright, as the palettes are lifted by the inverse."""
    along = np.log2(1 + min(age, OLDEST)) / np.log2(1 + OLDEST)
    return int(np.ceil(255 * (0.25 + 0.75 * along) ** 2.2))


@given(st.lists(PICTURES, min_size=1, max_size=6))
@example([Picture(PART, 0), Picture(PART, 0), Picture(PART.moved(2, -6), 0)])
@example([Picture(WHOLE, 0), Picture(WHOLE, 0, passed=5), Picture(WHOLE, 0, passed=-1)])
@settings(deadline=None, max_examples=60)
def test_ages_are_those_of_a_plain_model(pictures: list[Picture]) -> None:
    ages, generation = Ages(), 10
    known: dict[tuple[int, int], int] = {}  # ages of the live cells of the last picture
    before: tuple[int, int] | None = None  # its width and generation
    for picture in pictures:
        generation += picture.passed
        view, grid = picture.view, grid_of(picture)
        request = FrameRequest(view, picture.any_cell, ages=picture.ages)
        source = MemorySource(grid, generation)
        frame = draw(request, ages.seen(request, source))
        assert frame.generation == generation
        aged = picture.ages and view.scale <= 0
        passed = 0
        if before is not None:
            width, last = before
            passed = generation - last
            if width != grid.width or passed < 0 or (passed and not aged):
                known = {}
        before = grid.width, generation
        if not aged:
            assert np.array_equal(frame.pixels, draw(request, source).pixels)
            continue
        live, seen = grid.to_bool(), {}
        for y in range(view.height):
            for x in range(view.width):
                cell = view.cells_at(x, y)
                expected = 0
                if 0 <= cell.x < grid.width and 0 <= cell.y < 70 and live[cell.y, cell.x]:
                    at = cell.x, cell.y
                    seen[at] = min(known[at] + passed, OLDEST) if at in known else 0
                    expected = level(seen[at])
                assert frame.pixels[y, x] == expected
        known = seen


def test_levels_grow_with_age() -> None:
    levels = [level(age) for age in range(OLDEST + 1)]
    assert levels == sorted(levels)
    assert levels[0] > 0
    assert levels[-1] == 255
    assert len({level((1 << k) - 1) for k in range(13)}) == 13


class Unread(MemorySource):
    """Of which some has not been read yet."""

    missing = 1


def test_what_is_still_being_read_has_no_ages() -> None:
    request = FrameRequest(Viewport(0, 0, 0, 8, 8), ages=True)
    grid, ages = BitGrid.from_cells(8, 8, [(3, 4)]), Ages()

    def pixel(source: MemorySource) -> int:
        return int(draw(request, ages.seen(request, source)).pixels[4, 3])

    assert pixel(MemorySource(grid, 1)) == level(0)
    assert pixel(Unread(grid, 4)) == 255
    assert pixel(MemorySource(grid, 6)) == level(5)
