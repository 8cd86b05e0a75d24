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

In universes of n > 2 states the density is the share of cells that are not of state 0: the same
cells as live in the soup of two states. They are in each of the states 1 to n - 1 alike: the state
is 1 + floor(r * (n - 1) / 2^16), where bit k of r, 0 to 15, is the cell of the soup of density 1/2
and seed (s + 0xd1342543de82ef95 * (k + 1)) modulo 2^64. (So no state is likelier than another by
more than one part in 256.)

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
import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial

import numpy as np

from kernels import cells
from kernels.cells import ref
from kernels.cells.bands import for_bands
from lifesim.errors import LifesimError
from lifesim.grid import BitGrid, Words, check_size, shape_of

_MASK = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15
_NEXT = 0xD1342543DE82EF95
_STATE_BITS = 16  # of the number that chooses a live cell's state
_CHUNK = 1 << 19  # cells whose states are chosen at a time: 6 bytes each
_ORIGIN = re.compile(r"soup of density ([0-9./e+-]+), seed ([0-9]{1,20})")


# Overwrites a block of words: its first word is word w0 of row y0, of a universe so wide.
Fill = Callable[[Words, int, int, int], None]


class SoupError(LifesimError):
    """No soup has this density or seed."""


class Soup:
    """The soup of a density and a seed, in universes of any size.

    Cells at the same place of a smaller universe are the same. Raises SoupError for a
    density outside 0 to 1 or a seed outside 0 to 2^64 - 1.
    """

    __slots__ = ("_digits", "_key", "density", "seed")
    generation = 0

    def __init__(self, density: Fraction | float, seed: int) -> None:
        self.density, self.seed = density, seed
        self._digits, self._key = _numerator(density), _key(seed)

    @classmethod
    def from_origin(cls, text: str) -> Soup | None:
        """Return the soup that `origin` of one is the text of, None for other texts.

        Raises SoupError for one that no soup has.
        """
        found = _ORIGIN.fullmatch(text)
        return cls(parse_density(found[1]), int(found[2])) if found else None

    @property
    def origin(self) -> str:
        """Return what a universe says that began as this soup."""
        return f"soup of density {self.density}, seed {self.seed}"

    def fill_grid(self, grid: BitGrid, states: int = 2) -> None:
        """Overwrite all of a grid, on all cores. states: of cells, which its bit planes hold; live
        ones are 1 to states - 1."""
        _fill(grid.words, self.source(states), 0, grid.width)

    def source(self, states: int) -> Fill:
        """Return what fills blocks of words of a universe of so many states, as fill() does; of
        several bit planes they are (rows, planes, count)."""
        return self.fill if states == 2 else partial(fill_states, self, states=states)

    def fill(self, words: Words, y0: int, w0: int, width: int) -> None:
        """Overwrite a block of words of a universe width cells wide.

        words: uint64 array of shape (rows, count), each row contiguous, packed as
        BitGrid.words are; its first word is word w0 of row y0. Bits past the last column
        are cleared. Raises ValueError for another array, a place below 0 or words that
        the universe does not have.
        """
        y0, w0, width = operator.index(y0), operator.index(w0), operator.index(width)
        across = -(-width // 64)
        end = w0 + (words.shape[1] if words.ndim == 2 else 0)  # other arrays fill_soup refuses
        if end > across:
            raise ValueError(f"a universe {width} cells wide has no words {w0} to {end - 1}")
        cells.fill_soup(words, y0, w0, self._digits, self._key)
        if width % 64 and words.size and end == across:
            words[:, -1] &= np.uint64((1 << width % 64) - 1)


def parse_density(text: str) -> Fraction:
    """Read a density exactly: 0.37 or 3/8. Raises SoupError for what is none from 0 to 1."""
    try:
        # Powers of ten are written out in full: of 1e999999999 that has no end.
        if len(text) > 1000 or re.search("[eE][+-]?0*[1-9][0-9]{3}", text.replace("_", "")):
            raise ValueError
        density = Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise SoupError(f"{_shown(text)} is no density: write it as 0.37 or 3/8") from None
    if not 0 <= density <= 1:
        raise SoupError(f"{_shown(text)}: a density is 0 to 1")
    return density


def _shown(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:39] + "…")


def random_grid(width: int, height: int, density: Fraction | float, seed: int) -> BitGrid:
    """Make a soup of width x height cells.

    Cells at the same place of a smaller universe of the same seed and density are the
    same. Raises SoupError for a density outside 0 to 1 or a seed outside 0 to
    2^64 - 1, and GridError for a size that no grid can have.
    """
    soup = Soup(density, seed)
    grid = BitGrid(width, height)
    soup.fill_grid(grid)
    return grid


def random_words(y0: int, rows: int, width: int, density: Fraction | float, seed: int) -> Words:
    """Return rows y0 to y0 + rows - 1 of the soup that is width cells wide.

    Returns a uint64 array of shape (rows, ceil(width / 64)), packed as BitGrid.words
    are. Raises SoupError for a density outside 0 to 1, a seed outside 0 to 2^64 - 1
    or a row below 0, and GridError for a size that no grid can have.
    """
    soup = Soup(density, seed)
    y0 = operator.index(y0)
    if y0 < 0:
        raise SoupError(f"a soup has no row {y0}")
    check_size(width, rows)
    words = np.empty(shape_of(width, rows), np.uint64)
    _fill(words, soup.fill, y0, width)
    return words


def _fill(words: Words, fill: Fill, y0: int, width: int) -> None:
    """Fill all the rows of words, which are whole, on all cores."""

    def fill_band(top: int, bottom: int) -> None:
        fill(words[top:bottom], y0 + top, 0, width)

    for_bands(fill_band, len(words), words.shape[-1])


def fill_states(soup: Soup, words: Words, y0: int, w0: int, width: int, states: int) -> None:
    """Overwrite a block of words in several bit planes with the soup of so many states.

    words: (rows, planes, count), else as of Soup.fill().
    """
    digits = [
        Soup(Fraction(1, 2), (soup.seed + _NEXT * (k + 1)) & _MASK) for k in range(_STATE_BITS)
    ]
    across = words.shape[-1]
    step = min(across, _CHUNK // 64)
    rows = max(1, _CHUNK // (64 * step))
    for left in range(0, across, step):
        for top in range(0, len(words), rows):
            part = words[top : top + rows, :, left : left + step]
            at = y0 + top, w0 + left
            live = carry = _drawn(soup, part, *at, width)
            number = _share([_drawn(one, part, *at, width) for one in digits], states - 1)
            # 1 is added where a cell lives, and elsewhere all digits are 0.
            for plane, digit in enumerate(number):
                kept = digit & live
                part[:, plane] = kept ^ carry
                carry = carry & kept


def _drawn(soup: Soup, part: Words, y0: int, w0: int, width: int) -> Words:
    """Return a block of the soup of two states, as large as a plane of part."""
    words = np.empty((len(part), part.shape[-1]), np.uint64)
    soup.fill(words, y0, w0, width)
    return words


def _share(digits: Sequence[Words], most: int) -> Sequence[Words]:
    """Return floor(r * most / 2^len(digits)) for many numbers r at once.

    digits: of all the numbers, one bit for each number: their lowest binary digits, the next
    ones, and so on. The result is given likewise.
    """
    zero = np.zeros_like(digits[0])
    total = [zero] * len(digits)
    for bit in range(most.bit_length()):  # what is shifted out makes no difference any more
        total = (_sum(total, digits) if most >> bit & 1 else [*total, zero])[1:]
    return total[len(digits) - most.bit_length() :]


def _sum(numbers: Sequence[Words], others: Sequence[Words]) -> list[Words]:
    """Return the sums of numbers, as digits with one more at the end."""
    made, carry = [], np.zeros_like(numbers[0])
    for one, other in zip(numbers, others, strict=True):
        either = one ^ other
        made.append(either ^ carry)
        carry = one & other | either & carry
    return [*made, carry]


def _numerator(density: Fraction | float) -> int:
    """Return P: the density as a count of 2^-32, 0 to 2^32."""
    # Negated, so that a NaN is refused too.
    if not 0 <= density <= 1:
        raise SoupError(f"density must be 0 to 1, not {density}")
    exact = Fraction(*density.as_integer_ratio())
    return math.floor(exact * (1 << 32) + Fraction(1, 2))


def _key(seed: int) -> int:
    seed = operator.index(seed)
    if not 0 <= seed <= _MASK:
        raise SoupError(f"seed must be 0 to 2^64 - 1, not {seed}")
    return int(ref.mix(np.array([(seed + _GOLDEN) & _MASK], np.uint64))[0])
