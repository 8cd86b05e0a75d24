"""Stored density levels are those that lifesim.render draws."""

from __future__ import annotations

import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.cells import survey
from kernels.targets.choose import pick
from lifesim.grid import BitGrid
from lifesim.render import density_levels
from lifesim.soup import random_grid
from lifesim.store.pyramid import levels
from lifesim.store.tiling import pyramid_top, tile_universe
from lifesim.store.universe import Universe
from lifesim.stream.run import StreamedLife
from tests.quick import examples
from tests.strategies import grids
from tests.universes import on_disk, stored_level, tile_grid


def counts_of(grid: BitGrid) -> np.ndarray:
    """Return the live cells of blocks of 8 x 8, by padding and summing."""
    bits = np.unpackbits(grid.words.view(np.uint8), axis=1, bitorder="little")
    rows = -(-grid.height // 8)
    padded = np.zeros((8 * rows, bits.shape[1]), np.uint8)
    padded[: grid.height] = bits
    return padded.reshape(rows, 8, -1, 8).sum(axis=(1, 3), dtype=np.uint8)


def assert_levels(grid: BitGrid, counts: np.ndarray, top: int) -> None:
    made = levels(counts, grid.width, grid.height, top)
    assert len(made) == top - 2
    for k, level in enumerate(made, 3):
        expected = density_levels(grid, None, k)
        assert level.dtype == np.uint8
        assert np.array_equal(level, expected), k


@given(grids(), st.integers(3, 20))
def test_levels_of_any_grid(grid: BitGrid, top: int) -> None:
    assert_levels(grid, counts_of(grid), top)


@settings(max_examples=examples(50))
@given(
    st.integers(1, 1500),
    st.integers(1, 700),
    st.sampled_from([0.0, 0.001, 0.3, 0.97, 1.0]),
    st.integers(0, 1000),
)
def test_levels_of_larger_grids(width: int, height: int, density: float, seed: int) -> None:
    """The levels are made from the counts that the files' population comes with."""
    grid = random_grid(width, height, density, seed)
    counts = np.empty((-(-height // 8), 8 * grid.words.shape[1]), np.uint8)
    survey(grid.words, 0, 0, counts)
    assert np.array_equal(counts, counts_of(grid))
    assert_levels(grid, counts, 12)


def test_counts_further_right_are_not_looked_at() -> None:
    grid = random_grid(70, 30, 0.5, 1)
    counts = counts_of(grid)
    counts[:, 9:] = 77
    assert_levels(grid, counts, 8)


@pytest.mark.sample(1)
@pytest.mark.parametrize("missing", [0, 1])
def test_the_largest_blocks(missing: int) -> None:
    """Some sums just do not fit the type of the level before: 2^16 cells, 2^32 cells."""
    counts = np.full((8192, 8192), 64, np.uint8)
    counts[5000, 5000] -= missing
    made = levels(counts, 1 << 16, 1 << 16, 17)
    assert [level.shape[0] for level in made] == [1 << 16 - min(k, 16) for k in range(3, 18)]
    for k, level in enumerate(made, 3):
        expected = np.full(level.shape, 255, np.uint8)
        expected[(40000 >> k,) * 2] -= missing * (4 if k == 3 else 1)
        assert np.array_equal(level, expected), k


# --- whole universes --------------------------------------------------------------------


def assert_stored(universe: Universe) -> None:
    """Assert that every level of every tile is stored, and that all tiles together make the picture
    of the whole."""
    top = universe.manifest.form.top
    for tile in range(len(universe.tiling)):
        grid = tile_grid(universe, tile)
        sets = universe.reader(tile).sets
        assert [s.name for s in sets[1:]] == [f"s{k}" for k in range(3, top + 1)]
        for k in range(3, top + 1):
            assert np.array_equal(stored_level(universe, tile, k), density_levels(grid, None, k))


def assert_nests(universe: Universe, grid: BitGrid) -> None:
    for k in range(3, universe.manifest.form.top + 1):
        picture = density_levels(grid, None, k)
        for tile in range(len(universe.tiling)):
            box, stored = universe.tiling.box(tile), stored_level(universe, tile, k)
            assert box.x % (1 << k) == box.y % (1 << k) == 0
            x, y = box.x >> k, box.y >> k
            part = picture[y : y + stored.shape[0], x : x + stored.shape[1]]
            assert np.array_equal(stored, part)


@pytest.mark.sample(2)
@pytest.mark.parametrize("compression", ["none", "zstd"])
@pytest.mark.parametrize(
    ("size", "tiles"),
    [
        ((1, 1), (1, 1)),
        ((1000, 777), (1, 1)),
        ((1000, 1030), (3, 4)),
        ((2048, 2048), (4, 4)),
        ((130, 65), (3, 8)),
        ((65, 4000), (2, 9)),
    ],
)
def test_universes(size: tuple[int, int], tiles: tuple[int, int], compression: str) -> None:
    grid = random_grid(*size, 0.3, 5)
    with on_disk(grid, tiles, pyramid=True, compression=compression) as universe:
        assert universe.manifest.form.top >= 3
        assert_stored(universe)
        assert_nests(universe, grid)
        StreamedLife(universe, [pick("cpu")], generations=9).run(20)
        assert_stored(universe)


def test_a_settled_universe_after_a_run() -> None:
    grid = BitGrid.from_cells(256, 256, [(3, 3), (3, 4), (4, 3), (4, 4), (70, 200)])
    with on_disk(grid, (4, 4), pyramid=True) as universe:
        StreamedLife(universe, [pick("cpu")], generations=2).run(7)
        assert universe.population() == 4
        assert_stored(universe)


def test_h5py_reads_the_levels() -> None:
    with on_disk(random_grid(500, 300, 0.3, 1), (2, 2), pyramid=True) as universe:
        for tile in range(4):
            with h5py.File(universe.reader(tile).path, "r") as file:
                assert np.array_equal(
                    file["s3"][:], density_levels(tile_grid(universe, tile), None, 3)
                )


def test_tiles_in_which_no_level_nests() -> None:
    with on_disk(random_grid(100, 30, 0.3, 1), (1, 30), pyramid=True) as universe:
        assert universe.manifest.form.top == 0
        assert len(universe.reader(0).sets) == 1
        StreamedLife(universe, [pick("cpu")], generations=3).run(5)
        assert_stored(universe)


@given(st.integers(1, 5000), st.integers(1, 5000), st.data())
def test_the_top_of_a_pyramid(width: int, height: int, data: st.DataObject) -> None:
    tiles = data.draw(st.integers(1, -(-width // 64))), data.draw(st.integers(1, height))
    tiling = tile_universe(width, height, True, tiles)
    top = pyramid_top(tiling)
    edges = [*tiling.columns[1:-1], *tiling.rows[1:-1]]
    assert top == 0 or top >= 3
    assert all(edge % (1 << top) == 0 for edge in edges)
    if edges and top < (max(width, height) - 1).bit_length():
        assert any(edge % (1 << max(3, top + 1)) for edge in edges)
    elif not edges:
        assert 1 << top >= max(width, height)
