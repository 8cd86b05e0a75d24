"""Sentences in bulk as a window shows them: lines of a text, verdicts and counts. No Qt here."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from bulkbits.plurals import many
from ckyparse.cli.tokenise import PlainTokenizer
from kernels.cky import Batch, TooLongError
from kernels.cky.text import INVALID
from ui.parsing.model import COUNTING, Language, Way, fault, split
from ui.reading import CountedReader, Progress, in_silence

MOST_BYTES = 1 << 27
MOST_LINES = 1 << 22

WAITING, ACCEPTED, REJECTED, TOO_LONG, BROKEN = range(5)  # verdicts
VERDICTS = ("…", "accepted", "rejected", "too long", "no text")

_UNCOUNTED, _INFINITE, _BIG, _LONG = -1, -2, -3, -4  # in place of a count
_FIRST, _SLICE = 1 << 16, 1 << 22  # bytes of lines that are judged at a time
_COUNTED = 4096  # lines that are counted at a time, at most
_WORK = 0.25  # seconds of counting, between two looks at what is wanted


class TextError(ValueError):
    """Raised for a text that is no list of sentences; the message is one line."""


class SentenceLines:
    """Sentences, one a line; immutable. Lines are bytes, as a million of them must fit.

    Raises TextError where there are more than can be shown.
    """

    def __init__(self, data: bytes = b"") -> None:
        if data and not data.endswith(b"\n"):
            data += b"\n"
        if len(data) > MOST_BYTES:
            raise TextError(
                f"{len(data) >> 20:,} MiB are too much for a window, which takes "
                f"{MOST_BYTES >> 20:,}: see ckyparse accept"
            )
        self.data = data
        self.bytes = np.frombuffer(data, np.uint8)
        ends = np.flatnonzero(self.bytes == 10) + 1
        if ends.size > MOST_LINES:
            raise TextError(
                f"{ends.size:,} sentences are too many for a window, which takes "
                f"{MOST_LINES:,}: see ckyparse accept"
            )
        self.starts = np.concatenate((np.zeros(1, np.int64), ends.astype(np.int64)))

    @classmethod
    def of(cls, text: str) -> SentenceLines:
        """Return the lines of a pasted text, whose lines may end in any way."""
        text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\u2029", "\n")
        return cls(text.encode("utf-8", "surrogatepass"))

    @classmethod
    def read(cls, path: str | os.PathLike[str], progress: Progress = in_silence) -> SentenceLines:
        """Read a file; the .examples of a grammar without the signs before them.

        Raises TextError, for the file too.
        """
        data = b""
        try:
            with open(path, "rb") as file:
                stream, parts, left = CountedReader(file, progress), [], MOST_BYTES + 1
                while left and (part := stream.read(left)):
                    parts.append(part)
                    left -= len(part)
                data = b"".join(parts)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise TextError(f"{path}: cannot be read: {reason}") from None
        if len(data) > MOST_BYTES:
            raise TextError(
                f"{path}: more than the {MOST_BYTES >> 20:,} MiB that a window takes: "
                "see ckyparse accept"
            )
        if b"\0" in data[:4096]:
            raise TextError(f"{path}: no text")
        first, _, rest = data.partition(b"\n")
        if Path(path).suffix == ".examples" and first.startswith(b"%tokens "):
            lines = [line.partition(b" ")[2] for line in rest.removesuffix(b"\n").split(b"\n")]
            return cls(b"".join(line + b"\n" for line in lines))
        return cls(data)

    @classmethod
    def read_all(
        cls,
        paths: Sequence[str | os.PathLike[str]],
        is_cancelled: Callable[[], bool] = lambda: False,
        progress: Progress = in_silence,
    ) -> SentenceLines:
        """Read several files, one after the other; once it is cancelled, no more. progress: is
        told the share of them that has been read. Raises TextError, for a file that cannot be
        read too."""
        data = bytearray()
        for number, path in enumerate(paths):

            def told(share: float, before: int = number) -> None:
                progress((before + share) / len(paths))

            data += cls.read(path, told).data
            if is_cancelled() or len(data) > MOST_BYTES:
                break
        return cls(bytes(data))

    def __len__(self) -> int:
        return self.starts.size - 1

    def raw(self, index: int) -> bytes:
        """Return the bytes of a line."""
        start, end = self.starts[index : index + 2].tolist()
        return self.data[start : end - 1].removesuffix(b"\r")

    def __getitem__(self, index: int) -> str:
        return self.raw(index).decode("utf-8", "replace")

    def slice(self, first: int, last: int) -> npt.NDArray[np.uint8]:
        """Return the bytes of lines first .. last - 1."""
        return self.bytes[self.starts[first] : self.starts[last]]

    def plus(self, more: SentenceLines) -> SentenceLines:
        """Return these lines and more after them. Raises TextError."""
        return SentenceLines(self.data + more.data)

    def replaced(self, index: int, line: str) -> SentenceLines:
        """Return these lines with another one in the place of one."""
        start, end = self.starts[index : index + 2].tolist()
        data = SentenceLines.of(" ".join(line.splitlines())).data or b"\n"
        return SentenceLines(self.data[:start] + data + self.data[end:])

    def without(self, indices: npt.NDArray[np.int64]) -> SentenceLines:
        """Return these lines but some."""
        keep = np.ones(len(self), np.bool_)
        keep[indices] = False
        return SentenceLines(self.bytes[np.repeat(keep, np.diff(self.starts))].tobytes())


class Findings:
    """Findings on each line; filled by judge() while others read."""

    def __init__(self, language: Language, way: Way, lines: SentenceLines) -> None:
        self.language, self.way, self.lines = language, way, lines
        self.verdicts = np.zeros(len(lines), np.uint8)
        self.prefixes = np.zeros(len(lines), np.int32)
        self._counts = np.full(len(lines), _UNCOUNTED, np.int64)
        # Of probabilities, where the number of parses is known: that is found after them.
        self._logs = np.zeros(len(lines) if language.grammar.is_probabilistic else 0)
        self.no_sum = ""  # why there are no probabilities, though the grammar has some
        self._big: dict[int, int] = {}
        self._of_verdict = [len(lines), 0, 0, 0, 0]  # lines
        self._ambiguous = self._endless = 0  # lines of several parses; those of infinitely many
        self.judged = 0
        self.seen = 0  # lines that have been counted if they were accepted
        self._tokenizer: PlainTokenizer = language.tokenizer(way)

    def count(self, index: int) -> int | float | None:
        """Return the number of parses of a line; None where it is not known."""
        verdict = self.verdicts[index]
        if verdict in (REJECTED, BROKEN):
            return 0
        count = int(self._counts[index])
        if count == _INFINITE:
            return math.inf
        if count == _BIG:
            return self._big[index]
        return count if count >= 0 else None

    @property
    def is_weighted(self) -> bool:
        """Tell whether sentences have probabilities."""
        return self.language.grammar.is_probabilistic and not self.no_sum

    def log(self, index: int) -> float | None:
        """Return the natural logarithm of the probability of a line; None where it is not known."""
        if self.verdicts[index] in (REJECTED, BROKEN):
            return -math.inf
        is_known = self.is_weighted and self._counts[index] not in (_UNCOUNTED, _LONG)
        return float(self._logs[index]) if is_known else None

    def counting_keys(self) -> npt.NDArray[np.int64]:
        """Return numbers in the order of the numbers of parses; what is not known is least."""
        keys = np.maximum(self._counts, -1)
        keys[(self.verdicts == REJECTED) | (self.verdicts == BROKEN)] = 0
        big = dict(self._big)
        ranks = {count: rank for rank, count in enumerate(sorted(set(big.values())))}
        for index, count in big.items():
            keys[index] = (1 << 62) + ranks[count]
        keys[self._counts == _INFINITE] = np.iinfo(np.int64).max
        return keys

    def probability_keys(self) -> npt.NDArray[np.float64]:
        """Return numbers in the order of the probabilities; what is not known is before those
        above 0."""
        keys = np.full(len(self.lines), -np.finfo(np.float64).max)
        if self.is_weighted:
            known = (self._counts != _UNCOUNTED) & (self._counts != _LONG)
            keys[known] = self._logs[known]
        keys[(self.verdicts == REJECTED) | (self.verdicts == BROKEN)] = -np.inf
        return keys

    def is_counted(self, index: int) -> bool:
        """Tell whether the count is known, or known to be too much work."""
        return bool(self.verdicts[index] not in (WAITING, ACCEPTED)) or bool(
            self._counts[index] != _UNCOUNTED
        )

    def tokens(self, index: int) -> list[str]:
        """Return the tokens of a line."""
        return split(self.lines[index], self.way)

    def note(self, index: int) -> str:
        """Say why a line is no sentence."""
        verdict = self.verdicts[index]
        if verdict == BROKEN:
            return "not UTF-8"
        if verdict == TOO_LONG:
            return f"more than {self.language.longest:,} tokens"
        if verdict != REJECTED:
            return ""
        tokens, prefix = self.tokens(index), int(self.prefixes[index])
        known = self._tokenizer.numbers
        return fault(tokens, prefix, [t for t in tokens[prefix : prefix + 1] if t not in known])

    @property
    def ambiguous(self) -> npt.NDArray[np.bool_]:
        """Return which lines are known to have several parses."""
        counts = self._counts
        found: npt.NDArray[np.bool_] = (counts > 1) | (counts == _BIG) | (counts == _INFINITE)
        return found

    def summary(self) -> str:
        """Return one line about all."""
        if not len(self.lines):
            return "no sentences"
        lines = self._of_verdict
        parts = [f"{lines[ACCEPTED]:,} accepted", f"{lines[REJECTED]:,} rejected"]
        if lines[TOO_LONG]:
            parts.append(f"{lines[TOO_LONG]:,} too long")
        if lines[BROKEN]:
            parts.append(f"{lines[BROKEN]:,} not UTF-8")
        if self._ambiguous:
            endless = f" ({self._endless:,} with infinitely many parses)" if self._endless else ""
            parts.append(f"{self._ambiguous:,} ambiguous{endless}")
        if lines[WAITING]:
            parts.append(f"{lines[WAITING]:,} to come")
        elif self.seen < len(self.lines):
            parts.append(f"counting parses, {100 * self.seen // len(self.lines)} %")
        return f"{many(len(self.lines), 'sentence')}: {', '.join(parts)}"

    # --- filling ---------------------------------------------------------------

    def judge(self, wanted: Callable[[], tuple[int, int]]) -> Iterator[Findings]:
        """Find, as a job, all verdicts, then all counts; yield itself whenever there is more.

        wanted: lines first .. last - 1 that somebody looks at: their counts come first.
        """
        size = _FIRST
        while self.judged < len(self.lines):
            self._judge(self._end(self.judged, size))
            yield self
            size = min(2 * size, _SLICE)
        while self.seen < len(self.lines):
            first, last = wanted()
            first, last = max(first, self.seen), min(last, len(self.lines))
            if first < last:
                yield from self._count(first, min(last, first + _COUNTED))
            end = min(self.seen + _COUNTED, len(self.lines))
            yield from self._count(self.seen, end)
            self.seen = end
        yield self

    def _end(self, first: int, size: int) -> int:
        """Return the end for which lines first .. end - 1 have about so many bytes."""
        starts = self.lines.starts
        end = int(np.searchsorted(starts, starts[first] + size, "right")) - 1
        return min(max(end, first + 1), len(self.lines))

    def _judge(self, last: int) -> None:
        first, parser = self.judged, self.language.parser
        coded = self._tokenizer.encode(self.lines.slice(first, last))
        verdicts = np.full(last - first, TOO_LONG, np.uint8)
        batch, limit = coded.batch, self.language.longest
        while True:
            fitting = np.flatnonzero(batch.lengths <= limit)
            some = batch if fitting.size == len(batch) else batch.take(fitting)
            try:
                accepted = parser.accepts(some)
                wrong = np.flatnonzero(~accepted)
                prefixes = parser.prefixes(some.take(wrong))
                break
            except TooLongError as error:
                limit = min(error.longest, limit - 1)
        verdicts[fitting] = np.where(accepted, ACCEPTED, REJECTED)
        self.prefixes[first + fitting[wrong]] = prefixes
        verdicts[coded.bad[coded.bad[:, 1] == INVALID, 0]] = BROKEN
        self.verdicts[first:last] = verdicts
        self._of_verdict[WAITING] -= last - first
        for verdict, count in enumerate(np.bincount(verdicts).tolist()):
            self._of_verdict[verdict] += count
        self.judged = last

    def _count(self, first: int, last: int) -> Iterator[Findings]:
        todo = np.flatnonzero(
            (self.verdicts[first:last] == ACCEPTED) & (self._counts[first:last] == _UNCOUNTED)
        )
        if not todo.size:
            return
        batch: Batch = self._tokenizer.encode(self.lines.slice(first, last)).batch
        work = self.language.counting(batch.lengths[todo])
        self._counts[first + todo[work > COUNTING]] = _LONG
        todo, work = todo[work <= COUNTING], work[work <= COUNTING]
        parts = np.cumsum(work) // _WORK
        for part in np.unique(parts):
            rows = todo[parts == part]
            counts = self.language.parser.counts(batch.take(rows))
            if self.is_weighted:
                self._weigh(first + rows, batch.take(rows))
            for row, count in zip((first + rows).tolist(), counts, strict=True):
                self._endless += count == math.inf
                self._ambiguous += count > 1
                if count == math.inf:
                    self._counts[row] = _INFINITE
                elif count < 1 << 62:
                    self._counts[row] = count
                else:
                    self._big[row] = int(count)
                    self._counts[row] = _BIG
            yield self

    def _weigh(self, rows: npt.NDArray[np.int64], batch: Batch) -> None:
        try:
            self._logs[rows] = self.language.parser.log_probabilities(batch)
        except ValueError as error:  # weights have no sum, or are too small for floats
            self.no_sum = str(error)


def examples() -> list[Path]:
    """Return grammars to try, if this is a checkout that has them."""
    folder = Path(__file__).resolve().parents[2] / "data" / "grammars"
    return sorted(path for path in folder.glob("*.*cfg") if path.is_file())
