"""How many cells of a grid live in each of many blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lifesim.grid import BitGrid, Box, Words
from lifesim.states import live_words

Counts = npt.NDArray[np.int64]

_CHUNK_WORDS = 1 << 18  # 2 MiB of cells at a time, whatever the region
_FAR = 50  # no grid is 2^50 cells wide


def block_counts(grid: BitGrid, box: Box, scale: int) -> Iterator[tuple[int, int, Counts]]:
    """Yield the live cells of blocks of 2^scale x 2^scale cells, some rows of blocks at a time: the
    first of the rows, the first column of blocks, and an int64 array of the numbers.

    The blocks begin at the top-left cell of the box, whose coordinates are those of the grid, of
    any size; the last ones hold what the box leaves of them. Blocks without cells of the grid may
    be left out.
    """
    x = _near(box.x, box.width, grid.width, scale)
    y = _near(box.y, box.height, grid.height, scale)
    if x is None or y is None:
        return
    scale = min(scale, _FAR + 1)
    window = WordWindow(grid, Box(x.start, y.start, x.length, y.length))
    if window.is_empty:
        return
    across = -(-x.length >> scale)
    # A power of two of rows, so that a chunk is either whole blocks or a part of one.
    step = window.rows_of(_CHUNK_WORDS)
    band = max(1, step >> scale)
    first_block, last_block = window.top >> scale, (window.bottom - 1 >> scale) + 1
    for block in range(first_block, last_block, band):
        blocks = min(band, last_block - block)
        live = np.zeros((blocks, across), np.int64)
        top = max(window.top, block << scale)
        bottom = min(window.bottom, (block + blocks) << scale)
        while top < bottom:
            # Chunks end at multiples of step, which keeps blocks of rows whole.
            stop = min(bottom, (top // step + 1) * step)
            first, counts = _column_counts(window.words(top, stop), window.first_word, scale)
            counts = counts[:, : across - first]
            starts = np.arange(top >> scale, (stop - 1 >> scale) + 1)
            sums = _row_sums(counts, top, stop, scale)
            live[starts[0] - block : starts[-1] + 1 - block, first : first + sums.shape[1]] += sums
            top = stop
        yield y.first + block, x.first, live


class _Span(NamedTuple):
    """The blocks along an axis that meet a grid: the first of them, where it begins, and how many
    cells they have together."""

    first: int
    start: int
    length: int


def _near(start: int, length: int, extent: int, scale: int) -> _Span | None:
    """Find the blocks that meet a grid of so many cells, None for none. start, length: of the box.

    Where blocks are larger than any grid, each is cut to 2^51 cells that hold what it has of the
    grid: so all numbers stay small.
    """
    first = max(0, -start >> scale)
    last = min((extent - 1 - start) >> scale, (length - 1) >> scale)
    if last < first:
        return None
    begin = start + (first << scale)
    end = min(start + length, begin + ((last - first + 1) << scale))
    if scale > _FAR + 1:
        side = 1 << _FAR + 1
        border = min(begin + (1 << scale), 1 << _FAR)
        begin = max(begin, border - side)
        end = min(end, begin + (last - first + 1) * side)
    return _Span(first, begin, end - begin)


class WordWindow:
    """The cells of a grid under a box, as words that start at the left edge of the box.

    Rows top to bottom - 1 and words first_word to last_word - 1, both counted from
    the corner of the box, are those that hold cells of the grid.
    """

    def __init__(self, grid: BitGrid, box: Box) -> None:
        self._grid = grid
        self._box = box
        self.top = max(0, -box.y)
        self.bottom = min(box.height, grid.height - box.y)
        left, right = max(0, -box.x), min(box.width, grid.width - box.x)
        self.is_empty = self.top >= self.bottom or left >= right
        self.first_word = left >> 6
        self.last_word = (right + 63) >> 6

    def rows_of(self, words: int) -> int:
        """Return the largest power of two of rows that together hold at most so many words."""
        return 1 << max(1, words // (self.last_word - self.first_word)).bit_length() - 1

    def words(self, top: int, bottom: int) -> Words:
        """Return rows top to bottom - 1 of the window, in a new array; no bit past the box."""
        count = self.last_word - self.first_word
        cell = self._box.x + 64 * self.first_word
        source, shift = cell >> 6, cell & 63
        rows = live_words(self._grid.words[self._box.y + top : self._box.y + bottom])
        out = np.zeros((bottom - top, count), np.uint64)
        _or_shifted(out, rows, source, lambda part: part >> np.uint64(shift))
        if shift:
            _or_shifted(out, rows, source + 1, lambda part: part << np.uint64(64 - shift))
        past = 64 * self.last_word - self._box.width
        if past > 0:
            out[:, -1] &= np.uint64((1 << 64 - past) - 1)
        return out


def _or_shifted(out: Words, rows: Words, source: int, shifted: Callable[[Words], Words]) -> None:
    """Compute out |= shifted(words of rows from word source on), where rows have such words."""
    low, high = max(0, source), min(rows.shape[1], source + out.shape[1])
    if low < high:
        out[:, low - source : high - source] |= shifted(rows[:, low:high])


def _row_sums(counts: npt.NDArray[np.integer], top: int, stop: int, scale: int) -> Counts:
    """Return the sums of the rows top to stop - 1 of counts, by the block of 2^scale they lie
    in."""
    side = 1 << scale
    if top % side == 0 and stop % side == 0:
        # Pairs of rows add as vectors, in the narrowest type that holds the sums.
        most = side
        for _ in range(scale):
            most *= 2
            if most > np.iinfo(counts.dtype).max:
                counts = counts.astype(np.min_scalar_type(most))
            counts = counts[0::2] + counts[1::2]
        return counts.astype(np.int64)
    starts = np.maximum(np.arange(top >> scale, (stop - 1 >> scale) + 1) << scale, top) - top
    return np.asarray(np.add.reduceat(counts, starts, axis=0, dtype=np.int64))


def _column_counts(
    words: Words, first_word: int, scale: int
) -> tuple[int, npt.NDArray[np.integer]]:
    """Return live cells of each row by column of blocks: (first column, counts).

    words start at word first_word of their rows; only the first and the last column
    may be parts of blocks.
    """
    if scale == 0:
        return 64 * first_word, np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")
    if scale <= 2:
        return first_word * (64 >> scale), _small_fields(words, scale)
    if scale <= 6:
        field = np.dtype(f"<u{(1 << scale) // 8}")
        return first_word * (64 >> scale), np.bitwise_count(words.view(field))
    group = scale - 6
    last_word = first_word + words.shape[1]
    columns = np.arange(first_word >> group, (last_word - 1 >> group) + 1)
    starts = np.maximum(columns << group, first_word) - first_word
    counts = np.add.reduceat(np.bitwise_count(words), starts, axis=1, dtype=np.int64)
    return int(columns[0]), counts


def _small_fields(words: Words, scale: int) -> npt.NDArray[np.uint8]:
    """Return the live cells of each run of 2 (scale 1) or 4 (scale 2) cells."""
    halves = np.uint64(0x5555555555555555)
    fields = (words & halves) + (words >> np.uint64(1) & halves)
    if scale == 2:
        halves = np.uint64(0x3333333333333333)
        fields = (fields & halves) + (fields >> np.uint64(2) & halves)
    packed = fields.view(np.uint8)
    bits = 1 << scale
    counts = np.empty((*packed.shape, 8 // bits), np.uint8)
    for place in range(8 // bits):
        counts[..., place] = packed >> (bits * place) & ((1 << bits) - 1)
    return counts.reshape(len(words), -1)
