"""Live cells out of the squares that planes hand over (kernels.plane.contract): as words, as cells,
and as a digest; and squares out of runs of live cells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from kernels.plane.contract import SIDE, Places
from lifesim.digests import finish, scattered
from lifesim.grid import Box, GridError, Words

Ints = npt.NDArray[np.int64]

_MOST_WORDS = 1 << 24  # of 64 cells, in which cells may live for there to be a digest
_MOST = 1 << 24  # cells, in a list of them
_AT_ONCE = 1 << 12  # squares
_ONES = np.uint64(0xFFFF_FFFF_FFFF_FFFF)
FARTHEST = 1 << 59  # from the origin: beyond, coordinates are not listed


class LiveWords(NamedTuple):
    """The words of 64 cells in which any lives, in no order: bit b of one in row y and column w is
    the cell (64 w + b, y). rows, columns: int64 (n,). words: uint64 (n,)."""

    rows: Ints
    columns: Ints
    words: Words


def live_words(squares: Iterable[tuple[Places, Words]], most: int) -> LiveWords:
    """Return the words of squares that are not 0. Raises GridError for more than `most`."""
    parts = [LiveWords(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.uint64))]
    count = 0
    for places, cells in squares:
        which, row = np.nonzero(cells)
        count += len(row)
        if count > most:
            raise GridError(f"cells live in more than {most} words of 64, too many for one")
        rows = SIDE * places[which, 1] + row
        parts.append(LiveWords(rows, places[which, 0], cells[which, row]))
    return LiveWords(*map(np.concatenate, zip(*parts, strict=True)))


def words_of_runs(parts: Iterable[tuple[Ints, Ints, Ints]], most: int) -> LiveWords:
    """Return the words of runs of live cells, ordered by row, then column.

    Each part has their rows, first columns and columns past the last. Raises GridError for more
    words than `most`.
    """
    found = [LiveWords(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.uint64))]
    count = 0
    for rows, starts, ends in parts:
        first, last = starts // SIDE, (ends - 1) // SIDE
        lengths = last - first + 1
        count += int(lengths.sum())
        if count > most:
            raise GridError(f"cells live in more than {most} words of 64, too many for a list")
        ordinal = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        columns = np.repeat(first, lengths) + ordinal
        low = np.maximum(np.repeat(starts, lengths) - SIDE * columns, 0).astype(np.uint64)
        high = np.maximum(SIDE * (columns + 1) - np.repeat(ends, lengths), 0).astype(np.uint64)
        words = (_ONES << low) & (_ONES >> high)
        found.append(LiveWords(np.repeat(rows, lengths), columns, words))
    return _distinct(LiveWords(*map(np.concatenate, zip(*found, strict=True))))


def squares_of_words(live: LiveWords) -> Iterator[tuple[Places, Words]]:
    """Yield the squares that have such words, each with all of them, some at a time."""
    down, across = live.rows // SIDE, live.columns
    order = np.lexsort((across, down))
    down, across = down[order], across[order]
    starts = np.ones(len(order), np.bool_)
    starts[1:] = (down[1:] != down[:-1]) | (across[1:] != across[:-1])
    ends = np.append(np.flatnonzero(starts), len(order))
    for first in range(0, len(ends) - 1, _AT_ONCE):
        borders = ends[first : first + _AT_ONCE + 1]
        low, high = borders[0], borders[-1]
        part = order[low:high]
        which = np.repeat(np.arange(len(borders) - 1), np.diff(borders))
        squares = np.zeros((len(borders) - 1, SIDE), np.uint64)
        squares[which, live.rows[part] % SIDE] = live.words[part]
        places = np.stack([across[borders[:-1]], down[borders[:-1]]], axis=1)
        yield np.ascontiguousarray(places), squares


def _distinct(live: LiveWords) -> LiveWords:
    """Return the same cells with no place twice, ordered by row, then column."""
    rows, columns, words = live
    order = np.lexsort((columns, rows))
    rows, columns, words = rows[order], columns[order], words[order]
    starts = np.ones(len(rows), np.bool_)
    starts[1:] = (rows[1:] != rows[:-1]) | (columns[1:] != columns[:-1])
    first = np.flatnonzero(starts)
    whole = np.bitwise_or.reduceat(words, first) if len(words) else words
    return LiveWords(rows[first], columns[first], whole)


def check_listed(population: int) -> None:
    """Raise GridError for more live cells than are listed one by one."""
    if population > _MOST:
        raise GridError(f"{population} cells live, too many to compare them")


class Listed(Protocol):
    """A plane whose live cells can be listed."""

    def population(self) -> int:
        """Return the number of live cells."""

    def all_squares(self) -> Iterator[tuple[Places, Words]]:
        """Yield all squares with live cells (kernels.plane.contract)."""


def live_cells(universe: Listed, frame: Box) -> Ints:
    """Return the live cells as int64 rows (x, y), ordered by y, then x; shape (population, 2).

    frame: Life.frame() of it. Raises GridError for too many, and for some too far away.
    """
    check_listed(universe.population())
    if max(abs(frame.x), abs(frame.y), frame.width, frame.height) > FARTHEST:
        raise GridError("cells live too far from the origin to compare them")
    rows, columns, words = live_words(universe.all_squares(), _MOST)
    bits = np.unpackbits(words.view(np.uint8).reshape(-1, 8), axis=1, bitorder="little")
    word, bit = np.nonzero(bits)
    cells = np.stack([SIDE * columns[word] + bit, rows[word]], axis=1)
    return cells[np.lexsort((cells[:, 0], cells[:, 1]))]


def digest_of(squares: Iterable[tuple[Places, Words]], population: int, frame: Box) -> str:
    """Return the digest of a frame that holds all that lives (lifesim.digests), without ever
    holding it as a grid. Raises GridError for one too wide, or for too many live words."""
    if max(frame.width, frame.height) >= 1 << 62:
        raise GridError(f"a plane of {frame.width}x{frame.height} cells is too wide")
    if population > SIDE * _MOST_WORDS:
        raise GridError(f"{population} cells live, too many for one")
    try:
        rows, columns, words = live_words(squares, _MOST_WORDS)
    except OverflowError as error:
        raise GridError(str(error)) from None
    rows, columns = rows - frame.y, columns - frame.x // SIDE
    shift = frame.x % SIDE
    if shift:  # the frame's words lie across those of squares, of each of which they have two parts
        rows, columns = np.tile(rows, 2), np.concatenate([columns, columns - 1])
        words = np.concatenate([words >> np.uint64(shift), words << np.uint64(SIDE - shift)])
        live = words != 0
        rows, columns, words = rows[live], columns[live], words[live]
    rows, columns, whole = _distinct(LiveWords(rows, columns, words))
    where = rows.astype(np.uint64), columns.astype(np.uint64)
    return finish(frame.width, frame.height, scattered(whole, *where))
