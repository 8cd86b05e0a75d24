"""Files of numbers, a number a line, read in batches and computed with in step."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import BinaryIO

import click

from arith.cli.files import one_line_errors, shown
from arith.integer import IntArray
from arith.rational import RationalArray

Numbers = IntArray | RationalArray

BATCH_LINES = 1 << 16
BATCH_BYTES = 1 << 24

_BAD_DIGIT = re.compile(r"line (\d+), column (\d+): (.*)", re.DOTALL)


class Operand:
    """A file's numbers: decimal or 0x hex, or rationals as 3/4. Blank lines and those that
    start with # count for nothing.

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
            for row, line in enumerate(stream, 1):
                body = line.strip()
                if body and not body.startswith(b"#"):
                    yield row, line.rstrip()

    def take(self, count: int | None) -> Numbers | None:
        """The next `count` numbers, a batch where it is None, fewer at the end, then None.

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
        """FILE:LINE of a number of the batch that was taken last."""
        return f"{shown(self.path)}:{self._rows[0 if self.single else index]}"

    def _parsed(self, lines: Sequence[tuple[int, bytes]]) -> Numbers:
        texts = [line for _, line in lines]
        self._rows = [row for row, _ in lines]
        if not any(b"/" in text for text in texts):
            return self._integers(texts, [0] * len(texts)).to(self._place)
        above, bars, below = zip(*(text.partition(b"/") for text in texts), strict=True)
        numerators = self._integers(above, [0] * len(texts))
        denominators = self._integers(
            [text if bar else b"1" for text, bar in zip(below, bars, strict=True)],
            [len(text) + 1 for text in above],
        )
        zeros = (denominators.sign() == 0).nonzero()[0]
        if len(zeros):
            raise click.ClickException(f"{self.place_of(int(zeros[0]))}: the denominator is zero")
        return RationalArray(numerators.to(self._place), denominators.to(self._place))

    def _integers(self, texts: Sequence[bytes], offsets: Sequence[int]) -> IntArray:
        """offsets: columns before each text in its line."""
        empty = next((i for i, text in enumerate(texts) if not text.strip()), None)
        try:
            if empty is not None:  # a line without a number would be skipped
                raise ValueError(f"line {empty + 1}, column 1: a digit is missing")
            return IntArray.from_lines(b"\n".join(texts), 0)
        except ValueError as error:
            match = _BAD_DIGIT.fullmatch(str(error))
            if match is None:
                raise
            index = int(match[1]) - 1
            column = offsets[index] + int(match[2])
            raise click.ClickException(
                f"{self.place_of(index)}, column {column}: {match[3]}"
            ) from None


def batches(operands: Sequence[Operand]) -> Iterator[list[Numbers]]:
    """The operands' numbers in step. Raises ClickException where one has more than another."""
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
