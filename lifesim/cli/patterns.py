"""lifesim patterns: the patterns that have a name."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import asdict

import click

from bulkbits.options import json_option
from bulkbits.plurals import many
from lifesim.cli.drive import busy
from lifesim.cli.options import rules_option
from lifesim.errors import LifesimError
from lifesim.library import KINDS, PatternEntry, PatternLibrary
from lifesim.library.drawing import drawn
from lifesim.library.heads import shown

_WIDE = 1000  # in a file there is no edge to fold lines at


@click.command("patterns")
@click.argument("text", required=False)
@click.option("--search", metavar="TEXT", help="The same as TEXT, but never one pattern's facts.")
@click.option("--kind", type=click.Choice(KINDS), help="Only patterns of this kind.")
@click.option("--rule", help="Only patterns of this rule, in any notation, or by its name.")
@click.option(
    "--folder",
    type=click.Path(exists=True, file_okay=False),
    help="List the pattern files of a folder, and of those in it, in place of ours.",
)
@rules_option
@json_option
def command(
    text: str | None,
    search: str | None,
    kind: str | None,
    rule: str | None,
    folder: str | None,
    as_json: bool,
) -> None:
    """List the patterns that come with this program, or those in which all words of TEXT stand.

    Words are looked for in names, kinds, periods (p30), speeds, discoverers, years, rules and
    descriptions. If TEXT is the name of a pattern, all that is known of it is said, with a picture.
    A name stands for the pattern's file in all commands: `lifesim run gosper-gun --steps 1000`.
    """
    if text is not None and search is not None:
        raise click.UsageError("TEXT and --search say the same: give one of them")
    library = PatternLibrary.of_folder(folder) if folder else PatternLibrary.of_ours()
    with busy(f"reading {shown(folder)}") if folder else nullcontext():
        one = library.find(text) if text and not kind and not rule else None
        found = [one] if one else library.search(text or search or "", kind=kind, rule=rule)
    for note in library.notes:
        click.echo(f"lifesim: {shown(note)}", err=True)
    if one:
        _tell(one, library, as_json)
    elif as_json:
        click.echo(json.dumps([asdict(entry) for entry in found]))
    elif found:
        _table(found, is_ours=folder is None)
    else:
        raise LifesimError(_nothing(library, text or search, kind, rule))


def _nothing(library: PatternLibrary, text: str | None, kind: str | None, rule: str | None) -> str:
    asked = " ".join(
        part
        for part in (
            f"of kind {kind}" if kind else "",
            f"of rule {rule}" if rule else "",
            f"with {text!r} in it" if text else "",
        )
        if part
    )
    close = library.nearest(text) if text and not (kind or rule) else []  # it may be of others
    hint = f": is {' or '.join(map(shown, close))} meant?" if close else ""
    return f"there is no pattern {asked}".rstrip() + hint


def _table(entries: Sequence[PatternEntry], is_ours: bool) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    shows_rules = any(entry.rule != entries[0].rule for entry in entries)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("name", "kind", "size", "period", "speed", "discovered by"):
        table.add_column(
            title,
            overflow="fold",
            no_wrap=title in ("size", "kind"),
            justify="right" if title in ("size", "period") else "left",
        )
    if shows_rules:
        table.add_column("rule", overflow="fold")
    for entry in entries:
        period = "" if entry.period is None else str(entry.period)
        cells = [shown(entry.name), entry.kind, entry.size, period, entry.speed, entry.discovered]
        rules = [entry.rule] if shows_rules else []
        table.add_row(*(Text(cell) for cell in (*cells, *rules)))
    console = Console(file=sys.stdout, width=None if sys.stdout.isatty() else _WIDE)
    console.print(table)
    more = "; `lifesim patterns NAME` says all about one" if is_ours else ""
    click.echo(f"{many(len(entries), 'pattern')}{more}", err=True)


def _tell(entry: PatternEntry, library: PatternLibrary, as_json: bool) -> None:
    grid = library.read(entry).grid
    if as_json:
        click.echo(json.dumps([{**asdict(entry), "population": grid.population()}]))
        return
    lines = [
        ("name", shown(entry.name)),
        ("title", entry.title),
        ("also", "; ".join(entry.others)),
        ("kind", entry.kind),
        ("rule", entry.rule),
        ("size", f"{grid.width}x{grid.height}, {grid.population():,} live cells"),
        ("period", "" if entry.period is None else f"{entry.period:,}"),
        ("speed", entry.speed),
        ("settled", "" if entry.lifespan is None else f"from generation {entry.lifespan:,} on"),
        ("discovered", entry.discovered),
        ("file", shown(entry.path)),
    ]
    for label, value in lines:
        if value:
            click.echo(f"{label:<11}{value}")
    if entry.about:
        click.echo(f"\n{entry.about}")
    picture = drawn(grid, *_room())
    if picture:
        click.echo("\n" + "\n".join(picture))


def _room() -> tuple[int, int]:
    """Return how many letters across and down a picture may take."""
    if not sys.stdout.isatty():
        return 120, 60
    columns, rows = os.get_terminal_size(sys.stdout.fileno())
    return max(20, columns - 1), max(8, rows - 16)
