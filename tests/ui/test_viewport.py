"""Views: which cells lie under which pixel, at every scale."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifesim.grid import Box
from ui.picture.viewport import FARTHEST, NEAREST, Viewport

PLACES = st.integers(-(2**70), 2**70)
SIZES = st.integers(1, 4000)
SCALES = st.integers(NEAREST, FARTHEST)
VIEWS = st.builds(Viewport, PLACES, PLACES, SCALES, SIZES, SIZES)


def holds(box: Box, x: int, y: int) -> bool:
    return box.x <= x < box.x + box.width and box.y <= y < box.y + box.height


@given(VIEWS, st.integers(-50, 50), st.data())
def test_zooming_keeps_the_cell_under_the_cursor(
    view: Viewport, steps: int, data: st.DataObject
) -> None:
    x, y = data.draw(st.integers(0, view.width - 1)), data.draw(st.integers(0, view.height - 1))
    before, zoomed = view.cells_at(x, y), view.zoomed(steps, x, y)
    after = zoomed.cells_at(x, y)
    assert zoomed.scale == min(max(view.scale - steps, NEAREST), FARTHEST)
    assert holds(before, after.x, after.y) or holds(after, before.x, before.y)
    if steps < 0:
        back = zoomed.zoomed(view.scale * -1 + zoomed.scale, x, y)
        assert back.scale == view.scale
        assert holds(after, back.cells_at(x, y).x, back.cells_at(x, y).y)


@given(VIEWS, st.integers(-9999, 9999), st.integers(-9999, 9999))
def test_moved_views_show_the_same_elsewhere(view: Viewport, right: int, down: int) -> None:
    assert view.moved(right, down).cells_at(0, 0) == view.cells_at(right, down)


@given(VIEWS)
def test_the_box_is_what_the_pixels_show(view: Viewport) -> None:
    first, last = view.cells_at(0, 0), view.cells_at(view.width - 1, view.height - 1)
    box = view.box
    assert (box.x, box.y) == (first.x, first.y)
    assert (box.x + box.width, box.y + box.height) == (last.x + last.width, last.y + last.height)
    left, top, right, bottom = view.rectangle(box)
    assert left <= 0
    assert top <= 0
    assert right >= view.width
    assert bottom >= view.height
    side = 1 << max(0, -view.scale)
    assert max(-left, -top, right - view.width, bottom - view.height) < side


@given(VIEWS, PLACES, PLACES, st.integers(1, 2**40), st.integers(1, 2**40))
def test_a_rectangle_has_the_pixels_that_a_box_touches(
    view: Viewport, x: int, y: int, width: int, height: int
) -> None:
    left, top, right, bottom = view.rectangle(Box(x, y, width, height))
    first, last = view.cells_at(left, top), view.cells_at(right - 1, bottom - 1)
    assert holds(first, x, y)
    assert holds(last, x + width - 1, y + height - 1)
    assert not holds(view.cells_at(left - 1, top), x, y)
    assert not holds(view.cells_at(right, bottom), x + width - 1, y + height - 1)


@given(st.integers(0, 2**60), st.integers(1, 2**45), st.integers(1, 2**45), SIZES, SIZES)
def test_fitting_shows_all_as_near_as_it_can(
    x: int, width: int, height: int, across: int, down: int
) -> None:
    box = Box(x, 7, width, height)
    view = Viewport.fitting(box, across, down)
    left, top, right, bottom = view.rectangle(box)
    fits = right - left <= across and bottom - top <= down
    # Not on block boundaries, a box may touch one pixel more than it is wide.
    assert view.scale == FARTHEST or (right - left <= across + 1 and bottom - top <= down + 1)
    assert abs(left - (across - right)) <= 2
    assert abs(top - (down - bottom)) <= 2
    if view.scale > -4 and fits:
        nearer = -(-width >> (view.scale - 1)) if view.scale > 0 else width << (1 - view.scale)
        lower = -(-height >> (view.scale - 1)) if view.scale > 0 else height << (1 - view.scale)
        assert nearer > across or lower > down


@given(VIEWS, SIZES, SIZES)
def test_resizing_keeps_the_middle(view: Viewport, width: int, height: int) -> None:
    resized = view.resized(width, height)
    middle = view.left + view.width // 2, view.top + view.height // 2
    assert (resized.left + width // 2, resized.top + height // 2) == middle


@given(VIEWS, PLACES, PLACES)
def test_centred_has_the_cell_in_the_middle(view: Viewport, x: int, y: int) -> None:
    centred = view.centred(x, y)
    assert centred.scale == view.scale
    assert holds(centred.cells_at(view.width // 2, view.height // 2), x, y)


@pytest.mark.parametrize("values", [(-6, 9, 9), (257, 9, 9), (0, 0, 9), (0, 9, 1 << 16)])
def test_no_such_view(values: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match=r"scale|window"):
        Viewport(0, 0, *values)
