"""Reports of bad lines, on standard error."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Protocol

import click
import numpy as np

from bulkbits.plurals import many
from ckyparse.cli.lines import Lines
from ckyparse.cli.tokenise import NO_TOKENS, Tokenizer
from ckyparse.reading import shown
from kernels.cky.batch import Indices, Mask
from kernels.cky.text import INVALID, UNKNOWN

_NAMED = 10  # lines of a kind


def say(message: str) -> None:
    """Print one line on standard error, whatever it quotes."""
    text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in message)
    click.echo(f"ckyparse: {text}", err=True)


class FaultReport(Protocol):
    """Takes what was found about lines, in their order."""

    def found(self, kind: str, count: int, texts: Iterable[str]) -> None:
        """Take faults of one kind.

        texts: one for each, of which only the first are taken. kind: is said of those that are
        not named.
        """

    def unknown(self, count: int, first: Callable[[], str]) -> None:
        """Take lines with unknown tokens, and the text about the first of them."""


class Reporter:
    """Prints a line for each of what was found, but not for more than a few of a kind."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._unknown, self._first_unknown = 0, ""

    def found(self, kind: str, count: int, texts: Iterable[str]) -> None:
        """See FaultReport.found()."""
        before = self._counts.get(kind, 0)
        self._counts[kind] = before + count
        for text in islice(texts, max(0, _NAMED - before)):
            say(text)

    def unknown(self, count: int, first: Callable[[], str]) -> None:
        """See FaultReport.unknown()."""
        if count and not self._unknown:
            self._first_unknown = first()
        self._unknown += count

    def close(self) -> None:
        """Say how many were not named."""
        for kind, count in self._counts.items():
            if count > _NAMED:
                say(f"{kind}: {count - _NAMED:,} more")
        if self._unknown:
            lines = many(self._unknown, "line")
            say(f"{lines} with tokens that the grammar has not: {self._first_unknown}")


class Record:
    """Keeps a report to be made later, by another process perhaps."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[int, list[str]]] = {}
        self._unknown, self._first_unknown = 0, ""

    def found(self, kind: str, count: int, texts: Iterable[str]) -> None:
        """See FaultReport.found()."""
        before, named = self._found.get(kind, (0, []))
        self._found[kind] = before + count, [*named, *islice(texts, _NAMED - len(named))]

    def unknown(self, count: int, first: Callable[[], str]) -> None:
        """See FaultReport.unknown()."""
        if count and not self._unknown:
            self._first_unknown = first()
        self._unknown += count

    def make(self, report: FaultReport) -> None:
        """Make the report that was kept."""
        for kind, (count, texts) in self._found.items():
            report.found(kind, count, texts)
        report.unknown(self._unknown, lambda: self._first_unknown)


class LineReports:
    """Reports lines with faults."""

    def __init__(self, tokenizer: Tokenizer, report: FaultReport) -> None:
        self._tokenizer, self._report = tokenizer, report

    def unreadable(self, lines: Lines) -> None:
        """Report a line or a file that there is nothing of."""
        kind, place = ("too long", lines.place(0)) if len(lines) else ("cannot be read", lines.path)
        self._report.found(kind, 1, [f"{place}: {lines.trouble}"])

    def faults(self, lines: Lines) -> Indices:
        """Report lines that have no tokens, whose numbers it returns, and unknown tokens."""
        unknown = _with_fault(lines, UNKNOWN)
        self._report.unknown(len(unknown), lambda: self.unknown(lines, *unknown[0].tolist()))

        def not_utf8(row: Indices) -> str:
            i, _, byte = row.tolist()
            return f"{lines.place(i, byte)}: byte 0x{lines.text[byte]:02x} is not UTF-8"

        invalid, others = _with_fault(lines, INVALID), _with_fault(lines, NO_TOKENS)
        what = "not a JSON array of strings"
        self._report.found("not UTF-8", len(invalid), map(not_utf8, invalid))
        places = (lines.place(int(row[0])) for row in others)
        self._report.found(what, len(others), (f"{place}: {what}" for place in places))
        return np.concatenate([invalid[:, 0], others[:, 0]])

    def unknown(self, lines: Lines, i: int, fault: int, byte: int) -> str:
        """Return the text about an unknown token."""
        word = self._tokenizer.first_unknown(lines.line(i))
        return f"{lines.place(i, byte)}: unknown token {shown(word)}"

    def too_long(self, lines: Lines, which: Mask, limit: str) -> None:
        """Report strings of too many tokens. limit: says how many there may be."""

        def text(i: int) -> str:
            length = lines.batch.lengths[i]
            return f"{lines.place(i)}: {length} tokens; {limit}"

        indices = np.flatnonzero(which).tolist()
        self._report.found("too long", len(indices), map(text, indices))


def first_unknown(lines: Lines) -> list[int] | None:
    """Return line, fault and byte of the first unknown token."""
    rows = _with_fault(lines, UNKNOWN)
    found: list[int] | None = rows[0].tolist() if len(rows) else None
    return found


def _with_fault(lines: Lines, fault: int) -> Indices:
    rows: Indices = lines.bad[lines.bad[:, 1] == fault]
    return rows
