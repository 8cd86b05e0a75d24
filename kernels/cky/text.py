"""Lines of text as strings of terminals, and lines marked with results.

By the compiled extension where it is built, else in plain Python with the same results.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from .batch import Batch, Indices

try:
    from kernels import _cpu
except ImportError:
    _cpu = None  # type: ignore[assignment]

Bytes = npt.NDArray[np.uint8]
Mode = Literal["chars", "space"]

ABSENT = 0xFFFFFFFF  # the terminal that an unknown token becomes
UNKNOWN, INVALID = 1, 2  # the faults of a line

# The one meaning of "space" everywhere: other white space of Unicode, as the no-break space,
# U+0085 and the separators U+001C to U+001F, belongs to tokens.
BLANKS = " \t\n\v\f\r"

_TOKENS = re.compile(rf"[^{BLANKS}]+")
_SEPARATORS = re.compile("[\x1c-\x1f]")
_TOKEN_BYTES = re.compile(_TOKENS.pattern.encode())


@dataclass(frozen=True, eq=False)
class Encoded:
    """Holds the lines of a text, as strings.

    batch: a string for each line.
    starts: int64 (lines + 1): where each line begins in the text, and the text's size.
    bad: int64 (bad lines, 3), by line: a line's number from 0; its fault, UNKNOWN for a token
        that is no word, INVALID for bytes that are no UTF-8, which leave it without tokens;
        the byte of the text where the first such fault begins.
    """

    batch: Batch
    starts: Indices
    bad: Indices


def between_blanks(text: str) -> list[str]:
    """Return what stands between blanks, as the mode "space" has it."""
    # Where there are ASCII characters only, the two differ in U+001C to U+001F, and one is quicker.
    if text.isascii() and not _SEPARATORS.search(text):
        return text.split()
    return _TOKENS.findall(text)


class TextEncoder:
    """Makes terminals of text: a terminal is the number of its word.

    words: distinct. mode: tokens are the characters of a line, blanks too; or what stands
    between blanks (BLANKS). A line ends with \\n or \\r\\n.
    unknown: the terminal that stands for tokens that are no words; by default they become
    ABSENT and are reported.

    Raises ValueError for a word that comes twice.
    """

    def __init__(
        self, words: Sequence[str], mode: Mode, unknown: int = ABSENT, threads: int = 1
    ) -> None:
        self.mode, self.unknown, self.threads = mode, unknown, threads
        # Lone surrogates are in no UTF-8, so such a word is in no text.
        encoded = [word.encode("utf-8", "surrogatepass") for word in words]
        self._numbers = {word: number for number, word in enumerate(encoded)}
        if len(self._numbers) < len(encoded):
            raise ValueError("a word comes twice")
        self._compiled: Any = None
        if _cpu is not None:
            self._compiled = _cpu.CkyWords(encoded, mode == "chars", unknown)

    def encode(self, text: Bytes) -> Encoded:
        """Return the lines of a text as strings.

        text: whole lines, C-contiguous uint8 (bytes,); the last may lack its newline.
        """
        if self._compiled is None:
            return self.encode_plainly(text)
        terminals, offsets, starts, bad = self._compiled.encode(text, self.threads)
        return Encoded(Batch(terminals, offsets), starts, bad.reshape(-1, 3))

    def encode_plainly(self, text: Bytes) -> Encoded:
        """Return what encode() does, line by line in Python."""
        data = text.tobytes()
        terminals: list[int] = []
        offsets, starts = [0], [0]
        bad: list[tuple[int, int, int]] = []
        while starts[-1] < len(data):
            begin = starts[-1]
            end, following = _line_end(data, begin, len(data))
            faults = self._append(terminals, data[begin:end])
            if faults is not None:
                bad.append((len(starts) - 1, faults[0], begin + faults[1]))
            offsets.append(len(terminals))
            starts.append(following)
        return Encoded(
            Batch(np.array(terminals, np.uint32), np.array(offsets, np.int64)),
            np.array(starts, np.int64),
            np.array(bad, np.int64).reshape(-1, 3),
        )

    def _append(self, terminals: list[int], line: bytes) -> tuple[int, int] | None:
        """Append a line's terminals; return its fault, and the byte of the line where that
        begins."""
        try:
            characters = line.decode()
        except UnicodeDecodeError as error:
            return INVALID, error.start
        fault, place = None, 0
        chars = self.mode == "chars"
        tokens = [c.encode() for c in characters] if chars else _TOKEN_BYTES.findall(line)
        for token in tokens:
            number = self._numbers.get(token, self.unknown)
            place = line.index(token, place)
            if number == ABSENT and fault is None:
                fault = UNKNOWN, place
            place += len(token)
            terminals.append(number)
        return fault


def marked(text: Bytes, starts: Indices, marks: Bytes, shown: bool = True) -> bytes:
    """Return the lines whose mark is not 0, each ended by \\n, after its mark and a tab if shown.

    text, starts: as Encoded has them. marks: uint8 (lines,), characters.
    """
    if _cpu is None:
        return marked_plainly(text, starts, marks, shown)
    return bytes(_cpu.cky_mark_lines(text, starts, marks, shown))


def marked_plainly(text: Bytes, starts: Indices, marks: Bytes, shown: bool = True) -> bytes:
    """Return what marked() does, line by line in Python."""
    data, pieces = text.tobytes(), []
    for (begin, following), mark in zip(pairwise(starts.tolist()), marks.tolist(), strict=True):
        if mark:
            end, _ = _line_end(data, begin, following)
            pieces.append((b"%c\t" % mark if shown else b"") + data[begin:end] + b"\n")
    return b"".join(pieces)


def _line_end(data: bytes, begin: int, end: int) -> tuple[int, int]:
    """Return the end of the line that begins there, without what ends it, and where the next
    begins."""
    newline = data.find(b"\n", begin, end)
    if newline < 0:
        return end, end
    ends_with_return = newline > begin and data[newline - 1] == ord("\r")
    return newline - ends_with_return, newline + 1
