"""Pictures of a universe: any region, at any power-of-two scale.

A scale is the binary logarithm of cells per pixel: 3 draws 8 x 8 cells as one pixel
as bright as they are dense, -2 draws each cell as 4 x 4 pixels. Pillow is imported
only when a picture is made.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from lifesim.counting import Counts, WordWindow, block_counts
from lifesim.errors import LifesimError, cannot_write
from lifesim.grid import BitGrid, Box

if TYPE_CHECKING:
    from PIL import Image

Levels = npt.NDArray[np.uint8]

MAX_PIXELS = 1 << 28
MAX_SCALE = 40  # of a universe that is held as a rectangle
MAX_FAR_SCALE = 320  # of one that is not
_MAX_CELLS = 1 << 52  # of one block: 510 times as many live cells still fit in an int64
_INTS = 26  # the largest scale at which no block has more
_CHUNK_WORDS = 1 << 15  # cells that are drawn at a time, whatever the region: 64 bytes each

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
    side = 1 << max(0, scale_log2)
    if not far and min(side, width) * min(side, height) > _MAX_CELLS:
        raise RenderError(f"a region of {width}x{height} cells is too large to draw")
    across, down = _pixels(width, scale_log2), _pixels(height, scale_log2)
    if across * down > MAX_PIXELS:
        raise RenderError(
            f"a picture of {across}x{down} pixels is too large (at most 2^28 in all): "
            f"choose a coarser scale or a smaller region"
        )
    return across, down


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
    across, down = image_size(box.width, box.height, scale_log2, far=True)
    if scale_log2 <= 0:
        return _enlarged(grid, box, 1 << -scale_log2)
    side = 1 << scale_log2
    levels = np.zeros((down, across), np.uint8)
    widths, heights = block_sizes(box.width, scale_log2), block_sizes(box.height, scale_log2)
    to_level = level_table(side) if scale_log2 <= 6 else None
    for top, left, live in block_counts(grid, box, scale_log2):
        rows, columns = slice(top, top + len(live)), slice(left, left + live.shape[1])
        if to_level is None:
            levels[rows, columns] = levels_of(live, heights[rows], widths[columns], scale_log2)
            continue
        levels[rows, columns] = to_level[live]
        if columns.stop == across and widths[-1] != side:
            levels[rows, -1] = level_of(live[:, -1], heights[rows] * widths[-1])
        if rows.stop == down and heights[-1] != side:
            levels[-1, columns] = level_of(live[-1], heights[-1] * widths[columns])
    return levels


def levels_of(
    live: npt.NDArray[Any], heights: npt.NDArray[Any], widths: npt.NDArray[Any], scale_log2: int
) -> Levels:
    """Return the levels of pixels, whose blocks have these sizes, from their live cells. Numbers of
    any size: int64, or Python ints."""
    if scale_log2 <= _INTS:
        return level_of(live, heights[:, None] * widths)
    levels = np.zeros(live.shape, np.uint8)
    row, column = np.nonzero(live)
    cells = heights[row].astype(object) * widths[column]
    levels[row, column] = level_of(live[row, column].astype(object), cells)
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
    window = WordWindow(grid, box)
    if window.is_empty:
        return levels
    left = 64 * window.first_word
    step = window.rows_of(_CHUNK_WORDS)
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

    levels: uint8 array of shape (rows, columns). Colours, of shape (rows, columns, 3), are taken
    as they are, for an image of mode RGB. Raises RenderError for an unknown palette.
    """
    table = palette_table(palette)
    from PIL import Image

    if levels.ndim == 3:
        return Image.fromarray(checked_pixels(levels))

    image = Image.fromarray(checked_levels(levels))
    image.putpalette(table.tobytes())
    return image


def save_png(path: str | os.PathLike[str], levels: Levels, palette: str = "dark") -> None:
    """Write levels (uint8, of shape (rows, columns)), or colours (rows, columns, 3), as a PNG file.

    The file appears complete or not at all. Raises RenderError for an unknown palette
    and LifesimError for a path that cannot be written.
    """
    from kernels.draft import Draft

    image = to_image(levels, palette)
    with Draft(path, refusal=cannot_write) as draft, draft.errors():
        stream = draft.stream()
        image.save(stream, "PNG")
        stream.flush()


def checked_levels(levels: Levels) -> Levels:
    """Return levels. Raises ValueError for anything but a uint8 picture."""
    if levels.ndim != 2 or levels.dtype != np.uint8 or not levels.size:
        raise ValueError(f"levels must be uint8 (rows, columns), not {levels.dtype} {levels.shape}")
    return levels


def checked_pixels(pixels: Levels) -> Levels:
    """Return colours. Raises ValueError for anything but a uint8 picture of three of them."""
    if pixels.ndim != 3 or pixels.shape[2] != 3 or pixels.dtype != np.uint8 or not pixels.size:
        raise ValueError(
            f"colours must be uint8 (rows, columns, 3), not {pixels.dtype} {pixels.shape}"
        )
    return pixels


def _shown(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:37] + "...")
