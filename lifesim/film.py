"""Films of a universe as files that grow by a picture at a time: animated GIFs, and MP4."""

from __future__ import annotations

from lifesim import gif, mp4
from lifesim.colours import Colours, GifColours, Pixels
from lifesim.mp4 import Mp4Writer
from lifesim.render import Levels, RenderError, palette_table

ENDINGS = ".gif", ".mp4"


def is_film(path: str) -> bool:
    """Tell whether a path names a film."""
    return path.lower().endswith(ENDINGS)


def check_film(path: str, width: int, height: int) -> None:
    """Raise LifesimError for sides, in pixels, that a film of that name cannot have, and for an MP4
    where there is no program that makes one."""
    if path.lower().endswith(".mp4"):
        mp4.find()
        mp4.check_size(width, height)
    else:
        gif.check_size(width, height)


class FilmFile:
    """A film in the making, which appears under its name when it is closed.

    Its pictures are densities, uint8 (rows, columns), or colours, uint8 (rows, columns, 3), all of
    one size. A GIF has 256 colours; of an MP4 colours have half the resolution.
    """

    def __init__(
        self, path: str, palette: str, states: Colours | None, *, frame_ms: int = 100
    ) -> None:
        """Begin a .gif or an .mp4, whose pictures are shown for frame_ms milliseconds each.

        palette: of densities. states: the colours of a rule's states, where pictures are colours.
        Raises LifesimError for a path that cannot be written and a time out of range.
        """
        gif.check_time(frame_ms)
        self.path, self._frame_ms = path, frame_ms
        self._table = palette_table(palette)
        self._shades = None if states is None else GifColours(states)
        self._mp4: Mp4Writer | None = None
        self._shape: tuple[int, ...] = ()
        self._gif: gif.GifWriter | None = None
        if not path.lower().endswith(".mp4"):
            table = self._table if self._shades is None else self._shades.table
            self._gif = gif.GifWriter(path, table, frame_ms=frame_ms)

    def append(self, picture: Levels | Pixels) -> None:
        """Add a picture. Raises LifesimError, for one of another size too."""
        if self._gif is not None:
            is_coloured = picture.ndim == 3 and self._shades is not None
            self._gif.append(self._shades.indices(picture) if is_coloured else picture)  # type: ignore[union-attr]
            return
        colours = self._table[picture] if picture.ndim == 2 else picture
        if self._mp4 is None:
            self._shape = colours.shape
            self._mp4 = Mp4Writer(
                self.path, colours.shape[1], colours.shape[0], 1000 / self._frame_ms
            )
        if colours.shape != self._shape:
            raise RenderError("all pictures of a film have one size")
        self._mp4.append(colours)

    def close(self) -> None:
        """Finish the file. Raises LifesimError where it cannot be written."""
        for writer in self._gif, self._mp4:
            if writer is not None:
                writer.close()

    def abort(self) -> None:
        """Give up: leave any file at the path as it was. Does nothing to a finished film."""
        for writer in self._gif, self._mp4:
            if writer is not None:
                writer.abort()
