"""Animations of a run, for notebooks and files."""

from __future__ import annotations

import base64
import io
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lifesim.errors import LifesimError, cannot_write
from lifesim.grid import Box
from lifesim.outputs import AnimationOutput
from lifesim.view import PictureView

if TYPE_CHECKING:
    from lifesim.engine import Life

MOST_FRAMES = 10_000
PIXELS = 1 << 18  # of a frame, unless a scale is asked for


class Animation:
    """A film of a run, as a GIF: a notebook shows it, save() writes it, as an MP4 too.

    data: the bytes of the GIF. first, last: generations. every: generations between two frames.
    """

    def __init__(self, data: bytes, first: int, last: int, every: int) -> None:
        """Take over the bytes of a GIF."""
        self.data, self.first, self.last, self.every = data, first, last, every

    def __repr__(self) -> str:
        return (
            f"<Animation of generations {self.first} to {self.last}, "
            f"every {self.every}, {len(self.data):,} bytes>"
        )

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": repr(self), "image/gif": base64.b64encode(self.data).decode()}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a .gif, an animated .png or an .mp4.

        An MP4 needs the ffmpeg program, which pip install 'bulkbits[mp4]' brings; it has the
        picture's frames, with colours in half the resolution. Raises LifesimError without that
        program, for another name, and for a path that cannot be written.
        """
        from kernels.draft import Draft

        ending = os.path.splitext(path)[1].lower()
        if ending not in (".gif", ".png", ".mp4"):
            raise LifesimError(
                f"cannot write {os.fspath(path)}: a film here is a .gif, a .png or a .mp4"
            )
        if ending == ".mp4":
            self._save_mp4(path)
            return
        data = self.data if ending == ".gif" else self._as_png()
        with Draft(path, refusal=cannot_write) as draft:
            draft.append(data)

    def _save_mp4(self, path: str | os.PathLike[str]) -> None:
        from PIL import Image, ImageSequence

        from lifesim.mp4 import Mp4Writer

        with Image.open(io.BytesIO(self.data)) as film:
            rate = 1000 / film.info["duration"]
            with Mp4Writer(path, film.width, film.height, rate) as writer:
                for frame in ImageSequence.Iterator(film):
                    writer.append(np.asarray(frame.convert("RGB")))

    def _as_png(self) -> bytes:
        from PIL import Image

        file = io.BytesIO()
        with Image.open(io.BytesIO(self.data)) as film:
            film.save(file, "PNG", save_all=True, loop=0)
        return file.getvalue()


def animate(
    life: Life,
    generations: int,
    every: int = 1,
    *,
    region: Box | None = None,
    scale: int | None = None,
    palette: str = "dark",
    frame_ms: int = 100,
) -> Animation:
    """Run a universe, and return a film of it: see Life.animate()."""
    if every < 1 or generations < 0:
        raise ValueError("a film has frames every 1 or more generations, of 0 or more")
    if generations // every >= MOST_FRAMES:
        raise ValueError(f"a film here has at most {MOST_FRAMES:,} frames: take a larger `every`")
    region = None if region is None else Box(*region)
    view = PictureView(region, scale, palette, pixels=PIXELS)
    first = life.generation
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "film.gif"
        film = AnimationOutput(str(path), view, frame_ms=frame_ms)
        try:
            film.check(*life.bounds)
            film.add(life)
            life.run(generations, every=every, on_snapshot=film.add)
            film.cut()
        finally:
            film.abort()
        data = path.read_bytes()
    return Animation(data, first, life.generation, every)
