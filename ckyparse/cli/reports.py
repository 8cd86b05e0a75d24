"""What is said of bad lines on standard error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click
import numpy as np

from ckyparse.cli.lines import Lines
from ckyparse.cli.tokenise import NO_TOKENS, Tokenizer
from ckyparse.reading import shown
from kernels.cky.batch import Indices, Mask
from kernels.cky.text import INVALID, UNKNOWN

_NAMED = 10  # lines of a kind


def say(message: str) -> None:
    """One line, whatever it quotes."""
    text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in message)
    click.echo(f"ckyparse: {text}", err=True)


class Reporter:
    """A line for each of what was found, but not for more than a few of a kind."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def __call__(self, kind: str, found: Any, describe: Callable[[Any], str]) -> None:
        """found: a sequence or array. kind: is said of those that are not named."""
        before = self._counts.get(kind, 0)
        self._counts[kind] = before + len(found)
        for each in found[: max(0, _NAMED - before)]:
            say(describe(each))

    def close(self) -> None:
        """Says how many were not named."""
        for kind, count in self._counts.items():
            if count > _NAMED:
                say(f"{kind}: {count - _NAMED:,} more")


class LineReports:
    """Of the lines of a stream, in their order."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._report = Reporter()
        self._unknown, self._first_unknown = 0, ""

    def unreadable(self, lines: Lines) -> None:
        """A line or a file that there is nothing of."""
        if len(lines):
            self._report("too long", [lines.place(0)], lambda place: f"{place}: {lines.trouble}")
        else:
            self._report("cannot be read", [lines.path], lambda path: f"{path}: {lines.trouble}")

    def faults(self, lines: Lines) -> Indices:
        """Of lines that have no tokens, whose numbers it returns, and of unknown tokens."""
        unknown = _with_fault(lines, UNKNOWN)
        if len(unknown) and not self._unknown:
            self._first_unknown = self.unknown(lines, *unknown[0].tolist())
        self._unknown += len(unknown)

        def not_utf8(row: Indices) -> str:
            i, _, byte = row.tolist()
            return f"{lines.place(i, byte)}: byte 0x{lines.text[byte]:02x} is not UTF-8"

        invalid, others = _with_fault(lines, INVALID), _with_fault(lines, NO_TOKENS)
        what = "not a JSON array of strings"
        self._report("not UTF-8", invalid, not_utf8)
        self._report(what, others, lambda row: f"{lines.place(int(row[0]))}: {what}")
        return np.concatenate([invalid[:, 0], others[:, 0]])

    def unknown(self, lines: Lines, i: int, fault: int, byte: int) -> str:
        """The text about an unknown token."""
        word = self._tokenizer.first_unknown(lines.line(i))
        return f"{lines.place(i, byte)}: unknown token {shown(word)}"

    def too_long(self, lines: Lines, which: Mask, longest: int) -> None:
        """For charts in memory."""

        def text(i: int) -> str:
            length = lines.batch.lengths[i]
            return f"{lines.place(i)}: {length} tokens; memory suffices for {longest}"

        self._report("too long", np.flatnonzero(which).tolist(), text)

    def close(self) -> None:
        self._report.close()
        if self._unknown:
            count = f"{self._unknown:,} line{'s' if self._unknown > 1 else ''}"
            say(f"{count} with tokens that the grammar has not: {self._first_unknown}")


def first_unknown(lines: Lines) -> list[int] | None:
    """Line, fault and byte of the first unknown token."""
    rows = _with_fault(lines, UNKNOWN)
    found: list[int] | None = rows[0].tolist() if len(rows) else None
    return found


def _with_fault(lines: Lines, fault: int) -> Indices:
    rows: Indices = lines.bad[lines.bad[:, 1] == fault]
    return rows
