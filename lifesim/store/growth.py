"""Room for planes without bounds on disk to grow into."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from dataclasses import replace

from lifesim.errors import LifesimError
from lifesim.grid import BitGrid, Box
from lifesim.store import disk, read
from lifesim.store.directory import Directory
from lifesim.store.make import Source, Words, box_of_words, check_room, make_tiles
from lifesim.store.making import form_of
from lifesim.store.names import TileLabel, tile_name
from lifesim.store.state import disk_errors
from lifesim.store.tilefile import TileRecord
from lifesim.store.tilewriter import TileWriter
from lifesim.store.tiling import Tiling
from lifesim.store.undo import EditLog
from lifesim.store.universe import Universe


def grow(
    universe: Universe,
    live: Box,
    size: tuple[int, int],
    at: tuple[int, int],
    tiling: Tiling,
    progress: Callable[[int, int], None] | None = None,
) -> None:
    """Have the plane hold more: what lives in `live`, by the tiles' coordinates now, is put at
    `at` of tiles that hold `size`.

    New files are whole before the manifest, in one rename, says that they are the universe;
    then the old ones go. Killed or failed before that, the universe is what it was. Raises
    LifesimError where the disk has no room.
    """
    old = universe.manifest
    assert old.corner
    assert universe.phase is None
    universe.directory.check_known()
    log = old.edits or EditLog(0)
    edits = old.edits if old.generation else log.counted(universe.path)
    spare = TileLabel(old.generation - 1) if old.generation else TileLabel(0, log.count + 1)
    room = os.path.join(universe.path, "tiles")
    check_room(room, *size, old.form.planes, pyramid=bool(old.form.top))
    form = form_of(tiling, old.form.compression, bool(old.form.top), old.form.states)
    taken = {record.file for record in old.tiles}
    larger = Directory(universe.path, replace(old, tiling=tiling, form=form))
    records: dict[int, TileRecord] = {}
    fill = _moved(universe, live, at)

    def writer(tile: int) -> TileWriter:
        # A name that no file of now has, nor any of a generation to come.
        label = TileLabel(old.generation)
        row, column = divmod(tile, tiling.across)
        if tile_name(row, column, *label) in taken:
            label = spare
        return larger.writer(tile, old.generation, label=label)

    try:
        with disk_errors(universe.path):
            make_tiles(tiling, form, fill, writer, records.__setitem__, progress)
            disk.sync_folder(universe.tiles_folder)
        count = len(tiling)
        universe.directory.write_manifest(
            replace(
                old,
                tiling=tiling,
                form=form,
                tiles=tuple(records[tile] for tile in range(count)),
                steady=(False,) * count,
                last=0,
                edits=edits,
                corner=(old.corner[0] + live.x - at[0], old.corner[1] + live.y - at[1]),
            )
        )
    finally:
        with contextlib.suppress(LifesimError):  # what stays goes when it is opened again
            universe.journal.sweep()


def _moved(universe: Universe, live: Box, at: tuple[int, int]) -> Source:
    """Return a source of a universe whose cells in `live` are put at `at`."""

    def fill(words: Words, y0: int, w0: int, width: int) -> None:
        words[:] = 0
        asked = box_of_words(words, y0, w0, width)
        put = asked.common(Box(*at, live.width, live.height))
        if put is not None:
            old = put._replace(x=live.x + put.x - at[0], y=live.y + put.y - at[1])
            block = BitGrid(asked.width, asked.height, planes=universe.manifest.form.planes)
            block.paste(read.region(universe, old), put.x - asked.x, put.y - asked.y)
            words[:] = block.words

    return fill
