"""Runs of live cells: the step between text and packed words."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from lifesim.grid import BitGrid, Words

Ints = npt.NDArray[np.int64]
Runs = tuple[Ints, Ints, Ints]  # row, first column, column past the last

_WORDS = 1 << 15  # words looked at in one step: bounds the temporaries
_ONES = np.uint64(0xFFFF_FFFF_FFFF_FFFF)


def paint(grid: BitGrid, runs: Runs) -> None:
    """Set the cells of the runs: int64 arrays of one shape, runs not empty, disjoint,
    ordered by row, then column, and inside the grid (unchecked).
    """
    y, start, end = runs
    if not len(y):
        return
    flat = grid.words.reshape(-1)
    row = y * grid.words.shape[1]
    first, last = row + (start >> 6), row + ((end - 1) >> 6)
    head = _ONES << (start & 63).astype(np.uint64)
    tail = _ONES >> (-end & 63).astype(np.uint64)
    within = first == last
    both = head & tail
    at = np.stack([first, last], axis=1).reshape(-1)
    bits = np.stack([np.where(within, both, head), np.where(within, both, tail)], axis=1)
    word = np.flatnonzero(np.diff(at, prepend=-1))
    flat[at[word]] |= np.bitwise_or.reduceat(bits.reshape(-1), word)
    long = np.flatnonzero(last - first > 1)
    for begin, stop in zip((first[long] + 1).tolist(), last[long].tolist(), strict=True):
        flat[begin:stop] = _ONES


def live_runs(grid: BitGrid) -> Iterator[Runs]:
    """All maximal runs of live cells, ordered by row, then column, in pieces."""
    count = grid.words.shape[1]
    step = max(1, _WORDS // count)
    held: Runs | None = None
    for top in range(0, grid.height, step):
        for left in range(0, count, _WORDS):
            words = grid.words[top : top + step, left : left + _WORDS]
            piece = _runs_of(words)
            if not len(piece[0]):
                continue
            y, start, end = piece[0] + top, piece[1] + 64 * left, piece[2] + 64 * left
            if held is not None:
                # A row wider than a step is cut between steps: mend the run there.
                if held[0][-1] == y[0] and held[2][-1] == start[0]:
                    start[0] = held[1][-1]
                    held = held[0][:-1], held[1][:-1], held[2][:-1]
                if len(held[0]):
                    yield held
            held = y, start, end
    if held is not None:
        yield held


def _runs_of(words: Words) -> Runs:
    """The runs in a (rows, words) array, each row's ends taken as borders."""
    rows, count = words.shape
    edges = np.zeros((rows, count + 1), np.uint64)
    edges[:, :-1] = words ^ (words << np.uint64(1))
    edges[:, 1:] ^= words >> np.uint64(63)
    at_row, at_word = np.nonzero(edges)
    bits = np.unpackbits(
        edges[at_row, at_word].view(np.uint8).reshape(-1, 8), axis=1, bitorder="little"
    )
    which, bit = np.divmod(np.flatnonzero(bits), 64)
    # Every run has two edges, and both stand in the same row.
    column = (at_word[which] << 6) + bit
    return at_row[which[0::2]], column[0::2], column[1::2]
