"""MP4 films by the ffmpeg program, which is fed raw pictures by a pipe.

The program is that of the PATH, else that of the package imageio-ffmpeg, which is one with H.264.
Of all pixel formats yuv420p is shown by every player; colours have half the resolution in it,
so that cells of one pixel are less sharp than in a GIF.
"""

from __future__ import annotations

import os
import select
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from contextlib import suppress

import numpy as np
import numpy.typing as npt

from kernels.draft import Draft
from lifesim.errors import LifesimError, cannot_write

PROGRAM = "ffmpeg"
MAX_SIDE = 16384  # pixels, of H.264
_PATIENCE = 0.1  # seconds between two looks at who waits

Colours = npt.NDArray[np.uint8]


class FfmpegError(LifesimError):
    """Raised where there is no such program, or it has failed."""


def find() -> str:
    """Return the path of the program. Raises FfmpegError."""
    path = shutil.which(PROGRAM)
    if path is not None:
        return path
    try:
        import imageio_ffmpeg

        return str(imageio_ffmpeg.get_ffmpeg_exe())
    except (ImportError, RuntimeError):
        raise FfmpegError(
            f"an MP4 needs the {PROGRAM} program: pip install 'bulkbits[mp4]', or make a GIF"
        ) from None


def check_size(width: int, height: int) -> None:
    """Raise FfmpegError for sides, in pixels, that a film cannot have."""
    if max(width, height) > MAX_SIDE:
        raise FfmpegError(f"a film has at most {MAX_SIDE:,} pixels a side, not {width}x{height}")


class Mp4Writer:
    """Writes a film: a context manager whose file appears when the block ends, and not where it
    raises."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        width: int,
        height: int,
        rate: float,
        alive: Callable[[], None] = lambda: None,
    ) -> None:
        """Start the program.

        width, height: in pixels; one more is added where they are odd, as films need. alive: is
        called several times a second, and may raise. Raises FfmpegError for sides that no film has
        or where there is no program, LifesimError for a path that cannot be written.
        """
        program = find()
        check_size(width, height)
        self.path, self._alive = os.fspath(path), alive
        self._shape = height + height % 2, width + width % 2, 3
        self._draft = Draft(path, regular=True, refusal=cannot_write)  # before anything is computed
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 -- closed by _tidy()
        try:
            self._process = subprocess.Popen(
                [
                    *(program, "-hide_banner", "-loglevel", "error", "-y"),
                    *("-f", "rawvideo", "-pixel_format", "rgb24"),
                    *("-video_size", f"{self._shape[1]}x{self._shape[0]}"),
                    *("-framerate", f"{rate:g}", "-i", "-", "-an"),
                    *("-pix_fmt", "yuv420p", "-movflags", "+faststart"),
                    *("-f", "mp4", self._draft.temporary),
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=self._said,
                start_new_session=True,  # Ctrl-C is for whoever feeds it
            )
        except OSError as error:
            self._tidy()
            raise FfmpegError(f"cannot start {program}: {error.strerror or error}") from None
        assert self._process.stdin is not None
        self._pipe = self._process.stdin.fileno()
        os.set_blocking(self._pipe, False)

    def append(self, colours: Colours) -> None:
        """Add a picture: uint8 (height, width, 3). Raises FfmpegError."""
        if colours.shape != self._shape:
            more = [(0, all_ - some) for all_, some in zip(self._shape, colours.shape, strict=True)]
            colours = np.pad(colours, more, mode="edge")
        left = np.ascontiguousarray(colours).data.cast("B")
        while left:
            try:
                left = left[os.write(self._pipe, left) :]
            except BlockingIOError:
                select.select([], [self._pipe], [], _PATIENCE)
            except BrokenPipeError:
                self._wait()
                raise self._failed() from None
            self._alive()

    def __enter__(self) -> Mp4Writer:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.close()
        else:
            self.abort()

    def close(self) -> None:
        """Finish the film and put it under its name. Raises FfmpegError."""
        try:
            self._finish()
        finally:
            self._tidy()

    def abort(self) -> None:
        """Give up, and leave any file at the path as it was. Does nothing to a finished film."""
        self._tidy()

    def _finish(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        if self._wait() != 0:
            raise self._failed()
        self._draft.finish()

    def _wait(self) -> int:
        while True:
            with suppress(subprocess.TimeoutExpired):
                return self._process.wait(_PATIENCE)
            self._alive()

    def _failed(self) -> FfmpegError:
        self._said.seek(0)
        lines = self._said.read().decode(errors="replace").strip().splitlines()
        said = " ".join(lines[-1].split()) if lines else f"exit code {self._process.returncode}"
        said = said.replace(self._draft.temporary, self.path)
        return FfmpegError(f"cannot write {self.path}: {PROGRAM}: {said}")

    def _tidy(self) -> None:
        process = getattr(self, "_process", None)
        if process is not None:
            if process.poll() is None:
                process.kill()
            with suppress(OSError):
                process.stdin.close()
            process.wait()
        self._said.close()
        self._draft.drop()
