"""Tokenizers: they make strings of terminals of blocks of lines."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping

import numpy as np

from kernels.cky import Batch
from kernels.cky.text import (
    ABSENT,
    BLANKS,
    INVALID,
    UNKNOWN,
    Bytes,
    Encoded,
    TextEncoder,
    between_blanks,
)

NO_TOKENS = 3  # a line's fault beside UNKNOWN and INVALID: no JSON array of strings


class Tokenizer(ABC):
    """Makes strings of terminals of lines.

    numbers: of the terminals, from 0 on. unknown: the one that stands for unknown tokens, or
    ABSENT.
    """

    def __init__(self, numbers: Mapping[str, int], unknown: int) -> None:
        self.numbers, self.unknown = numbers, unknown

    @abstractmethod
    def encode(self, text: Bytes) -> Encoded:
        """Return the lines of a text as strings. Faults are UNKNOWN, INVALID and NO_TOKENS."""

    @abstractmethod
    def words(self, line: bytes) -> list[str]:
        """Return the tokens of a line without fault but unknown tokens."""

    def first_unknown(self, line: bytes) -> str:
        """Return the first token of a line that the grammar has not."""
        return next(word for word in self.words(line) if word not in self.numbers)


class PlainTokenizer(Tokenizer):
    """Takes characters as tokens, or what stands between blanks."""

    def __init__(
        self, numbers: Mapping[str, int], unknown: int, *, chars: bool, threads: int
    ) -> None:
        super().__init__(numbers, unknown)
        self.chars = chars
        self._vocabulary = TextEncoder(
            sorted(numbers, key=numbers.__getitem__),
            "chars" if chars else "space",
            unknown,
            threads,
        )

    def encode(self, text: Bytes) -> Encoded:
        """See Tokenizer.encode()."""
        return self._vocabulary.encode(text)

    def words(self, line: bytes) -> list[str]:
        """Return the tokens of a line."""
        if self.chars:
            return list(line.decode())
        return between_blanks(line.decode())


class _LineTokenizer(Tokenizer):
    """Goes line by line, in Python."""

    @abstractmethod
    def place(self, line: bytes, index: int) -> int:
        """Return the byte of a line at which the token of this number is said to begin."""

    def encode(self, text: Bytes) -> Encoded:
        lines = text.tobytes().split(b"\n")
        ended = len(lines) - 1  # by a newline; a \r before anything else belongs to its line
        if not lines[-1]:
            lines.pop()
        starts = np.zeros(len(lines) + 1, np.int64)
        np.cumsum([len(line) + 1 for line in lines], out=starts[1:])
        starts[-1] = text.size
        terminals: list[int] = []
        offsets = [0]
        bad = []
        numbers, unknown = self.numbers, self.unknown
        for number, line in enumerate(lines):
            if number < ended:
                line = line.removesuffix(b"\r")
            start = int(starts[number])
            try:
                words = self.words(line)
            except UnicodeDecodeError as error:  # a ValueError, too
                bad.append((number, INVALID, start + error.start))
            except ValueError:
                bad.append((number, NO_TOKENS, start))
            else:
                found = [numbers.get(word, unknown) for word in words]
                if ABSENT in found:
                    bad.append((number, UNKNOWN, start + self.place(line, found.index(ABSENT))))
                terminals += found
            offsets.append(len(terminals))
        return Encoded(
            Batch(np.array(terminals, np.uint32), np.array(offsets, np.int64)),
            starts,
            np.array(bad, np.int64).reshape(-1, 3),
        )


class RegexTokenizer(_LineTokenizer):
    """Takes the matches of a pattern that are not empty as tokens.

    What lies between two of them is a token, too, unless it is blank: nothing of a line is
    passed over in silence.
    """

    def __init__(self, numbers: Mapping[str, int], unknown: int, pattern: re.Pattern[str]) -> None:
        super().__init__(numbers, unknown)
        self.pattern = pattern

    def words(self, line: bytes) -> list[str]:
        """Return the tokens of a line."""
        text = line.decode()
        return [text[first:last] for first, last in self._spans(text)]

    def place(self, line: bytes, index: int) -> int:
        """Return the byte of the line where a token begins."""
        text = line.decode()
        return len(text[: self._spans(text)[index][0]].encode())

    def _spans(self, text: str) -> list[tuple[int, int]]:
        matches = [match.span() for match in self.pattern.finditer(text) if match[0]]
        found: list[tuple[int, int]] = []
        end = 0
        for first, last in [*matches, (len(text), len(text))]:
            between = text[end:first].strip(BLANKS)
            if between:
                at = text.index(between, end)
                found.append((at, at + len(between)))
            if first < last:
                found.append((first, last))
            end = last
        return found


class JsonTokenizer(_LineTokenizer):
    """Takes a JSON array of strings."""

    def words(self, line: bytes) -> list[str]:
        """Return the strings of a line's array. Raises ValueError for anything else."""
        try:
            found = json.loads(line.decode())
        except RecursionError:
            raise ValueError("nested too deeply") from None
        if not (isinstance(found, list) and all(isinstance(word, str) for word in found)):
            raise ValueError("no array of strings")
        return found

    def place(self, line: bytes, index: int) -> int:
        """Return where the array begins: strings have escapes."""
        return 0
