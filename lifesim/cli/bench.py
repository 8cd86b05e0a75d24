"""lifesim bench: how fast this machine is, beside others that were measured."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import click

from bulkbits.comparison import Comparison, Row, present
from bulkbits.options import json_option, many_devices_options
from bulkbits.timing import TimedRunner
from kernels.life.rules import LifeRule
from kernels.targets import cpu
from kernels.targets.choose import pick
from kernels.targets.contract import Target
from lifesim.bench import SoupPeer, TileLoop, TileLoopError, measure_soup
from lifesim.bench_planes import cases_for, measure_plane
from lifesim.cli.options import Size
from lifesim.errors import LifesimError
from lifesim.golly import Golly, GollyError
from lifesim.rule import LIFE, Rule
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
@click.option("--seconds", type=click.FloatRange(0.01, 3600), default=2.0, help="For each row. [2]")
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
    """Measure this machine beside the figures of benchmarks/RESULTS.md, in a table to paste.

    Rows are random soups of several sizes, and, without --size and another --rule or --topology,
    patterns on planes without bounds. Columns with "/" say how many times as fast this machine is.

    On the CPU a column has the tile loop: the same circuit on a tile that stays in cache and is
    never packed or exchanged, on as many threads: the ceiling of a dense universe. It needs a
    compiler and the source checkout. Where bgolly (Golly without windows) is installed, it has a
    column: its QuickLife on one core, or its HashLife for a row by that. It is not given soups
    of over 4 million cells. Peers run by turns with ours; their ratio is the median of the rounds.
    Rules that are not Life-like have neither column.
    """
    chosen, where = Rule.parse(rule), Topology(topology)
    target = pick(backend, device=devices, threads=threads)
    comparison = Comparison("lifesim", target.describe(), target.name, cpu.model())
    peers: dict[str, SoupPeer] = {}
    is_life_like = isinstance(chosen.cells, LifeRule)  # as the peers' rules are
    tile, missing = _tile_loop(target) if is_life_like else (None, "")
    if tile is not None:
        peers["tile loop"] = lambda *_: tile
    if missing:
        comparison.notes.append(f"No tile loop: {missing}.")
    with tempfile.TemporaryDirectory() as folder:
        golly = _golly(Path(folder), comparison.notes) if is_life_like else None
        if golly:
            peers["bgolly"] = golly.soup
        asked = sizes or tuple((side, side) for side in scale_of(target).bench_sides)
        tasks: list[Callable[[], Row]] = [
            partial(
                measure_soup, target, size,
                rule=chosen, topology=where, seconds=seconds, peers=peers,
            )
            for size in asked
        ]  # fmt: skip
        if not sizes and (chosen, where) == (LIFE, Topology.TORUS):
            cases = cases_for(target)
            tasks += [partial(measure_plane, case, target, seconds, golly) for case in cases]
        present(comparison, tasks, as_json=as_json)
    if all(row.problem for row in comparison.rows):
        raise LifesimError("no size could be measured")


def _golly(folder: Path, notes: list[str]) -> Golly | None:
    """Return bgolly where it is installed and works; note why where it does not."""
    program = shutil.which("bgolly")
    if program is None:
        return None
    try:
        return Golly.tried(program, folder)
    except GollyError as error:
        notes.append(f"No bgolly: {error}.")
        return None


def _tile_loop(target: Target) -> tuple[TimedRunner | None, str]:
    """Return the tile loop for this backend, or None and why it is missing where it belongs."""
    if not target.vector_bits:
        return None, ""
    try:
        return TileLoop().runner(target.vector_bits, target.threads), ""
    except TileLoopError as error:
        return None, str(error)
