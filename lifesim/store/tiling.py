"""Cut a universe into tiles, blocks of tiles and windows: pure index arithmetic.

A tile is a sub-universe: one file. A block is a rectangle of tiles that is moved on in one
piece; its window is the block with a halo around it, as wide as news travels in a phase, as far as
there are cells: on a torus it runs on beyond the edges, on a plane it ends there. Where
block and halo reach all around a torus, the window is that whole axis, and closes on itself.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from lifesim.errors import LifesimError
from lifesim.grid import Box

WORD = 64
_LEAST_BYTES, _USUAL_BYTES, _MOST_BYTES = 1 << 22, 1 << 24, 1 << 28  # of a tile
# Files of a universe: so many where they are then of the usual size or less, up to the most where
# they are larger. Each costs some milliseconds, whatever it holds.
_FILES, _MOST_FILES = 32, 256
MOST_TILES = 1 << 20
MOST_CELLS = (1 << 62) - 1
_WIDEST = 1 << 24  # cells of a tile that nobody chose: a row of it is 2 MiB


class TilingError(LifesimError):
    """A universe cannot be cut into tiles so."""


@dataclass(frozen=True, slots=True)
class Span:
    """Cells along one axis of a window: `length` from `start` on, modulo the size.

    The block's own cells start `before` cells into it.
    """

    start: int
    length: int
    before: int


@dataclass(frozen=True, slots=True)
class TileBlock:
    """The tiles in columns left to right - 1 and rows top to bottom - 1 of the tiling."""

    left: int
    top: int
    right: int
    bottom: int


@dataclass(frozen=True, slots=True)
class TileWindow:
    """The window that a backend moves on. torus: how it is run; with a halo, either would do."""

    across: Span
    down: Span
    torus: bool

    @property
    def shape(self) -> tuple[int, int, bool]:
        """Return what an arena must hold for the window: width, height, torus."""
        return self.across.length, self.down.length, self.torus


@dataclass(frozen=True)
class Tiling:
    """A universe cut into tiles. columns, rows: the edges between tiles, from 0 to the width and to
    the height.

    Inner edges of columns are multiples of 64. Tile i stands in column i % across and
    row i // across.
    """

    columns: tuple[int, ...]
    rows: tuple[int, ...]
    torus: bool

    def __post_init__(self) -> None:
        for edges in (self.columns, self.rows):
            if len(edges) < 2 or edges[0] != 0 or any(a >= b for a, b in pairwise(edges)):
                raise ValueError(f"edges of tiles must rise from 0: {edges}")
        if any(edge % WORD for edge in self.columns[:-1]):
            raise ValueError("tiles start at multiples of 64 columns")

    @property
    def width(self) -> int:
        """Return the width in cells."""
        return self.columns[-1]

    @property
    def height(self) -> int:
        """Return the height in cells."""
        return self.rows[-1]

    @property
    def across(self) -> int:
        """Return the number of columns of tiles."""
        return len(self.columns) - 1

    @property
    def down(self) -> int:
        """Return the number of rows of tiles."""
        return len(self.rows) - 1

    def __len__(self) -> int:
        return self.across * self.down

    def box(self, tile: int) -> Box:
        """Return the cells of a tile."""
        r, c = divmod(tile, self.across)
        x, y = self.columns[c], self.rows[r]
        return Box(x, y, self.columns[c + 1] - x, self.rows[r + 1] - y)

    def within(self, box: Box) -> list[int]:
        """Return the tiles that a rectangle inside the universe touches."""
        columns = _touched(self.columns, Span(box.x, box.width, 0))
        rows = _touched(self.rows, Span(box.y, box.height, 0))
        return [r * self.across + c for r in rows for c in columns]

    def tiles(self, block: TileBlock) -> list[int]:
        """Return the tiles of a block."""
        return [
            r * self.across + c
            for r in range(block.top, block.bottom)
            for c in range(block.left, block.right)
        ]

    def largest(self, across: int, down: int, ends: int = 0) -> tuple[int, int]:
        """Return the width and height in cells that blocks of so many tiles have at most. ends: as
        of blocks()."""
        found = self._largest.get((across, down, ends))
        if found is None:
            found = (
                _longest(self.columns, cuts(self.across, across)),
                _longest(self.rows, cuts(self.down, down, ends)),
            )
            self._largest[across, down, ends] = found
        return found

    @cached_property
    def _largest(self) -> dict[tuple[int, int, int], tuple[int, int]]:
        return {}

    def window(self, block: TileBlock, halo: int) -> TileWindow:
        """Return a block with so many cells around it: what must be moved on so that the block is
        right after as many generations as news takes through them."""
        across = span(
            self.width,
            self.columns[block.left],
            self.columns[block.right],
            -(-halo // WORD) * WORD,
            self.torus,
        )
        down = span(self.height, self.rows[block.top], self.rows[block.bottom], halo, self.torus)
        inside = (
            across.start > 0
            and across.start + across.length < self.width
            and down.start > 0
            and down.start + down.length < self.height
        )
        return TileWindow(across, down, self.torus or inside)

    def whose_windows(self, quiet: npt.NDArray[np.bool_], halo: int) -> set[int]:
        """Return the tiles whose windows hold none but tiles that are marked, in a bool of each
        tile. halo: as of window()."""
        if not quiet.any():
            return set()
        columns, rows = self.touched(halo)
        marked = quiet.reshape(self.down, self.across)
        by_row = np.array([marked[touched].all(axis=0) for touched in rows])
        both = np.array([by_row[:, touched].all(axis=1) for touched in columns]).T
        return {int(i) for i in np.flatnonzero(both)}

    def below(self, block: TileBlock, generations: int) -> TileWindow | None:
        """Return the window of a block whose rows above are computed already, by a rule that
        reaches one cell: what lies `generations` rows further down. It is None where that runs into
        the block's own rows or leaves the plane."""
        window = self.window(block, generations)
        low, high = self.rows[block.top], self.rows[block.bottom]
        if self.torus and window.down.length == self.height:
            return None
        if not self.torus and high + generations > self.height:
            return None
        return TileWindow(window.across, Span(low + generations, high - low, 0), self.torus)

    def read_by(self, group: Iterable[TileBlock], halo: int) -> set[int]:
        """Return the tiles that the windows of blocks touch, and of blocks of some of their
        tiles. halo: as of window()."""
        columns, rows = self.touched(halo)
        found = set()
        for block in group:
            across = {c for i in range(block.left, block.right) for c in columns[i]}
            down = {r for i in range(block.top, block.bottom) for r in rows[i]}
            found |= {r * self.across + c for r in down for c in across}
        return found

    @lru_cache(maxsize=64)  # noqa: B019
    def touched(self, halo: int) -> tuple[list[list[int]], list[list[int]]]:
        """Return which tile columns the window of a tile in each column touches; the same of
        rows. halo: as of window()."""
        return (
            [
                _touched(self.columns, self.window(TileBlock(c, 0, c + 1, 1), halo).across)
                for c in range(self.across)
            ],
            [
                _touched(self.rows, self.window(TileBlock(0, r, 1, r + 1), halo).down)
                for r in range(self.down)
            ],
        )


def cuts(count: int, most: int, ends: int = 0) -> list[tuple[int, int]]:
    """Cut a row of tiles into runs of at most `most`, each as its first and last + 1.

    ends: tiles of the first and of the last run, the others being as even as can be; 0: all have
    `most`, but for the last.
    """
    inner = count - 2 * ends
    if not ends or inner <= 0:
        return [(first, min(first + most, count)) for first in range(0, count, most)]
    parts = -(-inner // most)
    edges = [0, *(ends + i * inner // parts for i in range(parts + 1)), count]
    return list(pairwise(edges))


def count_cuts(count: int, most: int, ends: int = 0) -> int:
    """Return how many runs cuts() gives."""
    inner = count - 2 * ends
    return 2 + -(-inner // most) if ends and inner > 0 else -(-count // most)


def _longest(edges: tuple[int, ...], runs: list[tuple[int, int]]) -> int:
    """Return the length of the longest of some runs of tiles."""
    return max(edges[last] - edges[first] for first, last in runs)


def span(size: int, low: int, high: int, halo: int, torus: bool) -> Span:
    """Return the span of a window along one axis."""
    if not torus:
        start, end = max(0, low - halo), min(size, high + halo)
        return Span(start, end - start, low - start)
    if high - low + 2 * halo >= size:
        return Span(0, size, low)
    return Span(low - halo, high - low + 2 * halo, halo)


def pieces(size: int, span: Span) -> Iterator[tuple[int, int, int]]:
    """Yield where the cells of a span lie: (place in the span, first cell, cells)."""
    done = 0
    while done < span.length:
        at = (span.start + done) % size
        count = min(span.length - done, size - at)
        yield done, at, count
        done += count


def _touched(edges: tuple[int, ...], span: Span) -> list[int]:
    found: dict[int, None] = {}
    for _, at, count in pieces(edges[-1], span):
        first = bisect_right(edges, at) - 1
        last = bisect_left(edges, at + count)
        found.update(dict.fromkeys(range(first, last)))
    return list(found)


def pyramid_top(tiling: Tiling) -> int:
    """Return the last level that nests in every tile of a universe; 0 where not even s3 does."""
    top = max(3, (max(tiling.width, tiling.height) - 1).bit_length())
    for edge in (*tiling.columns[1:-1], *tiling.rows[1:-1]):
        top = min(top, (edge & -edge).bit_length() - 1)
    return top if top >= 3 else 0


def tile_universe(
    width: int,
    height: int,
    torus: bool,
    tiles: tuple[int, int] | None = None,
    *,
    planes: int = 1,
) -> Tiling:
    """Return a tiling of `tiles` (across, down), by default of full rows in files of up to 256 MiB,
    whose cells are in so many bit planes: 32 files of 4 to 16 MiB, or more, up to 256, of 16 MiB
    and above.

    Edges fall on multiples of the largest power of two that leaves tiles nearly even, so
    that pyramids nest. Raises TilingError for more tiles than the universe can have.
    """
    if tiles is None:
        across = -(-width // _WIDEST)
        columns = -(-width // across)
        row = planes * 8 * -(-columns // WORD)
        whole = height * row * across
        size = min(max(whole // _FILES, _LEAST_BYTES), _USUAL_BYTES)
        size = min(max(whole // _MOST_FILES, size), _MOST_BYTES)
        tiles = across, min(height, -(-height * row // size))
    if tiles[0] * tiles[1] > MOST_TILES:
        raise TilingError(
            f"{tiles[0]}x{tiles[1]} sub-universes are too many: at most {MOST_TILES} in all"
        )
    if width * height > MOST_CELLS:
        raise TilingError(f"{width}x{height} cells are too many: less than 2^62 in all")
    vertical = _cut(width, tiles[0], WORD)
    horizontal = _cut(height, tiles[1], 1)
    if vertical is None or horizontal is None:
        most = f"{-(-width // WORD)}x{height}"
        raise TilingError(
            f"{width}x{height} cells cannot be cut into {tiles[0]}x{tiles[1]} sub-universes "
            f"(at most {most})"
        )
    return Tiling(vertical, horizontal, torus)


def _cut(length: int, parts: int, least: int) -> tuple[int, ...] | None:
    if not 1 <= parts <= -(-length // least):
        return None
    unit = least
    while unit < 1 << 20 and 16 * unit * parts <= length:
        unit *= 2
    units = -(-length // unit)
    return (*(i * units // parts * unit for i in range(parts)), length)


def blocks(
    tiling: Tiling, across: int, down: int, wanted: set[int], ends: int = 0
) -> list[TileBlock]:
    """Return blocks of at most across x down tiles that hold the wanted tiles, and no others. ends:
    how many tiles high the topmost and the lowest are, where they are not as high as the others."""
    found = []
    for top, bottom in cuts(tiling.down, down, ends):
        for left, right in cuts(tiling.across, across):
            open_runs: dict[tuple[int, int], int] = {}  # (left, right) of a run: its top row
            for r in range(top, bottom + 1):
                runs = _runs(tiling, r, left, right, wanted) if r < bottom else set()
                for run in [run for run in open_runs if run not in runs]:
                    found.append(TileBlock(run[0], open_runs.pop(run), run[1], r))
                for run in runs:
                    open_runs.setdefault(run, r)
    return found


def _runs(
    tiling: Tiling, row: int, left: int, right: int, wanted: set[int]
) -> set[tuple[int, int]]:
    """Return runs of wanted tiles of a row of tiles, as (first column, column past the last)."""
    runs, start = set(), None
    for c in range(left, right + 1):
        if c < right and row * tiling.across + c in wanted:
            start = c if start is None else start
        elif start is not None:
            runs.add((start, c))
            start = None
    return runs
