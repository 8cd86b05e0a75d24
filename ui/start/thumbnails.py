"""Small pictures of pattern files and of universe directories.

A thumbnail is drawn at one pixel a cell or less; whoever shows it enlarges it. Files and
directories that would take long, or much memory, have none, and the error says why.
"""

from __future__ import annotations

import errno
import io
import os
import re
import stat
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lifesim import patterns
from lifesim.colours import state_colours
from lifesim.errors import LifesimError
from lifesim.grid import Box, human_bytes
from lifesim.patterns import Pattern
from lifesim.render import Levels
from lifesim.rule import LIFE
from lifesim.store import plane
from lifesim.store.names import MANIFEST
from lifesim.store.universe import Universe
from lifesim.tree.picture import GridPicture, TreePicture
from lifesim.view import DensitySource, PictureView

WIDEST, HIGHEST = 320, 200  # pixels
_MOST_TEXT = 8 << 20  # bytes of a file
_MOST_PACKED = 1 << 20  # of a compressed one
_MOST_CELLS = 1 << 28  # that the header of an RLE file may name
_MOST_READ = 1 << 28  # cells of a universe on disk that has no pyramid
_MOST_TILES = 1024
_SECONDS = 4.0  # of computing
_SIZES = re.compile(rb"^[ \t]*x\s*=\s*(\d+)\s*,\s*y\s*=\s*(\d+)", re.M)


class ThumbnailError(LifesimError):
    """Raised for what no thumbnail is made of, in a few words that stand below its name."""


class FileGoneError(ThumbnailError):
    """Raised for a file or directory that is not there any more."""


@dataclass(frozen=True, slots=True)
class Thumbnail:
    """A small picture. pixels: uint8 (rows, columns), how densely cells live, or colours
    (rows, columns, 3)."""

    pixels: Levels

    def within(self, width: int, height: int) -> Levels:
        """Return the pixels, or fewer: no more than width x height. Each is the brightest of a
        block, as the mean of a lonely glider's is not seen."""
        high, wide = self.pixels.shape[:2]
        side = max(-(-wide // max(width, 1)), -(-high // max(height, 1)))
        if side == 1:
            return self.pixels
        rows = np.maximum.reduceat(self.pixels, np.arange(0, high, side), axis=0)
        return np.maximum.reduceat(rows, np.arange(0, wide, side), axis=1)


def fingerprint(path: str) -> str:
    """Return a text that is another once the file or directory has been changed. Raises
    FileGoneError, and ThumbnailError for what is neither."""
    try:
        facts = os.stat(path)
        if stat.S_ISDIR(facts.st_mode):
            facts = os.stat(os.path.join(path, MANIFEST))
        elif not stat.S_ISREG(facts.st_mode):
            raise ThumbnailError("not a file")
    except FileNotFoundError:
        raise FileGoneError("gone") from None
    except (OSError, ValueError) as error:
        if getattr(error, "errno", None) == errno.ENOTDIR:
            raise FileGoneError("gone") from None
        raise ThumbnailError("cannot be read") from None
    return f"{path}\0{facts.st_mtime_ns}\0{facts.st_size}\0{facts.st_ino}"


def drawn(path: str, is_cancelled: Callable[[], bool] = lambda: False) -> Thumbnail:
    """Draw a thumbnail of a file or directory. Raises ThumbnailError where there is none to be had,
    and ReadCancelledError when it is cancelled."""
    try:
        if os.path.isdir(path):
            return _of_directory(path)
        return of_pattern(_read(path, is_cancelled))
    except (ThumbnailError, patterns.ReadCancelledError):
        raise
    except MemoryError:
        raise ThumbnailError("too large for a preview") from None
    except FileNotFoundError:
        raise FileGoneError("gone") from None
    except (LifesimError, OSError):
        raise ThumbnailError("cannot be read") from None


def of_pattern(pattern: Pattern) -> Thumbnail:
    """Draw all that lives of a pattern."""
    if pattern.squares is not None:
        far = TreePicture(pattern.squares)
        return Thumbnail(_view(far).levels(far))
    grid = pattern.grid
    picture = GridPicture(grid, Box(0, 0, grid.width, grid.height))
    colours = state_colours(pattern.rule or LIFE)
    view = _view(picture)
    return Thumbnail(view.levels(picture) if colours is None else view.shot(picture, colours))


def _read(path: str, is_cancelled: Callable[[], bool]) -> Pattern:
    """Read a pattern that is small enough."""
    with open(path, "rb", opener=_without_waiting) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ThumbnailError("not a file")
        data = file.read(_MOST_TEXT + 1)
    if len(data) > _MOST_TEXT:
        raise ThumbnailError(f"larger than {human_bytes(_MOST_TEXT)}: no preview")
    if data.startswith((b"\x1f\x8b", b"PK")) and len(data) > _MOST_PACKED:
        raise ThumbnailError(f"larger than {human_bytes(_MOST_PACKED)} packed: no preview")
    named = _SIZES.search(data[: 1 << 16])
    if named and (max(map(len, named.groups())) > 9 or int(named[1]) * int(named[2]) > _MOST_CELLS):
        raise ThumbnailError("too large for a preview")
    end = time.thread_time() + _SECONDS

    def is_over() -> bool:
        if time.thread_time() > end:
            raise ThumbnailError("takes too long for a preview")
        return is_cancelled()

    return patterns.read(io.BytesIO(data), name=path, is_cancelled=is_over, as_squares=None)


def _without_waiting(path: str, flags: int) -> int:
    """Open a file, but never wait for the other end of a pipe."""
    return os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)


def _of_directory(path: str) -> Thumbnail:
    """Draw a universe on disk from its pyramid, or from its cells where these are few."""
    with Universe.open(path) as universe:
        manifest = universe.manifest
        in_colours = state_colours(manifest.rule) is not None
        if universe.width * universe.height > _MOST_READ and (in_colours or not manifest.form.top):
            raise ThumbnailError("too large for a preview")
        if len(manifest.tiling) > _MOST_TILES:
            raise ThumbnailError(f"more than {_MOST_TILES:,} tiles: no preview")
        picture = plane.PlanePicture(universe)
        view = _view(picture)
        return Thumbnail(view.pixels(picture) if in_colours else view.levels(picture))


def _view(source: DensitySource) -> PictureView:
    """Return a view of all cells, at the nearest scale of a pixel a cell or less that fits."""
    frame = source.frame()
    scale = 0
    while -(-frame.width >> scale) > WIDEST or -(-frame.height >> scale) > HIGHEST:
        scale += 1
    return PictureView(frame, scale)
