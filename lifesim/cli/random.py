"""lifesim random: soups."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import click

from bulkbits.options import force_option
from lifesim.cli.drive import busy
from lifesim.cli.options import (
    Density,
    Size,
    TopologyText,
    chosen_edges,
    rules_option,
    storing_options,
)
from lifesim.cli.streamed import Beginning, Storage, made_universe, origin_of
from lifesim.outputs import PATTERN, check_target, is_directory_name
from lifesim.patterns import Pattern, write
from lifesim.soup import Soup
from lifesim.start import soup_placement, start_of
from lifesim.store.making import check_new


@click.command("random")
@click.option("--size", type=Size(), required=True, help="Size in cells: 512x256, 64K.")
@click.option("--density", type=Density(), default="0.5", help="Density of live cells. [0.5]")
@click.option("--seed", type=click.IntRange(0, 2**64 - 1), default=1, help="Seed. [1]")
@click.option("--topology", type=TopologyText(), help="As of `lifesim run`. [torus]")
@click.option("--rule", default="B3/S23", help="Written into the file. [B3/S23]")
@click.option(
    "-o",
    "--out",
    required=True,
    help="A pattern file, - for standard output (RLE), or, without an extension, a universe "
    "directory, which may be larger than memory.",
)
@force_option
@rules_option
@storing_options
def command(  # each parameter is an option, or an argument
    size: tuple[int, int],
    density: Fraction,
    seed: int,
    topology: str | None,
    rule: str,
    out: str,
    force: bool,
    **storing: Any,
) -> None:
    """Write a random soup: the same cells for the same seed, everywhere.

    A larger soup of the same seed begins with the smaller one's cells. By a rule of several states
    the density is the share of cells that are not dead, which are in each other state alike.
    """
    soup = Soup(density, seed)
    where = soup_placement(size, *chosen_edges(rule, topology))
    if is_directory_name(out):
        check_new(out)
        storage = Storage.chosen(**storing)
        beginning = Beginning(soup, where, origin_of(soup, where, None))
        made_universe(out, beginning, show=True, storage=storage).close()
        return
    if any(storing.values()):
        raise click.UsageError("--tiles, --compression and --no-pyramid are for directories")
    check_target(out, PATTERN, force=force)
    with busy("making the soup"):
        start = start_of(soup, where)
    width, height = size
    pattern = Pattern(
        start.grid,
        x=-(width // 2),
        y=-(height // 2),
        rule=start.rule,
        topology=start.topology,
        size=size,
        name=f"soup {width}x{height}, density {density}, seed {seed}",
    )
    with busy(f"writing {out}"):
        write(pattern.trimmed(), out)
