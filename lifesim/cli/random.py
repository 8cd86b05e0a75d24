"""lifesim random: soups."""

from __future__ import annotations

from fractions import Fraction

import click

from lifesim.cli.drive import busy
from lifesim.cli.options import Density, Size, storing_options
from lifesim.cli.streamed import made_universe
from lifesim.outputs import check_target, is_directory_name
from lifesim.patterns import Pattern, write
from lifesim.rule import Rule
from lifesim.soup import Soup
from lifesim.start import soup_placement, start_of
from lifesim.store.making import check_new
from lifesim.topology import Topology


@click.command("random")
@click.option("--size", type=Size(), required=True, help="In cells: 512x256, 64K.")
@click.option("--density", type=Density(), default="0.5", help="Of live cells. [0.5]")
@click.option("--seed", type=click.IntRange(0, 2**64 - 1), default=1, help="[1]")
@click.option("--topology", type=click.Choice(["torus", "plane"]), default="torus")
@click.option("--rule", default="B3/S23", help="Written into the file. [B3/S23]")
@click.option(
    "--out",
    required=True,
    help="A pattern file, - for standard output (RLE), or, without an extension, a universe "
    "directory, which may be larger than memory.",
)
@storing_options
def command(
    size: tuple[int, int],
    density: Fraction,
    seed: int,
    topology: str,
    rule: str,
    out: str,
    tiles: tuple[int, int] | None,
    compression: str | None,
    no_pyramid: bool,
) -> None:
    """Write a random soup: the same cells for the same seed, everywhere.

    A larger soup of the same seed begins with the smaller one's cells.
    """
    soup = Soup(density, seed)
    where = soup_placement(size, Rule.parse(rule), Topology(topology))
    if is_directory_name(out):
        check_new(out)
        made_universe(
            out,
            None,
            soup,
            where,
            show=True,
            tiles=tiles,
            compression=compression or "none",
            pyramid=not no_pyramid,
        ).close()
        return
    if tiles or compression or no_pyramid:
        raise click.UsageError("--tiles, --compression and --no-pyramid are for directories")
    check_target(out)
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
