"""Where a run's results go: patterns, pictures, animations and series of numbers."""

from __future__ import annotations

import contextlib
import os
import secrets
from abc import ABC, abstractmethod
from pathlib import Path
from typing import TextIO

from lifesim import patterns, render
from lifesim.engine import Life
from lifesim.errors import LifesimError
from lifesim.grid import Box
from lifesim.patterns import Pattern

PICTURE_PIXELS = 1 << 20


class Output(ABC):
    """One --out. add() is called for snapshots, close() once at the end of the run."""

    @abstractmethod
    def add(self, life: Life) -> None: ...

    @abstractmethod
    def close(self, life: Life) -> list[str]:
        """Write what is left to write; the paths that exist now because of it."""

    def abort(self) -> None:
        """Leave nothing half-written."""


class View:
    """Which cells pictures show, and how."""

    def __init__(
        self, region: Box | None = None, scale: int | None = None, palette: str = "dark"
    ) -> None:
        self.region, self.scale, self.palette = region, scale, palette

    def levels(self, life: Life) -> render.Levels:
        region = self.region or Box(0, 0, life.width, life.height)
        scale = self.scale
        if scale is None:
            scale = render.choose_scale(region.width, region.height, PICTURE_PIXELS)
        return render.density_levels(life.grid(), region, scale)


def open_output(path: str, every: int | None, view: View) -> Output:
    """The output that a path's extension asks for.

    Raises LifesimError for an unknown extension or a folder that cannot be written:
    before the run, not after it.
    """
    check_target(path)
    suffix = Path(path).suffix.lower()
    if suffix == ".csv":
        return _Series(path)
    if suffix == ".gif":
        if every is None:
            raise LifesimError(f"{path}: an animation needs --every")
        return _Animation(path, view)
    if suffix == ".png":
        return _Snapshots(path, every, view)
    plain = path.lower().removesuffix(".gz")
    extensions = [e for group in patterns.formats().values() for e in group]
    if path != "-" and not plain.endswith(tuple(extensions)):
        raise LifesimError(
            f"cannot write {path}: the name must end in .png, .gif, .csv or {', '.join(extensions)}"
        )
    return _Snapshots(path, every, None)


def check_target(path: str) -> None:
    """Raise LifesimError where no file can be made at path ("-" is standard output)."""
    if path == "-":
        return
    folder = Path(path).absolute().parent
    if not folder.is_dir():
        raise LifesimError(f"cannot write {path}: there is no folder {folder}")
    if not os.access(folder, os.W_OK):
        raise LifesimError(f"cannot write {path}: the folder is read-only")
    if Path(path).is_dir():
        raise LifesimError(f"cannot write {path}: it is a folder")


class _Snapshots(Output):
    """A pattern or picture of the end, and with --every one of each snapshot beside it."""

    def __init__(self, path: str, every: int | None, view: View | None) -> None:
        self._path, self._every, self._view = path, every, view
        self._written: list[str] = []

    def add(self, life: Life) -> None:
        if self._every is not None and self._path != "-":
            path = Path(self._path)
            suffixes = "".join(path.suffixes[-2:] if path.suffix == ".gz" else path.suffixes[-1:])
            stem = path.name.removesuffix(suffixes)
            self._write(life, str(path.with_name(f"{stem}-{life.generation:08d}{suffixes}")))

    def close(self, life: Life) -> list[str]:
        self._write(life, self._path)
        return self._written

    def _write(self, life: Life, path: str) -> None:
        if self._view is not None:
            render.save_png(path, self._view.levels(life), self._view.palette)
        else:
            patterns.write(pattern_of(life), path)
        self._written.append(path)


class _Animation(Output):
    def __init__(self, path: str, view: View) -> None:
        self._path, self._view = path, view
        self._writer: render.GifWriter | None = None

    def add(self, life: Life) -> None:
        if self._writer is None:
            self._writer = render.GifWriter(self._path, self._view.palette)
        self._writer.append(self._view.levels(life))

    def close(self, life: Life) -> list[str]:
        if self._writer is None:
            self.add(life)
        assert self._writer is not None
        self._writer.close()
        return [self._path]

    def abort(self) -> None:
        if self._writer is not None:
            self._writer.abort()


class _Series(Output):
    """generation,population,density: a line a snapshot, and one for the end."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._temporary = f"{path}.{secrets.token_hex(4)}.tmp"
        self._last = -1
        self._out: TextIO | None = None

    def add(self, life: Life) -> None:
        try:
            if self._out is None:
                self._out = open(self._temporary, "x", encoding="ascii")  # noqa: SIM115
                self._out.write("generation,population,density\n")
            if life.generation == self._last:
                return
            self._last = life.generation
            live = life.grid().population()
            density = live / (life.width * life.height)
            self._out.write(f"{life.generation},{live},{density:.9g}\n")
            self._out.flush()
        except OSError as error:
            raise LifesimError(f"cannot write {self._path}: {error.strerror or error}") from None

    def close(self, life: Life) -> list[str]:
        self.add(life)
        assert self._out is not None
        try:
            self._out.flush()
            os.fsync(self._out.fileno())
            self._out.close()
            os.replace(self._temporary, self._path)
        except OSError as error:
            raise LifesimError(f"cannot write {self._path}: {error.strerror or error}") from None
        return [self._path]

    def abort(self) -> None:
        if self._out is not None:
            with contextlib.suppress(OSError):
                self._out.close()
            with contextlib.suppress(OSError):
                os.unlink(self._temporary)


def pattern_of(life: Life) -> Pattern:
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
