"""Animated GIFs, written as they grow.

Pillow saves a whole animation only from a list of all its frames; so the header and
the order of things are written here, and each frame is encoded by Pillow.
"""

from __future__ import annotations

import os
from types import TracebackType

import numpy as np
import numpy.typing as npt

from kernels.draft import Draft
from lifesim.errors import cannot_write
from lifesim.render import Levels, RenderError, checked_levels, palette_table

MAX_SIDE = 0xFFFF  # pixels


class GifWriter:
    """An animated GIF that grows by a frame at a time and is written as it grows.

    Used as a context manager it appears under its name when the block ends, and not
    at all where the block raises. Memory holds the last two frames, however many
    there are: of each frame only the rectangle that changed is written.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        palette: str | npt.NDArray[np.uint8] = "dark",
        *,
        frame_ms: int = 100,
        repeat: bool = True,
    ) -> None:
        """Open a temporary file beside path.

        palette: its name, or the 256 colours of levels, uint8 (256, 3).
        Each frame is shown for frame_ms milliseconds, to the nearest ten. Raises
        RenderError for an unknown palette or a time that is not 10 to 655350, and
        LifesimError for a path that cannot be written.
        """
        self._colours = palette_table(palette) if isinstance(palette, str) else palette
        check_time(frame_ms)
        self._frame_ms = (frame_ms + 5) // 10 * 10
        self._repeat = repeat
        self._last: Levels | None = None
        self._draft = Draft(path, refusal=cannot_write)

    def append(self, levels: Levels) -> None:
        """Add a frame: uint8 levels, of one shape (rows, columns) for all frames.

        After a failure the frames before this one are still there. Raises RenderError
        for another shape than the first frame's or sides that a GIF cannot have,
        LifesimError for a full disk, and ValueError once the writer is closed.
        """
        if not self._draft.is_open:
            raise ValueError("this GIF is closed")
        levels = checked_levels(levels)
        if self._last is None:
            check_size(levels.shape[1], levels.shape[0])
            self._draft.append(self._header(levels) + self._frame(0, 0, levels))
        else:
            if levels.shape != self._last.shape:
                raise RenderError(
                    f"frame of {_size_of(levels)} pixels in a GIF of {_size_of(self._last)}"
                )
            self._draft.append(self._frame(*_changed(self._last, levels)))
        self._last = levels.copy()

    def close(self) -> None:
        """Finish the file and put it under its name; nothing if already closed.

        Raises RenderError where there is no frame and LifesimError where the file
        cannot be written.
        """
        if not self._draft.is_open:
            return
        try:
            if self._last is None:
                raise RenderError(f"{self._draft.path}: a GIF has at least one frame")
            self._draft.append(b";")
            self._draft.finish()
        finally:
            self.abort()

    def abort(self) -> None:
        """Give up: remove what was written and leave any file at the path as it was."""
        self._draft.drop()

    def __enter__(self) -> GifWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.abort()

    def _header(self, levels: Levels) -> bytes:
        size = np.array(levels.shape[::-1], "<u2")
        header = b"GIF89a" + size.tobytes()
        header += b"\xf7\0\0" + self._colours.tobytes()  # 256 colours for all frames
        if self._repeat:
            header += b"\x21\xff\x0bNETSCAPE2.0\x03\x01\0\0\0"  # forever
        return header

    def _frame(self, x: int, y: int, levels: Levels) -> bytes:
        from PIL import GifImagePlugin, Image

        image = Image.fromarray(np.ascontiguousarray(levels))
        # Disposal 1: each frame is drawn over the last.
        return b"".join(GifImagePlugin.getdata(image, (x, y), duration=self._frame_ms, disposal=1))


def check_time(frame_ms: int) -> None:
    """Raise RenderError for a time, in milliseconds, that no frame is shown for."""
    if not 10 <= frame_ms <= 655350:
        raise RenderError(f"a frame lasts 10 to 655350 ms, not {frame_ms}")


def check_size(width: int, height: int) -> None:
    """Raise RenderError for sides, in pixels, that a GIF cannot have."""
    if max(width, height) > MAX_SIDE:
        raise RenderError(f"a GIF has at most {MAX_SIDE} pixels a side, not {width}x{height}")


def _changed(old: Levels, new: Levels) -> tuple[int, int, Levels]:
    """Return the corner (x, y) and the pixels of the part of new that differs; one pixel if none
    does."""
    differs = old != new
    rows, cols = np.flatnonzero(differs.any(axis=1)), np.flatnonzero(differs.any(axis=0))
    if not len(rows):
        return 0, 0, new[:1, :1]
    x, y = int(cols[0]), int(rows[0])
    return x, y, new[y : int(rows[-1]) + 1, x : int(cols[-1]) + 1]


def _size_of(levels: Levels) -> str:
    return f"{levels.shape[1]}x{levels.shape[0]}"
