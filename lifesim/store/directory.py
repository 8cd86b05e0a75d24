"""The files of a universe: its manifest and its tiles, in one directory."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from typing import Any

from lifesim.errors import LifesimError
from lifesim.store import disk
from lifesim.store.manifest import Manifest, read_manifest, write_manifest
from lifesim.store.names import (
    JOURNAL,
    MANIFEST,
    TILES,
    TileLabel,
    draft_name,
    is_left_over,
    tile_name,
)
from lifesim.store.state import disk_errors, manifest_bytes
from lifesim.store.tilefile import TileRecord
from lifesim.store.tilereader import TileReader
from lifesim.store.tilewriter import TileWriter
from lifesim.store.tiling import MOST_TILES


class Directory:
    """The directory of a universe, whose files it finds, makes and removes.

    It knows the manifest and nothing of a phase under way (PhaseJournal).
    """

    def __init__(self, path: str, manifest: Manifest) -> None:
        self.path, self.manifest = path, manifest
        self._in_doubt = False  # whether the manifest on the disk may be another

    @property
    def tiles_folder(self) -> str:
        """Return the path of the folder that holds the files of tiles."""
        return self.at(TILES)

    def at(self, name: str) -> str:
        """Return the path of a file of the directory."""
        return os.path.join(self.path, name)

    def tile_path(self, record: TileRecord) -> str:
        """Return the path of a tile's file."""
        return os.path.join(self.tiles_folder, record.file)

    def reader(self, tile: int, record: TileRecord) -> TileReader:
        """Open a tile's file. Raises DamagedDataError, or LifesimError where the system refuses."""
        with disk_errors(self.path):
            return TileReader(
                self.tiles_folder, record, self.manifest.tiling.box(tile), self.manifest.form
            )

    def writer(
        self, tile: int, generation: int, attempt: str = "", *, label: TileLabel | None = None
    ) -> TileWriter:
        """Begin a tile's file of a generation.

        attempt: tells apart several writers at once of the same file, each of which writes a
        draft of its own; Universe.finish_tiles() takes one of them. label: stands in the file's
        name in place of the generation. Raises OSError.
        """
        row, column = divmod(tile, self.manifest.tiling.across)
        x, y, width, height = box = self.manifest.tiling.box(tile)
        attributes: Mapping[str, Any] = {
            "universe": self.manifest.id,
            "generation": generation,
            "x": x,
            "y": y,
            "width": width,
            "height": height,
        }
        name = tile_name(row, column, *(label or TileLabel(generation)))
        return TileWriter(
            self.tiles_folder,
            name,
            box,
            self.manifest.form,
            attributes,
            draft_name(name, attempt) if attempt else "",
        )

    def write_manifest(self, manifest: Manifest) -> None:
        """Make the universe the one that this manifest describes, in one rename.

        Where that fails, `manifest` becomes what is on the disk, as the rename may have been made.
        Where that cannot be read, nothing is changed or removed any more. Raises LifesimError.
        """
        self.check_known()
        data = write_manifest(manifest)
        with disk_errors(self.path):
            try:
                self._in_doubt = True
                disk.write_whole(self.at(MANIFEST), data)
            except BaseException:
                self._look_again()
                raise
        self.manifest, self._in_doubt = manifest, False

    def _look_again(self) -> None:
        """Take the manifest from the disk, once it is sure to stay there."""
        with contextlib.suppress(OSError, LifesimError):
            manifest = read_manifest(manifest_bytes(self.path), self.at(MANIFEST))
            disk.sync_folder(self.path)
            self.manifest, self._in_doubt = manifest, False

    def check_known(self) -> None:
        """Raise LifesimError where the manifest on the disk may be another than `manifest`."""
        if self._in_doubt:
            raise LifesimError(
                f"{self.path}: nobody knows whether the last change has reached the disk: open the "
                f"universe again"
            )

    def names_there(self) -> set[str]:
        """Return the names in the folder of tiles."""
        try:
            return set(os.listdir(self.tiles_folder))
        except (FileNotFoundError, NotADirectoryError):
            return set()

    def sweep(self, wanted: set[str], last: int) -> None:
        """Remove the files of tiles that are not wanted.

        Only names that runs of this universe, up to generation `last`, have given to files of its
        tiles are touched, and none where the manifest on the disk may be another.
        """
        if self._in_doubt:
            return
        across, down = self.manifest.tiling.across, self.manifest.tiling.down
        if self.manifest.corner:  # a plane that grows was cut into other tiles, or was to be
            across = down = MOST_TILES
        with disk_errors(self.path):
            for name in self.names_there() - wanted:
                at = os.path.join(self.tiles_folder, name)
                if is_left_over(name, across, down, last) and not os.path.isdir(at):
                    disk.remove(at)

    def remove_drafts(self) -> None:
        """Remove what was written of a manifest or journal that never got its name."""
        for name in (MANIFEST, JOURNAL):
            disk.remove(self.at(name) + ".tmp")
