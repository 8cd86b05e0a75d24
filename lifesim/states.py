"""States of cells in bit planes: words of a grid as numbers, and what is done to all planes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from kernels.life.bytewise import packed, unpacked

Words = npt.NDArray[np.uint64]
States = npt.NDArray[np.uint8]  # (rows, columns): the state of each cell

MOST_PLANES = 8  # of states 0 to 255
_CHUNK = 1 << 20  # cells that are looked at at a time: they take a byte in each bit plane


def as_planes(words: Words) -> Words:
    """Return rows of words as a view of (rows, planes, words)."""
    return words if words.ndim == 3 else words[:, None]


def checked_states(
    states: npt.ArrayLike, planes: int | None
) -> tuple[npt.NDArray[np.generic], int]:
    """Return states as an array, and the planes that hold them: so many, or as few as may be.

    Raises ValueError for what is no array of states, and for states that planes do not hold.
    """
    cells = np.asarray(states)
    if cells.ndim != 2 or cells.dtype.kind not in "biu":
        raise ValueError("states are integers in two dimensions")
    low, high = (int(cells.min()), int(cells.max())) if cells.size else (0, 0)
    planes = max(1, min(high.bit_length(), MOST_PLANES)) if planes is None else planes
    if low < 0 or high >> planes:
        wrong = low if low < 0 else high
        raise ValueError(f"states are 0 to {(1 << planes) - 1}, not {wrong}")
    return cells, planes


def live_words(words: Words) -> Words:
    """Return rows of words in which the bits of live cells are one: of one bit plane the words
    themselves, of several a new array, (rows, words)."""
    if words.ndim == 2:
        return words
    live: Words = np.bitwise_or.reduce(words, axis=1)
    return live


def pieces(words: Words, width: int) -> Iterator[States]:
    """Yield the states of some rows at a time, from the first to the last.

    words: (rows, words) or (rows, planes, words), whose rows have `width` cells.
    """
    step = max(1, _CHUNK // width)
    for top in range(0, len(words), step):
        yield unpacked(np.ascontiguousarray(words[top : top + step]), width)


def pack(states: npt.NDArray[np.generic], words: Words) -> None:
    """Write states, (rows, columns), as words of as many rows, which hold them all."""
    planes = words.shape[1] if words.ndim == 3 else 1
    step = max(1, _CHUNK // states.shape[1])
    for top in range(0, len(states), step):
        words[top : top + step] = packed(states[top : top + step].astype(np.uint8), planes)


def populations(words: Words, width: int) -> list[int]:
    """Return how many cells are in each state, of all that the planes of words can hold."""
    counts = np.zeros(1 << words.shape[1], np.int64)
    for states in pieces(words, width):
        counts += np.bincount(states.reshape(-1), minlength=len(counts))
    return [int(count) for count in counts]


def largest(words: Words) -> int:
    """Return the largest state of any cell."""
    if words.ndim == 2:
        return int(bool(words.any()))
    found, step = 0, max(1, _CHUNK // (64 * words.shape[2]))
    for top in range(0, len(words), step):
        rows = words[top : top + step]
        state, held = 0, np.full(rows[:, 0].shape, ~np.uint64(0))  # what has the digits so far
        for plane in reversed(range(rows.shape[1])):
            having = held & rows[:, plane]
            if having.any():
                held, state = having, state | 1 << plane
        found = max(found, state)
    return found


def lay(part: Words, rows: Words, x: int) -> None:
    """Set the live cells of `part` in rows from column x on; rows have as many planes, or more."""
    first, shift = x >> 6, x & 63
    if rows.ndim == 3:
        _clear(live_words(part), rows, first, shift)
        part = part.reshape(len(part), -1, part.shape[-1])
        rows = rows[:, : part.shape[1]]
    count = part.shape[-1]
    low = rows[..., first : first + count]
    low |= (part << np.uint64(shift))[..., : low.shape[-1]]
    if shift:
        high = rows[..., first + 1 : first + 1 + count]
        high |= (part >> np.uint64(64 - shift))[..., : high.shape[-1]]


def _clear(live: Words, rows: Words, first: int, shift: int) -> None:
    """Clear cells in all planes of rows: those that have a one in `live`, whose words begin `shift`
    bits after the word `first` of a row."""
    count = live.shape[-1]
    low = rows[..., first : first + count]
    low &= ~(live << np.uint64(shift))[:, None, : low.shape[-1]]
    if shift:
        high = rows[..., first + 1 : first + 1 + count]
        high &= ~(live >> np.uint64(64 - shift))[:, None, : high.shape[-1]]
