"""What makes strings of terminals of blocks of lines."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping

import numpy as np

from kernels.cky import Batch
from kernels.cky.text import ABSENT, INVALID, UNKNOWN, Bytes, Encoded, Vocabulary

NO_TOKENS = 3  # a line's fault beside UNKNOWN and INVALID: no JSON array of strings


class Tokenizer(ABC):
    """numbers: of the terminals, from 0 on. unknown: the one that stands for unknown tokens, or
    ABSENT."""

    def __init__(self, numbers: Mapping[str, int], unknown: int) -> None:
        self.numbers, self.unknown = numbers, unknown

    @abstractmethod
    def encode(self, text: Bytes) -> Encoded:
        """The lines of a text as strings. Faults are UNKNOWN, INVALID and NO_TOKENS."""

    @abstractmethod
    def words(self, line: bytes) -> list[str]:
        """The tokens of a line without fault but unknown tokens."""

    def first_unknown(self, line: bytes) -> str:
        return next(word for word in self.words(line) if word not in self.numbers)


class PlainTokenizer(Tokenizer):
    """Characters, or what stands between blanks."""

    def __init__(
        self, numbers: Mapping[str, int], unknown: int, *, chars: bool, threads: int
    ) -> None:
        super().__init__(numbers, unknown)
        self.chars = chars
        self._vocabulary = Vocabulary(
            sorted(numbers, key=numbers.__getitem__),
            "chars" if chars else "space",
            unknown,
            threads,
        )

    def encode(self, text: Bytes) -> Encoded:
        return self._vocabulary.encode(text)

    def words(self, line: bytes) -> list[str]:
        if self.chars:
            return list(line.decode())
        return [word.decode() for word in re.findall(rb"[^ \t\n\v\f\r]+", line)]


class _LineTokenizer(Tokenizer):
    """Line by line in Python."""

    @abstractmethod
    def place(self, line: bytes, index: int) -> int:
        """The byte of a line at which the token of this number is said to begin."""

    def encode(self, text: Bytes) -> Encoded:
        lines = text.tobytes().split(b"\n")
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
    """The matches of a pattern that are not empty. What lies between two of them is a token,
    too, unless it is blank: nothing of a line is passed over in silence."""

    def __init__(self, numbers: Mapping[str, int], unknown: int, pattern: re.Pattern[str]) -> None:
        super().__init__(numbers, unknown)
        self.pattern = pattern

    def words(self, line: bytes) -> list[str]:
        text = line.decode()
        return [text[first:last] for first, last in self._spans(text)]

    def place(self, line: bytes, index: int) -> int:
        text = line.decode()
        return len(text[: self._spans(text)[index][0]].encode())

    def _spans(self, text: str) -> list[tuple[int, int]]:
        matches = [match.span() for match in self.pattern.finditer(text) if match[0]]
        found: list[tuple[int, int]] = []
        end = 0
        for first, last in [*matches, (len(text), len(text))]:
            between = text[end:first].strip()
            if between:
                at = text.index(between, end)
                found.append((at, at + len(between)))
            if first < last:
                found.append((first, last))
            end = last
        return found


class JsonTokenizer(_LineTokenizer):
    """A JSON array of strings."""

    def words(self, line: bytes) -> list[str]:
        try:
            found = json.loads(line.decode())
        except RecursionError:
            raise ValueError("nested too deeply") from None
        if not (isinstance(found, list) and all(isinstance(word, str) for word in found)):
            raise ValueError("no array of strings")
        return found

    def place(self, line: bytes, index: int) -> int:
        return 0  # of the array: strings have escapes
