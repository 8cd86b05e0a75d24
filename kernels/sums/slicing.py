"""Between numbers and their bit planes, a group of 32 numbers at a time."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint32]

WORD = 32


def slice_bits(values: Words, k: int) -> Words:
    """Return bit planes (k, groups) of numbers below 2^k: bit i of planes[j, g] is bit j of
    number 32 g + i. The numbers that fill up the last group are zeros."""
    if not 1 <= k <= WORD:
        raise ValueError(f"k must be 1 to {WORD}, not {k}")
    _check_words(values, 1)
    if values.size and int(values.max()) >> k:
        raise ValueError(f"a number of more than {k} bits: {values.max()}")
    groups = -(-values.size // WORD)
    padded = np.zeros(groups * WORD, np.uint32)
    padded[: values.size] = values
    rows = np.ascontiguousarray(padded.reshape(groups, WORD).T)
    _transpose(rows)
    return rows[:k].copy()


def unslice_bits(planes: Words, count: int) -> Words:
    """Return the first `count` numbers of bit planes (k, groups)."""
    _check_words(planes, 2)
    k, groups = planes.shape
    if not 1 <= k <= WORD:
        raise ValueError(f"1 to {WORD} planes, not {k}")
    if not 0 <= count <= groups * WORD:
        raise ValueError(f"{count} numbers of {groups} groups")
    rows = np.zeros((WORD, groups), np.uint32)
    rows[:k] = planes
    _transpose(rows)
    return np.ascontiguousarray(rows.T).reshape(-1)[:count]


def _transpose(rows: Words) -> None:
    """Transpose in place: bit j of rows[i, g] and bit i of rows[j, g] change places, for every g.

    Each round exchanges two quarters of every square of 2 s rows and bits.
    """
    groups = rows.shape[1]
    s = WORD // 2
    while s:
        low = np.uint32(0xFFFFFFFF // ((1 << s) + 1))  # the lower s of every 2 s bits
        shift = np.uint32(s)
        squares = rows.reshape(WORD // (2 * s), 2, s, groups)
        upper, lower = squares[:, 0], squares[:, 1]
        different = ((upper >> shift) ^ lower) & low
        lower ^= different
        upper ^= different << shift
        s //= 2


def _check_words(array: Words, dimensions: int) -> None:
    if array.dtype != np.uint32 or array.ndim != dimensions:
        raise ValueError(
            f"uint32 in {dimensions} dimension(s) wanted, not {array.dtype} in {array.ndim}"
        )
