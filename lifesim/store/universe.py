"""Universe: a directory that holds a universe of any size, of one generation at a time.

What is on disk is always a generation of the universe, or on its way from one to the next
(a phase), from where the run goes on: whatever is killed, whenever. The order that makes it
so: a file is written under another name, synced and renamed; its folder synced; a line of
the journal written and synced; and only then are files removed that no tile still to be
computed needs.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import threading
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lifesim.digest import finish
from lifesim.errors import DamagedDataError, LifesimError
from lifesim.grid import BitGrid, Box
from lifesim.rule import Rule
from lifesim.store import disk
from lifesim.store.lock import Lock
from lifesim.store.manifest import (
    TILE_NAME,
    Manifest,
    Phase,
    draft_name,
    first_line,
    read_journal,
    read_manifest,
    tile_line,
    tile_name,
    write_manifest,
)
from lifesim.store.needs import Needs
from lifesim.store.tilefile import (
    NO_TILE,
    TileReader,
    TileRecord,
    TileWriter,
)
from lifesim.store.tiling import Tiling
from lifesim.topology import Topology

MANIFEST, JOURNAL, LOCK, TILES = "manifest.json", "journal.jsonl", "lock", "tiles"


@contextlib.contextmanager
def disk_errors(path: str) -> Iterator[None]:
    """Turns what the system refuses into one line that names the universe."""
    try:
        yield
    except OSError as error:
        place = error.filename if isinstance(error.filename, str) else path
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            free = disk.free_bytes(path) if os.path.isdir(path) else 0
            begun = os.path.exists(os.path.join(path, MANIFEST))
            again = " and go on with `lifesim resume`" if begun else ""
            raise LifesimError(
                f"{path}: the disk is full ({free / 1e6:,.0f} MB free): make room{again}"
            ) from None
        raise LifesimError(f"{place}: {error.strerror or error}") from None


class Moved(NamedTuple):
    """A tile that has been moved on. record: of its file; None: its cells stayed the same.

    attempt: that Universe.writer() was given; the file is a draft then.
    """

    tile: int
    record: TileRecord | None
    attempt: str = ""


class Universe:
    """An open universe directory; a context manager.

    manifest: of the last generation that was whole. phase: the way to the next one, if a
    run stopped on it. Methods that change it are for the one who opened it with
    writing=True, who alone does until close(). Pickled, it is one that only reads, at its
    absolute path.
    """

    def __init__(self, path: str, manifest: Manifest, phase: Phase | None, lock: Lock | None):
        self.path = path
        self.manifest, self.phase = manifest, phase
        self._lock = lock
        self._changing = threading.Lock()
        self._journal, self._journal_length = -1, 0
        self._torn = False  # whether the journal may be longer than that

    def __reduce__(self) -> tuple[type, tuple[str, Manifest, Phase | None, None]]:
        return Universe, (os.path.abspath(self.path), self.manifest, self.phase, None)

    # --- opening and making -----------------------------------------------------------

    @classmethod
    def open(
        cls, path: str | os.PathLike[str], *, writing: bool = False, still: bool = False
    ) -> Universe:
        """writing: to change it. still: nobody else may change it meanwhile.

        Raises LifesimError for no universe, a newer one and one in use, DamagedDataError.
        """
        path = os.fspath(path)
        with disk_errors(path):
            if not os.path.isdir(path):
                raise LifesimError(f"{path}: there is no universe directory of that name")
            if not os.path.isfile(os.path.join(path, MANIFEST)):
                raise LifesimError(f"{path}: no universe: it has no {MANIFEST}")
            lock = None
            if writing or still:
                lock = Lock(os.path.join(path, LOCK), shared=not writing)
            try:
                manifest, phase, length = _read_state(path)
                universe = cls(path, manifest, phase, lock)
                if writing:
                    universe._recover(length)
                return universe
            except BaseException:
                if lock:
                    lock.close()
                raise

    def close(self) -> None:
        if self._journal >= 0:
            os.close(self._journal)
            self._journal = -1
        if self._lock:
            self._lock.close()
            self._lock = None

    def __enter__(self) -> Universe:
        return self

    def __exit__(self, *reason: object) -> None:
        self.close()

    # --- what it is --------------------------------------------------------------------

    @property
    def width(self) -> int:
        return self.manifest.tiling.width

    @property
    def height(self) -> int:
        return self.manifest.tiling.height

    @property
    def rule(self) -> Rule:
        return self.manifest.rule

    @property
    def topology(self) -> Topology:
        return self.manifest.topology

    @property
    def tiling(self) -> Tiling:
        return self.manifest.tiling

    @property
    def generation(self) -> int:
        return self.manifest.generation

    @property
    def tiles_folder(self) -> str:
        return os.path.join(self.path, TILES)

    @property
    def is_whole(self) -> bool:
        """Whether all of the manifest's generation is there to be read."""
        return self.phase is None or self.phase.keep_previous

    def population(self) -> int:
        """Live cells. Raises LifesimError between two generations."""
        self._need_whole()
        return self.manifest.population

    def digest(self) -> str:
        """The digest of the cells (lifesim.digest). Raises as population() does."""
        self._need_whole()
        return finish(self.width, self.height, self.manifest.digest_sum)

    def grid(self) -> BitGrid:
        """All cells. Raises GridError where memory does not hold them, and as population()."""
        from lifesim.store import read  # which builds on this module

        return read.whole(self)

    def region(self, box: Box) -> BitGrid:
        """The cells of a region (lifesim.store.read.region)."""
        from lifesim.store import read

        return read.region(self, box)

    def levels(self, box: Box, scale_log2: int) -> npt.NDArray[np.uint8]:
        """How densely the cells of a region live (lifesim.store.read.levels)."""
        from lifesim.store import read

        return read.levels(self, box, scale_log2)

    def _need_whole(self) -> None:
        if not self.is_whole:
            assert self.phase
            raise LifesimError(
                f"{self.path}: on its way from generation {self.phase.start} to "
                f"{self.phase.stop}: `lifesim resume` takes it there"
            )

    def refresh(self) -> None:
        """Look again at what is on disk, for one who only reads. Raises as open() does."""
        with disk_errors(self.path):
            self.manifest, self.phase, _ = _read_state(self.path)

    def now(self) -> Universe:
        """As the journal has it by now, for one who only reads it: between the same
        generations. Raises LifesimError where the phase is over."""
        at = self._at(JOURNAL)
        with disk_errors(self.path):
            data = _bytes_of(at)
        phase = None if data is None else read_journal(data, self.manifest, at)[0]
        if phase is None:
            raise LifesimError(f"{self.path}: no phase is under way from {self.generation} on")
        return Universe(self.path, self.manifest, phase, None)

    def record(self, tile: int, *, newest: bool = False) -> TileRecord:
        """The file of a tile at the manifest's generation, or the newest there is."""
        if newest and self.phase and (record := self.phase.done.get(tile)):
            return record
        return self.manifest.tiles[tile]

    def reader(self, tile: int, *, newest: bool = False) -> TileReader:
        """Raises DamagedDataError, and LifesimError where the system refuses."""
        with disk_errors(self.path):
            return TileReader(
                self.tiles_folder,
                self.record(tile, newest=newest),
                self.tiling.box(tile),
                self.manifest.form,
            )

    def knowing(self, tiles: Container[int]) -> Universe:
        """One for who only reads the files of those tiles: little to be sent."""
        manifest, phase = self.manifest, self.phase
        known = [record if i in tiles else NO_TILE for i, record in enumerate(manifest.tiles)]
        return Universe(
            self.path,
            replace(manifest, tiles=tuple(known), steady=()),
            phase and replace(phase, done={}),
            None,
        )

    def removed_files(self) -> set[str]:
        """Files of the manifest that the phase under way needs no more, there or not."""
        if self.phase is None or self.phase.keep_previous:
            return set()
        free = self._needs_now().free()
        return {self.manifest.tiles[tile].file for tile in free}

    def _needs_now(self) -> Needs:
        assert self.phase
        generations = self.phase.generations
        return Needs(self.tiling, generations, self.phase.done, self.linked())

    def writer(self, tile: int, generation: int, attempt: str = "") -> TileWriter:
        """attempt: of several at once that may make the file, each a draft of its own, of which
        finish_tiles() takes one."""
        row, column = divmod(tile, self.tiling.across)
        x, y, width, height = self.tiling.box(tile)
        attributes: Mapping[str, Any] = {
            "universe": self.manifest.id,
            "generation": generation,
            "x": x,
            "y": y,
            "width": width,
            "height": height,
        }
        name = tile_name(row, column, generation)
        return TileWriter(
            self.tiles_folder,
            name,
            self.tiling.box(tile),
            self.manifest.form,
            attributes,
            draft_name(name, attempt) if attempt else "",
        )

    # --- moving on ---------------------------------------------------------------------

    def set_run(self, run: tuple[int, int] | None) -> None:
        """Note where the run under way starts and ends."""
        if run != self.manifest.run:
            self.write_manifest(replace(self.manifest, run=run))

    def begin_phase(self, generations: int, *, keep_previous: bool = False) -> Phase:
        """Start on the way, or go on where one is under way."""
        if self.phase is None:
            start = self.generation
            phase = Phase(start, start + generations, keep_previous)
            line = first_line(self.manifest, phase)
            with disk_errors(self.path):
                try:
                    disk.write_whole(self._at(JOURNAL), line)
                except BaseException:
                    with contextlib.suppress(OSError):
                        disk.remove(self._at(JOURNAL))
                    raise
            self.phase, self._journal_length, self._torn = phase, len(line), False
        with disk_errors(self.path):
            if self._journal >= 0:  # of a try that failed
                os.close(self._journal)
                self._journal = -1
            self._journal = os.open(self._at(JOURNAL), os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
            if self._torn:  # others read it
                disk.truncate(self._at(JOURNAL), self._journal_length)
                disk.sync(self._journal)
                self._torn = False
        self._needs = self._needs_now()
        return self.phase

    def linked(self) -> set[int]:
        """Tiles that become what they are, in the phase under way.

        Those whose whole window is as it was one phase ago, if a whole number of such
        phases is to come: every cell of the window then repeats itself, but for what
        comes in from its rim, one cell a generation, and does not reach the tile. And
        those whose window is dead, unless dead cells are born of nothing.
        """
        assert self.phase
        return self.linked_after(self.phase.generations)

    def linked_after(self, generations: int) -> set[int]:
        manifest = self.manifest
        found: set[int] = set()
        if manifest.last and generations % manifest.last == 0:
            found = self.tiling.whose_windows(np.array(manifest.steady), generations)
        if not manifest.rule.birth & 1:
            dead = np.array([not tile.population for tile in manifest.tiles])
            found |= self.tiling.whose_windows(dead, generations)
        return found

    def finish_tiles(self, finished: Iterable[Moved]) -> list[str]:
        """Note tiles of which the files, if they are new, last. For any thread.

        Returns the paths of files that nobody needs any more: they are the caller's to
        remove, as that takes its time.
        """
        assert self.phase
        with self._changing, disk_errors(self.path):
            finished = list(finished)
            for _, record, attempt in finished:
                if record and attempt:
                    at = os.path.join(self.tiles_folder, record.file)
                    disk.replace(draft_name(at, attempt), at)
            if any(moved.record for moved in finished):
                disk.sync_folder(self.tiles_folder)
            self._note(b"".join(tile_line(moved.tile, moved.record) for moved in finished))
            for tile, record, _ in finished:
                self.phase.done[tile] = record
                self._needs.finish(tile, renewed=record is not None)
            if self.phase.keep_previous:
                return []
            tiles = self.manifest.tiles
            return [os.path.join(self.tiles_folder, tiles[i].file) for i in self._needs.free()]

    def _note(self, lines: bytes) -> None:
        """Add to the journal. What a try that failed wrote of its lines goes first."""
        if self._torn:
            disk.truncate(self._at(JOURNAL), self._journal_length)
        self._torn = True
        disk.append(self._journal, lines)
        disk.sync(self._journal)
        self._journal_length += len(lines)
        self._torn = False

    def end_phase(self) -> None:
        """All tiles are done or linked: the manifest moves on."""
        phase, old = self.phase, self.manifest
        assert phase
        linked = self.linked()
        tiles, steady = [], []
        for tile, before in enumerate(old.tiles):
            if tile not in linked and tile not in phase.done:
                raise ValueError(f"tile {tile} is not done")
            record = phase.done.get(tile)
            tiles.append(record or before)
            steady.append(record is None)
        self.write_manifest(
            replace(
                old,
                generation=phase.stop,
                tiles=tuple(tiles),
                steady=tuple(steady),
                last=phase.generations,
                run=None if old.run and phase.stop >= old.run[1] else old.run,
            )
        )
        self._drop_journal()
        with disk_errors(self.path):
            for before, now in zip(old.tiles, tiles, strict=True):
                if before.file != now.file:
                    disk.remove(os.path.join(self.tiles_folder, before.file))

    def jump(self, generations: int) -> None:
        """Move on where every tile is linked: nothing but the generation changes."""
        if self.phase or len(self.linked_after(generations)) < len(self.tiling):
            raise ValueError("not every tile is linked")
        old = self.manifest
        stop = old.generation + generations
        run = None if old.run and stop >= old.run[1] else old.run
        self.write_manifest(replace(old, generation=stop, run=run))

    def write_manifest(self, manifest: Manifest) -> None:
        """The universe is this one from now on."""
        with disk_errors(self.path):
            disk.write_whole(self._at(MANIFEST), write_manifest(manifest))
        self.manifest = manifest

    def _drop_journal(self) -> None:
        if self._journal >= 0:
            os.close(self._journal)
            self._journal = -1
        self.phase = None
        with disk_errors(self.path):
            disk.remove(self._at(JOURNAL))

    def _recover(self, journal_length: int) -> None:
        """Make what a kill left behind as if it had not been begun.

        Raises DamagedDataError where a file is missing; then everything is left as it is.
        """
        there, wanted = self._files()
        for name in sorted(wanted - self.removed_files() - there):
            raise DamagedDataError(f"{os.path.join(self.tiles_folder, name)}: the file is missing")
        self._journal_length = journal_length
        if self.phase is None:
            disk.remove(self._at(JOURNAL))
        else:
            disk.truncate(self._at(JOURNAL), journal_length)
        self.sweep()
        for name in (MANIFEST, JOURNAL):
            disk.remove(self._at(name) + ".tmp")

    def _files(self) -> tuple[set[str], set[str]]:
        """Names in the folder of tiles: those there, and those that are in use."""
        try:
            there = set(os.listdir(self.tiles_folder))
        except (FileNotFoundError, NotADirectoryError):
            there = set()
        wanted = {tile.file for tile in self.manifest.tiles}
        if self.phase:
            wanted |= {record.file for record in self.phase.done.values() if record}
        return there, wanted

    def sweep(self) -> None:
        """Remove files of tiles that are not in use: of attempts that came to nothing.

        Not where the end of the journal is in doubt: it may name a file of which noting failed.
        """
        if self._torn:
            return
        there, wanted = self._files()
        with disk_errors(self.path):
            for name in there - wanted:
                if TILE_NAME.fullmatch(name):
                    disk.remove(os.path.join(self.tiles_folder, name))

    def _at(self, name: str) -> str:
        return os.path.join(self.path, name)


def _read_state(path: str) -> tuple[Manifest, Phase | None, int]:
    """Manifest and journal of the same moment, whoever changes them meanwhile."""
    at = os.path.join(path, MANIFEST)
    data = _bytes_of(at)
    while True:
        manifest = read_manifest(data or b"", at)
        journal = _bytes_of(os.path.join(path, JOURNAL))
        again = _bytes_of(at)
        if again == data:
            break
        data = again
    if journal is None:
        return manifest, None, 0
    phase, length = read_journal(journal, manifest, os.path.join(path, JOURNAL))
    count = len(manifest.tiling)
    if phase and not all(0 <= tile < count for tile in phase.done):
        raise DamagedDataError(
            f"{os.path.join(path, JOURNAL)}: the journal names tiles that are not there"
        )
    return manifest, phase, length


def _bytes_of(path: str) -> bytes | None:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise DamagedDataError(f"{path}: no file: something else is in its place")
        with open(fd, "rb", closefd=False) as file:
            return file.read()
    finally:
        os.close(fd)
