"""lifesim convert: from one pattern format to another, to universe directories and back."""

from __future__ import annotations

import os

import click

from lifesim import patterns
from lifesim.cli.drive import busy
from lifesim.cli.options import Size, storing_options
from lifesim.cli.streamed import made_universe, told
from lifesim.outputs import check_target, is_directory_name, pattern_of
from lifesim.start import placement
from lifesim.store.make import from_universe, make_universe
from lifesim.store.making import check_new
from lifesim.store.tiling import tile_universe
from lifesim.store.universe import Universe
from lifesim.topology import Topology


@click.command("convert")
@click.argument("source")
@click.argument("target")
@click.option(
    "--format", "format_", help="Of the target, instead of its extension: rle, macrocell, ..."
)
@click.option("--size", type=Size(), help="Of a directory made from a pattern. [the pattern's]")
@storing_options
def command(
    source: str,
    target: str,
    format_: str | None,
    size: tuple[int, int] | None,
    tiles: tuple[int, int] | None,
    compression: str | None,
    no_pyramid: bool,
) -> None:
    """Convert SOURCE to TARGET; - is standard input or output (RLE unless told).

    A pattern's format is its extension's: .rle, .cells, .lif (Life 1.05), .life (1.06)
    or .mc (macrocell), each also .gz. A TARGET without an extension is a universe
    directory. A SOURCE may be one too: into a pattern if memory holds its cells, into
    another directory, cut up or compressed in another way, whatever its size.
    """
    to_directory = format_ is None and is_directory_name(target)
    if not to_directory and (size or tiles or compression or no_pyramid):
        raise click.UsageError(
            "--size, --tiles, --compression and --no-pyramid are for directories that are made"
        )
    if to_directory:
        check_new(target)
    else:
        check_target(target)
    if not os.path.isdir(source):
        with busy(f"reading {source}"):
            pattern = patterns.read(source)
        if not to_directory:
            with busy(f"writing {target}"):
                patterns.write(pattern, target, format=format_)
            return
        made_universe(
            target,
            source,
            pattern,
            placement(pattern, 0, size),
            show=True,
            tiles=tiles,
            compression=compression or "none",
            pyramid=not no_pyramid,
        ).close()
        return
    if size:
        raise click.UsageError(f"{source} is a universe: it has its own size")
    with Universe.open(source, still=True) as universe:
        if not to_directory:
            with busy(f"reading {source}"):
                pattern = pattern_of(universe)
            with busy(f"writing {target}"):
                patterns.write(pattern, target, format=format_)
            return
        universe.population()  # which needs a whole generation
        tiling = tile_universe(
            universe.width, universe.height, universe.topology is Topology.TORUS, tiles
        )
        with told(f"writing {target}", show=True) as progress:
            make_universe(
                target,
                tiling,
                from_universe(universe),
                rule=universe.rule,
                generation=universe.generation,
                compression=compression or "none",
                pyramid=not no_pyramid,
                origin=universe.manifest.origin,
                progress=progress,
            ).close()
