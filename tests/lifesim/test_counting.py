"""Live cells by blocks, of any size and at any distance, against cells counted one by one."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lifesim import counting
from lifesim.counting import block_counts
from lifesim.grid import Box
from lifesim.render import density_levels
from lifesim.soup import random_grid
from tests.quick import examples


@settings(max_examples=examples(150), deadline=None)
@given(
    st.tuples(st.integers(1, 150), st.integers(1, 40)),
    st.sampled_from([0, 1, 2, 3, 5, 6, 7, 9, 49, 50, 51, 52, 53, 62, 63, 64, 90, 200]),
    st.tuples(st.integers(-3, 3), st.integers(-3, 3)),
    st.tuples(st.integers(-150, 150), st.integers(-50, 50)),
    st.tuples(st.integers(1, 200), st.integers(1, 60)),
    st.tuples(st.integers(1, 4), st.integers(1, 4)),
)
def test_blocks_have_the_cells_that_lie_in_them(size, scale, far, near, rest, blocks):
    grid, side = random_grid(*size, 0.4, 1), 1 << scale
    corner = [side * a + b for a, b in zip(far, near, strict=True)]
    lengths = [side * (a - 1) + min(b, side) for a, b in zip(blocks, rest, strict=True)]
    box = Box(*corner, *lengths)
    found: Counter[tuple[int, int]] = Counter()
    for top, left, live in block_counts(grid, box, scale):
        for (row, column), count in np.ndenumerate(live):
            assert 0 <= top + row < blocks[1]
            assert 0 <= left + column < blocks[0]
            found[top + row, left + column] += int(count)
    expected = Counter(
        ((y - box.y) >> scale, (x - box.x) >> scale)
        for y, x in np.argwhere(grid.to_bool()).tolist()
        if 0 <= x - box.x < box.width and 0 <= y - box.y < box.height
    )
    assert +found == expected


def test_no_grid_is_too_wide_for_far_blocks():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "_FAR", 8)  # as if no grid had 256 columns
        test_blocks_have_the_cells_that_lie_in_them()


def test_a_grid_is_drawn_from_any_distance():
    grid, side = random_grid(100, 80, 0.3, 1), 1 << 200
    corners = density_levels(grid, Box(-side, -side, 2 * side, 2 * side), 200)
    assert corners.tolist() == [[0, 0], [0, 1]]
    middle = density_levels(grid, Box(50 - side, 40 - side, 2 * side, 2 * side), 200)
    assert middle.tolist() == [[1, 1], [1, 1]]
    assert not density_levels(grid, Box(side, 7, side, side), 200).any()
