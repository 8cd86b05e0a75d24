"""Pictures of a plane without bounds that wait until it is known what all of them show."""

from __future__ import annotations

import tempfile
import zlib
from collections.abc import Iterator
from typing import Protocol

import numpy as np

from kernels.plane.hashlife.listing import SquareList
from lifesim.engine import Life
from lifesim.errors import writing_to
from lifesim.grid import BitGrid, Box, Words, shape_of
from lifesim.tree.picture import GridPicture, TreePicture


class _CellSource(Protocol):
    def frame(self) -> Box:
        """Return the rectangle that holds them."""

    def grid(self) -> BitGrid: ...


class Roll:
    """Cells of several generations, compressed in a file that has no name.

    frame: the smallest rectangle that holds all of them. Iterating gives each as a picture, from
    the first on. Raises LifesimError where the system refuses.
    """

    def __init__(self) -> None:
        self.frame: Box | None = None
        # Where they lie, how many bytes they are, and of those in a list how many squares.
        self._index: list[tuple[Box, int, int]] = []
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
        far = life.far_squares() if isinstance(life, Life) else None
        arrays = (far.levels, far.children, far.leaves) if far else (life.grid().words,)
        packed = zlib.compress(b"".join(array.tobytes() for array in arrays), 1)
        with writing_to(tempfile.gettempdir()):
            end = self._file.seek(0, 2)
            try:
                self._file.write(packed)
                self._file.flush()
            except BaseException:
                self._file.truncate(end)
                raise
        self._index.append((frame, len(packed), len(far.levels) if far else 0))
        self.frame = self.frame_with(frame)

    def __iter__(self) -> Iterator[TreePicture | GridPicture]:
        at = 0
        for frame, length, squares in self._index:
            with writing_to(tempfile.gettempdir()):
                self._file.seek(at)
                data = zlib.decompress(self._file.read(length))
            at += length
            if squares:
                levels = np.frombuffer(data, np.uint8, squares)
                children = np.frombuffer(data, np.int64, 4 * squares, squares).reshape(-1, 4)
                leaves = np.frombuffer(data, np.uint64, squares, 33 * squares)
                yield TreePicture(SquareList(levels, children, leaves))
                continue
            words: Words = np.frombuffer(data, np.uint64)
            one = frame.height * -(-frame.width // 64)
            shape = shape_of(frame.width, frame.height, len(words) // one)
            yield GridPicture(BitGrid(frame.width, frame.height, words.reshape(shape)), frame)

    def close(self) -> None:
        """Drop the file."""
        self._file.close()
