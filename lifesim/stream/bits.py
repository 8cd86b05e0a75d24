"""Copying columns of packed rows from anywhere to anywhere."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint64]


def copy_columns(target: Words, to: int, source: Words, start: int, count: int) -> None:
    """Copy columns start to start + count - 1 of source to columns `to` and on of target.

    Both uint64 (rows, words) or (rows, planes, words), of as many rows and planes; other columns
    stay as they are.
    """
    if to % 64 == 0 and start % 64 == 0 and count % 64 == 0:
        words = count // 64
        part = source[..., start // 64 : start // 64 + words]
        target[..., to // 64 : to // 64 + words] = part
        return
    first, last = to // 64, (to + count - 1) // 64  # words of the target
    shift = start - to  # bit b of target words is bit b + shift of source words
    low = first + (shift >> 6)  # source word that holds bit 0 of the first target word
    turn = np.uint64(shift & 63)
    wide = np.zeros((*source.shape[:-1], last - first + 2), np.uint64)
    left, right = max(0, low), min(source.shape[-1], low + wide.shape[-1])
    if left < right:
        wide[..., left - low : right - low] = source[..., left:right]
    moved = wide[..., :-1]
    if turn:
        moved = wide[..., :-1] >> turn | wide[..., 1:] << np.uint64(64 - int(turn))
    masks = np.full(last - first + 1, ~np.uint64(0))
    masks[0] &= ~np.uint64(0) << np.uint64(to % 64)
    masks[-1] &= ~np.uint64(0) >> np.uint64(63 - (to + count - 1) % 64)
    part = target[..., first : last + 1]
    part &= ~masks
    part |= moved & masks
