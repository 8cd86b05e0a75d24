"""Frames against lifesim.render, pixel by pixel."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lifesim.grid import BitGrid, Box
from lifesim.render import density_levels
from tests.quick import examples
from ui.picture.draw import draw
from ui.picture.pyramid import FIRST, Pyramid
from ui.picture.request import FrameRequest
from ui.picture.sources import MemorySource
from ui.picture.viewport import Viewport

GRIDS = st.tuples(
    st.integers(1, 300),
    st.integers(1, 300),
    st.sampled_from([0.0, 0.001, 0.3, 0.999, 1.0]),
    st.integers(0, 2**32),
)


def random_grid(width: int, height: int, density: float, seed: int) -> BitGrid:
    return BitGrid.from_bool(np.random.default_rng(seed).random((height, width)) < density)


@given(GRIDS)
@settings(deadline=None)
def test_pyramids_are_what_render_draws(parameters: tuple[int, int, float, int]) -> None:
    grid = random_grid(*parameters)
    done: list[int] = []
    pyramid = Pyramid(grid, done.append)
    assert pyramid.population == grid.population()
    assert max(done) == grid.height
    assert pyramid.level(pyramid.top).shape == (1, 1)
    for k in range(FIRST, pyramid.top + 1):
        assert np.array_equal(pyramid.level(k), density_levels(grid, None, k))


def test_a_pyramid_of_several_bands() -> None:
    grid = random_grid(1100, 1700, 0.4, 5)
    pyramid = Pyramid(grid)
    for k in range(FIRST, pyramid.top + 1):
        assert np.array_equal(pyramid.level(k), density_levels(grid, None, k))


def test_what_progress_raises_stops_a_pyramid() -> None:
    def stop(done: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Pyramid(random_grid(100, 5000, 0.5, 1), stop)


@given(
    GRIDS,
    st.integers(-5, 12),
    st.tuples(st.integers(-400, 400), st.integers(-400, 400)),
    st.tuples(st.integers(1, 90), st.integers(1, 90)),
    st.booleans(),
)
@settings(deadline=None, max_examples=examples(200))
def test_frames_are_what_render_draws(
    parameters: tuple[int, int, float, int],
    scale: int,
    corner: tuple[int, int],
    size: tuple[int, int],
    any_cell: bool,
) -> None:
    grid = random_grid(*parameters)
    view = Viewport(*(c >> max(scale, 0) for c in corner), scale, *size)
    frame = draw(FrameRequest(view, any_cell), MemorySource(grid, generation=9))
    assert frame.pixels.shape == (size[1], size[0])
    assert frame.generation == 9
    left, top, right, bottom = frame.inside
    outside = frame.pixels.copy()
    outside[top:bottom, left:right] = 0
    assert not outside.any()
    for y in range(size[1]):
        for x in range(0, size[0], 7):
            box = view.cells_at(x, y)
            inner = _inner(box, grid)
            assert (inner is not None) == (left <= x < right and top <= y < bottom)
            if inner is None:
                continue
            live = grid.crop(inner).population()
            level = int(density_levels(grid, inner, max(scale, 0))[0, 0])
            expected = (255 if live else 0) if any_cell else level
            assert frame.pixels[y, x] == expected


def _inner(box: Box, grid: BitGrid) -> Box | None:
    left, top = max(box.x, 0), max(box.y, 0)
    right, bottom = min(box.x + box.width, grid.width), min(box.y + box.height, grid.height)
    return Box(left, top, right - left, bottom - top) if left < right and top < bottom else None
