"""lifesim convert: from one pattern format to another, to universe directories and back."""

from __future__ import annotations

import os
from typing import Any

import click

from bulkbits.options import force_option
from lifesim import patterns
from lifesim.cli.drive import busy
from lifesim.cli.named import PatternFile
from lifesim.cli.options import (
    Size,
    rules_option,
    storing_options,
)
from lifesim.cli.report import note_oddities
from lifesim.cli.streamed import Beginning, Storage, counting_bar, made_universe, origin_of
from lifesim.outputs import PATTERN, check_target, is_directory_name
from lifesim.pattern_of import is_macrocell, pattern_of
from lifesim.start import placement
from lifesim.store.make import from_universe, make_universe
from lifesim.store.making import check_new
from lifesim.store.tiling import tile_universe
from lifesim.store.universe import Universe
from lifesim.topology import Topology


@click.command("convert")
@click.argument("source", type=PatternFile())
@click.argument("target")
@click.option(
    "--format",
    "format_",
    help="Format of the target, instead of its extension: rle, macrocell, ...",
)
@force_option
@rules_option
@click.option("--size", type=Size(), help="Size of a directory made from a pattern. [no bounds]")
@storing_options
def command(
    source: str,
    target: str,
    format_: str | None,
    force: bool,
    size: tuple[int, int] | None,
    **storing: Any,
) -> None:
    """Convert SOURCE to TARGET; - is standard input or output (RLE unless told).

    A pattern's format is its extension's: .rle, .cells, .lif (Life 1.05), .life (1.06)
    or .mc (macrocell), each also .gz. A TARGET without an extension is a universe
    directory. A macrocell file that is wider than memory stays as it is in another, and becomes
    RLE, Life 1.06 or plaintext where few enough cells live. A SOURCE may be a directory too:
    into a pattern if memory holds its cells, into another directory, cut up or compressed in
    another way, whatever its size.
    """
    to_directory = format_ is None and is_directory_name(target)
    if not to_directory and (size or any(storing.values())):
        raise click.UsageError(
            "--size, --tiles, --compression and --no-pyramid are for directories that are made"
        )
    if to_directory:
        check_new(target)
    else:
        check_target(target, PATTERN, [source], force)
    storage = Storage.chosen(**storing) if to_directory else None
    if os.path.isdir(source):
        if size:
            raise click.UsageError(f"{source} is a universe: it has its own size")
        _convert_universe(source, target, format_, storage)
    else:
        _convert_pattern(source, target, format_, size, storage)


def _convert_pattern(
    source: str,
    target: str,
    format_: str | None,
    size: tuple[int, int] | None,
    storage: Storage | None,
) -> None:
    """Convert a pattern file: to another, or to a directory of that storage."""
    with busy(f"reading {source}"):
        pattern = patterns.read(source, as_squares=_as_squares(target, format_, storage))
    note_oddities(pattern, source)
    if storage is None:
        with busy(f"writing {target}"):
            patterns.write(pattern, target, format=format_)
        return
    placed = placement(pattern, size)
    beginning = Beginning(pattern, placed, origin_of(pattern, placed, source))
    made_universe(target, beginning, show=True, storage=storage).close()


def _as_squares(target: str, format_: str | None, storage: Storage | None) -> bool | None:
    """Tell whether a macrocell file is taken as it is: into another always, into other files where
    no grid holds it, into a directory never."""
    if storage is not None:
        return False
    to_macrocell = format_ == patterns.macrocell.NAME if format_ else is_macrocell(target)
    return True if to_macrocell else None


def _convert_universe(
    source: str, target: str, format_: str | None, storage: Storage | None
) -> None:
    """Convert a universe directory: to a pattern file, or to a directory of that storage."""
    with Universe.open(source, still=True) as universe:
        if storage is None:
            with busy(f"reading {source}"):
                pattern = pattern_of(universe)
            with busy(f"writing {target}"):
                patterns.write(pattern, target, format=format_)
            return
        universe.population()  # which needs a whole generation
        torus = universe.topology is Topology.TORUS
        planes = universe.rule.planes
        tiling = tile_universe(universe.width, universe.height, torus, storage.tiles, planes=planes)
        with counting_bar(f"writing {target}", show=True) as progress:
            make_universe(
                target,
                tiling,
                from_universe(universe),
                progress,
                rule=universe.rule,
                generation=universe.generation,
                compression=storage.compression,
                pyramid=storage.pyramid,
                origin=universe.manifest.origin,
                corner=universe.manifest.corner,
                edge=universe.manifest.edge,
            ).close()
