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
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any
from uuid import uuid4

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
    first_line,
    read_journal,
    read_manifest,
    tile_line,
    tile_name,
    write_manifest,
)
from lifesim.store.tilefile import (
    Format,
    TileReader,
    TileRecord,
    TileWriter,
    chunk_rows,
)
from lifesim.store.tiling import Tiling
from lifesim.topology import Topology

MANIFEST, JOURNAL, LOCK, TILES = "manifest.json", "journal.jsonl", "lock", "tiles"
COMPRESSIONS = ("none", "zstd")


def is_universe(path: str | os.PathLike[str]) -> bool:
    """Whether path is a directory that looks like a universe, whole or not."""
    return os.path.isdir(path)


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


class Universe:
    """An open universe directory; a context manager.

    manifest: of the last generation that was whole. phase: the way to the next one, if a
    run stopped on it. Methods that change it are for the one who opened it with
    writing=True, who alone does until close().
    """

    def __init__(self, path: str, manifest: Manifest, phase: Phase | None, lock: Lock | None):
        self.path = path
        self.manifest, self.phase = manifest, phase
        self._lock = lock
        self._changing = threading.Lock()
        self._journal, self._journal_length = -1, 0
        self._torn = False  # whether the journal may be longer than that
        self._needers = np.zeros((0, 0), np.int64)
        self._removable = np.zeros((0, 0), bool)

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

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        tiling: Tiling,
        *,
        rule: Rule,
        generation: int = 0,
        compression: str = "none",
        pyramid: bool = True,
        origin: str = "",
    ) -> Making:
        """A new directory, to be filled tile by tile; see Making. Raises LifesimError where
        there is something already."""
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
            making = Making(cls(path, manifest, None, lock))
            try:
                tiles = os.path.join(path, TILES)
                if not os.path.isdir(tiles):
                    disk.make_folder(tiles)
                for name in os.listdir(tiles):
                    disk.remove(os.path.join(tiles, name))
                return making
            except BaseException:
                making.drop()
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

    def removed_files(self) -> set[str]:
        """Files of the manifest that the phase under way needs no more, there or not."""
        if self.phase is None or self.phase.keep_previous:
            return set()
        columns, rows = self.tiling.touched(self.phase.generations)
        needers = _inverse(columns), _inverse(rows)
        todo = np.ones((self.tiling.down, self.tiling.across), bool)
        for tile in set(self.phase.done) | self.linked():
            todo.flat[tile] = False
        return {
            self.manifest.tiles[tile].file
            for tile, record in self.phase.done.items()
            if record and not _any_of(todo, needers, divmod(tile, self.tiling.across))
        }

    def writer(self, tile: int, generation: int) -> TileWriter:
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
        return TileWriter(
            self.tiles_folder,
            tile_name(row, column, generation),
            self.tiling.box(tile),
            self.manifest.form,
            attributes,
        )

    # --- moving on ---------------------------------------------------------------------

    def set_run(self, run: tuple[int, int] | None) -> None:
        """Note where the run under way starts and ends."""
        if run != self.manifest.run:
            self._write_manifest(replace(self.manifest, run=run))

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
        self._find_needers()
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
            found = self._whose_windows(np.array(manifest.steady), generations)
        if not manifest.rule.birth & 1:
            dead = np.array([not tile.population for tile in manifest.tiles])
            found |= self._whose_windows(dead, generations)
        return found

    def _whose_windows(self, quiet: npt.NDArray[np.bool_], generations: int) -> set[int]:
        """Tiles whose windows hold none but the tiles that are marked."""
        if not quiet.any():
            return set()
        tiling = self.tiling
        columns, rows = tiling.touched(generations)
        marked = quiet.reshape(tiling.down, tiling.across)
        by_row = np.array([marked[touched].all(axis=0) for touched in rows])
        both = np.array([by_row[:, touched].all(axis=1) for touched in columns]).T
        return {int(i) for i in np.flatnonzero(both)}

    def finish_tiles(self, finished: Iterable[tuple[int, TileRecord | None]]) -> list[str]:
        """Note tiles of which the files, if they are new, have their names. For any thread.

        Returns the paths of files that nobody needs any more: they are the caller's to
        remove, as that takes its time.
        """
        assert self.phase
        with self._changing, disk_errors(self.path):
            finished = list(finished)
            if any(record for _, record in finished):
                disk.sync_folder(self.tiles_folder)
            self._note(b"".join(tile_line(*one) for one in finished))
            self.phase.done.update(finished)
            return self._superseded([tile for tile, _ in finished])

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
        self._write_manifest(
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
        self._write_manifest(replace(old, generation=stop, run=run))

    def _write_manifest(self, manifest: Manifest) -> None:
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

    def _find_needers(self) -> None:
        """Of each tile: how many tiles that are yet to be computed read it in this phase,
        and whether its file may go once none does."""
        assert self.phase
        tiling, done = self.tiling, set(self.phase.done) | self.linked()
        self._sources = tiling.touched(self.phase.generations)
        self._needers = np.zeros((tiling.down, tiling.across), np.int64)
        self._removable = np.ones((tiling.down, tiling.across), bool)
        for tile in range(len(tiling)):
            if tile not in done:
                self._needers[self._read_by(tile)] += 1
            elif not self.phase.done.get(tile):  # it keeps its file
                self._removable.flat[tile] = False

    def _read_by(self, tile: int) -> tuple[Any, ...]:
        """Index of the tiles that the window of a tile touches."""
        row, column = divmod(tile, self.tiling.across)
        columns, rows = self._sources
        return np.ix_(rows[row], columns[column])

    def _superseded(self, finished: list[int]) -> list[str]:
        assert self.phase
        for tile in finished:
            self._needers[self._read_by(tile)] -= 1
            if not self.phase.done[tile]:
                self._removable.flat[tile] = False
        if self.phase.keep_previous:
            return []
        paths = []
        for tile in map(int, np.flatnonzero((self._needers == 0) & self._removable)):
            old = self.manifest.tiles[tile].file
            paths.append(os.path.join(self.tiles_folder, old))
            self._removable.flat[tile] = False
        return paths

    def _recover(self, journal_length: int) -> None:
        """Make what a kill left behind as if it had not been begun.

        Raises DamagedDataError where a file is missing; then everything is left as it is.
        """
        try:
            there = set(os.listdir(self.tiles_folder))
        except (FileNotFoundError, NotADirectoryError):
            there = set()
        wanted = {tile.file for tile in self.manifest.tiles}
        if self.phase:
            wanted |= {record.file for record in self.phase.done.values() if record}
        for name in sorted(wanted - self.removed_files() - there):
            raise DamagedDataError(f"{os.path.join(self.tiles_folder, name)}: the file is missing")
        self._journal_length = journal_length
        if self.phase is None:
            disk.remove(self._at(JOURNAL))
        else:
            disk.truncate(self._at(JOURNAL), journal_length)
        for name in there - wanted:
            if TILE_NAME.fullmatch(name):
                disk.remove(os.path.join(self.tiles_folder, name))
        for name in (MANIFEST, JOURNAL):
            disk.remove(self._at(name) + ".tmp")

    def _at(self, name: str) -> str:
        return os.path.join(self.path, name)


class Making:
    """A directory that becomes a universe once all its tiles are there."""

    def __init__(self, universe: Universe) -> None:
        self.universe = universe
        self._records: dict[int, TileRecord] = {}

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
            universe._write_manifest(
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


def _is_remnant(path: str) -> bool:
    """Whether a directory holds nothing but what an interrupted create() left."""
    if not set(os.listdir(path)) <= {LOCK, TILES, MANIFEST + ".tmp"}:
        return False
    tiles = os.path.join(path, TILES)
    return not os.path.isdir(tiles) or all(TILE_NAME.fullmatch(n) for n in os.listdir(tiles))


def _any_of(
    tiles: npt.NDArray[np.bool_], needers: tuple[list[list[int]], list[list[int]]], at: Any
) -> bool:
    """Whether any of the tiles that need the one in row and column `at` is set."""
    columns, rows = needers
    return bool(tiles[np.ix_(rows[at[0]], columns[at[1]])].any())


def _inverse(touched: list[list[int]]) -> list[list[int]]:
    found: list[list[int]] = [[] for _ in touched]
    for reader, sources in enumerate(touched):
        for source in sources:
            found[source].append(reader)
    return found
