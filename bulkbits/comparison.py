"""Print the table of a `bench` command: this machine beside figures of others, and beside peers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import click

from bulkbits.progress import bar
from bulkbits.references import RecordedRate, find
from bulkbits.timing import Samples
from bulkbits.version import version


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table.

    operation, size: what was done, by the names that bulkbits.references has. unit: what is
    counted. ours: the rates of this machine; None where there are none, and `problem` says why.
    peers: those of other programs on this machine, measured by turns with ours. details: more
    facts for --json.
    """

    operation: str
    size: str
    unit: str
    ours: Samples | None = None
    peers: Mapping[str, Samples] = field(default_factory=dict)
    problem: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Comparison:
    """The table of a command as far as it was measured.

    command: "arith". place: what computes, in a few words. kind: "cuda", "cpu" or "reference".
    processor: the name of the CPU. notes: what a reader must know, one line each.
    """

    command: str
    place: str
    kind: str
    processor: str
    notes: list[str] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    interrupted: bool = False

    def reference_of(self, row: Row) -> RecordedRate | None:
        """Return the figure that a row is set beside, None where there is none."""
        return find(self.command, self.kind, row.operation, row.size)

    def text(self) -> str:
        """Return the table in Markdown, with what was measured, where, and how."""
        where = f"{self.place}; {self.processor}"
        lines = [f"{self.command} bench of bulkbits {version()} on {where}.", *self.notes]
        lines += ["", *markdown(self._cells()), ""]
        lines.append("here: the median of rounds that take turns with peers; /: times as fast as.")
        found = [self.reference_of(row) for row in self.rows]
        for source in dict.fromkeys(reference.source for reference in found if reference):
            lines.append(
                f'{source.machine}: {source.described}, "{source.section}" in '
                f"benchmarks/RESULTS.md, by `{source.command}`."
            )
        return "\n".join(lines)

    def _cells(self) -> list[list[str]]:
        peers = list(dict.fromkeys(name for row in self.rows for name in row.peers))
        head = ["operation", "size", "a second", "here", "reference", "/ reference", "of"]
        for name in peers:
            head += [name, f"/ {name}"]
        table = [head]
        for row in self.rows:
            cells = [row.operation, row.size, row.unit]
            if row.ours is None:
                table.append([*cells, row.problem] + [""] * (len(head) - 4))
                continue
            reference = self.reference_of(row)
            cells.append(rate_text(row.ours.median))
            if reference:
                ratio = ratio_text(row.ours.median / reference.rate)
                cells += [rate_text(reference.rate), ratio, reference.source.machine]
            else:
                cells += ["", "", ""]
            for name in peers:
                peer = row.peers.get(name)
                both = ("", "")
                if peer:
                    both = rate_text(peer.median), ratio_text(row.ours.ratio(peer))
                cells += both
            table.append(cells)
        return table

    def facts(self) -> dict[str, Any]:
        """Return all of it for --json."""
        return {
            "command": f"{self.command} bench",
            "version": version(),
            "place": self.place,
            "backend": self.kind,
            "processor": self.processor,
            "notes": self.notes,
            "interrupted": self.interrupted,
            "results": [self._facts(row) for row in self.rows],
        }

    def _facts(self, row: Row) -> dict[str, Any]:
        facts = {"operation": row.operation, "size": row.size, "unit": row.unit, **row.details}
        if row.ours is None:
            return {**facts, "problem": row.problem}
        reference = self.reference_of(row)
        return {
            **facts,
            "rate": row.ours.median,
            "best": row.ours.best,
            "rounds": len(row.ours.rates),
            "reference": reference.facts() if reference else None,
            "ratio": row.ours.median / reference.rate if reference else None,
            "peers": {
                name: {"rate": peer.median, "ratio": row.ours.ratio(peer)}
                for name, peer in row.peers.items()
            },
        }


def present(comparison: Comparison, tasks: Sequence[Callable[[], Row]], *, as_json: bool) -> None:
    """Measure a row by each task, with a bar on a terminal, and print the table.

    What ends it early, as Ctrl-C, goes on when the rows so far are printed.
    """
    try:
        with bar(f"{comparison.command} bench") as share:
            for done, task in enumerate(tasks):
                if share:
                    share(done / len(tasks))
                comparison.rows.append(task())
    except BaseException as error:
        comparison.interrupted = isinstance(error, KeyboardInterrupt)
        if comparison.rows:
            _show(comparison, as_json)
        raise
    _show(comparison, as_json)


def _show(comparison: Comparison, as_json: bool) -> None:
    click.echo(json.dumps(comparison.facts()) if as_json else comparison.text())


def markdown(table: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a Markdown table whose columns line up. table: the head first."""
    table = [[cell.replace("|", "\\|") for cell in row] for row in table]
    widths = [max(3, *map(len, column)) for column in zip(*table, strict=True)]
    lines = ["| " + " | ".join(map(str.ljust, row, widths)) + " |" for row in table]
    return [lines[0], "| " + " | ".join("-" * width for width in widths) + " |", *lines[1:]]


def rate_text(rate: float) -> str:
    """Return a rate to three digits, as 37.5 T."""
    for unit, size in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if rate >= 0.9995 * size:
            return f"{_digits(rate / size)} {unit}"
    return _digits(rate)


def ratio_text(ratio: float) -> str:
    """Return a ratio to three digits, large ones whole: 0.98, 41.3, 5,700,000."""
    return f"{float(f'{ratio:.3g}'):,.0f}" if ratio >= 99.95 else _digits(ratio)


def _digits(value: float) -> str:
    """Return a number to three digits with its zeros, and no exponent below a thousand."""
    text = f"{value:#.3g}"
    return f"{value:.0f}" if "e+" in text else text.rstrip(".")
