"""lifesim convert: from one pattern format to another."""

from __future__ import annotations

import click

from lifesim import patterns
from lifesim.cli.drive import busy
from lifesim.outputs import check_target


@click.command("convert")
@click.argument("source")
@click.argument("target")
@click.option(
    "--format", "format_", help="Of the target, instead of its extension: rle, macrocell, ..."
)
def command(source: str, target: str, format_: str | None) -> None:
    """Convert SOURCE to TARGET; - is standard input or output (RLE unless told).

    The target's format is its extension's: .rle, .cells, .lif (Life 1.05), .life (1.06)
    or .mc (macrocell), each also .gz.
    """
    check_target(target)
    with busy(f"reading {source}"):
        pattern = patterns.read(source)
    with busy(f"writing {target}"):
        patterns.write(pattern, target, format=format_)
