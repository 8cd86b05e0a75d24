"""Operations on packed cells by numpy: the oracle that every level must equal.

lifesim/soup.py defines the soup and lifesim/digests.py the sum of the digest.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint64]
Counts = npt.NDArray[np.uint8]
Ages = npt.NDArray[np.uint16]
Live = npt.NDArray[np.unsignedinteger]

_MASK = (1 << 64) - 1
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31 = np.uint64(30), np.uint64(27), np.uint64(31)
_SOUP_ROW = np.uint64(0xD1342543DE82EF95)
_DIGEST_A = np.uint64(0x243F6A8885A308D3)
_DIGEST_B = np.uint64(0x13198A2E03707344)
_LOW_HALF = np.uint64(0xFFFFFFFF)

_CHUNK_WORDS = 1 << 14  # four arrays of this size stay in a core's second-level cache


def mix(z: Words, scratch: Words | None = None) -> Words:
    """The finaliser of splitmix64 on every word of the uint64 array z, in place.

    scratch: an array of the shape of z to overwrite; one is made where none is given.
    Returns z.
    """
    if scratch is None:
        scratch = np.empty_like(z)
    np.right_shift(z, _S30, out=scratch)
    z ^= scratch
    z *= _MIX_1
    np.right_shift(z, _S27, out=scratch)
    z ^= scratch
    z *= _MIX_2
    np.right_shift(z, _S31, out=scratch)
    z ^= scratch
    return z


def fill(words: Words, y0: int, w0: int, digits: int, key: int) -> None:
    """Overwrite words, uint64 (rows, count), with the soup from word w0 of row y0 on."""
    height, count = words.shape
    if not 0 < digits < 1 << 32:
        words[:] = np.uint64(_MASK if digits else 0)
        return
    step = max(1, _CHUNK_WORDS // max(1, count))
    for top in range(0, height, step):
        part = words[top : top + step]
        ys = _counted(y0 + top, len(part))
        row_keys = mix((ys * _SOUP_ROW + np.uint64(1)) ^ np.uint64(key))
        for first in range(0, count, _CHUNK_WORDS):
            _fill_part(part[:, first : first + _CHUNK_WORDS], row_keys, w0 + first, digits)


def partial(words: Words, y0: int, w0: int) -> int:
    """Return what words add to the sum of the digest: 0 <= value < 2^128.

    words: uint64 (rows, count), the first of which is word w0 of row y0.
    """
    height, count = words.shape
    total = 0
    step = max(1, _CHUNK_WORDS // max(1, count))
    for top in range(0, height, step):
        for first in range(0, count, _CHUNK_WORDS):
            part = words[top : top + step, first : first + _CHUNK_WORDS]
            total += _part_sum(part, y0 + top, w0 + first)
    return total & ((1 << 128) - 1)


def population(words: Words) -> int:
    """Live cells."""
    step = max(1, _CHUNK_WORDS // max(1, words.shape[1]))
    return sum(
        int(np.bitwise_count(words[top : top + step]).sum(dtype=np.int64))
        for top in range(0, len(words), step)
    )


def count_blocks(words: Words, counts: Counts) -> None:
    """Write the live cells of each block of 8 x 8 cells of words, uint64 (rows, count), into
    counts, uint8 (ceil(rows / 8), 8 * count). The last blocks may have fewer rows."""
    counts[:] = 0
    for row in range(min(8, len(words))):
        of_bytes = np.bitwise_count(np.ascontiguousarray(words[row::8]).view(np.uint8))
        counts[: len(of_bytes)] += of_bytes


def densities(words: Words, first: int, scale: int, levels: Counts) -> None:
    """Do in numpy what kernels.cells.densities() promises."""
    rows, columns = levels.shape
    side = 1 << scale
    if not levels.size:
        return
    bits = np.unpackbits(
        np.ascontiguousarray(words[: rows * side]).view(np.uint8), axis=1, bitorder="little"
    )
    cells = bits[:, first : first + columns * side].reshape(rows, side, columns, side)
    live = cells.sum(axis=(1, 3), dtype=np.uint32)
    levels[:] = (510 * live + side * side) // (2 * side * side)


def live_type(scale: int) -> type[np.unsignedinteger]:
    """Return the narrowest type that holds the live cells of a block of 2^scale x 2^scale cells."""
    if scale <= 7:
        return np.uint8 if scale <= 3 else np.uint16
    return np.uint32 if scale <= 15 else np.uint64


def climb(live: Live, scale: int, levels: Counts, above: Live | None) -> None:
    """Do in numpy what kernels.cells.climb() promises."""
    wide, cells = live.astype(np.int64), 4**scale
    rounded = (510 * wide + cells) // (2 * cells)
    levels[:] = np.minimum(np.maximum(rounded, wide > 0), 255 - (wide < cells))
    if above is not None:
        rows, columns = live.shape
        above[:] = 0
        for y, x in ((0, 0), (0, 1), (1, 0), (1, 1)):
            above[: (rows + 1 - y) // 2, : (columns + 1 - x) // 2] += live[y::2, x::2]


def ages(
    words: Words,
    first: int,
    scale: int,
    counts: Ages,
    levels: Counts,
    shades: Counts,
    before: Ages | None,
    known: Words | None,
    passed: int,
) -> None:
    """Do in numpy what kernels.cells.ages() promises, whose parameters it has."""
    rows, columns = counts.shape
    band = max(1, _CHUNK_WORDS // max(1, words.shape[1]) >> scale)  # of blocks
    for top in range(0, rows, band):
        part, cells = slice(top, top + band), slice(top << scale, top + band << scale)
        alive = _any_cell(words[cells], first, scale, columns)
        if before is None or known is None:
            counts[part] = alive
        else:
            born = _any_cell(words[cells] & ~known[cells], first, scale, columns)
            older = np.minimum(before[part].astype(np.uint32) + np.uint32(passed), len(shades) - 1)
            older[born | (before[part] == 0)] = 1
            counts[part] = older * alive
        shades.take(counts[part], out=levels[part])


def _any_cell(words: Words, first: int, scale: int, columns: int) -> npt.NDArray[np.bool_]:
    """Return whether a cell lives in each block; what is not there is dead."""
    side = 1 << scale
    rows = -(-len(words) >> scale)
    bits = np.unpackbits(np.ascontiguousarray(words).view(np.uint8), axis=1, bitorder="little")
    bits = bits[:, first : first + columns * side]
    cells = np.zeros((rows * side, columns * side), np.uint8)
    cells[: len(bits), : bits.shape[1]] = bits
    return np.asarray(cells.reshape(rows, side, columns, side).any(axis=(1, 3)))


def _counted(first: int, count: int) -> Words:
    """Return first, first + 1, ... modulo 2^64."""
    return np.arange(count, dtype=np.uint64) + np.uint64(first & _MASK)


def _fill_part(acc: Words, row_keys: Words, w0: int, digits: int) -> None:
    """Write the words of rows with the given keys, from word w0 on, into acc."""
    state = row_keys[:, None] + _counted(w0 + 1, acc.shape[1]) * _GOLDEN
    scratch = np.empty_like(state)
    mix(state, scratch)
    low = (digits & -digits).bit_length() - 1
    drawn = np.empty_like(state)
    acc[:] = 0
    for bit in range(low, 32):
        state += _GOLDEN
        np.copyto(drawn, state)
        mix(drawn, scratch)
        if digits >> bit & 1:
            acc |= drawn
        else:
            acc &= drawn


def _part_sum(words: Words, y0: int, w0: int) -> int:
    rows, cols = np.nonzero(words)
    ys = _counted(y0, len(words))[rows]
    columns = _counted(w0, words.shape[1])[cols]
    return scattered(words[rows, cols], ys, columns)


def scattered(word: Words, rows: Words, columns: Words) -> int:
    """Return what words in any places add to the sum of the digest.

    word: uint64 (n,), none of them zero; overwritten. rows, columns: uint64 (n,), where each
    stands; no place twice.
    """
    if not len(word):
        return 0
    scratch = np.empty_like(word)
    offset = (columns + np.uint64(1)) * _GOLDEN
    a = mix(rows + _DIGEST_A, scratch)
    a += offset
    mix(a, scratch)
    b = mix(rows + _DIGEST_B, scratch)
    b += offset
    mix(b, scratch)
    low = mix(word ^ a, scratch)
    low += b
    mix(low, scratch)
    word += b
    high = mix(word, scratch)
    high ^= a
    mix(high, scratch)
    # The sum of the low halves carries into the high ones, so it must be exact.
    low_sum = int((low & _LOW_HALF).sum()) + (int((low >> np.uint64(32)).sum()) << 32)
    return (int(high.sum()) << 64) + low_sum
