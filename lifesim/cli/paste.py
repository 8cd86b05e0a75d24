"""lifesim paste: a pattern put into a universe on disk."""

from __future__ import annotations

import click

from lifesim import patterns
from lifesim.cli.drive import busy
from lifesim.cli.named import PatternFile
from lifesim.cli.options import Position, rules_option
from lifesim.cli.report import note_oddities
from lifesim.cli.streamed import counting_bar
from lifesim.pasting import Mode
from lifesim.store import editing
from lifesim.store.universe import Universe


@click.command("paste")
@click.argument("universe")
@click.argument("pattern", type=PatternFile())
@click.option(
    "--at",
    type=Position(),
    required=True,
    help="Column and row that the top-left corner of the pattern's bounding box gets: 100,-20.",
)
@click.option(
    "--mode",
    type=click.Choice([str(mode) for mode in Mode]),
    default=str(Mode.OR),
    show_default=True,
    help="or: live cells are added; copy: all cells of the box are replaced; xor: live ones "
    "invert.",
)
@rules_option
def command(universe: str, pattern: str, at: tuple[int, int], mode: str) -> None:
    """Put PATTERN, a file or a name of `lifesim patterns`, into UNIVERSE, a directory.

    What is put there is the smallest box around the pattern's live cells: dead cells that the file
    has around them are left out. A plane without bounds gets room for it; else it must lie within.
    Killed at any moment, the universe is as it was, or as it is to be. `lifesim undo` takes it back
    until the universe is moved on. Coordinates are those of `lifesim info`.
    """
    with busy(f"reading {pattern}"):
        read = patterns.read(pattern)
    note_oddities(read, pattern)
    with Universe.open(universe, writing=True) as opened:
        before = opened.population()
        with counting_bar(f"writing {universe}", show=True) as progress:
            editing.paste(opened, read.grid, at, mode, progress=progress)
        click.echo(f"population {before:,}, now {opened.population():,}")
