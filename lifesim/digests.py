"""A digest of what a universe holds, whatever held it and however it was cut.

Every word that is not zero adds a 128-bit number made from the word and its place,
so the parts of a universe can be digested anywhere and in any order and their sums
added up. Exactly, with y the row, w the index of the word in its row, and all
arithmetic of 64-bit words modulo 2^64:

    mix(z):  z ^= z >> 30;  z *= 0xbf58476d1ce4e5b9
             z ^= z >> 27;  z *= 0x94d049bb133111eb
             z ^= z >> 31                              (the finaliser of splitmix64)
    G = 0x9e3779b97f4a7c15
    a = mix(mix(y + 0x243f6a8885a308d3) + G * (w + 1))
    b = mix(mix(y + 0x13198a2e03707344) + G * (w + 1))
    low  = mix(mix(word ^ a) + b)
    high = mix(mix(word + b) ^ a)
    D = sum of (2^64 * high + low) over the words that are not zero, modulo 2^128

The digest is the BLAKE2b hash, 16 bytes of it, in hexadecimal, of 32 bytes: the
width and the height in 8 bytes each and D in 16, little-endian. Of cells of several states each
bit plane has a D of its own, and they stand one after the other, the lowest plane first. Planes
beyond the last one in which there is any cell are left out, so that the digest is that of the
cells, whatever states their rule has; of cells of states 0 and 1 it is that of two states.

The two halves see word and place through different operations (xor and sum), and the
word through two mixes each, so that a difference in one word has no likely
counterpart in another that cancels it. That guards against faults, not against
someone who searches for two universes of equal sum.
"""

from __future__ import annotations

import hashlib
import operator

import numpy as np
import numpy.typing as npt

from kernels import cells
from kernels.cells.bands import for_bands
from lifesim.errors import LifesimError
from lifesim.grid import BitGrid, Words
from lifesim.states import as_planes, live_words

_MASK = (1 << 64) - 1

Counts = npt.NDArray[np.uint8]
Survey = tuple[int, tuple[int, ...]]  # live cells; what each bit plane adds to D


def digest(grid: BitGrid) -> str:
    """Return the digest of a universe: 32 hexadecimal digits."""
    planes = as_planes(grid.words)
    return finish(grid.width, grid.height, *(_total(planes[:, i]) for i in range(grid.planes)))


def _total(words: Words) -> int:
    """Return D of all words of a bit plane."""
    sums = for_bands(lambda top, bottom: partial(words[top:bottom], top, 0), *words.shape)
    return sum(sums)


def partial(words: Words, y0: int, w0: int) -> int:
    """Return what a block of words adds to D: an int, 0 <= value < 2^128.

    words: uint64 array of shape (rows, count), any strides, padding bits zero; its
    first word is word w0 of row y0 of the universe. Raises ValueError for another
    dtype or number of dimensions, or a place below 0.
    """
    if words.strides[-1:] != (words.itemsize,) or not words.flags.aligned:
        words = np.array(words, order="C")
    return cells.survey(words, y0, w0)[1]


def surveyed(words: Words, y0: int, w0: int, counts: Counts | None = None) -> Survey:
    """Return how many cells of some rows of words live, and what each bit plane adds to its D.

    words: (rows, words) or (rows, planes, words), the first of them word w0 of row y0 of the
    universe. counts: as of kernels.cells.survey(), of live cells.
    """
    if words.ndim == 2:
        population, one = cells.survey(words, y0, w0, counts)
        return population, (one,)
    population, _ = cells.survey(live_words(words), y0, w0, counts)
    planes = range(words.shape[1])
    return population, tuple(cells.survey(words[:, plane], y0, w0)[1] for plane in planes)


def scattered(words: Words, rows: Words, columns: Words) -> int:
    """Return what words in any places add to D, modulo 2^128.

    words: uint64 (n,), none zero; overwritten. rows, columns: uint64 (n,), the row of each and its
    place in it; no place twice.
    """
    return cells.scattered(words, rows, columns) & ((1 << 128) - 1)


def finish(width: int, height: int, *totals: int) -> str:
    """Return the digest of a width x height universe, of whose bit planes these are the sums of
    the partials, the lowest first.

    Sums are taken modulo 2^128. Raises LifesimError for a size that is not 1 to 2^64 - 1.
    """
    width, height = operator.index(width), operator.index(height)
    if not (0 < width <= _MASK and 0 < height <= _MASK):
        raise LifesimError(f"no universe is {width}x{height} cells")
    text = width.to_bytes(8, "little") + height.to_bytes(8, "little")
    sums = [total & ((1 << 128) - 1) for total in totals]
    while len(sums) > 1 and not sums[-1]:
        del sums[-1]
    text += b"".join(total.to_bytes(16, "little") for total in sums)
    return hashlib.blake2b(text, digest_size=16).hexdigest()
