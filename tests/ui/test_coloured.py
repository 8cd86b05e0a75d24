"""Pictures of cells that have colours, pixel by pixel, against lifesim.colours."""

from __future__ import annotations

from contextlib import closing

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lifesim.colours import pixels_of, state_colours
from lifesim.grid import BitGrid, Box
from lifesim.rule import LIFE, Rule
from lifesim.soup import Soup
from tests.quick import examples
from ui.cells.session import MemorySession
from ui.picture.ages import Ages
from ui.picture.coloured import ColourSums, StatesSource, source_of, window_colours
from ui.picture.draw import draw
from ui.picture.pyramid import FIRST
from ui.picture.request import Frame, FrameRequest
from ui.picture.sources import MemorySource, PictureSource
from ui.picture.viewport import Viewport

TWO = Rule(LIFE.cells, "Life in colours", {0: (9, 90, 200), 1: (250, 3, 0)})
RULES = st.sampled_from(
    [Rule.parse(text) for text in ("/2/3", "345/2/4", "WireWorld", "/2/9", "/2/40", "/2/256")]
    + [TWO]
)


@st.composite
def coloured(draw_: st.DrawFn) -> tuple[BitGrid, Rule]:
    rule = draw_(RULES)
    grid = BitGrid(draw_(st.integers(1, 300)), draw_(st.integers(1, 300)), planes=rule.planes)
    density = draw_(st.sampled_from([0.0, 0.01, 0.4, 1.0]))
    Soup(density, draw_(st.integers(0, 999))).fill_grid(grid, rule.states)
    return grid, rule


def seen(frame: Frame) -> npt.NDArray[np.uint8]:
    """The pixels that the universe covers, in colours."""
    left, top, right, bottom = frame.inside
    pixels = frame.pixels[top:bottom, left:right]
    assert frame.colours is not None
    return frame.colours[pixels] if pixels.ndim == 2 else pixels


def check(grid: BitGrid, rule: Rule, source: PictureSource, view: Viewport) -> None:
    """That a picture shows the means of the blocks that it touches."""
    frame = draw(FrameRequest(view), source)
    assert frame.pixels.shape[:2] == (view.height, view.width)
    colours, scale = state_colours(rule), max(view.scale, 0)
    assert colours is not None
    left, top, right, bottom = frame.inside
    if left >= right or top >= bottom:
        return
    whole = pixels_of(grid, None, scale, colours)
    for y, x in {(top, left), (bottom - 1, right - 1), ((top + bottom) // 2, (left + right) // 2)}:
        cell = view.cells_at(x, y)
        expected = whole[cell.y >> scale, cell.x >> scale]
        assert np.array_equal(seen(frame)[y - top, x - left], expected)
    if view.scale >= 0:
        first = view.cells_at(left, top)
        part = whole[first.y >> scale :, first.x >> scale :][: bottom - top, : right - left]
        assert np.array_equal(seen(frame), part)


VIEWS = st.builds(
    lambda scale, left, top, across, down: Viewport(
        left >> max(scale, 0), top >> max(scale, 0), scale, across, down
    ),
    st.integers(-4, 11),
    st.integers(-300, 300),
    st.integers(-300, 300),
    st.integers(1, 90),
    st.integers(1, 90),
)


@settings(deadline=None, max_examples=examples(200))
@given(coloured(), VIEWS)
def test_pictures_are_what_render_draws(made: tuple[BitGrid, Rule], view: Viewport) -> None:
    grid, rule = made
    source = source_of(grid, rule)
    check(grid, rule, source, view)
    assert source.population == grid.population()


@settings(deadline=None, max_examples=examples(40))
@given(coloured(), VIEWS)
def test_pictures_of_large_universes_are_those_of_small_ones(
    made: tuple[BitGrid, Rule], view: Viewport
) -> None:
    grid, rule = made
    with closing(MemorySession(grid, rule=rule, small=0, backend="reference")) as session:
        check(grid, rule, session.source(FrameRequest(view)), view)


@pytest.mark.parametrize("text", ["345/2/4", "/2/256"])
def test_sums_of_several_bands(text: str) -> None:
    rule = Rule.parse(text)
    grid = BitGrid(700, 1300, planes=rule.planes)
    Soup(0.4, 5).fill_grid(grid, rule.states)
    done: list[int] = []
    colours = window_colours(rule)
    sums = ColourSums(grid, colours, done.append)
    assert max(done) == 1300
    for scale in range(FIRST, 13):
        means = sums.means(Box(0, 0, 700, 1300), scale)
        assert np.array_equal(means, pixels_of(grid, None, scale, colours))


def test_what_progress_raises_stops_the_sums() -> None:
    def stop(done: int) -> None:
        raise KeyboardInterrupt

    grid = BitGrid(100, 5000, planes=2)
    with pytest.raises(KeyboardInterrupt):
        ColourSums(grid, window_colours(Rule.parse("/2/3")), stop)


def test_only_rules_with_colours_are_shown_in_them() -> None:
    grid = BitGrid(9, 9)
    assert type(source_of(grid, LIFE)) is MemorySource
    assert isinstance(source_of(grid, TWO), StatesSource)
    with pytest.raises(ValueError, match="no colours"):
        window_colours(LIFE)


def test_ages_are_not_told_of_cells_in_colours() -> None:
    source = source_of(BitGrid.from_states([[0, 3, 1]], 2), Rule.parse("345/2/4"))
    request = FrameRequest(Viewport(0, 0, 0, 3, 1), ages=True, any_cell=True)
    assert Ages().seen(request, source) is source
    assert draw(request, source).pixels.tolist() == [[0, 3, 1]]
