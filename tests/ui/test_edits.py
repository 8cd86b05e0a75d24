"""What edits do to cells, against numpy on bools."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lifesim import turned
from lifesim.grid import BitGrid, Box
from lifesim.soup import SoupError, random_grid
from tests.quick import examples
from tests.strategies import grids
from ui.cells import edits
from ui.cells.drawing import DrawnStroke
from ui.cells.edits import Mode, Stroke
from ui.session import SessionError

BOXES = st.builds(
    Box, st.integers(-90, 140), st.integers(-90, 140), st.integers(1, 150), st.integers(1, 150)
)


def done(edit: edits.Edit, grid: BitGrid) -> BitGrid:
    """The whole grid after an edit; what was given to it has not changed."""
    result = grid.copy()
    box = edit.box(grid.width, grid.height)
    if box is not None:
        cells = grid.crop(box)
        given_cells = cells.copy()
        edits.overwrite(result, edit.apply(cells, box), box.x, box.y)
        assert cells == given_cells
    BitGrid(result.width, result.height, result.words)  # its padding is clear
    return result


def inside(box: Box, grid: BitGrid) -> tuple[slice, slice]:
    return (
        slice(max(box.y, 0), max(box.y + box.height, 0)),
        slice(max(box.x, 0), max(box.x + box.width, 0)),
    )


@settings(max_examples=examples(40))
@given(grids(), st.sampled_from((1, 5, turned._BLOCK)))
def test_flips_turns_and_inversion(grid: BitGrid, block: int) -> None:
    cells = grid.to_bool()
    with patch.object(turned, "_BLOCK", block):
        assert turned.flipped_across(grid) == BitGrid.from_bool(cells[:, ::-1])
    assert turned.flipped_down(grid) == BitGrid.from_bool(cells[::-1])
    assert edits.inverted(grid) == BitGrid.from_bool(~cells)
    assert turned.rotated(grid, clockwise=True) == BitGrid.from_bool(np.rot90(cells, -1))
    assert turned.rotated(grid, clockwise=False) == BitGrid.from_bool(np.rot90(cells))


@settings(max_examples=examples(40))
@given(grids(), BOXES, st.integers(0, 2**64 - 1))
def test_edits_of_a_selection(grid: BitGrid, box: Box, seed: int) -> None:
    at = inside(box, grid)
    for edit, change in (
        (edits.Clear(box), lambda part: part & False),
        (edits.Cut(box), lambda part: part & False),
        (edits.Invert(box), lambda part: ~part),
        (edits.FlipAcross(box), lambda part: part[:, ::-1]),
        (edits.FlipDown(box), lambda part: part[::-1]),
        (
            edits.RandomFill(box, Fraction(1, 3), seed),
            lambda part: (
                random_grid(part.shape[1], part.shape[0], Fraction(1, 3), seed).to_bool()
                if part.size
                else part
            ),
        ),
    ):
        expected = grid.to_bool().copy()
        expected[at] = change(expected[at].copy())
        assert done(edit, grid) == BitGrid.from_bool(expected), edit.title


@settings(max_examples=examples(40))
@given(grids(), BOXES, st.booleans())
def test_rotating_a_selection(grid: BitGrid, box: Box, clockwise: bool) -> None:
    at = inside(box, grid)
    part = grid.to_bool()[at]
    if not part.size or part.shape[0] > grid.width or part.shape[1] > grid.height:
        with pytest.raises(SessionError, match=r"outside|do not fit"):
            edits.rotation(box, clockwise, grid.width, grid.height)
        return
    edit = edits.rotation(box, clockwise, grid.width, grid.height)
    expected = grid.to_bool().copy()
    expected[at] = False
    assert edit.new[2:] == part.shape
    expected[inside(edit.new, grid)] = np.rot90(part, -1 if clockwise else 1)
    assert done(edit, grid) == BitGrid.from_bool(expected)
    middles = [(2 * b.x + b.width, 2 * b.y + b.height) for b in (edit.old, edit.new)]
    room = min(
        edit.new.x,
        edit.new.y,
        grid.width - edit.new.x - edit.new.width,
        grid.height - edit.new.y - edit.new.height,
    )
    if room > 0:
        assert max(abs(a - b) for a, b in zip(*middles, strict=True)) <= 1


@settings(max_examples=examples(40))
@given(grids(), grids(), st.integers(-150, 150), st.integers(-150, 150), st.sampled_from(Mode))
def test_pasting(grid: BitGrid, clip: BitGrid, x: int, y: int, mode: Mode) -> None:
    expected = grid.to_bool().copy()
    rows, columns = np.nonzero(np.ones((clip.height, clip.width), np.bool_))
    kept = (rows + y >= 0) & (rows + y < grid.height)
    kept &= (columns + x >= 0) & (columns + x < grid.width)
    rows, columns = rows[kept], columns[kept]
    new, old = clip.to_bool()[rows, columns], expected[rows + y, columns + x]
    expected[rows + y, columns + x] = {Mode.OR: new | old, Mode.COPY: new, Mode.XOR: new ^ old}[
        mode
    ]
    assert done(edits.Paste(clip, x, y, mode), grid) == BitGrid.from_bool(expected)


POINTS = st.tuples(st.integers(-30, 150), st.integers(-30, 150))


@settings(max_examples=examples(40))
@given(grids(), st.lists(POINTS, max_size=4), st.booleans())
def test_strokes(grid: BitGrid, points: list[tuple[int, int]], alive: bool) -> None:
    expected = grid.to_bool().copy()
    for first, last in zip(points, points[1:] or points, strict=False):
        for x, y in edits.line(first, last):
            if 0 <= x < grid.width and 0 <= y < grid.height:
                expected[y, x] = alive
    assert done(edits.Stroke(tuple(points), alive), grid) == BitGrid.from_bool(expected)


@given(POINTS, POINTS)
def test_lines_have_no_gaps_and_stay_close(first: tuple[int, int], last: tuple[int, int]) -> None:
    cells = list(edits.line(first, last))
    assert cells[0] == first
    assert cells[-1] == last
    across, down = last[0] - first[0], last[1] - first[1]
    assert len(cells) == max(abs(across), abs(down)) + 1
    for (x, y), (next_x, next_y) in pairwise(cells):
        assert max(abs(next_x - x), abs(next_y - y)) == 1
    for x, y in cells:
        # Off the straight line by half a cell at most.
        off = abs((x - first[0]) * down - (y - first[1]) * across)
        assert 2 * off <= max(abs(across), abs(down))


@given(POINTS, POINTS, BOXES)
def test_parts_of_lines(first: tuple[int, int], last: tuple[int, int], box: Box) -> None:
    whole = edits.line(first, last)
    part = [(x, y) for x, y in whole if 0 <= x - box.x < box.width and 0 <= y - box.y < box.height]
    assert list(edits.line(first, last, box)) == part


def test_a_line_of_which_little_is_seen() -> None:
    far = 1 << 45
    box = Box(0, 0, 20, 20)
    assert list(edits.line((-far, -far), (far, far), box)) == [(i, i) for i in range(20)]
    assert list(edits.line((5, -far), (5, far), box)) == [(5, y) for y in range(20)]


@settings(max_examples=examples(40))
@given(grids(), st.integers(1, 200), st.integers(1, 200))
def test_resizing_keeps_the_middle(grid: BitGrid, width: int, height: int) -> None:
    resized = edits.resized(grid, width, height)
    left, top = (width - grid.width) // 2, (height - grid.height) // 2
    live = {(x + left, y + top) for x, y in grid.cells().tolist()}
    kept = {(x, y) for x, y in live if 0 <= x < width and 0 <= y < height}
    assert resized == BitGrid.from_cells(width, height, kept)


def test_a_random_fill_that_there_is_none_of() -> None:
    with pytest.raises(SoupError, match="density"):
        edits.RandomFill(Box(0, 0, 1, 1), 1.5, 1)
    with pytest.raises(SoupError, match="seed"):
        edits.RandomFill(Box(0, 0, 1, 1), 0.5, -1)


POINTS = st.tuples(st.integers(-30, 110), st.integers(-30, 110))


@settings(max_examples=examples(60))
@given(st.lists(POINTS, min_size=1, max_size=9), st.integers(0, 1))
def test_a_stroke_is_drawn_piece_by_piece(points: list[tuple[int, int]], state: int) -> None:
    limits = Box(-5, 3, 90, 70)
    drawn = DrawnStroke(state, 7, limits, 1 << 20)
    drawn.add((points[0],))
    for piece in pairwise(points):
        drawn.add(piece)
    assert drawn.stroke() == Stroke(tuple(points), state, 7)
    whole = Stroke(tuple(points)).apply(BitGrid(limits.width, limits.height), limits)
    seen = BitGrid(limits.width, limits.height)
    if drawn.box is not None:
        assert drawn.cells is not None
        seen.paste(drawn.cells, drawn.box.x - limits.x, drawn.box.y - limits.y)
    assert seen == whole


def test_a_long_stroke_takes_one_line_for_each_piece() -> None:
    lines: list[int] = []
    drawn, real = DrawnStroke(1, 1, Box(0, 0, 999, 999), 100 * 100), edits.line

    def line(*arguments: Any) -> Any:
        lines.append(1)
        return real(*arguments)

    with patch.object(edits, "line", line):
        drawn.add(((0, 0),))
        for x in range(50):
            drawn.add(((x, x), (x + 1, x + 1)))
    assert len(lines) == 51
    drawn.add(((50, 50), (900, 900)))
    assert drawn.cells is None, "they are too many"
    drawn.add(((900, 900), (901, 901)))
    assert drawn.cells is None
    assert len(drawn.stroke().points) == 53
