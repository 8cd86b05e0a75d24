"""BitGrid: a rectangle of cells, packed: one bit of each in a bit plane."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from kernels.targets.memory import available_memory
from lifesim.errors import LifesimError
from lifesim.pictured import MOST_CELLS, Pictured, sketch_scale
from lifesim.spans import spans
from lifesim.states import (
    MOST_PLANES,
    as_planes,
    checked_states,
    largest,
    lay,
    live_words,
    pack,
    pieces,
    populations,
)
from lifesim.transposing import transpose

Words = npt.NDArray[np.uint64]

_SMALL = 1 << 20  # bytes of a part of a grid that are taken without looking whether they are free


class GridError(LifesimError):
    """No grid can have this size, or this machine has no memory for it."""


class Box(NamedTuple):
    """A rectangle of cells: column x and row y of its top-left cell, its width and height."""

    x: int
    y: int
    width: int
    height: int

    def common(self, other: Box) -> Box | None:
        """Return the cells that are in another rectangle, too; None where there are none."""
        x, y = max(self.x, other.x), max(self.y, other.y)
        width = min(self.x + self.width, other.x + other.width) - x
        height = min(self.y + self.height, other.y + other.height) - y
        return Box(x, y, width, height) if width > 0 and height > 0 else None

    def joined(self, other: Box) -> Box:
        """Return the smallest rectangle that holds both."""
        x, y = min(self.x, other.x), min(self.y, other.y)
        right = max(self.x + self.width, other.x + other.width)
        bottom = max(self.y + self.height, other.y + other.height)
        return Box(x, y, right - x, bottom - y)


class BitGrid(Pictured):
    """A width x height rectangle of cells, packed.

    words: uint64 array of shape (height, ceil(width / 64)). Bit j of words[y, w] is
    the cell in column 64 w + j of row y; the padding bits past the last column are
    zero, and everything here keeps them so. Cells of more than two states have several
    bit planes: then the shape is (height, planes, ceil(width / 64)), and the cell's state is the
    number whose binary digit p is its bit in plane p. Cells that are not of state 0 are live.

    Several threads may read one at once; while one thread changes it, no other may use it.
    """

    __slots__ = ("height", "width", "words")

    def __init__(
        self, width: int, height: int, words: Words | None = None, *, planes: int = 1
    ) -> None:
        """Make an empty grid of so many bit planes, 1 to 8, or one that takes over `words`
        without copying, which say for themselves how many they have.

        Raises GridError for a size below 1 or more memory than the machine has, and
        ValueError for words of another shape or dtype or with padding bits set.
        """
        # Sizes and places that come out of an array are numpy integers, which overflow.
        width, height = operator.index(width), operator.index(height)
        # Words that are there already take no more memory.
        if words is not None:
            planes = words.shape[1] if words.ndim == 3 and words.shape[1] > 1 else 1
        if not 1 <= planes <= MOST_PLANES:
            raise ValueError(f"cells have 1 to {MOST_PLANES} bit planes, not {planes}")
        check_size(width, height, copies=planes if words is None else 0)
        self.width = width
        self.height = height
        shape = shape_of(width, height, planes)
        if words is None:
            words = np.zeros(shape, np.uint64)
        else:
            if words.shape != shape or words.dtype != np.uint64:
                raise ValueError(
                    f"a {width}x{height} grid has uint64 words of shape "
                    f"{shape}, not {words.dtype} of {words.shape}"
                )
            if width % 64 and np.any(words[..., -1] >> np.uint64(width % 64)):
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
    def from_states(cls, states: npt.ArrayLike, planes: int | None = None) -> BitGrid:
        """Pack a (height, width) array of states, integers, in so many bit planes, by default as
        many as the largest of them needs. Raises ValueError for states that planes do not hold."""
        cells, planes = checked_states(states, planes)
        height, width = cells.shape
        grid = cls(width, height, planes=planes)
        pack(cells, grid.words)
        return grid

    @classmethod
    def from_array(
        cls, array: Any, *, width: int | None = None, planes: int | None = None
    ) -> BitGrid:
        """Make a grid of an array of cells, or of packed words; always a copy.

        array: bool or integer (height, width), cells that are 0 or 1: a sequence, numpy's array, or
        an object with __array__, __dlpack__ or __cuda_array_interface__, in host memory or on a
        GPU. planes: bit planes of the grid, which says that cells are states, of 0 to
        2^planes - 1. width: says that the array is packed words instead, of any integer dtype: bit
        j of word w of a row, the lowest first, is the cell in column w * bits + j; words of several
        planes are (height, planes, words). Raises TypeError for other dtypes, ValueError for other
        numbers, shapes and bits past the last column, GridError for sizes below 1, and as
        kernels.targets.dlpack.host_array().
        """
        from lifesim.arrays import cells_of, words_of

        if isinstance(array, BitGrid):
            return array.copy()
        if width is not None:
            words = words_of(array, width)
            return cls(width, len(words), words)
        if planes is not None and planes > 1:
            return cls.from_states(cells_of(array, (1 << planes) - 1), planes)
        return cls.from_bool(cells_of(array))

    @classmethod
    def from_cells(
        cls, width: int, height: int, cells: Iterable[tuple[int, int]], *, planes: int = 1
    ) -> BitGrid:
        """Make a grid in which the cells at the given (x, y) are of state 1, all others 0. Raises
        IndexError outside it."""
        grid = cls(width, height, planes=planes)
        for x, y in cells:
            grid[x, y] = 1
        return grid

    @property
    def planes(self) -> int:
        """Return the number of bit planes."""
        return self.words.shape[1] if self.words.ndim == 3 else 1

    def to_bool(self) -> npt.NDArray[np.bool_]:
        """Return which cells are live, as a bool array of shape (height, width)."""
        live = np.ascontiguousarray(live_words(self.words)).view(np.uint8)
        bits = np.unpackbits(live, axis=1, count=self.width, bitorder="little")
        return bits.view(np.bool_)

    def states(self) -> npt.NDArray[np.uint8]:
        """Return the states of the cells as a uint8 array of shape (height, width)."""
        if self.planes == 1:
            return self.to_bool().view(np.uint8)
        return np.concatenate(list(pieces(self.words, self.width)))

    def __array__(
        self, dtype: npt.DTypeLike | None = None, copy: bool | None = None
    ) -> npt.NDArray[Any]:
        """Return the cells, not the words, as to_bool() does, or states() where there are several
        bit planes; always a copy, so copy=False raises ValueError."""
        if copy is False:
            raise ValueError("packed cells are an array of cells only as a copy")
        cells: npt.NDArray[Any] = self.to_bool() if self.planes == 1 else self.states()
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
        words = live_words(self.words)
        rows, cols = np.nonzero(words)
        bits = np.unpackbits(
            words[rows, cols].view(np.uint8).reshape(-1, 8), axis=1, bitorder="little"
        )
        which, bit = np.nonzero(bits)
        return np.stack([cols[which] * 64 + bit, rows[which]], axis=1).astype(np.int64)

    def __getitem__(self, at: tuple[int, int]) -> int:
        """Return a cell's state, a bool where there is one bit plane. Raises IndexError."""
        x, y = self._checked(at)
        if self.words.ndim == 2:
            return bool(int(self.words[y, x >> 6]) >> (x & 63) & 1)
        bits = [int(word) >> (x & 63) & 1 for word in self.words[y, :, x >> 6]]
        return sum(bit << plane for plane, bit in enumerate(bits))

    def __setitem__(self, at: tuple[int, int], state: int) -> None:
        """Set a cell's state; where there is one bit plane anything that is true is alive. Raises
        IndexError, and ValueError for a state that planes do not hold."""
        x, y = self._checked(at)
        bit = np.uint64(1 << (x & 63))
        if self.words.ndim == 2:
            if state:
                self.words[y, x >> 6] |= bit
            else:
                self.words[y, x >> 6] &= ~bit
            return
        number, column = operator.index(state), self.words[y, :, x >> 6]
        if not 0 <= number < 1 << self.planes:
            raise ValueError(f"states are 0 to {(1 << self.planes) - 1}, not {number}")
        for plane in range(self.planes):
            if number >> plane & 1:
                column[plane] |= bit
            else:
                column[plane] &= ~bit

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
        planes = "" if self.planes == 1 else f" in {self.planes} planes"
        return f"<BitGrid {self.width}x{self.height}{planes}, population {self.population()}>"

    def _facts(self) -> str:
        planes = "" if self.planes == 1 else f" in {self.planes} planes"
        return f"{self.width:,} × {self.height:,} cells{planes} · population {self.population():,}"

    def _sketch(self) -> npt.NDArray[np.uint8] | None:
        from lifesim.render import density_levels

        box = Box(0, 0, self.width, self.height)
        too_many = self.width * self.height > MOST_CELLS
        return None if too_many else density_levels(self, box, sketch_scale(box))

    def copy(self) -> BitGrid:
        """Return a copy."""
        return self.in_planes(self.planes)

    def in_planes(self, planes: int) -> BitGrid:
        """Return a copy in so many bit planes. Raises GridError for states that they do not
        hold."""
        if planes < self.planes and self.largest_state() >> planes:
            raise GridError(f"{planes} bit planes hold no state {self.largest_state()}")
        grid = BitGrid(self.width, self.height, planes=planes)
        both = min(planes, self.planes)
        as_planes(grid.words)[:, :both] = as_planes(self.words)[:, :both]
        return grid

    def population(self) -> int:
        """Return the number of live cells."""
        rows = max(1, (1 << 24) // self.words.shape[-1])  # counts are bytes: bounded memory
        return sum(
            int(np.bitwise_count(live_words(self.words[y : y + rows])).sum(dtype=np.int64))
            for y in range(0, self.height, rows)
        )

    def populations(self) -> list[int]:
        """Return how many cells are in each state, of all states that the bit planes can hold."""
        if self.planes == 1:
            live = self.population()
            return [self.width * self.height - live, live]
        return populations(self.words, self.width)

    def largest_state(self) -> int:
        """Return the largest state of any cell."""
        return largest(self.words)

    def density(self) -> Fraction:
        """Return live cells over cells, exactly."""
        return Fraction(self.population(), self.width * self.height)

    def bounding_box(self) -> Box | None:
        """Return the smallest rectangle that holds every live cell; None where none lives."""
        within = tuple(range(1, self.words.ndim))
        rows = np.flatnonzero(self.words.any(axis=within))
        if not len(rows):
            return None
        top, bottom = int(rows[0]), int(rows[-1])
        merged = np.bitwise_or.reduce(self.words[top : bottom + 1], axis=(0, *within[:-1]))
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
        grid = empty_part(width, height, self.planes)
        count = grid.words.shape[-1]
        first, shift = x >> 6, x & 63
        rows = self.words[y : y + height]
        low = rows[..., first : first + count]
        grid.words[..., : low.shape[-1]] = low >> np.uint64(shift)
        if shift:
            high = rows[..., first + 1 : first + 1 + count]
            grid.words[..., : high.shape[-1]] |= high << np.uint64(64 - shift)
        grid._clear_padding()
        return grid

    def transposed(self) -> BitGrid:
        """Return the grid with rows for columns. Raises GridError where there is no memory for
        it."""
        result = empty_part(self.height, self.width, self.planes)
        if self.planes == 1:
            transpose(self.words, result.words)
        for plane in range(self.planes if self.planes > 1 else 0):
            transpose(self.words[:, plane], result.words[:, plane])
        return result

    def paste(self, other: BitGrid, x: int, y: int, *, wrap: bool = False) -> None:
        """Set the cells that live in other to their states, its top-left cell put at (x, y).

        With wrap, coordinates are taken modulo the size (a torus); otherwise live
        cells that fall outside raise GridError and nothing is changed. Raises GridError also for
        another of more bit planes.
        """
        if other.planes > self.planes:
            raise GridError(
                f"cells in {other.planes} bit planes cannot be put among cells in {self.planes}"
            )
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
        for top, rows in spans(y, other.height, self.height, wrap):
            for left, cols in spans(x, other.width, self.width, wrap):
                part = other.crop(Box(cols.start, rows.start, len(cols), len(rows)))
                lay(part.words, self.words[top : top + part.height], left)

    def _clear_padding(self) -> None:
        if self.width % 64:
            self.words[..., -1] &= np.uint64((1 << self.width % 64) - 1)


def empty_part(width: int, height: int, planes: int = 1) -> BitGrid:
    """Return an empty grid. To ask how much memory is free takes longer than a small one does, so
    that is done for large ones only."""
    if bytes_of(width, height, planes) <= _SMALL and min(width, height) > 0:
        return BitGrid(width, height, np.zeros(shape_of(width, height, planes), np.uint64))
    return BitGrid(width, height, planes=planes)


def shape_of(width: int, height: int, planes: int = 1) -> tuple[int, ...]:
    """Return the shape of the word array of a width x height grid."""
    count = (width + 63) // 64
    return (height, count) if planes == 1 else (height, planes, count)


def bytes_of(width: int, height: int, planes: int = 1) -> int:
    """Return the bytes of the word array of a width x height grid."""
    return 8 * height * planes * ((width + 63) // 64)


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
