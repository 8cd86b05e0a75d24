"""BitGrid: a rectangle of cells at one bit per cell."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from kernels.targets.memory import available_memory
from lifesim.errors import LifesimError

Words = npt.NDArray[np.uint64]

# What stays where it is when squares of 2, 4, ... 64 bits are transposed by quarters.
_QUARTERS = [
    (shift, np.uint64(((1 << 64) - 1) // ((1 << shift) + 1))) for shift in (1, 2, 4, 8, 16, 32)
]
_SMALL = 1 << 20  # bytes of a part of a grid that are taken without looking whether they are free
_TILE = 16, 32  # squares, down and across, that are transposed at a time: they fit in a cache


class GridError(LifesimError):
    """No grid can have this size, or this machine has no memory for it."""


class Box(NamedTuple):
    """A rectangle of cells: column x and row y of its top-left cell, its width and height."""

    x: int
    y: int
    width: int
    height: int


class BitGrid:
    """A width x height rectangle of cells, packed.

    words: uint64 array of shape (height, ceil(width / 64)). Bit j of words[y, w] is
    the cell in column 64 w + j of row y; the padding bits past the last column are
    zero, and everything here keeps them so.

    Several threads may read one at once; while one thread changes it, no other may use it.
    """

    __slots__ = ("height", "width", "words")

    def __init__(self, width: int, height: int, words: Words | None = None) -> None:
        """Make an empty grid, or one that takes over `words` without copying.

        Raises GridError for a size below 1 or more memory than the machine has, and
        ValueError for words of another shape or dtype or with padding bits set.
        """
        # Sizes and places that come out of an array are numpy integers, which overflow.
        width, height = operator.index(width), operator.index(height)
        # Words that are there already take no more memory.
        check_size(width, height, copies=1 if words is None else 0)
        self.width = width
        self.height = height
        if words is None:
            words = np.zeros(shape_of(width, height), np.uint64)
        else:
            if words.shape != shape_of(width, height) or words.dtype != np.uint64:
                raise ValueError(
                    f"a {width}x{height} grid has uint64 words of shape "
                    f"{shape_of(width, height)}, not {words.dtype} of {words.shape}"
                )
            if width % 64 and np.any(words[:, -1] >> np.uint64(width % 64)):
                raise ValueError("padding bits of the last word must be zero")
        self.words = words

    @classmethod
    def from_bool(cls, cells: npt.ArrayLike) -> BitGrid:
        """Pack a (height, width) array; any non-zero element is a live cell."""
        bits = np.asarray(cells) != 0
        if bits.ndim != 2:
            raise ValueError(f"cells must have two dimensions, not {bits.ndim}")
        height, width = bits.shape
        grid = cls(width, height)
        packed = np.packbits(bits, axis=1, bitorder="little")
        grid.words.view(np.uint8)[:, : packed.shape[1]] = packed
        return grid

    @classmethod
    def from_array(cls, array: Any, *, width: int | None = None) -> BitGrid:
        """Make a grid of an array of cells, or of packed words; always a copy.

        array: bool or integer (height, width), cells that are 0 or 1: a sequence, numpy's array, or
        an object with __array__, __dlpack__ or __cuda_array_interface__, in host memory or on a
        GPU. width: says that the array is packed words instead, of any integer dtype: bit j of
        word w of a row, the lowest first, is the cell in column w * bits + j. Raises TypeError for
        other dtypes, ValueError for other numbers, shapes and bits past the last column, GridError
        for sizes below 1, and as kernels.targets.dlpack.host_array().
        """
        from lifesim.arrays import cells_of, words_of

        if isinstance(array, BitGrid):
            return array.copy()
        if width is None:
            return cls.from_bool(cells_of(array))
        words = words_of(array, width)
        return cls(width, len(words), words)

    @classmethod
    def from_cells(cls, width: int, height: int, cells: Iterable[tuple[int, int]]) -> BitGrid:
        """Make a grid whose live cells are the given (x, y). Raises IndexError outside it."""
        grid = cls(width, height)
        for x, y in cells:
            grid[x, y] = True
        return grid

    def to_bool(self) -> npt.NDArray[np.bool_]:
        """Return the cells as a bool array of shape (height, width)."""
        packed = np.ascontiguousarray(self.words).view(np.uint8)
        bits = np.unpackbits(packed, axis=1, count=self.width, bitorder="little")
        return bits.view(np.bool_)

    def __array__(
        self, dtype: npt.DTypeLike | None = None, copy: bool | None = None
    ) -> npt.NDArray[Any]:
        """Return the cells, not the words, as to_bool() does; always a copy, so copy=False raises
        ValueError."""
        if copy is False:
            raise ValueError("packed cells are an array of cells only as a copy")
        cells = self.to_bool()
        return cells if dtype is None else cells.astype(dtype, copy=False)

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return DLPack's name of host memory, (1, 0)."""
        return self.words.__dlpack_device__()

    def __dlpack__(self, **options: Any) -> Any:
        """Return a DLPack capsule of the words, not the cells: a view, which may be written to, as
        `words` may, if padding bits stay zero. options: as of numpy's arrays (copy=True)."""
        return self.words.__dlpack__(**options)

    def cells(self) -> npt.NDArray[np.int64]:
        """Return the live cells as int64 rows (x, y), ordered by y, then x; shape (population,
        2)."""
        rows, cols = np.nonzero(self.words)
        bits = np.unpackbits(
            self.words[rows, cols].view(np.uint8).reshape(-1, 8), axis=1, bitorder="little"
        )
        which, bit = np.nonzero(bits)
        return np.stack([cols[which] * 64 + bit, rows[which]], axis=1).astype(np.int64)

    def __getitem__(self, at: tuple[int, int]) -> bool:
        x, y = self._checked(at)
        return bool(int(self.words[y, x >> 6]) >> (x & 63) & 1)

    def __setitem__(self, at: tuple[int, int], alive: bool) -> None:
        x, y = self._checked(at)
        bit = np.uint64(1 << (x & 63))
        if alive:
            self.words[y, x >> 6] |= bit
        else:
            self.words[y, x >> 6] &= ~bit

    def _checked(self, at: tuple[int, int]) -> tuple[int, int]:
        x, y = operator.index(at[0]), operator.index(at[1])
        if not (0 <= x < self.width and 0 <= y < self.height):
            raise IndexError(f"cell ({x}, {y}) is outside {self.width}x{self.height}")
        return x, y

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BitGrid):
            return NotImplemented
        return (self.width, self.height) == (other.width, other.height) and bool(
            np.array_equal(self.words, other.words)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<BitGrid {self.width}x{self.height}, population {self.population()}>"

    def copy(self) -> BitGrid:
        """Return a copy."""
        grid = BitGrid(self.width, self.height)
        grid.words[:] = self.words
        return grid

    def population(self) -> int:
        """Return the number of live cells."""
        rows = max(1, (1 << 24) // self.words.shape[1])  # counts are bytes: bounded memory
        return sum(
            int(np.bitwise_count(self.words[y : y + rows]).sum(dtype=np.int64))
            for y in range(0, self.height, rows)
        )

    def density(self) -> Fraction:
        """Return live cells over cells, exactly."""
        return Fraction(self.population(), self.width * self.height)

    def bounding_box(self) -> Box | None:
        """Return the smallest rectangle that holds every live cell; None where none lives."""
        rows = np.flatnonzero(self.words.any(axis=1))
        if not len(rows):
            return None
        top, bottom = int(rows[0]), int(rows[-1])
        merged = np.bitwise_or.reduce(self.words[top : bottom + 1], axis=0)
        cols = np.flatnonzero(merged)
        first, last = int(cols[0]), int(cols[-1])
        low = int(merged[first])
        left = 64 * first + (low & -low).bit_length() - 1
        right = 64 * last + int(merged[last]).bit_length() - 1
        return Box(left, top, right - left + 1, bottom - top + 1)

    def crop(self, box: Box) -> BitGrid:
        """Return a copy of the cells in box. Raises GridError where box leaves the grid."""
        x, y, width, height = map(operator.index, box)
        if x < 0 or y < 0 or x + width > self.width or y + height > self.height:
            raise GridError(
                f"region {width}x{height} at ({x}, {y}) leaves the {self.width}x{self.height} grid"
            )
        grid = empty_part(width, height)
        count = grid.words.shape[1]
        first, shift = x >> 6, x & 63
        rows = self.words[y : y + height]
        low = rows[:, first : first + count]
        grid.words[:, : low.shape[1]] = low >> np.uint64(shift)
        if shift:
            high = rows[:, first + 1 : first + 1 + count]
            grid.words[:, : high.shape[1]] |= high << np.uint64(64 - shift)
        grid._clear_padding()
        return grid

    def transposed(self) -> BitGrid:
        """Return the grid with rows for columns. Raises GridError where there is no memory for
        it."""
        result = empty_part(self.height, self.width)
        down, across = _TILE
        for row in range(0, self.height, 64 * down):
            for word in range(0, self.words.shape[1], across):
                part = self.words[row : row + 64 * down, word : word + across]
                square = _transposed(part)
                columns = square[: self.width - 64 * word]
                first = row >> 6
                result.words[64 * word :][: len(columns), first : first + square.shape[1]] = columns
        return result

    def paste(self, other: BitGrid, x: int, y: int, *, wrap: bool = False) -> None:
        """Set the cells that live in other, its top-left cell put at (x, y).

        With wrap, coordinates are taken modulo the size (a torus); otherwise live
        cells that fall outside raise GridError and nothing is changed.
        """
        if not wrap:
            box = other.bounding_box()
            if box is None:
                return
            left, top = x + box.x, y + box.y
            inside = left >= 0 and top >= 0
            if not (inside and left + box.width <= self.width and top + box.height <= self.height):
                raise GridError(
                    f"live cells {box.width}x{box.height} at ({left}, {top}) "
                    f"leave the {self.width}x{self.height} universe"
                )
        if np.may_share_memory(self.words, other.words):
            other = other.copy()  # what one span pastes must not be read by the next
        for top, rows in self._row_spans(y, other.height, wrap):
            for left, cols in self._column_spans(x, other.width, wrap):
                part = other.crop(Box(cols.start, rows.start, len(cols), len(rows)))
                self._or_at(part, left, top)

    def _row_spans(self, start: int, count: int, wrap: bool) -> list[tuple[int, range]]:
        return spans(start, count, self.height, wrap)

    def _column_spans(self, start: int, count: int, wrap: bool) -> list[tuple[int, range]]:
        return spans(start, count, self.width, wrap)

    def _or_at(self, part: BitGrid, x: int, y: int) -> None:
        first, shift = x >> 6, x & 63
        rows = self.words[y : y + part.height]
        count = part.words.shape[1]
        low = rows[:, first : first + count]
        low |= (part.words << np.uint64(shift))[:, : low.shape[1]]
        if shift:
            high = rows[:, first + 1 : first + 1 + count]
            high |= (part.words >> np.uint64(64 - shift))[:, : high.shape[1]]

    def _clear_padding(self) -> None:
        if self.width % 64:
            self.words[:, -1] &= np.uint64((1 << self.width % 64) - 1)


def empty_part(width: int, height: int) -> BitGrid:
    """Return an empty grid. To ask how much memory is free takes longer than a small one does, so
    that is done for large ones only."""
    small = bytes_of(width, height) <= _SMALL and min(width, height) > 0
    return BitGrid(width, height, np.zeros(shape_of(width, height), np.uint64) if small else None)


def _transposed(words: Words) -> Words:
    """Return words of rows as words of columns, whose bits past the last row are zero; shape (64 *
    words of a row, ceil(rows / 64)).

    This goes by squares of 64 x 64 bits, in each of which quarters change places, then quarters
    of quarters (Warren, Hacker's Delight, 7-3).
    """
    height, width = words.shape
    count = -(-height // 64)
    squares = np.zeros((count, 64, width), np.uint64)
    squares.reshape(-1, width)[:height] = words
    for shift, kept in _QUARTERS:
        pairs = squares.reshape(count, 32 // shift, 2, shift, width)
        upper, lower = pairs[:, :, 0], pairs[:, :, 1]
        moved = upper >> np.uint64(shift)
        moved ^= lower
        moved &= kept
        lower ^= moved
        moved <<= np.uint64(shift)
        upper ^= moved
    return squares.transpose(2, 1, 0).reshape(64 * width, count)


def spans(start: int, count: int, size: int, wrap: bool) -> list[tuple[int, range]]:
    """Split [start, start + count) into (position in the grid, indices of the part)."""
    spans = []
    if not wrap:
        low, high = max(start, 0), min(start + count, size)
        return [(low, range(low - start, high - start))] if low < high else []
    done = 0
    while done < count:
        at = (start + done) % size
        step = min(count - done, size - at)
        spans.append((at, range(done, done + step)))
        done += step
    return spans


def shape_of(width: int, height: int) -> tuple[int, int]:
    """Return the shape of the word array of a width x height grid."""
    return height, (width + 63) // 64


def bytes_of(width: int, height: int) -> int:
    """Return the bytes of the word array of a width x height grid."""
    return 8 * height * ((width + 63) // 64)


def check_size(width: int, height: int, copies: int = 1) -> None:
    """Raise GridError for a size below 1, or if `copies` grids of it exceed free memory."""
    if width < 1 or height < 1:
        raise GridError(f"a universe is at least 1x1 cells, not {width}x{height}")
    need = copies * bytes_of(width, height)
    if need and need > (free := available_memory()):
        raise GridError(
            f"a universe of {width}x{height} cells needs {human_bytes(need)} of memory, "
            f"{human_bytes(free)} are free"
        )


def human_bytes(count: int) -> str:
    """Return a number of bytes as people read it: 1.5 GiB."""
    size = float(count)
    for unit in ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB"):
        if size < 1024 or unit == "PiB":
            return f"{size:.4g} {'byte' if count == 1 else unit}"
        size /= 1024
    raise AssertionError
