"""A directory in the making: from nothing to a universe."""

from __future__ import annotations

import contextlib
import os
from dataclasses import replace
from itertools import pairwise
from uuid import uuid4

from lifesim.errors import LifesimError
from lifesim.rule import Rule
from lifesim.store import disk
from lifesim.store.lock import Lock
from lifesim.store.manifest import TILE_NAME, Manifest
from lifesim.store.tilefile import Format, TileRecord, TileWriter, chunk_rows
from lifesim.store.tiling import Tiling
from lifesim.store.universe import LOCK, MANIFEST, TILES, Universe, disk_errors

COMPRESSIONS = ("none", "zstd")


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


class Making:
    """A directory that becomes a universe once all its tiles are there.

    Raises LifesimError where there is something already.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        tiling: Tiling,
        *,
        rule: Rule,
        generation: int = 0,
        compression: str = "none",
        pyramid: bool = True,
        origin: str = "",
    ) -> None:
        self._records: dict[int, TileRecord] = {}
        path = os.fspath(path)
        if compression not in COMPRESSIONS:
            raise LifesimError(f"unknown compression {compression!r}: {' or '.join(COMPRESSIONS)}")
        form = form_of(tiling, compression, pyramid)
        manifest = Manifest(uuid4().hex, tiling, rule, generation, form, (), (), origin=origin)
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
                for name in os.listdir(tiles):
                    disk.remove(os.path.join(tiles, name))
            except BaseException:
                self.drop()
                raise

    def writer(self, tile: int) -> TileWriter:
        return self.universe.writer(tile, self.universe.generation)

    def add(self, tile: int, record: TileRecord) -> None:
        self._records[tile] = record

    def finish(self) -> Universe:
        """The universe, open for writing."""
        universe = self.universe
        count = len(universe.tiling)
        records = tuple(self._records[tile] for tile in range(count))
        with disk_errors(universe.path):
            disk.sync_folder(universe.tiles_folder)
            universe.write_manifest(
                replace(universe.manifest, tiles=records, steady=(False,) * count)
            )
            disk.sync_folder(os.path.dirname(os.path.abspath(universe.path)))
        return universe

    def drop(self) -> None:
        """Give up, and leave nothing."""
        universe = self.universe
        with contextlib.suppress(OSError):
            disk.remove(os.path.join(universe.path, MANIFEST))  # first: no universe any more
            if os.path.isdir(universe.tiles_folder):
                for name in os.listdir(universe.tiles_folder):
                    os.unlink(os.path.join(universe.tiles_folder, name))
                os.rmdir(universe.tiles_folder)
            for name in os.listdir(universe.path):
                os.unlink(os.path.join(universe.path, name))
            os.rmdir(universe.path)
        universe.close()


def form_of(tiling: Tiling, compression: str, pyramid: bool) -> Format:
    """What the files of a universe that is cut so are like."""
    row = 8 * max(-(-(b - a) // 64) for a, b in pairwise(tiling.columns))
    return Format(chunk_rows(row), compression, pyramid_top(tiling) if pyramid else 0)


def pyramid_top(tiling: Tiling) -> int:
    """The last level that nests in every tile of a universe; 0 where not even s3 does."""
    top = max(3, (max(tiling.width, tiling.height) - 1).bit_length())
    for edge in (*tiling.columns[1:-1], *tiling.rows[1:-1]):
        top = min(top, (edge & -edge).bit_length() - 1)
    return top if top >= 3 else 0


def _is_remnant(path: str) -> bool:
    """Whether a directory holds nothing but what an interrupted create() left."""
    if not set(os.listdir(path)) <= {LOCK, TILES, MANIFEST + ".tmp"}:
        return False
    tiles = os.path.join(path, TILES)
    return not os.path.isdir(tiles) or all(TILE_NAME.fullmatch(n) for n in os.listdir(tiles))
