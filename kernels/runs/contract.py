"""Cells as text of run lengths, the body of an RLE pattern file, from and to packed words.

Bit j of word w of a row is the cell in column 64 w + j. A run is a tag with a count before it, 1
where none stands there: `b` or `.` dead cells, `o` or `A` live ones, `$` ends of rows; `!` ends the
text. Blanks count for nothing wherever they stand. The compiled extension does it where there is
one, numpy (ref.py) where there is none, with the same results.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass, field

import numpy as np

from . import ref
from .ref import Ints, Words

try:
    from kernels import _cpu
except ImportError:
    _cpu = None  # type: ignore[assignment]

REFERENCE = "reference"
_ROOM = 1 << 22  # cells written in one step


@dataclass(slots=True)
class Walk:
    """A text that is read piece by piece, each piece where the last one ended.

    Live cells are set in `words` where they are given: uint64 (rows, count), C-contiguous, the
    first of which is the cell in column `left` of row `top`; `width` is how many columns they
    have. Else cells are only measured: left_most, right (past the last), top_most and bottom (the
    last row) are of the live cells so far, and mean nothing unless `live` is true.

    found: where it is given, the live runs are put there, too, as int64 arrays of their rows, first
    columns and columns past the last; always by numpy.
    """

    words: Words | None = None
    width: int = 0
    left: int = 0
    top: int = 0
    engine: str | None = None
    found: list[ref.Runs] | None = None
    _state: Ints = field(default_factory=lambda: np.zeros(ref.FIELDS, np.int64))

    def go(self, text: bytes, first: int, last: int) -> tuple[int, int]:
        """Go on through text[first:last]: why it ended, and where.

        NONE: all was read. END: a `!` stands there. FOREIGN: what stands there has no meaning.
        DIGITS, ZERO: a count begins there that has more than 18 digits, or is 0. CELLS: with the
        run of that tag all counts together reach 2^62. OUTSIDE: that tag's live run leaves the
        words. After a fault nothing more can be read. Raises ValueError for a piece that is not
        in the text, and for words that do not fit the description.
        """
        first, last = operator.index(first), operator.index(last)
        if not 0 <= first <= last <= len(text):
            raise ValueError(f"no piece {first} to {last} in a text of {len(text)} bytes")
        words = self.words
        if words is not None:
            if words.dtype != np.uint64 or words.ndim != 2 or not words.flags.c_contiguous:
                raise ValueError("words must be uint64 (rows, count), C-contiguous")
            if min(self.left, self.top) < 0 or not 1 <= self.width <= 64 * words.shape[1]:
                raise ValueError("cells lie outside of the words")
            if not len(words) or not words.flags.writeable:
                raise ValueError("there must be a row of words, and it must be writeable")
        given = text, first, last, self._state, words, self.width, self.left, self.top
        if self.found is not None or _chosen(self.engine) == REFERENCE:
            return ref.walk(*given, self.found)
        fault, at = _cpu.runs_walk(*given)
        return int(fault), int(at)

    @property
    def counting(self) -> bool:
        """Tell whether the text so far ends in a count that has no tag yet."""
        return bool(self._state[ref.DIGITS_READ])

    @property
    def started(self) -> bool:
        """Tell whether there was any run."""
        return bool(self._state[ref.ALL_CELLS])

    @property
    def live(self) -> bool:
        """Tell whether any cell was live."""
        return bool(self._state[ref.LIVE_SEEN])

    @property
    def left_most(self) -> int:
        """The first column with a live cell."""
        return int(self._state[ref.LEFT])

    @property
    def right(self) -> int:
        """The column after the last with a live cell."""
        return int(self._state[ref.RIGHT])

    @property
    def top_most(self) -> int:
        """The first row with a live cell."""
        return int(self._state[ref.TOP])

    @property
    def bottom(self) -> int:
        """The last row with a live cell."""
        return int(self._state[ref.BOTTOM])

    @property
    def widest_at(self) -> int:
        """The place of the tag whose run reaches farthest right."""
        return int(self._state[ref.WIDEST_AT])

    @property
    def lowest_at(self) -> int:
        """The place of the last live tag."""
        return int(self._state[ref.LOWEST_AT])


class Writer:
    """Rows of packed words as text, block after block, in lines of at most 70 characters.

    left, width: the columns that are written, in all blocks. What is dead at the ends of rows,
    and below the last live row, is left out.
    """

    def __init__(self, left: int, width: int, *, engine: str | None = None) -> None:
        self._left, self._width = operator.index(left), operator.index(width)
        self._engine = _chosen(engine)
        self._pen = np.zeros(2, np.int64)

    @property
    def line(self) -> int:
        """The characters that the last line has so far."""
        return int(self._pen[1])

    @staticmethod
    def rows_at_once(count: int) -> int:
        """Return how many rows of `count` words a block may have, so that its text stays small."""
        return max(1, _ROOM // (64 * count))

    def write(self, words: Words) -> bytes:
        """Return the text of the next rows: uint64 (rows, count), C-contiguous.

        No cell lives outside of the columns. Raises ValueError for columns outside of the words.
        """
        if words.dtype != np.uint64 or words.ndim != 2 or not words.flags.c_contiguous:
            raise ValueError("words must be uint64 (rows, count), C-contiguous")
        if not (self._left >= 0 < self._width <= 64 * words.shape[1] - self._left):
            raise ValueError("columns lie outside of the words")
        write = ref.write if self._engine == REFERENCE else _cpu.runs_write
        text: bytes = write(words, self._left, self._width, self._pen)
        return text


def engines() -> list[str]:
    """Return what can be named as an engine here, the fastest last."""
    return [REFERENCE] if _cpu is None else [REFERENCE, "compiled"]


def _chosen(engine: str | None) -> str:
    if engine is None:
        return engines()[-1]
    if engine not in engines():
        raise ValueError(f"no engine {engine!r} here: {', '.join(engines())}")
    return engine
