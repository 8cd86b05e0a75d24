"""Cuts into tiles, windows and blocks, each against what it says, cell by cell."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lifesim.grid import Box
from lifesim.store.tiling import (
    Span,
    TileBlock,
    Tiling,
    TilingError,
    blocks,
    count_cuts,
    cuts,
    pieces,
    tile_universe,
)
from tests.quick import examples

BIG = 512 << 10


@st.composite
def tilings(draw: st.DrawFn, widest: int = 9, tallest: int = 30) -> Tiling:
    """Draw tilings of any edges, even or not."""
    words = draw(st.integers(1, widest))
    width = 64 * words - draw(st.integers(0, 63))
    height = draw(st.integers(1, tallest))
    columns = draw(st.sets(st.integers(1, words - 1))) if words > 1 else set()
    rows = draw(st.sets(st.integers(1, height - 1), max_size=6)) if height > 1 else set()
    return Tiling(
        (0, *(64 * c for c in sorted(columns)), width),
        (0, *sorted(rows), height),
        draw(st.booleans()),
    )


@st.composite
def blocks_of(draw: st.DrawFn, tiling: Tiling) -> TileBlock:
    left = draw(st.integers(0, tiling.across - 1))
    top = draw(st.integers(0, tiling.down - 1))
    return TileBlock(
        left,
        top,
        draw(st.integers(left + 1, tiling.across)),
        draw(st.integers(top + 1, tiling.down)),
    )


times = st.one_of(st.integers(1, 40), st.integers(1, 700))


# --- a tiling -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("columns", "rows"),
    [
        ((0,), (0, 5)),
        ((0, 64), (0,)),
        ((1, 64), (0, 5)),
        ((0, 64), (2, 5)),
        ((0, 64, 64), (0, 5)),
        ((0, 64), (0, 5, 3)),
        ((0, 63, 128), (0, 5)),
        ((0, 0), (0, 5)),
    ],
)
def test_edges_that_no_tiling_has(columns: tuple[int, ...], rows: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="tiles"):
        Tiling(columns, rows, True)


@given(tilings())
def test_tiles_cover_every_cell_once(tiling: Tiling) -> None:
    seen = np.zeros((tiling.height, tiling.width), np.uint8)
    for tile in range(len(tiling)):
        box = tiling.box(tile)
        seen[box.y : box.y + box.height, box.x : box.x + box.width] += 1
    assert (seen == 1).all()


@given(st.data())
def test_tiles_of_a_block(data: st.DataObject) -> None:
    tiling = data.draw(tilings())
    block = data.draw(blocks_of(tiling))
    left, right = tiling.columns[block.left], tiling.columns[block.right]
    top, bottom = tiling.rows[block.top], tiling.rows[block.bottom]
    inside = [
        tile
        for tile in range(len(tiling))
        if left <= tiling.box(tile).x < right and top <= tiling.box(tile).y < bottom
    ]
    assert tiling.tiles(block) == inside


@given(st.data())
def test_the_largest_block(data: st.DataObject) -> None:
    tiling = data.draw(tilings())
    across = data.draw(st.integers(1, tiling.across + 1))
    down = data.draw(st.integers(1, tiling.down + 1))
    ends = data.draw(st.integers(0, down))
    found = blocks(tiling, across, down, set(range(len(tiling))), ends)
    widths = {tiling.columns[block.right] - tiling.columns[block.left] for block in found}
    heights = {tiling.rows[block.bottom] - tiling.rows[block.top] for block in found}
    for _ in range(2):
        assert tiling.largest(across, down, ends) == (max(widths), max(heights))
    assert max(block.bottom - block.top for block in found) <= max(down, ends)
    if 0 < 2 * ends < tiling.down:
        assert {found[i].bottom - found[i].top for i in (0, -1)} == {ends}


# --- cutting a universe ---------------------------------------------------------------


def assert_even(edges: tuple[int, ...], length: int, parts: int, least: int) -> None:
    assert len(edges) == parts + 1
    assert edges[0] == 0
    assert edges[-1] == length
    sizes = [b - a for a, b in pairwise(edges)]
    assert min(sizes) > 0
    unit = least
    while unit < 1 << 20 and 8 * (2 * unit) * parts <= length:
        unit *= 2
    assert all(edge % unit == 0 for edge in edges[:-1])
    assert max(sizes) - min(sizes) < 2 * unit
    if unit > least:
        assert max(sizes) <= 1.3 * min(sizes)


lengths = st.one_of(
    st.integers(1, 300), st.integers(1, 10**5), st.integers(1, 10**12), st.just(BIG)
)


@given(lengths, lengths, st.integers(1, 300), st.integers(1, 300), st.booleans())
def test_a_cut_is_even_and_aligned(w: int, h: int, across: int, down: int, torus: bool) -> None:
    assume(across <= -(-w // 64) and down <= h and across * down <= 1 << 16)
    assume(w * h < 1 << 62)
    tiling = tile_universe(w, h, torus, (across, down))
    assert tiling.torus is torus
    assert_even(tiling.columns, w, across, 64)
    assert_even(tiling.rows, h, down, 1)


@pytest.mark.parametrize("tiles", [(0, 1), (1, 0), (-1, 1), (3, 1), (1, 6), (3, 6), (1 << 16, 1)])
def test_a_cut_that_is_not_to_be_had(tiles: tuple[int, int]) -> None:
    with pytest.raises(TilingError, match=r"^65x5 cells cannot be cut .* \(at most 2x5\)$"):
        tile_universe(65, 5, True, tiles)


@pytest.mark.parametrize("tiles", [(10**9, 1), (1, 10**9), (1 << 10, 1 + (1 << 10))])
def test_too_many_tiles(tiles: tuple[int, int]) -> None:
    with pytest.raises(TilingError, match=r"are too many: at most \d+ in all"):
        tile_universe(10**12, 10**12, True, tiles)


def test_the_finest_cut() -> None:
    tiling = tile_universe(65, 5, False, (2, 5))
    assert (tiling.columns, tiling.rows) == ((0, 64, 65), (0, 1, 2, 3, 4, 5))


@pytest.mark.parametrize("side", [4096, 1 << 16, BIG])
def test_powers_of_two_are_cut_at_powers_of_two(side: int) -> None:
    for parts in (1, 2, 8, 64):
        tiling = tile_universe(side, side, True, (parts, parts))
        assert tiling.columns == tiling.rows == tuple(range(0, side + 1, side // parts))


@given(lengths, lengths)
def test_the_usual_cut(w: int, h: int) -> None:
    """Tiles are full rows as long as they are not absurdly wide, in files that are neither tiny nor
    huge."""
    assume(w * h < 10**15)
    tiling = tile_universe(w, h, True)
    assert tiling.across == -(-w // (1 << 24))
    most = max(
        (b - a) * (d - c) // 8
        for a, b in pairwise(tiling.columns)
        for c, d in pairwise(tiling.rows)
    )
    row = max(b - a for a, b in pairwise(tiling.columns)) // 8
    assert most <= 1.4 * (256 << 20) + row
    if tiling.across == 1 and h * (w // 8 + 1) <= 1 << 20:
        assert tiling.down == 1


@pytest.mark.parametrize(
    ("side", "files"),
    [(4096, 1), (16384, 8), (32768, 32), (65536, 32), (131072, 128), (262144, 256), (1 << 20, 512)],
)
def test_universes_of_usual_sizes_are_cut_evenly(side: int, files: int) -> None:
    """Files are of 4 MiB to 256 MiB, and few, as each costs time of its own."""
    tiling = tile_universe(side, side, True)
    assert len(tiling) == files
    assert len({below - above for above, below in pairwise(tiling.rows)}) == 1


def test_the_usual_cut_of_a_large_universe() -> None:
    tiling = tile_universe(BIG, BIG, True)
    assert (tiling.across, len(tiling)) == (1, len(tiling))
    assert 128 <= tiling.down <= 512


# --- pieces of a span -----------------------------------------------------------------


@given(st.integers(1, 500), st.integers(-2000, 2000), st.integers(0, 1500))
def test_pieces(size: int, start: int, length: int) -> None:
    found = list(pieces(size, Span(start, length, 0)))
    cells = []
    for place, at, count in found:
        assert place == len(cells)
        assert count > 0
        assert 0 <= at < at + count <= size
        cells += range(at, at + count)
    assert cells == [(start + i) % size for i in range(length)]


# --- windows --------------------------------------------------------------------------


def assert_axis(
    size: int, low: int, high: int, span: Span, halo: int, torus: bool, most: int
) -> None:
    """Assert that the span covers low to high - 1 and `halo` cells around, and little more."""
    at = [(span.start + i) % size for i in range(span.length)]
    assert at[span.before : span.before + high - low] == list(range(low, high))
    around = range(low - halo, high + halo)
    assert {x % size if torus else x for x in around if torus or 0 <= x < size} <= set(at)
    assert len(set(at)) == len(at) <= high - low + 2 * most
    if not torus:
        assert span.start >= 0
        assert span.start + span.length <= size
    elif span.length < size:
        assert span.before >= halo
        assert span.length - span.before - (high - low) >= halo
    else:
        assert span.start == 0  # closes on itself at the universe's own seam


@given(st.data(), times)
def test_a_window_covers_block_and_halo(data: st.DataObject, generations: int) -> None:
    tiling = data.draw(tilings())
    block = data.draw(blocks_of(tiling))
    window = tiling.window(block, generations)
    halo = -(-generations // 64) * 64
    across, down = window.across, window.down
    left, right = tiling.columns[block.left], tiling.columns[block.right]
    top, bottom = tiling.rows[block.top], tiling.rows[block.bottom]
    assert_axis(tiling.width, left, right, across, generations, tiling.torus, halo)
    assert_axis(tiling.height, top, bottom, down, generations, tiling.torus, generations)
    assert across.before % 64 == 0
    assert window.shape == (across.length, down.length, window.torus)
    if tiling.torus:
        assert window.torus
    elif window.torus:  # what comes in at the rim stays in the halo
        assert min(across.before, across.length - across.before - (right - left)) >= generations
        assert min(down.before, down.length - down.before - (bottom - top)) >= generations


@given(tilings(widest=6, tallest=14), times)
def test_touched(tiling: Tiling, generations: int) -> None:
    columns, rows = tiling.touched(generations)
    for edges, found, axis in ((tiling.columns, columns, 0), (tiling.rows, rows, 1)):
        owner = np.repeat(np.arange(len(edges) - 1), np.diff(edges))
        assert len(found) == len(edges) - 1
        for i, touched in enumerate(found):
            block = TileBlock(i, 0, i + 1, 1) if axis == 0 else TileBlock(0, i, 1, i + 1)
            window = tiling.window(block, generations)
            span = (window.across, window.down)[axis]
            cells = (span.start + np.arange(span.length)) % edges[-1]
            assert sorted(touched) == sorted(set(owner[cells].tolist()))


# --- blocks ---------------------------------------------------------------------------


@given(st.data(), times)
def test_read_by(data: st.DataObject, generations: int) -> None:
    """The tiles are what the windows of each tile touch, and those of the blocks whole."""
    tiling = data.draw(tilings(widest=6, tallest=14))
    group = data.draw(st.lists(blocks_of(tiling), max_size=3))
    found: set[int] = set()
    for block in group:
        inside = [
            TileBlock(c, r, c + 1, r + 1)
            for r in range(block.top, block.bottom)
            for c in range(block.left, block.right)
        ]
        for part in (block, *inside):
            window = tiling.window(part, generations)
            for _, y, rows in pieces(tiling.height, window.down):
                for _, x, columns in pieces(tiling.width, window.across):
                    found |= set(tiling.within(Box(x, y, columns, rows)))
    assert tiling.read_by(group, generations) == found


@given(st.data())
def test_blocks_hold_the_wanted_tiles_once(data: st.DataObject) -> None:
    tiling = data.draw(tilings())
    every = st.just(set(range(len(tiling))))
    wanted = data.draw(st.sets(st.integers(0, len(tiling) - 1)) | every)
    across = data.draw(st.integers(1, tiling.across))
    down = data.draw(st.integers(1, tiling.down))
    ends = data.draw(st.integers(0, down))
    found = blocks(tiling, across, down, wanted, ends)
    tiles = [tile for block in found for tile in tiling.tiles(block)]
    assert len(tiles) == len(wanted)
    assert set(tiles) == wanted
    columns, rows = cuts(tiling.across, across), cuts(tiling.down, down, ends)
    for block in found:  # inside of one cell of the grid that the plan reckons with
        assert any(first <= block.left and block.right <= last for first, last in columns)
        assert any(first <= block.top and block.bottom <= last for first, last in rows)
    if len(wanted) == len(tiling):
        assert len(found) == len(columns) * len(rows)


@given(st.integers(1, 300), st.integers(1, 300), st.integers(0, 300))
def test_runs_of_tiles(count: int, most: int, ends: int) -> None:
    """Runs of tiles follow each other from end to end, none longer than may be."""
    found = cuts(count, most, ends)
    assert len(found) == count_cuts(count, most, ends)
    assert found[0][0] == 0
    assert found[-1][1] == count
    assert all(before[1] == after[0] for before, after in pairwise(found))
    sizes = [last - first for first, last in found]
    assert min(sizes) > 0
    if not 0 < 2 * ends < count:
        assert max(sizes) <= most
        assert len(found) == -(-count // most)
        return
    assert sizes[0] == sizes[-1] == ends
    assert max(sizes[1:-1]) <= most
    assert max(sizes[1:-1]) - min(sizes[1:-1]) <= 1


@settings(max_examples=examples(30))
@given(tilings(), st.integers(1, 9), st.integers(1, 9))
def test_no_blocks_where_nothing_is_wanted(tiling: Tiling, across: int, down: int) -> None:
    assert blocks(tiling, across, down, set()) == []
