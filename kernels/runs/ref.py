"""Text of run lengths from and to packed words, in numpy: what the compiled walk is held equal to.

Everything is done a piece at a time on whole arrays; the result, faults and their places included,
is that of reading one character after the other.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint64]
Ints = npt.NDArray[np.int64]
Runs = tuple[Ints, Ints, Ints]  # row, first column, column past the last

MOST_DIGITS = 18
MOST_CELLS = 1 << 62  # all counts together stay below it, so that int64 is exact
LINE = 70  # the longest line that is written
_NO_END = b"0123456789pqrstuvwxy"  # what stands before the last letter of a tag

# Why a walk ended; see runs.hpp.
NONE, END, FOREIGN, DIGITS, ZERO, CELLS, OUTSIDE = range(7)
# What a state holds.
(X, Y, COUNT, DIGITS_READ, COUNT_AT, ALL_CELLS, LIVE_SEEN) = range(7)
(LEFT, RIGHT, TOP, BOTTOM, WIDEST_AT, LOWEST_AT) = range(7, 13)
FIELDS = 13

# What a character is.
OTHER, DIGIT, BLANK, DEAD, LIVE, ROW, STOP = range(7)
KINDS = np.zeros(256, np.uint8)
for _kind, _characters in (
    (DIGIT, b"0123456789"),
    (BLANK, b" \t\r\n\v\f"),
    (DEAD, b"b."),
    (LIVE, b"oA"),
    (ROW, b"$"),
    (STOP, b"!"),
):
    KINDS[list(_characters)] = _kind

_STEP = 1 << 19  # characters looked at in one step: bounds the temporaries
_WORDS = 1 << 15  # words looked at in one step
ZERO_DIGIT = np.uint8(ord("0"))
_ONES = np.uint64(0xFFFF_FFFF_FFFF_FFFF)


def walk(
    text: bytes,
    first: int,
    last: int,
    state: Ints,
    words: Words | None,
    width: int,
    left: int,
    top: int,
    found: list[Runs] | None = None,
) -> tuple[int, int]:
    """Go on through text[first:last] as kernels.runs.Walk says, which has the other parameters."""
    for start in range(first, last, _STEP):
        stop = min(start + _STEP, last)
        fault, at = _step(text, start, stop, state, words, width, left, top, found)
        if fault:
            return fault, at
    return NONE, last


def _step(
    text: bytes,
    first: int,
    last: int,
    state: Ints,
    words: Words | None,
    width: int,
    left: int,
    top: int,
    found: list[Runs] | None,
) -> tuple[int, int]:
    """Go on through a piece short enough to be taken apart at once; parameters as of walk()."""
    piece = np.frombuffer(text, np.uint8, last - first, first)
    kinds = KINDS[piece]
    fault, at = NONE, last
    ends = np.flatnonzero((kinds == OTHER) | (kinds == STOP))
    if len(ends):
        stop = int(ends[0])
        fault, at = (END if kinds[stop] == STOP else FOREIGN), first + stop
        piece, kinds = piece[:stop], kinds[:stop]
    inked = np.flatnonzero(kinds != BLANK)
    # The digits of a count that began before this piece stand in front again.
    held = np.frombuffer(f"{state[COUNT]:0{state[DIGITS_READ]}}".encode(), np.uint8)
    held = held[: state[DIGITS_READ]]
    places = np.concatenate([np.full(len(held), state[COUNT_AT]), first + inked])
    digits = np.concatenate([held, piece[inked]]) - ZERO_DIGIT
    kinds = np.concatenate([np.full(len(held), DIGIT, np.uint8), kinds[inked]])

    tags = np.flatnonzero(kinds != DIGIT)
    length = np.diff(tags, prepend=-1) - 1  # digits before each tag
    rest = digits[int(tags[-1]) + 1 if len(tags) else 0 :]
    rest_at = int(places[-len(rest)]) if len(rest) else int(state[COUNT_AT])
    if len(rest) > MOST_DIGITS:
        fault, at = DIGITS, rest_at
    counts = counts_of(digits, tags, length)
    totals = totals_of(counts, int(state[ALL_CELLS]))
    bad = (length > MOST_DIGITS) | (counts == 0) | (totals >= MOST_CELLS)
    if bad.any():
        one = int(bad.argmax())
        if length[one] > MOST_DIGITS or not counts[one]:
            fault = DIGITS if length[one] > MOST_DIGITS else ZERO
            at = int(places[tags[one] - length[one]])
        else:
            fault, at = CELLS, int(places[tags[one]])
        tags, counts = tags[:one], counts[:one]
    if len(tags):
        runs, where = runs_of(kinds[tags], counts, places[tags], state)
        state[ALL_CELLS] += counts.sum()
        if words is not None:
            y, start, end = runs
            out = (y < top) | (y >= top + len(words)) | (start < left) | (end > left + width)
            if out.any():
                return OUTSIDE, int(where[out.argmax()])
            paint(words, (y - top, start - left, end - left))
        if found is not None:
            found.append(runs)
        _note(state, runs, where)
    state[COUNT], state[DIGITS_READ] = int(_text_of(rest[:MOST_DIGITS]) or 0), len(rest)
    state[COUNT_AT] = rest_at
    return fault, at


def _text_of(digits: npt.NDArray[np.uint8]) -> bytes:
    return (digits + ZERO_DIGIT).tobytes()


def counts_of(digits: npt.NDArray[np.uint8], tags: Ints, length: Ints) -> Ints:
    """The count before each tag, 1 where none stands there; of too long ones the last digits."""
    value = np.zeros(len(tags), np.int64)
    for back in range(min(int(length.max(initial=0)), MOST_DIGITS)):
        more = np.flatnonzero(length > back)
        value[more] += digits[tags[more] - 1 - back].astype(np.int64) * 10**back
    return np.where(length > 0, value, 1)


def totals_of(counts: Ints, before: int) -> npt.NDArray[np.float64] | Ints:
    """Return the sum of all counts up to each, exact as long as it matters."""
    rough = before + np.cumsum(counts, dtype=np.float64)
    if not len(counts) or rough[-1] < MOST_CELLS / 2:
        return rough
    # Where int64 might overflow Python's integers add, up to the first that is too large.
    exact = np.full(len(counts), MOST_CELLS, np.int64)
    for place, count in enumerate(counts.tolist()):
        before += count
        if before >= MOST_CELLS:
            break
        exact[place] = before
    return exact


def runs_of(
    kinds: npt.NDArray[np.uint8], counts: Ints, places: Ints, state: Ints
) -> tuple[Runs, Ints]:
    """The live runs in order, each with the place of its tag; state goes on to the next cell."""
    x, y = int(state[X]), int(state[Y])
    rows, live = kinds == ROW, kinds == LIVE
    column = np.cumsum(np.where(rows, 0, counts))  # as if all were one row from x on
    row = np.cumsum(rows)
    row_starts = np.concatenate([[-x], column[rows]])
    row_y = y + np.concatenate([[0], np.cumsum(counts[rows])])
    state[X], state[Y] = column[-1] - row_starts[-1], row_y[-1]
    in_row = row[live]
    end = column[live] - row_starts[in_row]
    return (row_y[in_row], end - counts[live], end), places[live]


def _note(state: Ints, runs: Runs, places: Ints) -> None:
    """Have the state's bounds hold these runs as well."""
    y, start, end = runs
    if not len(y):
        return
    if not state[LIVE_SEEN]:
        state[LIVE_SEEN], state[TOP], state[LEFT] = 1, y[0], start.min()
    state[LEFT] = min(state[LEFT], start.min())
    if end.max() > state[RIGHT]:
        state[RIGHT], state[WIDEST_AT] = end.max(), places[end.argmax()]
    state[BOTTOM], state[LOWEST_AT] = y[-1], places[-1]


def paint(words: Words, runs: Runs) -> None:
    """Set the cells of the runs: int64 arrays of one shape, runs not empty, disjoint,
    ordered by row, then column, and inside the words (unchecked).
    """
    y, start, end = runs
    if not len(y):
        return
    flat = words.reshape(-1)
    row = y * words.shape[1]
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


def live_runs(words: Words) -> Iterator[Runs]:
    """Yield all maximal runs of live cells, ordered by row, then column, in pieces."""
    height, count = words.shape
    step = max(1, _WORDS // count)
    held: Runs | None = None
    for top in range(0, height, step):
        for left in range(0, count, _WORDS):
            piece = _runs_of(words[top : top + step, left : left + _WORDS])
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


def write(words: Words, left: int, width: int, pen: Ints) -> bytes:
    """Rows as text; see kernels.runs.write."""
    due, line = (int(value) for value in pen)
    parts = []
    y, x = -due, left
    for row, start, end in live_runs(words):
        counts = np.empty((len(row), 3), np.int64)
        counts[:, 0] = np.diff(row, prepend=y)
        before = np.concatenate([[x], end[:-1]])
        counts[:, 1] = start - np.where(counts[:, 0] > 0, left, before)
        counts[:, 2] = end - start
        x, y = int(end[-1]), int(row[-1])
        tags = np.broadcast_to(np.frombuffer(b"$bo", np.uint8), counts.shape)
        kept = counts > 0
        part, line = wrapped(text_of(counts[kept], tags[kept]), line)
        parts.append(part)
    pen[:] = len(words) - y, line
    return b"".join(parts)


def text_of(counts: Ints, tags: npt.NDArray[np.uint8]) -> bytes:
    """Counts above 1 in decimal, each before its tag."""
    width = 1 + (counts > 1)
    bound = 10
    while bound <= counts.max():
        width += counts >= bound
        bound *= 10
    last = np.cumsum(width) - 1
    out = np.empty(int(last[-1]) + 1, np.uint8)
    out[last] = tags
    long = np.flatnonzero(counts > 1)
    at, value = last[long], counts[long]
    while len(at):
        at = at - 1
        value, digit = np.divmod(value, 10)
        out[at] = digit + ZERO_DIGIT
        more = np.flatnonzero(value)
        at, value = at[more], value[more]
    return out.tobytes()


def wrapped(text: bytes, line: int) -> tuple[bytes, int]:
    """Text in lines, each ended after a tag, and how long the last is; `line` was before."""
    lines = []
    start, room = 0, LINE - line
    while len(text) - start > room:
        end = start + room
        while end > start and text[end - 1] in _NO_END:
            end -= 1
        lines.append(text[start:end] + b"\n")
        start, room = end, LINE
    return b"".join([*lines, text[start:]]), LINE - room + len(text) - start
