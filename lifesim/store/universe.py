"""A universe of any size in a directory, at one generation at a time.

What is on disk is always a generation of the universe, or on its way from one to the next
(a phase), from where the run goes on: whatever is killed, whenever. The order that makes it
so: a file is written under another name, synced and renamed; its folder synced; a line of
the journal written and synced; and only then are files removed that no tile still to be
computed needs. The files are those of Directory, the phase is PhaseJournal's.
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from lifesim.colours import colours_of, state_colours
from lifesim.digests import finish
from lifesim.errors import LifesimError
from lifesim.grid import BitGrid, Box
from lifesim.pictured import MOST_CELLS, Pictured, show, sketch_scale
from lifesim.rule import Rule
from lifesim.store import plane, read
from lifesim.store.directory import Directory
from lifesim.store.journal import Moved, PhaseJournal
from lifesim.store.lock import Lock
from lifesim.store.manifest import Manifest, Phase
from lifesim.store.names import JOURNAL, LOCK, MANIFEST, MOST_GENERATION, TILES
from lifesim.store.state import check_folder, disk_errors, read_phase, read_state
from lifesim.store.tilefile import NO_TILE, TileRecord
from lifesim.store.tilereader import TileReader
from lifesim.store.tiling import Tiling
from lifesim.topology import Topology, described

__all__ = ["JOURNAL", "LOCK", "MANIFEST", "TILES", "Moved", "Universe", "disk_errors"]


class Universe(Pictured):
    """An open universe directory; a context manager.

    Several threads may read from one at once, but no thread may change or refresh it
    meanwhile, except by finish_tiles(), which any may call.

    directory: its files. journal: its phase under way. Methods that change it are for the one
    who opened it with writing=True, and alone has that right until close(). Pickled, it becomes
    one that only reads, at its absolute path.
    """

    def __init__(self, path: str, manifest: Manifest, phase: Phase | None, lock: Lock | None):
        self.directory = Directory(path, manifest)
        self.journal = PhaseJournal(self.directory, phase)
        self._lock = lock

    def __reduce__(self) -> tuple[type, tuple[str, Manifest, Phase | None, None]]:
        return Universe, (os.path.abspath(self.path), self.manifest, self.phase, None)

    # --- opening ------------------------------------------------------------------------

    @classmethod
    def open(
        cls, path: str | os.PathLike[str], *, writing: bool = False, still: bool = False
    ) -> Universe:
        """Open the universe of a directory.

        writing: to change it. still: nobody else may change it meanwhile. Raises LifesimError
        where there is none, or a newer one, or it is in use; DamagedDataError.
        """
        path = os.fspath(path)
        with disk_errors(path):
            if not os.path.isdir(path):
                raise LifesimError(f"{path}: there is no universe directory of that name")
            if not os.path.isfile(os.path.join(path, MANIFEST)):
                raise LifesimError(f"{path}: no universe: it has no {MANIFEST}")
            check_folder(os.path.join(path, TILES))
            lock = None
            if writing or still:
                lock = Lock(os.path.join(path, LOCK), shared=not writing)
            try:
                manifest, phase, length = read_state(path)
                universe = cls(path, manifest, phase, lock)
                if writing:
                    universe.journal.recover(length)
                return universe
            except BaseException:
                if lock:
                    lock.close()
                raise

    def close(self) -> None:
        """Let others change the universe."""
        self.journal.close()
        if self._lock:
            self._lock.close()
            self._lock = None

    def __enter__(self) -> Universe:
        return self

    def __exit__(self, *reason: object) -> None:
        self.close()

    # --- what it is ---------------------------------------------------------------------

    @property
    def path(self) -> str:
        """Return the path of the directory."""
        return self.directory.path

    @property
    def manifest(self) -> Manifest:
        """Return the facts of the last generation that was whole."""
        return self.directory.manifest

    @property
    def phase(self) -> Phase | None:
        """Return the way to the next generation, if a run is or stopped on it."""
        return self.journal.phase

    @property
    def width(self) -> int:
        """Return the number of columns that the tiles hold."""
        return self.manifest.tiling.width

    @property
    def height(self) -> int:
        """Return the number of rows that the tiles hold."""
        return self.manifest.tiling.height

    @property
    def rule(self) -> Rule:
        """Return the rule."""
        return self.manifest.rule

    @property
    def topology(self) -> Topology:
        """Return how the edges meet."""
        return self.manifest.topology

    @property
    def tiling(self) -> Tiling:
        """Return how the universe is cut into tiles."""
        return self.manifest.tiling

    @property
    def generation(self) -> int:
        """Return the last generation that was whole."""
        return self.manifest.generation

    @property
    def tiles_folder(self) -> str:
        """Return the path of the folder that holds the files of tiles."""
        return self.directory.tiles_folder

    @property
    def is_whole(self) -> bool:
        """Tell whether all of the manifest's generation is there to be read."""
        return self.phase is None or self.phase.keep_previous

    @property
    def bounds(self) -> tuple[int, int]:
        """Return width and height; 0 for none of a plane without bounds."""
        return (0, 0) if self.manifest.corner else (self.width, self.height)

    # --- its cells ----------------------------------------------------------------------

    def population(self) -> int:
        """Return the number of live cells. Raises LifesimError between two generations."""
        self._need_whole()
        return self.manifest.population

    def frame(self) -> Box:
        """Return the rectangle that grid() holds: for a plane without bounds the smallest around
        what lives, in the plane's coordinates. Raises as population() does."""
        return plane.frame(self) if self.manifest.corner else Box(0, 0, self.width, self.height)

    def digest(self) -> str:
        """Return the digest of the cells (lifesim.digests). Raises as population() does."""
        self._need_whole()
        if self.manifest.corner:
            return plane.digest(self)
        return finish(self.width, self.height, *self.manifest.digest_sums)

    def grid(self) -> BitGrid:
        """Return the cells of frame(). Raises GridError where memory does not hold them, and as
        population() does."""
        return plane.grid(self) if self.manifest.corner else read.whole(self)

    def region(self, box: Box) -> BitGrid:
        """Return the cells of a region (lifesim.store.read.region)."""
        return read.region(self, box)

    def levels(self, box: Box, scale_log2: int) -> npt.NDArray[np.uint8]:
        """Return how densely the cells of a region live (lifesim.store.read.levels)."""
        return read.levels(self, box, scale_log2)

    # --- in a notebook ------------------------------------------------------------------

    def __repr__(self) -> str:
        width, height = self.bounds
        size = f"{width}x{height}" if width else "no bounds"
        about = f"{self.rule}, {described(self.topology)}, {size}"
        return f"<Universe {self.path!r}, {about}, at generation {self.generation}>"

    def _facts(self) -> str:
        size = f"{self.width:,} × {self.height:,}"
        live = f"generation {self.generation:,} · population {self.manifest.population:,}"
        return f"{live} · {size} · {self.rule} · {self.path}"

    def _sketch(self) -> npt.NDArray[np.uint8] | None:
        frame = Box(0, 0, self.width, self.height)  # of all tiles
        coloured = state_colours(self.rule) is not None
        reads_cells = coloured or not self.manifest.form.top
        if reads_cells and frame.width * frame.height > MOST_CELLS >> 8:
            return None
        if coloured:
            return read.pixels(self, frame, sketch_scale(frame), colours_of(self.rule, "dark"))
        return read.levels(self, frame, sketch_scale(frame))

    def show(self, *, height: int = 420) -> Any:
        """Return a widget for a notebook that pans and zooms what is on disk, and follows whoever
        moves it on. height: in pixels. Needs anywidget: pip install 'bulkbits[notebook]'."""
        return show(self, height=height)

    def _need_whole(self) -> None:
        phase = self.phase
        if phase and not phase.keep_previous:
            raise LifesimError(
                f"{self.path}: on its way from generation {phase.start} to "
                f"{phase.stop}: `lifesim resume` takes it there"
            )

    # --- its files ----------------------------------------------------------------------

    def refresh(self) -> None:
        """Look again at what is on disk, for one who only reads. Raises as open() does."""
        with disk_errors(self.path):
            self.directory.manifest, self.journal.phase, _ = read_state(self.path)

    def now(self) -> Universe:
        """Return the universe as its journal has it by now, for one who only reads it: between
        the same generations. Raises LifesimError where the phase is over."""
        with disk_errors(self.path):
            phase, _ = read_phase(self.path, self.manifest)
        if phase is None:
            raise LifesimError(f"{self.path}: no phase is under way from {self.generation} on")
        return Universe(self.path, self.manifest, phase, None)

    def record(self, tile: int, *, newest: bool = False) -> TileRecord:
        """Return the facts of a tile's file at the manifest's generation, or of its newest."""
        if newest and self.phase and (record := self.phase.done.get(tile)):
            return record
        return self.manifest.tiles[tile]

    def reader(self, tile: int, *, newest: bool = False) -> TileReader:
        """Open the file of record(). Raises DamagedDataError, and LifesimError where the system
        refuses."""
        return self.directory.reader(tile, self.record(tile, newest=newest))

    def knowing(self, tiles: Container[int]) -> Universe:
        """Return a copy for one who only reads the files of those tiles: it pickles small."""
        manifest, phase = self.manifest, self.phase
        known = [record if i in tiles else NO_TILE for i, record in enumerate(manifest.tiles)]
        return Universe(
            self.path,
            replace(manifest, tiles=tuple(known), steady=()),
            phase and replace(phase, done={}),
            None,
        )

    # --- moving on ----------------------------------------------------------------------

    def set_run(self, run: tuple[int, int] | None) -> None:
        """Note where the run under way starts and ends. Raises LifesimError for too far an end."""
        if run and run[1] > MOST_GENERATION:
            raise LifesimError(f"{self.path}: no universe has so many generations: 10^60 at most")
        if run != self.manifest.run:
            self.directory.write_manifest(replace(self.manifest, run=run))

    def begin_phase(self, generations: int, *, keep_previous: bool = False) -> Phase:
        """Start a phase of so many generations, or go on with the one under way."""
        return self.journal.begin(generations, keep_previous=keep_previous)

    def finish_tiles(self, finished: Iterable[Moved]) -> list[str]:
        """Note tiles that have been moved on (PhaseJournal.finish_tiles). Safe for any thread."""
        return self.journal.finish_tiles(finished)

    def end_phase(self) -> None:
        """Move the manifest on to the generation that the phase led to."""
        self.journal.end()

    def jump(self, generations: int) -> None:
        """Move on where every tile is linked: nothing changes except the generation."""
        old = self.manifest
        if self.phase or len(old.linked_after(generations)) < len(self.tiling):
            raise ValueError("not every tile is linked")
        stop = old.generation + generations
        run = None if old.run and stop >= old.run[1] else old.run
        self.directory.write_manifest(replace(old, generation=stop, run=run, edits=None))
        if old.edits:
            self.journal.sweep()
