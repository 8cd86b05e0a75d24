"""Making universes on disk: soups, patterns and grids of any size."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from typing import Unpack

import numpy as np
import numpy.typing as npt

from kernels.targets.cpu import core_count
from lifesim.errors import LifesimError
from lifesim.grid import BitGrid, Box, GridError, bytes_of, human_bytes
from lifesim.rule import LIFE
from lifesim.spans import spans
from lifesim.states import as_planes
from lifesim.store import disk
from lifesim.store.making import NewUniverse, UniverseBuilder, check_new
from lifesim.store.read import region
from lifesim.store.state import disk_errors
from lifesim.store.tilefile import TileFormat, TileRecord
from lifesim.store.tilejob import TileJob
from lifesim.store.tilewriter import TileWriter
from lifesim.store.tiling import Tiling
from lifesim.store.universe import Universe
from lifesim.store.workers import TileWorkers

Words = npt.NDArray[np.uint64]
# Writes into words, uint64 (rows, count) or, of several bit planes, (rows, planes, count), the
# cells from word w0 of row y0 on; of a universe `width` cells wide, whose padding bits stay zero.
Source = Callable[[Words, int, int, int], None]

_AT_ONCE = 2  # tiles
LEAST_ROOM = 64  # dead cells around what lives in a plane without bounds, when it is made


def make_universe(
    path: str | os.PathLike[str],
    tiling: Tiling,
    source: Source,
    progress: Callable[[int, int], None] | None = None,
    **facts: Unpack[NewUniverse],
) -> Universe:
    """Make a universe directory, and return the universe, open for writing.

    source: gives the cells, in threads. progress: called with tiles done, and with tiles in all.
    facts: Life, generation 0, without compression and with a pyramid unless they say otherwise.
    Raises LifesimError where there is something of that name, or too little room on the disk;
    whatever it raises, nothing is left behind.
    """
    path = os.fspath(path)
    rule = facts.get("rule", LIFE)
    check_new(path)
    if facts.get("compression", "none") == "none":
        pyramid = facts.get("pyramid", True)
        check_room(path, tiling.width, tiling.height, rule.planes, pyramid=pyramid)
    making = UniverseBuilder(path, tiling, **facts)
    try:
        with disk_errors(path):
            form = making.universe.manifest.form
            make_tiles(tiling, form, source, making.writer, making.add, progress)
            return making.finish()
    except BaseException:
        making.drop()
        raise


def make_tiles(
    tiling: Tiling,
    form: TileFormat,
    source: Source,
    writer: Callable[[int], TileWriter],
    add: Callable[[int, TileRecord], None],
    progress: Callable[[int, int], None] | None = None,
    tiles: Sequence[int] | None = None,
) -> None:
    """Make the files of all tiles, or of some; add() is told of each. What is under way is dropped
    where something fails."""
    jobs: deque[tuple[int, TileJob]] = deque()
    tiles = range(len(tiling)) if tiles is None else tiles
    done = count(1)
    with TileWorkers(core_count()) as workers:

        def finish() -> None:
            tile, job = jobs[0]
            record = job.finish()
            assert record
            add(tile, record)
            jobs.popleft()
            if progress:
                progress(next(done), len(tiles))

        try:
            for tile in tiles:
                box = tiling.box(tile)

                def fetch(y: int, words: Words, x: int = box.x, top: int = box.y) -> None:
                    source(words, top + y, x // 64, tiling.width)

                jobs.append((tile, TileJob(partial(writer, tile), box, form, fetch, workers)))
                if len(jobs) == _AT_ONCE:
                    finish()
            while jobs:
                finish()
        except BaseException:
            for _, job in jobs:
                job.drop()
            raise


def check_room(
    path: str, width: int, height: int, planes: int = 1, *, pyramid: bool = True
) -> None:
    """Raise LifesimError where the disk has no room for the files of such a universe."""
    need = int(bytes_of(width, height) * (planes + 1 / 6 if pyramid else planes))
    with disk_errors(path):
        free = disk.free_bytes(os.path.dirname(os.path.abspath(path)))
    if need > free:
        raise LifesimError(
            f"{path}: a universe of {width}x{height} cells takes {human_bytes(need)} of disk, "
            f"{human_bytes(free)} are free"
        )


def from_grid(grid: BitGrid) -> Source:
    """Return a source of the cells of a grid."""

    def fill(words: Words, y0: int, w0: int, width: int) -> None:
        to, rows = as_planes(words), as_planes(grid.words)[y0 : y0 + len(words)]
        to[:, : grid.planes] = rows[..., w0 : w0 + words.shape[-1]]
        to[:, grid.planes :] = 0

    return fill


def box_of_words(words: Words, y0: int, w0: int, width: int) -> Box:
    """Return the cells that a source is asked to write into words (Source)."""
    return Box(64 * w0, y0, min(width - 64 * w0, 64 * words.shape[-1]), len(words))


def from_universe(universe: Universe) -> Source:
    """Return a source of the cells of another universe of the same size."""

    def fill(words: Words, y0: int, w0: int, width: int) -> None:
        words[:] = region(universe, box_of_words(words, y0, w0, width)).words

    return fill


def from_pattern(
    grid: BitGrid, at: tuple[int, int], size: tuple[int, int], *, wrap: bool
) -> Source:
    """Return a source of the cells of a grid whose top-left cell is put at `at` of a universe of
    that size.

    wrap: modulo the size. Raises GridError where live cells fall outside.
    """
    if not wrap and (live := grid.bounding_box()):
        x, y = at[0] + live.x, at[1] + live.y
        if x < 0 or y < 0 or x + live.width > size[0] or y + live.height > size[1]:
            raise GridError(
                f"live cells {live.width}x{live.height} at ({x}, {y}) "
                f"leave the {size[0]}x{size[1]} universe"
            )
    columns = spans(at[0], grid.width, size[0], wrap)
    rows = spans(at[1], grid.height, size[1], wrap)

    def fill(words: Words, y0: int, w0: int, width: int) -> None:
        asked = box_of_words(words, y0, w0, width)
        block = BitGrid(asked.width, asked.height, planes=as_planes(words).shape[1])
        for y, part_rows in rows:
            for x, part_columns in columns:
                put = Box(x, y, len(part_columns), len(part_rows)).common(asked)
                if put is not None:
                    at = part_columns.start + put.x - x, part_rows.start + put.y - y
                    part = grid.crop(Box(*at, put.width, put.height))
                    block.paste(part, put.x - asked.x, put.y - asked.y)
        words[:] = block.words

    return fill
