"""Where a run's results go: patterns, pictures, animations and series of numbers."""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Protocol

from lifesim import gif, patterns, render
from lifesim.draft import Draft
from lifesim.errors import LifesimError
from lifesim.grid import BitGrid, Box
from lifesim.patterns import Pattern
from lifesim.rule import Rule
from lifesim.store.make import check_room, from_grid, make_universe
from lifesim.store.making import check_new
from lifesim.store.tiling import tile_universe
from lifesim.topology import Topology

PICTURE_PIXELS = 1 << 20


class Holder(Protocol):
    """Anything that holds the cells of a universe, of some generation."""

    @property
    def width(self) -> int: ...
    @property
    def height(self) -> int: ...
    @property
    def generation(self) -> int: ...
    @property
    def rule(self) -> Rule: ...
    @property
    def topology(self) -> Topology: ...
    def grid(self) -> BitGrid: ...


class Drawn(Protocol):
    """Anything that can be looked at."""

    @property
    def width(self) -> int: ...
    @property
    def height(self) -> int: ...
    def levels(self, box: Box, scale_log2: int) -> render.Levels: ...


class Running(Holder, Drawn, Protocol):
    """What outputs ask of a universe that evolves: Life in memory, StreamedLife on disk."""

    def population(self) -> int: ...


class Output(ABC):
    """One --out. check() comes first, add() is called for snapshots, close() once at the end,
    or cut() where a universe on disk stopped between two generations.

    written: the paths that exist because of it, so far. After a failed add() the
    output can go on, or be closed with what it has.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.written: list[str] = []

    def check(self, width: int, height: int) -> None:  # noqa: B027
        """Raise LifesimError for what cannot be written of a universe of that size."""

    @abstractmethod
    def add(self, life: Running) -> None: ...

    @abstractmethod
    def close(self, life: Running) -> None:
        """Write what is left to write."""

    @property
    def has_snapshots(self) -> bool:
        """Whether there is something to write without the end."""
        return False

    def cut(self) -> None:  # noqa: B027
        """Write the snapshots, if there are any."""

    def abort(self) -> None:  # noqa: B027
        """Leave nothing half-written. Does nothing to what close() has finished."""


class View:
    """Which cells pictures show, and how. Raises RenderError for an unknown palette."""

    def __init__(
        self, region: Box | None = None, scale: int | None = None, palette: str = "dark"
    ) -> None:
        render.palette_table(palette)
        self.region, self.scale, self.palette = region, scale, palette

    def image_size(self, width: int, height: int) -> tuple[int, int]:
        """Pixels of a picture of a width x height universe.

        Raises RenderError for a region outside it and for too large a picture.
        """
        box, scale = self._frame(width, height)
        if not (-box.width < box.x < width and -box.height < box.y < height):
            raise render.RenderError(
                f"region {box.x},{box.y},{box.width}x{box.height} lies outside "
                f"the {width}x{height} universe"
            )
        return render.image_size(box.width, box.height, scale)

    def levels(self, life: Drawn) -> render.Levels:
        return life.levels(*self._frame(life.width, life.height))

    def _frame(self, width: int, height: int) -> tuple[Box, int]:
        box = self.region or Box(0, 0, width, height)
        if self.scale is not None:
            return box, self.scale
        return box, render.choose_scale(box.width, box.height, PICTURE_PIXELS)


def open_output(path: str, every: int | None, view: View, origin: str = "") -> Output:
    """The output that a path's extension asks for.

    origin: what the universe began as, for a directory to say. Raises LifesimError for an
    unknown extension or a place that cannot be written to: before the run, not after it.
    """
    plain = path.lower().removesuffix(".gz")
    extensions = list(dict.fromkeys(e for known in patterns.formats().values() for e in known))
    output: Output
    if is_directory_name(path):
        return _Directory(path, origin)
    if path == "-" or plain.endswith(tuple(extensions)):
        output = _Patterns(path, every)
    elif path.lower().endswith(".csv"):
        output = _Series(path)
    elif path.lower().endswith(".png"):
        output = _Pictures(path, every, view)
    elif path.lower().endswith(".gif"):
        if every is None:
            raise LifesimError(f"{path}: an animation needs --every")
        output = _Animation(path, view)
    else:
        known = ", ".join([".png", ".gif", ".csv", *extensions])
        raise LifesimError(f"cannot write {path}: the name must end in one of {known}")
    check_target(path)
    return output


def is_directory_name(path: str) -> bool:
    """Whether a path to be written names a universe directory: it has no extension."""
    if path in ("", "-"):
        return False
    # soup-64x64-0.5-1 ends in a number.
    return path.endswith("/") or not re.match(r"\.[A-Za-z]", Path(path).suffix)


def check_target(path: str) -> None:
    """Raise LifesimError where no file can be made at path ("-" is standard output)."""
    if path == "-":
        return
    folder = Path(path).absolute().parent
    try:
        if not folder.is_dir():
            raise LifesimError(f"cannot write {path}: there is no folder {folder}")
        if os.path.isdir(path):
            raise LifesimError(f"cannot write {path}: it is a folder")
        if os.path.exists(path) and not os.path.isfile(path):
            return  # a device or a pipe: opening it may wait for a reader
        Draft(path).drop()
        os.stat(path)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise LifesimError(f"cannot write {path}: {error.strerror or error}") from None


class _Snapshots(Output):
    """A file of the end, and with --every one of each snapshot beside it."""

    def __init__(self, path: str, every: int | None) -> None:
        super().__init__(path)
        self._every = every

    def add(self, life: Running) -> None:
        if self._every is not None and self.path != "-":
            self._write(life, numbered(self.path, life.generation))

    def close(self, life: Running) -> None:
        self._write(life, self.path)

    def _write(self, life: Running, path: str) -> None:
        self.save(life, path)
        self.written.append(path)

    @abstractmethod
    def save(self, life: Running, path: str) -> None: ...


class _Patterns(_Snapshots):
    def save(self, life: Running, path: str) -> None:
        patterns.write(pattern_of(life), path)


class _Directory(Output):
    """The end as a universe directory."""

    def __init__(self, path: str, origin: str) -> None:
        super().__init__(path)
        self._origin = origin
        check_new(path)

    def check(self, width: int, height: int) -> None:
        check_room(self.path, width, height)

    def add(self, life: Running) -> None:
        pass

    def close(self, life: Running) -> None:
        tiling = tile_universe(life.width, life.height, life.topology is Topology.TORUS)
        source = from_grid(life.grid())
        make_universe(
            self.path,
            tiling,
            source,
            rule=life.rule,
            generation=life.generation,
            origin=self._origin,
        ).close()
        self.written.append(self.path)


class _Pictures(_Snapshots):
    def __init__(self, path: str, every: int | None, view: View) -> None:
        super().__init__(path, every)
        self._view = view

    def check(self, width: int, height: int) -> None:
        self._view.image_size(width, height)

    def save(self, life: Running, path: str) -> None:
        render.save_png(path, self._view.levels(life), self._view.palette)


class _Animation(Output):
    def __init__(self, path: str, view: View) -> None:
        super().__init__(path)
        self._view = view
        self._writer: gif.GifWriter | None = None
        self._frames = 0

    def check(self, width: int, height: int) -> None:
        gif.check_size(*self._view.image_size(width, height))

    def add(self, life: Running) -> None:
        if self._writer is None:
            self._writer = gif.GifWriter(self.path, self._view.palette)
        self._writer.append(self._view.levels(life))
        self._frames += 1

    def close(self, life: Running) -> None:
        if not self._frames:
            self.add(life)
        self.cut()

    @property
    def has_snapshots(self) -> bool:
        return self._frames > 0

    def cut(self) -> None:
        if self._writer is not None and self._frames:
            self._writer.close()
            self.written.append(self.path)

    def abort(self) -> None:
        if self._writer is not None:
            self._writer.abort()


class _Series(Output):
    """generation,population,density: a line a snapshot, and one for the end."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self._last = -1
        self._draft: Draft | None = None

    def add(self, life: Running) -> None:
        if self._draft is None:
            self._draft = Draft(self.path)
        if life.generation == self._last:
            return
        line = "generation,population,density\n" if self._last < 0 else ""
        live = life.population()
        density = live / (life.width * life.height)
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
    """The name of a snapshot: soup.rle.gz, 50 -> soup-00000050.rle.gz."""
    folder, name = os.path.split(path)
    inner = name[:-3] if name.lower().endswith(".gz") else name
    stem, dot, extension = inner.rpartition(".")
    return os.path.join(
        folder, f"{stem}-{generation:08d}{dot}{extension}{name.removeprefix(inner)}"
    )


def pattern_of(life: Holder) -> Pattern:
    """A universe as a bounded pattern whose file puts each cell back where it was."""
    whole = Pattern(
        life.grid(),
        x=-(life.width // 2),
        y=-(life.height // 2),
        rule=life.rule,
        topology=life.topology,
        size=(life.width, life.height),
        generation=life.generation,
    )
    return whole.trimmed()
