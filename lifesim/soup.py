"""Random soups: universes in which every cell lives with the same probability.

A soup is a function of the seed, the density and the place of a word, and of nothing
else, so that every backend and every size of tile makes the same universe, in any
order. Exactly, with all arithmetic on 64-bit words modulo 2^64:

    mix(z):  z ^= z >> 30;  z *= 0xbf58476d1ce4e5b9
             z ^= z >> 27;  z *= 0x94d049bb133111eb
             z ^= z >> 31                              (the finaliser of splitmix64)
    G      = 0x9e3779b97f4a7c15
    key    = mix(seed + G)
    row    = mix(key ^ (y * 0xd1342543de82ef95 + 1))   for row y
    word   = mix(row + G * (w + 1))                    for word w of the row
    r(i)   = mix(word + G * (i + 1))                   for i = 0, 1, ...

The density p is rounded to P / 2^32 with P = floor(p * 2^32 + 1/2). P = 0 gives no
live cell and P = 2^32 none but live ones. Otherwise the binary digits of P are taken
from the lowest set one up to bit 31; with acc = 0 at first, the i-th of them (i = 0
for the lowest set one) does

    acc = acc | r(i)  if the digit is 1,  acc & r(i)  if it is 0,

which halves the distance to 1 or to 0. So every bit of acc is one with probability
P / 2^32, and a density of 1/2 takes one random word. Bits past the last column are
cleared.

Why a key for each word: were r(i) = mix(row + G * n) with n counting through the row,
every row would be a window on the one sequence mix(G), mix(2 G), ..., and windows can
overlap: among 2^24 x 2^24 cells, drawing at n = 64 w, about four pairs of rows would
agree, shifted, over long stretches. With a key for each word only single words can
agree, as often as they do in a truly random soup. Seed, row and word each pass a
whole mix, so that seeds, rows and words that differ in one bit are unrelated.
"""

from __future__ import annotations

import math
import operator
from fractions import Fraction

import numpy as np

from lifesim.errors import LifesimError
from lifesim.grid import BitGrid, Words, check_size, shape_of

_MASK = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15
_ROW_STEP = 0xD1342543DE82EF95
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31 = np.uint64(30), np.uint64(27), np.uint64(31)

_CHUNK_WORDS = 1 << 14  # four arrays of this size stay in a core's second-level cache


class SoupError(LifesimError):
    """A density or seed that no soup has."""


def random_grid(width: int, height: int, density: Fraction | float, seed: int) -> BitGrid:
    """A soup of width x height cells.

    Cells at the same place of a smaller universe of the same seed and density are the
    same. Raises SoupError for a density outside 0 to 1 or a seed outside 0 to
    2^64 - 1, and GridError for a size that no grid can have.
    """
    digits, key = _numerator(density), _key(seed)
    grid = BitGrid(width, height)
    _fill(grid.words, 0, width, digits, key)
    return grid


def random_words(y0: int, rows: int, width: int, density: Fraction | float, seed: int) -> Words:
    """Rows y0 to y0 + rows - 1 of the soup that is width cells wide.

    Returns a uint64 array of shape (rows, ceil(width / 64)), packed as BitGrid.words
    are. Raises SoupError for a density outside 0 to 1, a seed outside 0 to 2^64 - 1
    or a row below 0, and GridError for a size that no grid can have.
    """
    digits, key = _numerator(density), _key(seed)
    y0 = operator.index(y0)
    if y0 < 0:
        raise SoupError(f"a soup has no row {y0}")
    check_size(width, rows)
    words = np.zeros(shape_of(width, rows), np.uint64)
    _fill(words, y0, width, digits, key)
    return words


def _numerator(density: Fraction | float) -> int:
    """P: the density as a count of 2^-32, 0 to 2^32."""
    # Negated, so that a NaN is refused too.
    if not 0 <= density <= 1:
        raise SoupError(f"density must be 0 to 1, not {density}")
    exact = Fraction(*density.as_integer_ratio())
    return math.floor(exact * (1 << 32) + Fraction(1, 2))


def _key(seed: int) -> int:
    seed = operator.index(seed)
    if not 0 <= seed <= _MASK:
        raise SoupError(f"seed must be 0 to 2^64 - 1, not {seed}")
    return int(mix(np.array([(seed + _GOLDEN) & _MASK], np.uint64))[0])


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


def _fill(words: Words, y0: int, width: int, digits: int, key: int) -> None:
    """Write the soup into words (all zero), whose first row is row y0."""
    height, count = words.shape
    if digits == 0:
        return
    if digits == 1 << 32:
        words[:] = np.uint64(_MASK)
    else:
        step = max(1, _CHUNK_WORDS // count)
        for top in range(0, height, step):
            part = words[top : top + step]
            row_keys = _row_keys(key, y0 + top, len(part))
            for first in range(0, count, _CHUNK_WORDS):
                _fill_part(part[:, first : first + _CHUNK_WORDS], row_keys, first, digits)
    if width % 64:
        words[:, -1] &= np.uint64((1 << width % 64) - 1)


def _row_keys(key: int, y0: int, rows: int) -> Words:
    ys = np.arange(rows, dtype=np.uint64) + np.uint64(y0 & _MASK)
    return mix((ys * np.uint64(_ROW_STEP) + np.uint64(1)) ^ np.uint64(key))


def _fill_part(acc: Words, row_keys: Words, w0: int, digits: int) -> None:
    """Write the words of rows with the given keys, from word w0 on, into acc."""
    golden = np.uint64(_GOLDEN)
    ws = np.arange(w0 + 1, w0 + 1 + acc.shape[1], dtype=np.uint64) * golden
    state = row_keys[:, None] + ws
    scratch = np.empty_like(state)
    mix(state, scratch)
    low = (digits & -digits).bit_length() - 1
    drawn = np.empty_like(state)
    for bit in range(low, 32):
        state += golden
        np.copyto(drawn, state)
        mix(drawn, scratch)
        if digits >> bit & 1:
            acc |= drawn
        else:
            acc &= drawn
