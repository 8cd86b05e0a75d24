"""Pictures of a plane without bounds that wait until it is known what all of them show."""

from __future__ import annotations

import tempfile
import zlib
from collections.abc import Iterator
from typing import Protocol

import numpy as np

from lifesim.errors import writing_to
from lifesim.grid import BitGrid, Box, Words, shape_of
from lifesim.render import Levels, density_levels


class _CellSource(Protocol):
    def frame(self) -> Box:
        """Return the rectangle that holds them."""

    def grid(self) -> BitGrid: ...


class PackedGeneration:
    """The cells of one generation, wherever they lie."""

    def __init__(self, grid: BitGrid, frame: Box) -> None:
        self._grid, self._frame = grid, frame

    def frame(self) -> Box:
        """Return the rectangle that holds them."""
        return self._frame

    def levels(self, box: Box, scale_log2: int) -> Levels:
        """Tell how densely the cells of a region live (lifesim.render.density_levels)."""
        x, y = box.x - self._frame.x, box.y - self._frame.y
        return density_levels(self._grid, Box(x, y, box.width, box.height), scale_log2)


class Roll:
    """Cells of several generations, compressed in a file that has no name.

    frame: the smallest rectangle that holds all of them. Iterating gives each as a
    PackedGeneration, from the first on. Raises LifesimError where the system refuses.
    """

    def __init__(self) -> None:
        self.frame: Box | None = None
        self._index: list[tuple[Box, int]] = []  # where they lie, and how many bytes they are
        with writing_to(tempfile.gettempdir()):
            self._file = tempfile.TemporaryFile()  # noqa: SIM115

    def frame_with(self, box: Box) -> Box:
        """Return what the frame would be with one more."""
        if self.frame is None:
            return box
        x, y = min(self.frame.x, box.x), min(self.frame.y, box.y)
        right = max(self.frame.x + self.frame.width, box.x + box.width)
        bottom = max(self.frame.y + self.frame.height, box.y + box.height)
        return Box(x, y, right - x, bottom - y)

    def add(self, life: _CellSource) -> None:
        """Append the cells of a universe as they are now."""
        frame = life.frame()
        packed = zlib.compress(life.grid().words.tobytes(), 1)
        with writing_to(tempfile.gettempdir()):
            end = self._file.seek(0, 2)
            try:
                self._file.write(packed)
                self._file.flush()
            except BaseException:
                self._file.truncate(end)
                raise
        self._index.append((frame, len(packed)))
        self.frame = self.frame_with(frame)

    def __iter__(self) -> Iterator[PackedGeneration]:
        at = 0
        for frame, length in self._index:
            with writing_to(tempfile.gettempdir()):
                self._file.seek(at)
                packed = self._file.read(length)
            at += length
            words: Words = np.frombuffer(zlib.decompress(packed), np.uint64)
            shape = shape_of(frame.width, frame.height)
            yield PackedGeneration(BitGrid(frame.width, frame.height, words.reshape(shape)), frame)

    def close(self) -> None:
        """Drop the file."""
        self._file.close()
