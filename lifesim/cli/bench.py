"""lifesim bench: how fast this machine is."""

from __future__ import annotations

import json
from typing import Any

import click

from bulkbits.options import json_option, many_devices_options
from kernels.targets.choose import pick
from kernels.targets.contract import Target
from lifesim.bench import MeasuredSize, Samples, TileLoop, TileLoopError, TimedRunner, measure
from lifesim.cli.drive import rate_text
from lifesim.cli.options import Size
from lifesim.errors import LifesimError
from lifesim.rule import Rule
from lifesim.scale import scale_of
from lifesim.topology import Topology


@click.command("bench")
@click.option(
    "--size",
    "sizes",
    type=Size(),
    multiple=True,
    help="Size of a universe, in cells: 512x256, 64K. May be given several times.",
)
@click.option("--rule", default="B3/S23", help="B3/S23 or a name, as HighLife. [Life]")
@click.option("--topology", type=click.Choice(["torus", "plane"]), default="torus", help="[torus]")
@click.option(
    "--seconds", type=click.FloatRange(0.01, 3600), default=2.0, help="For each size. [2]"
)
@many_devices_options
@json_option
def command(  # each parameter is an option
    sizes: tuple[tuple[int, int], ...],
    rule: str,
    topology: str,
    seconds: float,
    backend: str,
    devices: tuple[int, ...],
    threads: int | None,
    as_json: bool,
) -> None:
    """Measure cell updates per second on random soups of several sizes.

    On the CPU a second column has the tile loop: the same circuit on a tile that stays
    in cache and is never packed or exchanged, on as many threads and by turns with the
    first: the ceiling of a dense universe. It needs a compiler and the source checkout.
    The ratio is the median of the rounds, so it need not be that of the two best.
    """
    chosen, where = Rule.parse(rule), Topology(topology)
    runner = pick(backend, device=devices, threads=threads)
    tile, missing = _tile_loop(runner)
    if not as_json:
        click.echo(f"{runner.describe()}; {chosen}, {where}; best of {seconds:g} s each")
        if missing:
            click.echo(f"no tile loop: {missing}")
        click.echo(f"{'size':>15}  {'rate':>22}" + (f"  {'tile loop':>22}  ratio" if tile else ""))
    results = []
    asked = sizes or tuple((side, side) for side in scale_of(runner).bench_sides)
    for line in measure(runner, asked, rule=chosen, topology=where, seconds=seconds, tile=tile):
        results.append(line)
        if not as_json:
            click.echo(_row(line))
    if as_json:
        facts = {
            "backend": runner.name,
            "device": runner.describe(),
            "rule": str(chosen),
            "topology": str(where),
            "tile_loop_missing": missing or None,
            "results": [_facts(line) for line in results],
        }
        click.echo(json.dumps(facts))
    if all(line.problem for line in results):
        raise LifesimError("no size could be measured")


def _tile_loop(runner: Target) -> tuple[TimedRunner | None, str]:
    """Return the tile loop for this backend, or None and why it is missing where it belongs."""
    if not runner.vector_bits:
        return None, ""
    try:
        return TileLoop().runner(runner.vector_bits, runner.threads), ""
    except TileLoopError as error:
        return None, str(error)


def _row(line: MeasuredSize) -> str:
    text = f"{line.width}x{line.height}"
    if line.samples is None:
        return f"{text:>15}  {line.problem}"
    text = f"{text:>15}  {rate_text(line.samples.best):>22}"
    if line.tile is None or line.ratio is None:
        return text
    return f"{text}  {rate_text(line.tile.best):>22}  {line.ratio:.2f}"


def _facts(line: MeasuredSize) -> dict[str, Any]:
    facts: dict[str, Any] = {"width": line.width, "height": line.height}
    if line.samples is None:
        return {**facts, "problem": line.problem}
    return {
        **facts,
        "cell_updates_per_second": round(line.samples.best),
        "median": round(line.samples.median),
        "rounds": len(line.samples.rates),
        "tile_loop": _best(line.tile),
        "ratio": line.ratio,
    }


def _best(samples: Samples | None) -> int | None:
    return None if samples is None else round(samples.best)
