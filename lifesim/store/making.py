"""A directory in the making: from nothing to a universe."""

from __future__ import annotations

import contextlib
import os
from dataclasses import replace
from itertools import pairwise
from stat import S_ISDIR, S_ISREG
from typing import TypedDict, Unpack
from uuid import uuid4

from lifesim.errors import LifesimError
from lifesim.rule import LIFE, Rule
from lifesim.store import disk
from lifesim.store.lock import Lock
from lifesim.store.manifest import Manifest
from lifesim.store.names import JOURNAL, LOCK, MANIFEST, MOST_GENERATION, TILE_NAME, TILES
from lifesim.store.state import disk_errors
from lifesim.store.tilefile import COMPRESSIONS, TileFormat, TileRecord, chunk_rows
from lifesim.store.tilewriter import TileWriter
from lifesim.store.tiling import Tiling, pyramid_top
from lifesim.store.universe import Universe


def check_new(path: str) -> None:
    """Raise LifesimError where no universe directory can be made."""
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise LifesimError(f"cannot write {path}: there is no folder {folder}")
    if os.path.lexists(path):
        if not os.path.isdir(path):
            raise LifesimError(f"{path}: there is a file of that name")
        if not _is_remnant(path):
            raise LifesimError(f"{path}: the directory exists and is not empty")


class NewUniverse(TypedDict, total=False):
    """The facts of a new universe, besides its cells and tiles.

    compression: "none" or "zstd". corner: makes it a plane without bounds, whose top-left cell
    that is held has these coordinates. edge: has runs find out whether live cells met the edge
    (Manifest).
    """

    rule: Rule
    generation: int
    compression: str
    pyramid: bool
    origin: str
    corner: tuple[int, int] | None
    edge: tuple[int, int | None] | None


class UniverseBuilder:
    """A directory that becomes a universe once all its tiles are there.

    Raises LifesimError where there is something already.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        tiling: Tiling,
        **facts: Unpack[NewUniverse],
    ) -> None:
        generation = facts.get("generation", 0)
        compression, pyramid = facts.get("compression", "none"), facts.get("pyramid", True)
        self._records: dict[int, TileRecord] = {}
        path = os.fspath(path)
        if compression not in COMPRESSIONS:
            raise LifesimError(f"unknown compression {compression!r}: {' or '.join(COMPRESSIONS)}")
        if generation > MOST_GENERATION:
            raise LifesimError(f"{path}: no universe has so many generations: 10^60 at most")
        form = form_of(tiling, compression, pyramid, facts.get("rule", LIFE).states)
        manifest = Manifest(
            uuid4().hex,
            tiling,
            facts.get("rule", LIFE),
            generation,
            form,
            (),
            (),
            origin=facts.get("origin", ""),
            corner=facts.get("corner"),
            edge=facts.get("edge"),
        )
        with disk_errors(path):
            check_new(path)
            if not os.path.isdir(path):
                disk.make_folder(path)
            try:
                lock = Lock(os.path.join(path, LOCK))
            except BaseException:
                with contextlib.suppress(OSError):
                    os.rmdir(path)  # where nobody else put anything
                raise
            try:
                check_new(path)  # again, now that nobody else changes it
            except BaseException:
                lock.close()
                raise
            self.universe = Universe(path, manifest, None, lock)
            try:
                tiles = os.path.join(path, TILES)
                if not os.path.isdir(tiles):
                    disk.make_folder(tiles)
                _empty(tiles)
            except BaseException:
                self.drop()
                raise

    def writer(self, tile: int) -> TileWriter:
        """Begin the file of a tile."""
        return self.universe.directory.writer(tile, self.universe.generation)

    def add(self, tile: int, record: TileRecord) -> None:
        """Note that a tile's file is there."""
        self._records[tile] = record

    def finish(self) -> Universe:
        """Return the universe, open for writing."""
        universe = self.universe
        count = len(universe.tiling)
        records = tuple(self._records[tile] for tile in range(count))
        with disk_errors(universe.path):
            disk.sync_folder(universe.tiles_folder)
            universe.directory.write_manifest(
                replace(universe.manifest, tiles=records, steady=(False,) * count)
            )
            disk.sync_folder(os.path.dirname(os.path.abspath(universe.path)))
        return universe

    def drop(self) -> None:
        """Give up, and leave nothing."""
        universe = self.universe
        with contextlib.suppress(OSError):
            disk.remove(os.path.join(universe.path, MANIFEST))  # first: no universe any more
            if S_ISDIR(_mode(universe.tiles_folder)):
                _empty(universe.tiles_folder)
                os.rmdir(universe.tiles_folder)
            for name in (MANIFEST + ".tmp", JOURNAL, LOCK):
                disk.remove(os.path.join(universe.path, name))
            os.rmdir(universe.path)
        universe.close()


def form_of(tiling: Tiling, compression: str, pyramid: bool, states: int = 2) -> TileFormat:
    """Return what the files of a universe that is cut so are like. states: that a cell can be
    in."""
    form = TileFormat(8, compression, pyramid_top(tiling) if pyramid else 0, states)
    row = 8 * form.planes * max(-(-(b - a) // 64) for a, b in pairwise(tiling.columns))
    return replace(form, chunk_rows=chunk_rows(row))


def _is_remnant(path: str) -> bool:
    """Return whether a directory holds nothing but what an interrupted create() left."""
    tiles = os.path.join(path, TILES)
    for name in os.listdir(path):
        if name == TILES:
            if not S_ISDIR(_mode(tiles)):
                return False
        elif name not in (LOCK, MANIFEST + ".tmp") or not S_ISREG(_mode(os.path.join(path, name))):
            return False
    return not os.path.lexists(tiles) or all(
        TILE_NAME.fullmatch(name) and S_ISREG(_mode(os.path.join(tiles, name)))
        for name in os.listdir(tiles)
    )


def _mode(path: str) -> int:
    """Return the mode of a path, links not followed; 0 where it is gone."""
    try:
        return os.lstat(path).st_mode
    except FileNotFoundError:
        return 0


def _empty(tiles: str) -> None:
    """Remove the files of tiles."""
    for name in os.listdir(tiles):
        if TILE_NAME.fullmatch(name):
            disk.remove(os.path.join(tiles, name))
