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

_WIDE = 1 << 30  # in a file there is no edge
_BETWEEN = 2  # blanks between two columns
_LEAST = 10  # letters of a column that is cut
_CUT = ("discovered by", "rule")
_NUMBERS = ("size", "period")


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
        raise LifesimError(_nothing(library, text or search, kind, rule, folder))


def _nothing(
    library: PatternLibrary,
    text: str | None,
    kind: str | None,
    rule: str | None,
    folder: str | None,
) -> str:
    """Say which pattern there is not, and what may be meant."""
    asked = " ".join(
        part
        for part in (
            f"of kind {kind}" if kind else "",
            f"of rule {rule}" if rule else "",
            f"with {text!r} in it" if text else "",
            f"in {shown(folder)}" if folder else "",
        )
        if part
    )
    close = library.nearest(text) if text and not (kind or rule) else []  # it may be of others
    hint = f": is {' or '.join(map(shown, close))} meant?" if close else ""
    return f"there is no pattern {asked}".rstrip() + hint


def _table(entries: Sequence[PatternEntry], is_ours: bool) -> None:
    """Print a line for each pattern, without what none of them has and a rule that all have. A
    narrow terminal gets fewer columns, the last one cut: names stay whole, as they are typed."""
    from rich.cells import cell_len

    rows = [_cells(entry) for entry in entries]
    cells = {title: [row[title] for row in rows] for title in rows[0]}
    for title, column in cells.items():
        is_shared = title == "rule" and len({*column}) == 1
        if not any(column) or is_shared:
            for row in rows:
                del row[title]
    wide = {title: max(map(cell_len, (title, *cells[title]))) for title in rows[0]}
    left_out = _fit(wide, os.get_terminal_size().columns if sys.stdout.isatty() else _WIDE)
    click.secho(_line({title: title for title in wide}, wide), bold=True)
    for row in rows:
        click.echo(_line(row, wide))
    notes = [many(len(entries), "pattern")]
    if left_out:
        notes.append(f"a wider terminal shows {' and '.join(left_out)}")
    if is_ours:
        notes.append("`lifesim patterns NAME` says all about one")
    click.echo("; ".join(notes), err=True)


def _cells(entry: PatternEntry) -> dict[str, str]:
    """Return what a line says of a pattern, by its titles; what can be done without comes last."""
    return {
        "name": shown(entry.name),
        "kind": entry.kind,
        "size": entry.size,
        "period": "" if entry.period is None else str(entry.period),
        "speed": entry.speed,
        "discovered by": entry.discovered,
        "rule": entry.rule,
    }


def _fit(wide: dict[str, int], room: int) -> list[str]:
    """Cut the widths of columns down to what there is room for, and leave out those of which
    nothing could be read. Returns these."""
    left_out: list[str] = []
    for title in reversed([*wide][1:]):
        excess = sum(wide.values()) + _BETWEEN * (len(wide) - 1) - room
        if excess <= 0:
            break
        if wide[title] - excess >= _LEAST and title in _CUT:
            wide[title] -= excess
        else:
            del wide[title]
            left_out.insert(0, title)
    return left_out


def _line(row: dict[str, str], wide: dict[str, int]) -> str:
    """Return cells of these widths as a line."""
    from rich.cells import cell_len, set_cell_size

    parts = []
    for title, width in wide.items():
        text = row[title]
        if cell_len(text) > width:
            text = set_cell_size(text, width - 1).rstrip() + "…"
        room = " " * (width - cell_len(text))
        parts.append(room + text if title in _NUMBERS else text + room)
    return (" " * _BETWEEN).join(parts).rstrip()


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
