"""Pictures of a universe: any region, at any power-of-two scale.

A scale is the binary logarithm of cells per pixel: 3 draws 8 x 8 cells as one pixel
as bright as they are dense, -2 draws each cell as 4 x 4 pixels. Pillow is imported
only when a picture is made.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from lifesim.errors import LifesimError
from lifesim.grid import BitGrid, Box, Words
from lifesim.patterns.files import save

if TYPE_CHECKING:
    from PIL import Image

Levels = npt.NDArray[np.uint8]
Counts = npt.NDArray[np.int64]

MAX_PIXELS = 1 << 28
MAX_SCALE = 40  # of a universe that is held as a rectangle
MAX_FAR_SCALE = 320  # of one that is not
_MAX_CELLS = 1 << 52  # of one block: 510 times as many live cells still fit in an int64
_FARTHEST = 10**18  # cells, to which coordinates of a picture of a rectangle go
_CHUNK_WORDS = 1 << 18  # 2 MiB of cells at a time, whatever the region

_STOPS = {
    "dark": ("#0a0c12", "#f2f6ff"),
    "light": ("#ffffff", "#10131c"),
    # Viridis: even in lightness, and told apart with any kind of colour blindness.
    "viridis": (
        "#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c",
        "#28ae80", "#5ec962", "#addc30", "#fde725",
    ),
}  # fmt: skip
PALETTES = tuple(_STOPS)
_GAMMA = 2.2
_FAINTEST = 0.12  # how far along its palette a pixel starts that holds any live cell


class RenderError(LifesimError):
    """No picture can be made with this region, scale, palette or size."""


def parse_region(text: str) -> Box:
    """Read X,Y,WxH: the top-left cell, the width and the height, all in cells.

    X and Y may be negative. Raises RenderError for anything else.
    """
    match = re.fullmatch(
        r"\s*(-?[0-9]{1,90})\s*,\s*(-?[0-9]{1,90})\s*,\s*([0-9]{1,90})\s*[xX]\s*([0-9]{1,90})\s*",
        text,
    )
    if not match:
        raise RenderError(f"unknown region {_shown(text)}: write it as X,Y,WxH")
    box = Box(*map(int, match.groups()))
    if box.width < 1 or box.height < 1:
        raise RenderError(f"region {_shown(text)} holds no cell")
    return box


def parse_scale(text: str) -> int:
    """Read pixels:cells, and return the binary logarithm of cells per pixel.

    1:8 (8 x 8 cells to a pixel) is 3; 4:1 (a cell is 4 x 4 pixels) is -2; a number
    alone, as 8, is 8:1; 1:2^100 may be written so. Raises RenderError for anything else, and
    where neither side is 1 or the other is no power of two.
    """
    number = r"\s*([0-9]{1,99}|2\^[0-9]{1,3})\s*"
    match = re.fullmatch(f"{number}(?::{number})?", text)
    if not match:
        raise RenderError(f"unknown scale {_shown(text)}: write pixels:cells, as 1:8 or 4:1")
    pixels, cells = (
        1 << int(text[2:]) if text.startswith("2^") else int(text)
        for text in (match[1], match[2] or "1")
    )
    if min(pixels, cells) != 1 or (pixels * cells) & (pixels * cells - 1):
        raise RenderError(f"scale {_shown(text)}: one side must be 1, the other a power of two")
    return cells.bit_length() - pixels.bit_length()


def format_scale(scale_log2: int) -> str:
    """Return the text of a scale, as parse_scale reads it: 1:8, 4:1."""
    return f"{1 << max(0, -scale_log2)}:{1 << max(0, scale_log2)}"


def image_size(width: int, height: int, scale_log2: int, *, far: bool = False) -> tuple[int, int]:
    """Return the width and height in pixels of a picture of width x height cells.

    far: whether the universe may be one that no rectangle holds. Raises RenderError for a region or
    scale out of range, or more than MAX_PIXELS.
    """
    if width < 1 or height < 1:
        raise RenderError(f"a region of {width}x{height} cells shows nothing")
    most = MAX_FAR_SCALE if far else MAX_SCALE
    if not -MAX_SCALE <= scale_log2 <= most:
        raise RenderError(f"scale 2^{scale_log2} is outside 2^-{MAX_SCALE} to 2^{most}")
    if not far and not fits_rectangle(Box(0, 0, width, height), scale_log2):
        raise RenderError(f"a region of {width}x{height} cells is too large to draw")
    across, down = _pixels(width, scale_log2), _pixels(height, scale_log2)
    if across * down > MAX_PIXELS:
        raise RenderError(
            f"a picture of {across}x{down} pixels is too large (at most 2^28 in all): "
            f"choose a coarser scale or a smaller region"
        )
    return across, down


def fits_rectangle(box: Box, scale_log2: int) -> bool:
    """Tell whether numbers of cells, and coordinates, are small enough for a picture of a grid."""
    side = 1 << max(0, scale_log2)
    cells = min(side, box.width) * min(side, box.height)
    return scale_log2 <= MAX_SCALE and cells <= _MAX_CELLS and max(map(abs, box)) <= _FARTHEST


def choose_scale(width: int, height: int, max_pixels: int, *, largest: int = 16) -> int:
    """Return the finest scale at which width x height cells take at most max_pixels pixels.

    A cell is drawn as no more than largest x largest pixels. Raises RenderError for
    a region that is empty or does not fit at any scale.
    """
    if width < 1 or height < 1:
        raise RenderError(f"a region of {width}x{height} cells shows nothing")
    for scale in range(1 - max(1, largest).bit_length(), MAX_FAR_SCALE + 1):
        if _pixels(width, scale) * _pixels(height, scale) <= max_pixels:
            return scale
    raise RenderError(f"{width}x{height} cells do not fit in {max_pixels} pixels")


def _pixels(cells: int, scale_log2: int) -> int:
    return -(-cells >> scale_log2) if scale_log2 > 0 else cells << -scale_log2


def density_levels(grid: BitGrid, box: Box | None, scale_log2: int) -> Levels:
    """Return how densely the cells under each pixel live: uint8 of shape (rows, columns).

    A pixel is round(255 * live / cells), a half rounded up, but is 0 only where no
    cell lives and 255 only where all do. The blocks of 2^scale_log2 x 2^scale_log2
    cells start at the top-left cell of box; the last ones hold what the box leaves of
    them. box may leave the grid: the cells out there are dead. None is the whole
    grid. Raises RenderError for a region, scale or picture size out of range.
    """
    box = Box(0, 0, grid.width, grid.height) if box is None else box
    across, down = image_size(box.width, box.height, scale_log2)
    if not fits_rectangle(box, scale_log2):
        raise RenderError("the region lies too far away to be drawn")
    if scale_log2 <= 0:
        return _enlarged(grid, box, 1 << -scale_log2)
    side = 1 << scale_log2
    levels = np.zeros((down, across), np.uint8)
    window = _WordWindow(grid, box)
    if window.is_empty:
        return levels
    columns = block_sizes(box.width, scale_log2)
    lines = block_sizes(box.height, scale_log2)
    to_level = level_table(side) if scale_log2 <= 6 else None
    for first, live in _block_counts(window, scale_log2, across):
        rows = slice(first, first + len(live))
        if to_level is None:
            levels[rows] = level_of(live, lines[rows, None] * columns)
            continue
        levels[rows] = to_level[live]
        if columns[-1] != side:
            levels[rows, -1] = level_of(live[:, -1], lines[rows] * columns[-1])
        if lines[rows][-1] != side:
            levels[rows.stop - 1] = level_of(live[-1], lines[rows][-1] * columns)
    return levels


def level_of(live: Counts, cells: Counts) -> Levels:
    """Return the level of pixels, uint8, from their live cells and their cells."""
    rounded = (510 * live + cells) // (2 * cells)
    # Blocks neither empty nor full keep clear of both ends.
    inner = np.minimum(np.maximum(rounded, live > 0), 255 - (live < cells))
    return np.asarray(inner, np.uint8)


def level_table(side: int) -> Levels:
    """Return the level of a full block of side x side cells, by its live cells."""
    live = np.arange(side * side + 1, dtype=np.int64)
    return level_of(live, np.full_like(live, side * side))


def block_sizes(cells: int, scale_log2: int) -> Counts:
    """Return how many cells each block of 2^k has along an axis; the last may have fewer."""
    wide = scale_log2 > 62 or cells >> 62  # then they are Python ints
    sizes = np.full(_pixels(cells, scale_log2), 1 << scale_log2, object if wide else np.int64)
    sizes[-1] = cells - ((len(sizes) - 1) << scale_log2)
    return sizes


def _enlarged(grid: BitGrid, box: Box, side: int) -> Levels:
    levels = np.zeros((box.height * side, box.width * side), np.uint8)
    window = _WordWindow(grid, box)
    if window.is_empty:
        return levels
    left = 64 * window.first_word
    step = window.rows_of(_CHUNK_WORDS // 8)  # a word is 64 bytes once it is unpacked
    for top in range(window.top, window.bottom, step):
        words = window.words(top, min(top + step, window.bottom))
        cells = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")
        cells = cells[:, : box.width - left]
        cells *= 255
        right = left + cells.shape[1]
        target = levels[top * side : (top + len(cells)) * side, left * side : right * side]
        if side == 1:
            target[:] = cells
        else:
            # One pass for each row of pixels in a cell: no copy of the picture is made.
            wide = np.repeat(cells, side, axis=1)
            for line in range(side):
                target[line::side] = wide
    return levels


class _WordWindow:
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
        rows = self._grid.words[self._box.y + top : self._box.y + bottom]
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


def _block_counts(window: _WordWindow, scale: int, across: int) -> Iterator[tuple[int, Counts]]:
    """Yield live cells by block, a band of block rows at a time: (first block row, counts).

    counts: int64 of shape (block rows, across). Block rows that the window misses may
    be left out.
    """
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
        yield block, live


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


def _small_fields(words: Words, scale: int) -> Levels:
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


def palette_table(name: str) -> Levels:
    """Return the colours of the 256 levels: uint8 of shape (256, 3).

    Sparse levels are lifted by a gamma, so that settled soups and single gliders stay
    visible. Raises RenderError for a name not in PALETTES.
    """
    if name not in _STOPS:
        raise RenderError(f"unknown palette {_shown(name)}: choose {', '.join(PALETTES)}")
    stops = np.array([list(bytes.fromhex(stop[1:])) for stop in _STOPS[name]], np.float64)
    along = np.zeros(256)
    along[1:] = _FAINTEST + (1 - _FAINTEST) * (np.arange(1, 256) / 255) ** (1 / _GAMMA)
    at = np.linspace(0, 1, len(stops))
    return np.stack([np.rint(np.interp(along, at, stops[:, c])) for c in range(3)], axis=1).astype(
        np.uint8
    )


def to_image(levels: Levels, palette: str = "dark") -> Image.Image:
    """Return a Pillow image of mode P: each pixel is its level, looked up in the palette.

    levels: uint8 array of shape (rows, columns). Raises RenderError for an unknown
    palette.
    """
    table = palette_table(palette)
    from PIL import Image

    image = Image.fromarray(checked_levels(levels))
    image.putpalette(table.tobytes())
    return image


def save_png(path: str | os.PathLike[str], levels: Levels, palette: str = "dark") -> None:
    """Write levels (uint8, of shape (rows, columns)) as a PNG file.

    The file appears complete or not at all. Raises RenderError for an unknown palette
    and LifesimError for a path that cannot be written.
    """
    image = to_image(levels, palette)
    save(os.fspath(path), lambda stream: image.save(stream, "PNG"), compress=False)


def checked_levels(levels: Levels) -> Levels:
    """Return levels. Raises ValueError for anything but a uint8 picture."""
    if levels.ndim != 2 or levels.dtype != np.uint8 or not levels.size:
        raise ValueError(f"levels must be uint8 (rows, columns), not {levels.dtype} {levels.shape}")
    return levels


def _shown(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:37] + "...")
