"""The phase under way: the journal on disk that notes its tiles, and what may go meanwhile."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from lifesim.errors import DamagedDataError
from lifesim.store import disk
from lifesim.store.directory import Directory
from lifesim.store.manifest import Phase, first_line, tile_line
from lifesim.store.names import JOURNAL, draft_name
from lifesim.store.needs import Needs
from lifesim.store.state import disk_errors
from lifesim.store.tilefile import TileRecord


class Moved(NamedTuple):
    """A tile that has been moved on.

    record: describes its new file, None where its cells stayed the same. attempt: the one that
    Directory.writer() was given; the file is a draft then.
    """

    tile: int
    record: TileRecord | None
    attempt: str = ""


class PhaseJournal:
    """The way of a universe from one generation to the next, kept in a journal on disk.

    phase: the way under way, None between phases. Everything but linked() and removed_files()
    changes the disk and is for the process that has the lock; finish_tiles() is safe to call
    from any thread.
    """

    def __init__(self, directory: Directory, phase: Phase | None) -> None:
        self.phase = phase
        self._directory = directory
        self._changing = threading.Lock()
        self._file, self._length = -1, 0
        self._torn = False  # whether the file may be longer than that

    @property
    def _path(self) -> str:
        return self._directory.at(JOURNAL)

    def close(self) -> None:
        """Close the file."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    # --- what is known ------------------------------------------------------------------

    def linked(self) -> set[int]:
        """Return the tiles that need not be computed in the phase under way
        (Manifest.linked_after)."""
        assert self.phase
        return self._directory.manifest.linked_after(self.phase.generations)

    def removed_files(self) -> set[str]:
        """Return the files of the manifest that the phase under way needs no more, whether they
        are there or not."""
        if self.phase is None or self.phase.keep_previous:
            return set()
        tiles = self._directory.manifest.tiles
        return {tiles[tile].file for tile in self._needs_now().free()}

    def _needs_now(self) -> Needs:
        assert self.phase
        manifest = self._directory.manifest
        halo = manifest.halo(self.phase.generations)
        return Needs(manifest.tiling, halo, self.phase.done, self.linked())

    def _wanted(self) -> set[str]:
        """Return the names of the files of tiles that are in use."""
        wanted = {tile.file for tile in self._directory.manifest.tiles}
        if self.phase:
            wanted |= {record.file for record in self.phase.done.values() if record}
        return wanted

    # --- moving on ----------------------------------------------------------------------

    def begin(self, generations: int, *, keep_previous: bool = False) -> Phase:
        """Start a phase, or go on with the one under way."""
        directory = self._directory
        directory.check_known()
        if self.phase is None:
            start = directory.manifest.generation
            phase = Phase(start, start + generations, keep_previous)
            line = first_line(directory.manifest, phase)
            with disk_errors(directory.path):
                try:
                    disk.write_whole(self._path, line)
                except BaseException:
                    with contextlib.suppress(OSError):
                        disk.remove(self._path)
                    raise
            self.phase, self._length, self._torn = phase, len(line), False
        with disk_errors(directory.path):
            self.close()  # one of a try that failed
            self._file = disk.open_plain(self._path, os.O_WRONLY | os.O_APPEND, own=True)
            if self._torn:  # others read it
                disk.truncate(self._path, self._length)
                disk.sync(self._file)
                self._torn = False
        self._needs = self._needs_now()
        return self.phase

    def finish_tiles(self, finished: Iterable[Moved]) -> list[str]:
        """Note tiles whose files, if they are new, are safely on disk.

        Returns the paths of files that nobody needs any more: the caller removes them, as that
        takes its time.
        """
        assert self.phase
        directory = self._directory
        with self._changing, disk_errors(directory.path):
            finished = list(finished)
            for _, record, attempt in finished:
                if record and attempt:
                    at = directory.tile_path(record)
                    disk.replace(draft_name(at, attempt), at)
            if any(moved.record for moved in finished):
                disk.sync_folder(directory.tiles_folder)
            self._note(b"".join(tile_line(moved.tile, moved.record) for moved in finished))
            for tile, record, _ in finished:
                self.phase.done[tile] = record
                self._needs.finish(tile, renewed=record is not None)
            if self.phase.keep_previous:
                return []
            tiles = directory.manifest.tiles
            return [directory.tile_path(tiles[tile]) for tile in self._needs.free()]

    def _note(self, lines: bytes) -> None:
        """Append lines to the journal, after removing what a failed attempt wrote of its own."""
        if self._torn:
            disk.truncate(self._path, self._length)
        self._torn = True
        disk.append(self._file, lines)
        disk.sync(self._file)
        self._length += len(lines)
        self._torn = False

    def end(self) -> None:
        """Move the manifest on, as all tiles are done or linked, and remove the old files."""
        phase, old = self.phase, self._directory.manifest
        assert phase
        linked = self.linked()
        tiles, steady = [], []
        for tile, before in enumerate(old.tiles):
            if tile not in linked and tile not in phase.done:
                raise ValueError(f"tile {tile} is not done")
            record = phase.done.get(tile)
            tiles.append(record or before)
            steady.append(record is None)
        moved_on = replace(
            old,
            generation=phase.stop,
            tiles=tuple(tiles),
            steady=tuple(steady),
            last=phase.generations,
            edits=None,
            run=None if old.run and phase.stop >= old.run[1] else old.run,
        )
        try:
            self._directory.write_manifest(moved_on)
        except BaseException:
            if self._directory.manifest.generation == phase.stop:  # the rename was made
                self.close()
                self.phase = None
            raise
        self._drop()
        with disk_errors(self._directory.path):
            for name in old.edits.files if old.edits else ():
                disk.remove(os.path.join(self._directory.tiles_folder, name))
            for before, now in zip(old.tiles, tiles, strict=True):
                if before.file != now.file:
                    disk.remove(self._directory.tile_path(before))

    def _drop(self) -> None:
        self.close()
        self.phase = None
        with disk_errors(self._directory.path):
            disk.remove(self._path)

    # --- cleaning up --------------------------------------------------------------------

    def recover(self, length: int) -> None:
        """Undo what a killed process had begun and not noted.

        length: how many bytes of the journal hold the phase. Raises DamagedDataError where a
        file is missing; then everything is left as it is.
        """
        directory = self._directory
        there = directory.names_there()
        for name in sorted(self._wanted() - self.removed_files() - there):
            missing = os.path.join(directory.tiles_folder, name)
            raise DamagedDataError(f"{missing}: the file is missing")
        self._length = length
        if self.phase is None:
            disk.remove(self._path)
        else:
            disk.truncate(self._path, length)
        self.sweep()
        directory.remove_drafts()

    def sweep(self) -> None:
        """Remove the files of tiles that are not in use, which failed attempts left behind.

        Nothing is removed while the end of the journal is in doubt: it may name a file of which
        noting failed.
        """
        if not self._torn:
            last = self.phase.stop if self.phase else self._directory.manifest.generation
            edits = self._directory.manifest.edits
            self._directory.sweep(self._wanted() | (edits.files if edits else set()), last)
