"""Universes on disk for tests: made from grids, and read back tile by tile."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from lifesim.grid import BitGrid
from lifesim.rule import LIFE, Rule
from lifesim.store.make import from_grid, make_universe
from lifesim.store.tiling import tile_universe
from lifesim.store.universe import Universe


@contextmanager
def on_disk(
    grid: BitGrid,
    tiles: tuple[int, int] = (1, 1),
    *,
    torus: bool = True,
    rule: Rule = LIFE,
    compression: str = "none",
    pyramid: bool = False,
    generation: int = 0,
    folder: Path | None = None,
) -> Iterator[Universe]:
    """Give a universe of those cells, open for writing, in a directory that goes with it."""
    with TemporaryDirectory(dir=folder) as inner:
        universe = make_universe(
            os.path.join(inner, "universe"),
            tile_universe(grid.width, grid.height, torus, tiles),
            from_grid(grid),
            rule=rule,
            generation=generation,
            compression=compression,
            pyramid=pyramid,
        )
        with universe:
            yield universe


def reopened(universe: Universe) -> Universe:
    universe.close()
    return Universe.open(universe.path, writing=True)


def tile_grid(universe: Universe, tile: int) -> BitGrid:
    """Return the cells of one tile, of which every byte has been checked."""
    box = universe.tiling.box(tile)
    reader = universe.reader(tile)
    for _ in reader.check():
        pass
    cells = reader.sets[0]
    data = b"".join(reader.read(cells, chunk).tobytes() for chunk in range(cells.chunks))
    words = cells.rows_of(np.frombuffer(data, np.uint8))
    return BitGrid(box.width, box.height, words.copy())


def tile_grids(universe: Universe) -> list[BitGrid]:
    return [tile_grid(universe, tile) for tile in range(len(universe.tiling))]


def whole_grid(universe: Universe, tiles: list[BitGrid] | None = None) -> BitGrid:
    """Return all cells, from the files of all tiles, unless they have been read."""
    grid = BitGrid(universe.width, universe.height, planes=universe.rule.planes)
    for tile, cells in enumerate(tile_grids(universe) if tiles is None else tiles):
        box = universe.tiling.box(tile)
        left = box.x // 64
        right = left + cells.words.shape[-1]
        grid.words[box.y : box.y + box.height, ..., left:right] = cells.words
    return grid


def stored_level(universe: Universe, tile: int, k: int) -> np.ndarray:
    """Return level k, 3 or more, of the pyramid of a tile."""
    reader = universe.reader(tile)
    s = reader.sets[k - 2]
    data = b"".join(reader.read(s, chunk).tobytes() for chunk in range(s.chunks))
    return np.frombuffer(data, np.uint8).reshape(s.rows, s.columns)
