"""The outputs of a run: patterns, pictures, animations and series of numbers."""

from __future__ import annotations

import contextlib
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from bulkbits import overwriting
from bulkbits.overwriting import FileKind, begins
from kernels.draft import Draft
from lifesim import patterns, render
from lifesim.colours import Colours, Pixels
from lifesim.engine import Life
from lifesim.errors import LifesimError, cannot_write, writing_to
from lifesim.film import ENDINGS, FilmFile, check_film, is_film
from lifesim.pattern_of import Holder, is_macrocell, pattern_of, squares_of
from lifesim.roll import Roll
from lifesim.store.make import LEAST_ROOM, check_room, from_grid, from_pattern, make_universe
from lifesim.store.making import check_new
from lifesim.store.tiling import tile_universe
from lifesim.topology import Topology, torus_or_plane
from lifesim.tree.picture import GridPicture, TreePicture
from lifesim.view import ColourSource, DensitySource, PictureView


class Running(Holder, DensitySource, Protocol):
    """A universe that evolves, as outputs need it: Life in memory, StreamedLife on disk."""

    def population(self) -> int:
        """Return the number of live cells."""


class Output(ABC):
    """The result that one --out asks for. check() comes first, add() is called for snapshots,
    close() once at the end, or cut() where a universe on disk stopped between two generations.

    written: the paths that exist because of it, so far. After a failed add() the
    output can go on, or be closed with what it has.
    """

    every: int | None = None  # generations between snapshots

    def __init__(self, path: str) -> None:
        self.path = path
        self.written: list[str] = []

    def check(self, width: int, height: int, planes: int = 1) -> None:  # noqa: B027
        """Raise LifesimError for what cannot be written of a universe of that size, 0 along
        an axis without bounds, whose cells are in so many bit planes."""

    @abstractmethod
    def add(self, life: Running) -> None:
        """Take what a snapshot shows."""

    @abstractmethod
    def close(self, life: Running) -> None:
        """Write what is left to write."""

    @property
    def is_of_the_end(self) -> bool:
        """Tell whether all there is to close() is save()."""
        return False

    def save(self, life: Running, path: str) -> None:
        """Write the end at a path, which need not be that of this output."""
        raise NotImplementedError

    @property
    def has_snapshots(self) -> bool:
        """Tell whether there is something to write without the end."""
        return False

    def cut(self) -> None:  # noqa: B027
        """Write the snapshots, if there are any."""

    def abort(self) -> None:  # noqa: B027
        """Leave nothing half-written. Does nothing to what close() has finished."""


def open_output(
    path: str,
    every: int | None,
    view: PictureView,
    origin: str = "",
    inputs: Sequence[str] = (),
    force: bool = False,
) -> Output:
    """Return the output that a path's extension asks for.

    origin: what the universe began as, for a directory to say. inputs, force: see
    check_target(). Raises LifesimError for an unknown extension or a place that cannot be
    written to: before the run, not after it.
    """
    plain = path.lower().removesuffix(".gz")
    extensions = list(dict.fromkeys(e for known in patterns.formats().values() for e in known))
    output: Output
    if is_directory_name(path):
        return _DirectoryOutput(path, origin)
    if path == "-" or plain.endswith(tuple(extensions)):
        output, kind = _PatternOutput(path), PATTERN
    elif path.lower().endswith(".csv"):
        output, kind = _SeriesOutput(path), _SERIES
    elif path.lower().endswith(".png"):
        output, kind = _PictureOutput(path, view), PICTURE
    elif is_film(path):
        if every is None:
            raise LifesimError(f"{path}: an animation needs --every")
        output = AnimationOutput(path, view)
        kind = _ANIMATION if path.lower().endswith(".gif") else _MP4
    else:
        known = ", ".join([".png", *ENDINGS, ".csv", *extensions])
        raise LifesimError(f"cannot write {path}: the name must end in one of {known}")
    output.every = every
    check_target(path, kind, inputs, force)
    if isinstance(output, _SnapshotOutput) and not force:
        for there in output.snapshots_there():
            with writing_to(there):
                overwriting.check_there(there, kind, inputs=inputs)
    return output


def is_directory_name(path: str) -> bool:
    """Tell whether a path to be written names a universe directory: it has no extension."""
    if path in ("", "-"):
        return False
    # soup-64x64-0.5-1 ends in a number.
    return path.endswith("/") or not re.match(r"\.[A-Za-z]", Path(path).suffix)


def check_target(
    path: str, kind: FileKind, inputs: Sequence[str] = (), force: bool = False
) -> None:
    """Raise LifesimError where no file can be made at path ("-" is standard output).

    Unless forced, what is there must be of that kind, and none of the inputs.
    """
    if path == "-":
        return
    folder = Path(path).absolute().parent
    with writing_to(path):
        if not folder.is_dir():
            raise LifesimError(f"cannot write {path}: there is no folder {folder}")
        if os.path.isdir(path):
            raise LifesimError(f"cannot write {path}: it is a folder")
        overwriting.check_target(path, kind, inputs=inputs, force=force)


PATTERN = FileKind("pattern", patterns.looks_like_one)
PICTURE = begins("picture", lambda head: head.startswith(b"\x89PNG"))
_ANIMATION = begins("animation", lambda head: head.startswith(b"GIF8"))
_MP4 = begins("MP4 film", lambda head: head[4:8] == b"ftyp")
_SERIES = begins("series of populations", lambda head: head.startswith(b"generation,population"))


class _SnapshotOutput(Output):
    """A file of the end, and with --every one of each snapshot beside it."""

    def snapshots_there(self) -> list[str]:
        """Return the files that have names of snapshots, and may be written over."""
        if self.every is None or self.path == "-":
            return []
        folder, before, after = _around_number(self.path)
        named = re.compile(rf"{re.escape(before)}[0-9]{{8,}}{re.escape(after)}")
        with contextlib.suppress(OSError), os.scandir(folder or ".") as entries:
            return [os.path.join(folder, e.name) for e in entries if named.fullmatch(e.name)]
        return []

    def add(self, life: Running) -> None:
        if self.every is not None and self.path != "-":
            self._write(life, numbered(self.path, life.generation))

    @property
    def is_of_the_end(self) -> bool:
        return self.path != "-"

    def close(self, life: Running) -> None:
        self._write(life, self.path)

    def _write(self, life: Running, path: str) -> None:
        self.save(life, path)
        self.written.append(path)

    @abstractmethod
    def save(self, life: Running, path: str) -> None: ...


class _PatternOutput(_SnapshotOutput):
    def save(self, life: Running, path: str) -> None:
        whole = squares_of(life) if isinstance(life, Life) and is_macrocell(path) else None
        patterns.write(whole or pattern_of(life), path)


class _DirectoryOutput(Output):
    """The end as a universe directory."""

    def __init__(self, path: str, origin: str) -> None:
        super().__init__(path)
        self._origin = origin
        check_new(path)

    def check(self, width: int, height: int, planes: int = 1) -> None:
        if width and height:
            check_room(self.path, width, height, planes)

    def add(self, life: Running) -> None:
        pass

    @property
    def is_of_the_end(self) -> bool:
        return True

    def close(self, life: Running) -> None:
        self.save(life, self.path)
        self.written.append(self.path)

    def save(self, life: Running, path: str) -> None:
        edges = torus_or_plane(life.topology, f"{self.path}: a universe on disk")
        grid, corner = life.grid(), None
        if not any(life.bounds):
            frame, room = life.frame(), LEAST_ROOM
            corner = frame.x - room, frame.y - room
            size = frame.width + 2 * room, frame.height + 2 * room
            source = from_pattern(grid, (room, room), size, wrap=False)
        else:
            if not all(life.bounds):
                raise LifesimError(f"{self.path}: no universe on disk has bounds one way only")
            size, source = life.bounds, from_grid(grid)
        make_universe(
            path,
            tile_universe(*size, edges is Topology.TORUS, planes=life.rule.planes),
            source,
            rule=life.rule,
            generation=life.generation,
            origin=self._origin,
            corner=corner,
            edge=life.edge_known() if isinstance(life, Life) else None,
        ).close()


class _PictureOutput(_SnapshotOutput):
    def __init__(self, path: str, view: PictureView) -> None:
        super().__init__(path)
        self._view = view

    def check(self, width: int, height: int, planes: int = 1) -> None:
        self._view.image_size(width, height)

    def save(self, life: Running, path: str) -> None:
        if isinstance(life, ColourSource) and self._view.colours(life.rule) is not None:
            render.save_png(path, self._view.pixels(life))
        else:
            render.save_png(path, self._view.levels(life), self._view.palette)


class AnimationOutput(Output):
    """A GIF or an MP4 with a frame of each snapshot, shown for frame_ms milliseconds each."""

    def __init__(self, path: str, view: PictureView, *, frame_ms: int = 100) -> None:
        super().__init__(path)
        self._view, self._frame_ms = view, frame_ms
        self._film: FilmFile | None = None
        self._states: Colours | None = None
        self._roll: Roll | None = None  # of a plane without bounds: its pictures' common frame
        self._frames = 0

    def check(self, width: int, height: int, planes: int = 1) -> None:
        """Raise LifesimError for a film that cannot be made."""
        check_film(self.path, *self._view.image_size(width, height))

    def add(self, life: Running) -> None:
        """Append a frame of the cells as they are now."""
        view = self._view
        if self._film is None:
            self._states = view.colours(life.rule)
            self._film = FilmFile(self.path, view.palette, self._states, frame_ms=self._frame_ms)
        if view.region is None and not all(life.bounds):
            if self._roll is None:
                self._roll = Roll()
            size = view.of(self._roll.frame_with(life.frame())).image_size(0, 0)
            check_film(self.path, *size)
            self._roll.add(life)
        elif self._states is not None and isinstance(life, ColourSource):
            self._film.append(view.pixels(life))
        else:
            self._film.append(view.levels(life))
        self._frames += 1

    def close(self, life: Running) -> None:
        """Write the film; of a run without snapshots, of its end."""
        if not self._frames:
            self.add(life)
        self.cut()

    @property
    def has_snapshots(self) -> bool:
        """Tell whether there is a frame."""
        return self._frames > 0

    def cut(self) -> None:
        """Write the frames there are, if there are any."""
        if self._film is not None and self._frames:
            if self._roll is not None and self._roll.frame:
                view = self._view.of(self._roll.frame)
                for shot in self._roll:
                    self._film.append(self._picture(view, shot))
            self._film.close()
            self.written.append(self.path)

    def _picture(
        self, view: PictureView, shot: GridPicture | TreePicture
    ) -> render.Levels | Pixels:
        """Return a picture of kept cells."""
        if self._states is None or not isinstance(shot, GridPicture):
            return view.levels(shot)
        return view.shot(shot, self._states)

    def abort(self) -> None:
        """Leave nothing half-written. Does nothing to a film that is finished."""
        if self._roll is not None:
            self._roll.close()
        if self._film is not None:
            self._film.abort()


class _SeriesOutput(Output):
    """A table generation,population,density: a line a snapshot, and one for the end."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self._last = -1
        self._draft: Draft | None = None

    def add(self, life: Running) -> None:
        if self._draft is None:
            self._draft = Draft(self.path, refusal=cannot_write)
        if life.generation == self._last:
            return
        line = "generation,population,density\n" if self._last < 0 else ""
        live = life.population()
        frame = life.frame()
        density = live / (frame.width * frame.height)
        line += f"{life.generation},{live},{density:.9g}\n"
        self._draft.append(line.encode())
        self._last = life.generation

    def close(self, life: Running) -> None:
        self.add(life)
        self.cut()

    @property
    def has_snapshots(self) -> bool:
        return self._last >= 0

    def cut(self) -> None:
        if self._draft is not None and self._last >= 0:
            self._draft.finish()
            self.written.append(self.path)

    def abort(self) -> None:
        if self._draft is not None:
            self._draft.drop()


def numbered(path: str, generation: int) -> str:
    """Return the name of a snapshot: soup.rle.gz, 50 -> soup-00000050.rle.gz."""
    folder, before, after = _around_number(path)
    return os.path.join(folder, f"{before}{generation:08d}{after}")


def _around_number(path: str) -> tuple[str, str, str]:
    """Return the folder of snapshots, and their names before and after the generation."""
    folder, name = os.path.split(path)
    inner = name[:-3] if name.lower().endswith(".gz") else name
    stem, dot, extension = inner.rpartition(".")
    return folder, f"{stem}-", f"{dot}{extension}{name.removeprefix(inner)}"
