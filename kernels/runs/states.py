"""Text of run lengths of cells of several states, from and to words in bit planes, in numpy.

State 0 is `.` or `b`, 1 is `A` or `o`, 2 to 24 are `B` to `X`, and 25 to 255 are `pA` to `yO`: two
letters, the first of which counts by 24.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from . import ref
from .ref import Ints, Words

States = npt.NDArray[np.uint8]
STATES = 256
TOO_LARGE = 7  # a fault beside those of kernels.runs: a state that the rule does not have

_PREFIX, _A = 7, ord("A") - 1
_KINDS, _VALUES = ref.KINDS.copy(), np.zeros(256, np.int64)
_KINDS[_A + 1 : _A + 25], _VALUES[_A + 1 : _A + 25] = ref.LIVE, np.arange(1, 25)
_KINDS[ord("p") : ord("z")], _VALUES[ord("p") : ord("z")] = _PREFIX, 24 * np.arange(1, 11)
_VALUES[ord("o")] = 1
_LAST = re.compile(rb"[^0-9p-y \t\r\n\v\f]")  # what ends a tag, or cannot be read
_STEP = 1 << 19  # characters, or cells, looked at in one step: bounds the temporaries


@dataclass(slots=True)
class StateWalk:
    """A text that is read piece by piece, with the faults and facts of kernels.runs.Walk.

    Live cells are set in `words` where they are given: uint64 (rows, planes, count), C-contiguous,
    the first of which is the cell in column `left` of row `top`; all lie in them. states: how many
    there may be. largest: the largest state seen so far.
    """

    states: int = STATES
    words: Words | None = None
    left: int = 0
    top: int = 0
    largest: int = 0
    started: bool = False
    live: bool = False
    counting: bool = False
    left_most: int = 0
    right: int = 0
    top_most: int = 0
    bottom: int = 0
    widest_at: int = 0
    lowest_at: int = 0
    _x: int = 0
    _y: int = 0
    _cells: int = 0

    def go(self, text: bytes, first: int) -> tuple[int, int]:
        """Go on from text[first] for a piece: why it ended, and where.

        NONE: the next piece begins there. END, FOREIGN, DIGITS, ZERO, CELLS: as of
        kernels.runs.Walk.go. TOO_LARGE: that tag's state is none of so many.
        """
        match = _LAST.search(text, min(first + _STEP, len(text)), first + 2 * _STEP)
        last = match.end() if match else min(first + 2 * _STEP, len(text))
        piece = np.frombuffer(text, np.uint8, last - first, first)
        ends = np.flatnonzero((_KINDS[piece] == ref.OTHER) | (_KINDS[piece] == ref.STOP))
        fault, at = ref.NONE, last
        if len(ends):
            fault = ref.END if _KINDS[piece[ends[0]]] == ref.STOP else ref.FOREIGN
            at = first + int(ends[0])
            piece = piece[: ends[0]]
        inked = np.flatnonzero(_KINDS[piece] != ref.BLANK)
        codes, places = piece[inked], first + inked
        kinds, values = _KINDS[codes], _VALUES[codes]

        tags = np.flatnonzero((kinds != ref.DIGIT) & (kinds != _PREFIX))
        pairs = np.zeros(len(tags), np.bool_)
        pairs[tags > 0] = kinds[tags[tags > 0] - 1] == _PREFIX
        ends_at = tags - pairs  # the place of a tag's first letter
        length = np.diff(tags, prepend=-1) - 1 - pairs  # digits before each tag
        states = values[tags] + np.where(pairs, values[tags - 1], 0)
        counts = ref.counts_of(codes - ref.ZERO_DIGIT, ends_at, length)
        # A first letter stands before a letter from A to X, and nothing else.
        prefixes = np.concatenate([[0], np.cumsum(kinds == _PREFIX)])
        odd = np.diff(prefixes[np.concatenate([[0], tags + 1])]) != pairs
        odd |= pairs & ((codes[tags] <= _A) | (codes[tags] > _A + 24))
        checks = (
            (ref.FOREIGN, odd),
            (ref.DIGITS, length > ref.MOST_DIGITS),
            (ref.ZERO, counts == 0),
            (ref.CELLS, ref.totals_of(counts, self._cells) >= ref.MOST_CELLS),
            (TOO_LARGE, states >= self.states),
        )
        bad = np.any([found for _, found in checks], axis=0)
        rest = int(tags[-1]) + 1 if len(tags) else 0
        if bad.any():
            one = int(bad.argmax())
            fault = next(kind for kind, found in checks if found[one])
            begins = ends_at[one]
            if fault in (ref.DIGITS, ref.ZERO):
                begins -= length[one]
            elif fault == ref.FOREIGN:
                begins = np.flatnonzero(kinds[: tags[one]] == _PREFIX)[prefixes[tags[one]] - 1]
            at = int(places[begins])
            tags, counts, states, ends_at = tags[:one], counts[:one], states[:one], ends_at[:one]
        elif (kinds[rest:] == _PREFIX).any():
            fault, at = ref.FOREIGN, int(places[rest + (kinds[rest:] == _PREFIX).argmax()])
        elif fault == ref.NONE and rest < len(codes):
            self.counting = True  # the text ends, or it is a count that none can be
            if len(codes) - rest > ref.MOST_DIGITS or last < len(text):
                fault, at = ref.DIGITS, int(places[rest])
        if len(tags):
            self._take(kinds[tags], counts, states, places[ends_at])
        return fault, at

    def _take(self, kinds: States, counts: Ints, states: Ints, places: Ints) -> None:
        """Move on by runs, and paint those of live cells."""
        state = np.zeros(ref.FIELDS, np.int64)
        state[ref.X], state[ref.Y] = self._x, self._y
        (y, start, end), where = ref.runs_of(kinds, counts, places, state)
        self._x, self._y = int(state[ref.X]), int(state[ref.Y])
        self._cells += int(counts.sum())
        self.started = True
        if not len(y):
            return
        numbers = states[kinds == ref.LIVE]
        self.largest = max(self.largest, int(numbers.max()))
        if not self.live:
            self.live, self.top_most, self.left_most = True, int(y[0]), int(start.min())
        self.left_most = min(self.left_most, int(start.min()))
        if int(end.max()) > self.right:
            self.right, self.widest_at = int(end.max()), int(where[end.argmax()])
        self.bottom, self.lowest_at = int(y[-1]), int(where[-1])
        if self.words is not None:
            planes = self.words.shape[1]
            rows = self.words.reshape(-1, self.words.shape[2])
            for plane in range(planes):
                on = (numbers >> plane & 1).astype(np.bool_)
                at = (y[on] - self.top) * planes + plane
                ref.paint(rows, (at, start[on] - self.left, end[on] - self.left))


class StateWriter:
    """Rows of states as text, block after block, in lines of at most 70 characters.

    Dead cells at the ends of rows, and rows of them at the end, are left out.
    """

    def __init__(self) -> None:
        self.line = 0  # characters that the last line has so far
        self._due = 0  # rows whose ends are not written yet

    def write(self, states: States) -> bytes:
        """Return the text of the next rows: uint8 (rows, columns), the columns in all blocks the
        same."""
        height, width = states.shape
        edges = np.ones((height, width), np.bool_)
        edges[:, 1:] = states[:, 1:] != states[:, :-1]
        begins = np.flatnonzero(edges)
        lengths = np.diff(begins, append=height * width)
        numbers = states.reshape(-1)[begins].astype(np.int64)
        live = numbers > 0
        begins, lengths, numbers = begins[live], lengths[live], numbers[live]
        if not len(begins):
            self._due += height
            return b""
        y, x = np.divmod(begins, width)
        down = np.diff(y, prepend=-self._due)
        before = np.concatenate([[0], (x + lengths)[:-1]])
        pair = numbers > 24
        tens, letter = (numbers - 1) // 24, (numbers - 1) % 24
        counts = np.stack(
            [
                down,
                x - np.where(down > 0, 0, before),
                np.where(pair, lengths, 0),
                np.where(pair, 1, lengths),
            ],
            axis=1,
        )
        tags = np.empty(counts.shape, np.uint8)
        tags[:, 0], tags[:, 1] = ord("$"), ord(".")
        tags[:, 2], tags[:, 3] = ord("p") - 1 + tens, ord("A") + letter
        self._due = height - int(y[-1])
        kept = counts > 0
        text, self.line = ref.wrapped(ref.text_of(counts[kept], tags[kept]), self.line)
        return text
