"""Files of numbers, a number a line, read in batches and computed with in step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count, islice
from typing import BinaryIO

import click

from arith.integer import IntArray
from arith.rational import RationalArray
from bulkbits.files import one_line_errors, shown
from kernels.bignum.errors import DigitError

Numbers = IntArray | RationalArray

BATCH_LINES = 1 << 16
BATCH_BYTES = 1 << 24
MOST_BYTES = 1 << 28  # of a line
_PIECE = 1 << 16
_OF_NUMBERS = b"0123456789abcdefABCDEFxX+-/ \t\n\r\v\f"


class Operand:
    """Reads a file's numbers: decimal or 0x hex, or rationals as 3/4, whose sign comes first. Blank
    lines and those that start with # count for nothing.

    single: there is only one, which stands for as many as it meets.
    """

    def __init__(self, stream: BinaryIO, path: str, place: str) -> None:
        self.path = path
        self._place = place
        self._lines = self._numbered(stream)
        self._ahead = list(islice(self._lines, 2))
        self.single = len(self._ahead) == 1
        self._rows: list[int] = []
        self._value = self._parsed(self._ahead) if self.single else None

    def _numbered(self, stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
        with one_line_errors(self.path):
            for row in count(1):
                line = self._line(stream, row)
                if not line:
                    return
                body = line.strip()
                if body and not body.startswith(b"#"):
                    yield row, line.rstrip()

    def _line(self, stream: BinaryIO, row: int) -> bytes:
        """Return the next line, whole, unless it is seen before its end that it is no number.

        So what never ends, as /dev/zero, is refused after its first piece. What there is then
        of the line has the character that is no digit. Raises ClickException.
        """
        piece = stream.readline(_PIECE)
        if len(piece) < _PIECE or piece.endswith(b"\n"):
            return piece
        pieces, size, comment, blank = [b""], 0, False, True
        while piece:
            if blank and (body := piece.lstrip()):
                comment, blank = body.startswith(b"#"), False
            if comment:  # nobody asks for what it says, but for where it ends
                pieces = [b"#"]
            else:
                pieces.append(piece)
            if not comment and piece.translate(None, _OF_NUMBERS):
                break
            if (size := size + len(piece)) > MOST_BYTES:
                raise click.ClickException(
                    f"{shown(self.path)}:{row}: this line is longer than {MOST_BYTES:,} bytes"
                )
            if piece.endswith(b"\n"):
                break
            piece = stream.readline(_PIECE)
        return b"".join(pieces)

    def take(self, count: int | None) -> Numbers | None:
        """Return the next `count` numbers, a batch where it is None, fewer at the end, then None.

        The only number of a file is returned every time.
        """
        if self.single:
            return self._value
        lines, size = self._ahead[:count], 0
        self._ahead = self._ahead[len(lines) :]
        while len(lines) < (BATCH_LINES if count is None else count):
            following = next(self._lines, None)
            if following is None:
                break
            lines.append(following)
            size += len(following[1])
            if count is None and size >= BATCH_BYTES:
                break
        return self._parsed(lines) if lines else None

    def place_of(self, index: int) -> str:
        """Return FILE:LINE of a number of the batch that was taken last."""
        return f"{shown(self.path)}:{self._rows[0 if self.single else index]}"

    def _parsed(self, lines: Sequence[tuple[int, bytes]]) -> Numbers:
        texts = [line for _, line in lines]
        self._rows = [row for row, _ in lines]
        if not any(b"/" in text for text in texts):
            return self._integers(texts, [0] * len(texts)).to(self._place)
        above, bars, below = zip(*(text.partition(b"/") for text in texts), strict=True)
        numerators = self._integers(above, [0] * len(texts))
        offsets = [len(text) + 1 for text in above]
        for index, text in enumerate(below):  # as for a RationalArray, and for Fraction
            if (body := text.lstrip())[:1] in (b"-", b"+"):
                column = offsets[index] + len(text) - len(body) + 1
                raise self._bad_digit(index, column, f"{chr(body[0])!r} is no digit")
        denominators = self._integers(
            [text if bar else b"1" for text, bar in zip(below, bars, strict=True)], offsets
        )
        zeros = (denominators.sign() == 0).nonzero()[0]
        if len(zeros):
            raise click.ClickException(f"{self.place_of(int(zeros[0]))}: the denominator is zero")
        return RationalArray(numerators.to(self._place), denominators.to(self._place))

    def _integers(self, texts: Sequence[bytes], offsets: Sequence[int]) -> IntArray:
        """Read integers; offsets: columns before each text in its line."""
        try:
            for i, text in enumerate(texts, 1):  # from_lines() would skip these
                if (body := text.lstrip()).startswith(b"#"):
                    column = len(text) - len(body) + 1
                    raise DigitError(i, column, "'#' is no digit")
                if not body:
                    raise DigitError(i, 1, "a digit is missing")
            return IntArray.from_lines(b"\n".join(texts), 0)
        except DigitError as error:
            index = error.line - 1
            raise self._bad_digit(index, offsets[index] + error.column, error.reason) from None

    def _bad_digit(self, index: int, column: int, what: str) -> click.ClickException:
        return click.ClickException(f"{self.place_of(index)}, column {column}: {what}")


def batches(operands: Sequence[Operand]) -> Iterator[list[Numbers]]:
    """Yield the operands' numbers in step. Raises ClickException where one has more."""
    many = [operand for operand in operands if not operand.single]
    if not many:
        yield [operand.take(1) for operand in operands]  # type: ignore[misc]
        return
    while True:
        first = many[0].take(None)
        count = 0 if first is None else len(first)
        taken = [first, *(operand.take(count or 1) for operand in many[1:])]
        for operand, numbers in zip(many, taken, strict=True):
            length = 0 if numbers is None else len(numbers)
            if length != count:
                longer, shorter = (operand, many[0]) if length > count else (many[0], operand)
                raise click.ClickException(
                    f"{shown(longer.path)} has more numbers than {shown(shorter.path)}"
                )
        if first is None:
            return
        found = iter(taken)
        yield [
            operand.take(None) if operand.single else next(found)  # type: ignore[misc]
            for operand in operands
        ]
