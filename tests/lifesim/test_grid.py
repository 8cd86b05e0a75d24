"""BitGrid against bool arrays."""

from __future__ import annotations

import pickle
from fractions import Fraction
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifesim import grid as grid_module
from lifesim.errors import LifesimError
from lifesim.grid import BitGrid, Box, GridError, bytes_of, check_size, shape_of

SIDES = st.sampled_from([1, 2, 3, 31, 63, 64, 65, 127, 128, 129, 200])
HEIGHTS = st.integers(1, 5)


@st.composite
def bools(draw, widths=SIDES, heights=HEIGHTS):
    """Return a (height, width) bool array: anything from empty to full."""
    width, height = draw(widths), draw(heights)
    density = draw(st.sampled_from([0.0, 0.01, 0.3, 0.99, 1.0]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    return rng.random((height, width)) < density


def assert_sound(grid):
    """The words have the right shape and dtype and no padding bit."""
    assert grid.words.shape == shape_of(grid.width, grid.height)
    assert grid.words.dtype == np.uint64
    if grid.width % 64:
        assert not (grid.words[:, -1] >> np.uint64(grid.width % 64)).any()


def assert_holds(grid, cells):
    assert_sound(grid)
    assert (grid.height, grid.width) == cells.shape
    np.testing.assert_array_equal(grid.to_bool(), cells)


@given(bools())
def test_pack_and_unpack(cells):
    grid = BitGrid.from_bool(cells)
    assert_holds(grid, cells)
    assert grid.to_bool().dtype == np.bool_


@given(bools(heights=st.just(1)))
def test_bit_order(cells):
    """Bit j of word w is column 64 w + j."""
    grid = BitGrid.from_bool(cells)
    expected = [0] * grid.words.shape[1]
    for x in np.flatnonzero(cells[0]):
        expected[x // 64] |= 1 << int(x % 64)
    assert [int(word) for word in grid.words[0]] == expected


def test_any_non_zero_element_is_alive():
    assert_holds(
        BitGrid.from_bool([[0, 2, -1], [0.5, 0, 256]]), np.array([[0, 1, 1], [1, 0, 1]]) > 0
    )


@pytest.mark.parametrize("cells", [[1, 0], [[[1]]], 1])
def test_pack_needs_two_dimensions(cells):
    with pytest.raises(ValueError, match="two dimensions"):
        BitGrid.from_bool(cells)


@pytest.mark.parametrize("shape", [(0, 0), (0, 5), (5, 0)])
def test_pack_refuses_no_cells(shape):
    with pytest.raises(GridError):
        BitGrid.from_bool(np.zeros(shape, bool))


@given(bools())
def test_population_and_density(cells):
    grid = BitGrid.from_bool(cells)
    assert grid.population() == int(cells.sum())
    assert grid.density() == Fraction(int(cells.sum()), cells.size)


def test_population_counts_in_chunks():
    """There are more than the 2^24 words of one chunk, of a stride-0 array that takes no memory."""
    ones = np.broadcast_to(np.array([[2**64 - 1]], np.uint64), ((1 << 24) + 3, 1))
    assert BitGrid(64, len(ones), ones).population() == 64 * len(ones)


@given(bools())
def test_cells_are_ordered_by_row(cells):
    rows, columns = np.nonzero(cells)
    found = BitGrid.from_bool(cells).cells()
    assert found.dtype == np.int64
    assert found.shape == (len(rows), 2)
    np.testing.assert_array_equal(found, np.stack([columns, rows], axis=1))


@given(bools(), st.sampled_from([np.int64, np.int32, np.uint8, np.uint64, int]))
def test_cells_round_trip(cells, kind):
    """Coordinates of any integer type mean the same cell."""
    grid = BitGrid.from_bool(cells)
    again = BitGrid.from_cells(
        grid.width, grid.height, [(kind(x), kind(y)) for x, y in grid.cells().tolist()]
    )
    assert again == grid
    assert all(again[kind(x), kind(y)] for x, y in grid.cells().tolist())


@given(bools(), st.data())
def test_get_and_set(cells, data):
    grid = BitGrid.from_bool(cells)
    x = data.draw(st.integers(0, grid.width - 1))
    y = data.draw(st.integers(0, grid.height - 1))
    assert grid[x, y] is bool(cells[y, x])
    for alive in (True, False, True):
        grid[x, y] = alive
        cells[y, x] = alive
        assert grid[x, y] is alive
        assert_holds(grid, cells)


@pytest.mark.parametrize("at", [(-1, 0), (65, 0), (0, -1), (0, 2), (127, 0)])
def test_no_cell_outside(at):
    grid = BitGrid(65, 2)
    with pytest.raises(IndexError, match="outside 65x2"):
        grid[at]
    with pytest.raises(IndexError, match="outside 65x2"):
        grid[at] = True
    with pytest.raises(IndexError, match="outside 65x2"):
        BitGrid.from_cells(65, 2, [at])
    assert grid.population() == 0


@given(bools(), bools())
def test_equality(first, second):
    one, two = BitGrid.from_bool(first), BitGrid.from_bool(second)
    assert one == BitGrid.from_bool(first)
    assert (one == two) == np.array_equal(first, second)


def test_equality_is_of_size_and_type_too():
    assert BitGrid(3, 2) != BitGrid(2, 2)
    assert BitGrid(3, 2) != BitGrid(3, 3)
    assert BitGrid(3, 2) != "3x2"
    with pytest.raises(TypeError, match="unhashable"):
        hash(BitGrid(1, 1))


@given(bools())
def test_copy_shares_nothing(cells):
    grid = BitGrid.from_bool(cells)
    copy = grid.copy()
    assert copy == grid
    assert not np.shares_memory(copy.words, grid.words)
    assert pickle.loads(pickle.dumps(grid)) == grid


def test_repr_tells_size_and_population():
    assert repr(BitGrid.from_cells(5, 3, [(1, 1)])) == "<BitGrid 5x3, population 1>"


def test_words_are_taken_over():
    words = np.zeros((2, 2), np.uint64)
    grid = BitGrid(65, 2, words)
    assert grid.words is words


def test_words_of_any_strides():
    """A view of every other column is a grid as good as any."""
    rng = np.random.default_rng(5)
    words = rng.integers(0, 2**64, (3, 4), np.uint64)
    for view in (words[:, ::2], np.asfortranarray(words)[:, :2], words[::-1, 1:3]):
        grid = BitGrid(128, 3, view)
        plain = BitGrid(128, 3, view.copy())
        assert grid == plain
        assert_holds(grid, plain.to_bool())
        np.testing.assert_array_equal(grid.cells(), plain.cells())
        assert grid.bounding_box() == plain.bounding_box()
        assert grid.crop(Box(3, 1, 70, 2)) == plain.crop(Box(3, 1, 70, 2))


@pytest.mark.parametrize(
    "words",
    [
        np.zeros((2, 1), np.uint64),
        np.zeros((3, 2), np.uint64),
        np.zeros((2, 2), np.int64),
        np.zeros((2, 2), ">u8"),
        np.zeros(4, np.uint64),
        np.full((2, 2), 2, np.uint64),
    ],
    ids=["narrow", "tall", "signed", "big-endian", "flat", "padding"],
)
def test_wrong_words(words):
    with pytest.raises(ValueError, match=r"words|padding bits"):
        BitGrid(65, 2, words)


@pytest.mark.parametrize("size", [(0, 1), (1, 0), (-1, 5), (5, -64)])
def test_at_least_one_cell(size):
    with pytest.raises(GridError, match="at least 1x1"):
        BitGrid(*size)


def test_memory_is_checked_before_it_is_taken(monkeypatch):
    monkeypatch.setattr(grid_module, "available_memory", lambda: 1 << 20)
    check_size(1 << 10, 1 << 13)
    with pytest.raises(GridError, match=r"2048x8192 cells needs 2 MiB of memory, 1 MiB are free"):
        BitGrid(1 << 11, 1 << 13)
    with pytest.raises(GridError, match="needs 2 MiB"):
        check_size(1 << 10, 1 << 13, copies=2)
    with pytest.raises(GridError, match="needs 8 PiB"):
        check_size(1 << 28, 1 << 28)
    assert issubclass(GridError, LifesimError)


def test_words_already_there_need_no_memory(monkeypatch):
    """A grid over half the memory can still be wrapped, and copied only where it fits."""
    words = np.zeros((64, 1), np.uint64)
    monkeypatch.setattr(grid_module, "available_memory", lambda: 511)
    grid = BitGrid(64, 64, words)
    with pytest.raises(GridError, match="511 bytes are free"):
        grid.copy()


def test_numpy_sizes_do_not_overflow():
    side = np.int32(1 << 20)
    with pytest.raises(GridError):
        BitGrid(side * 512, np.int32(1 << 30))
    assert type(BitGrid(np.uint8(200), np.uint8(3)).width) is int


@given(st.integers(1, 300), st.integers(1, 10))
def test_shape_and_bytes(width, height):
    assert shape_of(width, height) == (height, -(-width // 64))
    assert bytes_of(width, height) == BitGrid(width, height).words.nbytes


@given(bools())
def test_bounding_box(cells):
    rows, columns = np.nonzero(cells)
    box = BitGrid.from_bool(cells).bounding_box()
    if not len(rows):
        assert box is None
        return
    x, y = columns.min(), rows.min()
    assert box == Box(x, y, columns.max() - x + 1, rows.max() - y + 1)


@given(bools(heights=st.integers(1, 200)), st.sampled_from([(1, 1), (2, 1), (1, 2), (16, 32)]))
def test_transposed(cells, tile):
    with mock.patch("lifesim.transposing._TILE", tile):
        turned = BitGrid.from_bool(cells).transposed()
        assert_holds(turned, cells.T)
        assert turned.transposed() == BitGrid.from_bool(cells)


def test_words_of_any_strides_are_transposed():
    cells = np.arange(130 * 90).reshape(90, 130) % 7 == 0
    grid = BitGrid.from_bool(cells)
    upside_down = BitGrid(130, 90, grid.words[::-1])
    assert_holds(upside_down.transposed(), cells[::-1].T)


@given(SIDES, HEIGHTS, st.data())
def test_bounding_box_of_two_cells(width, height, data):
    cell = st.tuples(st.integers(0, width - 1), st.integers(0, height - 1))
    (x0, y0), (x1, y1) = data.draw(cell), data.draw(cell)
    box = BitGrid.from_cells(width, height, [(x0, y0), (x1, y1)]).bounding_box()
    assert box == Box(min(x0, x1), min(y0, y1), abs(x0 - x1) + 1, abs(y0 - y1) + 1)


@given(bools(), st.data())
def test_crop(cells, data):
    height, width = cells.shape
    x, y = data.draw(st.integers(0, width - 1)), data.draw(st.integers(0, height - 1))
    across, down = data.draw(st.integers(1, width - x)), data.draw(st.integers(1, height - y))
    grid = BitGrid.from_bool(cells)
    part = grid.crop(Box(x, y, across, down))
    assert_holds(part, cells[y : y + down, x : x + across])
    assert not np.shares_memory(part.words, grid.words)
    assert_holds(grid, cells)


@pytest.mark.sample(3)
@pytest.mark.parametrize("width", [1, 63, 64, 65, 128, 130])
def test_crop_of_every_column_span(width):
    cells = np.random.default_rng(width).random((1, width)) < 0.5
    grid = BitGrid.from_bool(cells)
    for x in range(width):
        for across in {1, 2, 63, 64, 65, width - x} & set(range(1, width - x + 1)):
            assert_holds(grid.crop(Box(x, 0, across, 1)), cells[:, x : x + across])


@pytest.mark.parametrize(
    "box", [(-1, 0, 2, 1), (0, -1, 1, 1), (60, 0, 6, 1), (0, 1, 1, 2), (65, 0, 1, 1)]
)
def test_crop_stays_inside(box):
    with pytest.raises(GridError, match="leaves the 65x2 grid"):
        BitGrid(65, 2).crop(Box(*box))


@pytest.mark.parametrize("box", [(0, 0, 0, 1), (0, 0, 1, 0), (5, 0, -2, 1)])
def test_crop_of_nothing(box):
    with pytest.raises(GridError, match="at least 1x1"):
        BitGrid(65, 2).crop(Box(*box))


@given(bools(), bools(), st.data())
def test_paste_on_a_torus(target, stamp, data):
    """Some stamps are larger than the torus, and lie over themselves."""
    x, y = data.draw(st.integers(-300, 300)), data.draw(st.integers(-20, 20))
    expected = target.copy()
    for row, column in np.argwhere(stamp):
        expected[(y + row) % len(target), (x + column) % target.shape[1]] = True
    grid, other = BitGrid.from_bool(target), BitGrid.from_bool(stamp)
    grid.paste(other, x, y, wrap=True)
    assert_holds(grid, expected)
    assert_holds(other, stamp)


@given(bools(), bools(), st.data())
def test_paste_on_a_plane(target, stamp, data):
    """Live cells count, and no others: empty margins of the stamp may hang over any edge."""
    x, y = data.draw(st.integers(-70, 200)), data.draw(st.integers(-5, 5))
    height, width = target.shape
    places = [(x + int(column), y + int(row)) for row, column in np.argwhere(stamp)]
    grid = BitGrid.from_bool(target)
    if all(0 <= column < width and 0 <= row < height for column, row in places):
        grid.paste(BitGrid.from_bool(stamp), x, y)
        for column, row in places:
            target[row, column] = True
    else:
        with pytest.raises(GridError, match="leave the"):
            grid.paste(BitGrid.from_bool(stamp), x, y)
    assert_holds(grid, target)


@given(SIDES, HEIGHTS, st.data())
def test_paste_of_a_margin_over_the_edge(width, height, data):
    """One live cell is anywhere in a stamp put so that the cell falls anywhere inside."""
    column, row = data.draw(st.integers(0, 129)), data.draw(st.integers(0, 3))
    x, y = data.draw(st.integers(0, width - 1)), data.draw(st.integers(0, height - 1))
    grid = BitGrid(width, height)
    grid.paste(BitGrid.from_cells(130, 4, [(column, row)]), x - column, y - row)
    assert_sound(grid)
    assert grid.cells().tolist() == [[x, y]]


@given(bools(), st.data())
def test_paste_of_a_grid_on_itself(cells, data):
    x, y = data.draw(st.integers(-200, 200)), data.draw(st.integers(-5, 5))
    grid = BitGrid.from_bool(cells)
    grid.paste(grid, x, y, wrap=True)
    assert_holds(grid, cells | np.roll(cells, (y, x), (0, 1)))


@given(bools(), st.data())
def test_crop_undoes_paste(stamp, data):
    height, width = stamp.shape
    x, y = data.draw(st.integers(0, 130)), data.draw(st.integers(0, 4))
    grid = BitGrid(width + 130, height + 4)
    other = BitGrid.from_bool(stamp)
    grid.paste(other, x, y)
    assert grid.crop(Box(x, y, width, height)) == other
    assert grid.population() == other.population()


SMALL_BOXES = st.builds(
    Box, st.integers(-4, 4), st.integers(-4, 4), st.integers(0, 5), st.integers(0, 5)
)


@given(SMALL_BOXES, SMALL_BOXES)
def test_what_boxes_have_in_common(one: Box, other: Box) -> None:
    def cells(box: Box) -> set[tuple[int, int]]:
        return {(box.x + i, box.y + k) for i in range(box.width) for k in range(box.height)}

    both = one.common(other)
    assert both == other.common(one)
    assert (cells(both) if both else set()) == cells(one) & cells(other)
    assert both is None or min(both.width, both.height) > 0
