"""Lines of text on their way to results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, overload

import numpy as np

from ckyparse.cli.blocks import Extent, TextBlock, blocks
from ckyparse.cli.tokenise import Tokenizer
from kernels.cky import Batch
from kernels.cky.batch import Indices, Mask
from kernels.cky.text import Bytes, Encoded

if TYPE_CHECKING:
    from ckyparse.chart import Chart
    from ckyparse.parser import CKYParser

B = TypeVar("B", bound=TextBlock | Extent)

ACCEPTED, REJECTED, UNDECIDED, DROPPED = b"1"[0], b"0"[0], b"?"[0], 0
BLOCK_BYTES = 1 << 23  # lines that are read, computed and written together; the longest line
BLOCK_LINES = 1 << 20  # at most


@dataclass(eq=False)
class Lines:
    """Lines of a file with what is known of them.

    path: as in messages. first: the number of the first, from 1. text, starts, bad: as
    kernels.cky.text.Encoded has them. batch: a string for each line.
    status: uint8 (lines,): ACCEPTED, REJECTED, UNDECIDED where no answer can be found,
    DROPPED where none is asked for.
    trouble: what to say of a line that could not be read, or of a file if there is no line.
    """

    path: str
    first: int
    text: Bytes
    starts: Indices
    bad: Indices
    batch: Batch
    status: Bytes
    trouble: str = ""

    @classmethod
    def of(cls, block: TextBlock, first: int, encoded: Encoded) -> Lines:
        """Return the lines of a block, not yet settled."""
        status = np.full(len(encoded.batch), REJECTED, np.uint8)
        return cls(
            block.path, first, block.text, encoded.starts, encoded.bad, encoded.batch, status
        )

    @classmethod
    def lost(cls, block: TextBlock, first: int) -> Lines:
        """Return what is in place of the line, or file, that could not be read."""
        none = np.zeros(1 + block.line, np.int64)
        batch = Batch(np.empty(0, np.uint32), none)
        status = np.full(len(batch), UNDECIDED, np.uint8)
        bad = np.empty((0, 3), np.int64)
        return cls(block.path, first, block.text, none, bad, batch, status, block.trouble)

    def __len__(self) -> int:
        return len(self.batch)

    def line(self, i: int) -> bytes:
        """Return a line without what ends it."""
        begin, end = self.starts[i : i + 2].tolist()
        line = self.text[begin:end].tobytes()
        return line[:-2] if line.endswith(b"\r\n") else line.removesuffix(b"\n")

    def place(self, i: int, byte: int | None = None) -> str:
        """FILE:LINE, and the column of a byte of the text: in characters, from 1."""
        place = f"{self.path}:{self.first + i}"
        if byte is None:
            return place
        before = self.text[int(self.starts[i]) : byte].tobytes()
        return f"{place}:{len(before.decode()) + 1}"

    def part(self, begin: int, end: int) -> Lines:
        """Return lines begin .. end - 1."""
        starts, ends = self.starts[begin : end + 1], self.batch.offsets[begin : end + 1]
        batch = Batch(self.batch.terminals[ends[0] : ends[-1]], ends - ends[0])
        first, last = np.searchsorted(self.bad[:, 0], (begin, end))
        bad = self.bad[first:last] - np.array([begin, 0, starts[0]])
        text = self.text[starts[0] : starts[-1]]
        status = self.status[begin:end]
        return Lines(self.path, self.first + begin, text, starts - starts[0], bad, batch, status)

    def leave_out(self, which: Mask) -> None:
        """Make empty strings of lines that nothing can be found out of."""
        self.status[which] = UNDECIDED
        lengths = self.batch.lengths
        terminals = self.batch.terminals[np.repeat(~which, lengths)]
        offsets = np.zeros(len(self) + 1, np.int64)
        np.cumsum(np.where(which, 0, lengths), out=offsets[1:])
        self.batch = Batch(terminals, offsets)


def lines_in(block: TextBlock, first: int, tokenizer: Tokenizer) -> Iterator[Lines]:
    """Yield the lines of a block, whose first has that number, tokenised."""
    if block.trouble:
        yield Lines.lost(block, first)
        return
    lines = Lines.of(block, first, tokenizer.encode(block.text))
    if len(lines) <= BLOCK_LINES:
        yield lines
        return
    for begin in range(0, len(lines), BLOCK_LINES):
        yield lines.part(begin, min(begin + BLOCK_LINES, len(lines)))


def lines_of(
    paths: Sequence[str], tokenizer: Tokenizer, hungry: Callable[[], bool]
) -> Iterator[Lines]:
    """Yield the files' lines, tokenised; hungry: see blocks()."""
    for path in paths:  # one may be there twice
        first = 1
        for block in blocks([path], hungry, BLOCK_BYTES):
            for lines in lines_in(block, first, tokenizer):
                yield lines
                first += len(lines)


def blocks_of(
    paths: Sequence[str], hungry: Callable[[], bool], size: int
) -> Iterator[tuple[TextBlock, int]]:
    """Yield blocks of the files' lines, each with the number of its first line.

    size: as TextBlock.cut() takes it.
    """
    for path in paths:
        whole = blocks([path], hungry, BLOCK_BYTES)
        yield from numbered((part for block in whole for part in block.cut(size)), 1)


def numbered(blocks: Iterable[B], first: int) -> Iterator[tuple[B, int]]:
    """Yield each of blocks that follow one another with the number of its first line."""
    for block in blocks:
        yield block, first
        first += block.count


class TokenRows(Sequence[Sequence[str]]):
    """The tokens of these of the lines, made when asked for."""

    def __init__(self, lines: Lines, tokenizer: Tokenizer, which: Indices) -> None:
        self._lines, self._tokenizer, self._which = lines, tokenizer, which

    def __len__(self) -> int:
        return self._which.size

    @overload
    def __getitem__(self, index: int) -> Sequence[str]: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Sequence[str]]: ...
    def __getitem__(self, index: int | slice) -> Sequence[Any]:
        if isinstance(index, slice):
            return TokenRows(self._lines, self._tokenizer, self._which[index])
        return self._tokenizer.words(self._lines.line(int(self._which[index])))


def charts_of(
    lines: Lines, parser: CKYParser, tokenizer: Tokenizer, *statuses: int
) -> Iterator[tuple[int, Chart | None]]:
    """Yield the numbers of the lines that are not DROPPED, in order, each with its chart; None
    where the line has another status than these. Charts are computed as they are asked for."""
    from ckyparse.tokens import Sentences

    chosen = np.flatnonzero(np.isin(lines.status, statuses))
    rows = TokenRows(lines, tokenizer, chosen)
    charts = iter(parser.charts(Sentences(lines.batch.take(chosen), parser.vocabulary, rows)))
    for i, status in enumerate(lines.status.tolist()):
        if status in statuses:
            yield i, next(charts)
        elif status != DROPPED:
            yield i, None
