"""lifesim run: the main job."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from fractions import Fraction

import click

from arith.cli.devices import check_cluster, cluster_option
from lifesim import patterns
from lifesim.cli.drive import begin, busy, drive, finish
from lifesim.cli.options import (
    Density,
    Position,
    check_outs,
    many_devices,
    streaming_options,
    universe_options,
    view_of,
    view_options,
)
from lifesim.cli.report import report
from lifesim.cli.streamed import crew_of, exceeds, made_universe, origin_of, steps_to
from lifesim.engine import Life
from lifesim.outputs import is_directory_name, open_output
from lifesim.patterns import Pattern
from lifesim.rule import Rule
from lifesim.soup import Soup
from lifesim.start import placement, soup_placement, start_of
from lifesim.store.universe import Universe
from lifesim.stream.crew import Crew
from lifesim.stream.run import StreamedLife
from lifesim.topology import Topology


@click.command("run")
@click.argument("pattern", required=False)
@click.option("--steps", type=click.IntRange(0, 10**18), required=True, help="Generations.")
@universe_options
@click.option("--random", "density", type=Density(), help="Density of the random soup. [0.5]")
@click.option("--seed", type=click.IntRange(0, 2**64 - 1), help="Of the soup. [1]")
@click.option("--at", type=Position(), help="Where the pattern's top-left cell goes.")
@click.option("--center", is_flag=True, help="Put the pattern in the middle.")
@click.option(
    "--out",
    "outs",
    multiple=True,
    help="Write the result: a pattern (.rle, .mc, .cells, .lif, also .gz), a picture (.png), "
    "an animation (.gif), a series of populations (.csv), a universe directory (no extension). "
    "May be given several times.",
)
@click.option("--every", type=click.IntRange(1), help="Also write each K-th generation.")
@view_options
@streaming_options
@many_devices
@cluster_option
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
@click.option("--quiet", is_flag=True, help="No progress bar, no notes.")
def command(
    pattern: str | None,
    steps: int,
    size: tuple[int, int] | None,
    topology: str | None,
    rule: str | None,
    density: Fraction | None,
    seed: int | None,
    at: tuple[int, int] | None,
    center: bool,
    outs: tuple[str, ...],
    every: int | None,
    region: str | None,
    scale: str | None,
    palette: str | None,
    memory: int | None,
    phase: int | None,
    keep_previous: bool,
    backend: str,
    devices: tuple[int, ...],
    threads: int | None,
    cluster: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Run PATTERN (a file, or - for standard input) for --steps generations.

    Without PATTERN the universe starts as a random soup. Without --size a pattern gets
    a plane that nothing reaches the edge of, if that is at most 8192 cells a side.
    Ctrl-C writes what --out asks for, says where it stopped and exits with 130.

    PATTERN may be a universe directory, which then moves on by so many generations where
    it lies; the same command again finishes a run that was broken off. A universe that
    needs more than --memory is run so too, in the directory that --out names, or one
    named after what it starts from. So is one that a --cluster computes: its workers reach
    the directory by the same path.
    """
    check_cluster(cluster, devices)
    if pattern is None and (at or center):
        raise click.UsageError("--at and --center place a pattern; there is none")
    if pattern is not None and (density is not None or seed is not None):
        raise click.UsageError("--random and --seed make a soup; a pattern is given")
    if at and center:
        raise click.UsageError("--at and --center contradict each other")
    check_outs(outs, every, as_json=as_json, view=bool(region or scale or palette))
    if len(directories := [path for path in outs if is_directory_name(path)]) > 1:
        raise click.UsageError("two --out name directories")
    view = view_of(region, scale, palette)
    show = not quiet and sys.stderr.isatty()
    chosen = Rule.parse(rule) if rule else None
    where = Topology(topology) if topology else None
    universe: Universe | None = None
    life: Life | StreamedLife
    left: int | None = steps
    with ExitStack() as held:

        def hire() -> Crew:
            crew = crew_of(cluster, backend, devices, threads, memory, quiet)
            return held.enter_context(crew)

        if pattern is not None and os.path.isdir(pattern):
            if size or chosen or where or at or center:
                raise click.UsageError(
                    f"{pattern} is a universe: it has its size, rule and topology"
                )
            if directories:
                raise click.UsageError(f"{pattern} moves on where it is, not in {directories[0]}")
            universe = held.enter_context(Universe.open(pattern, writing=True))
            outputs = [open_output(path, every, view) for path in outs]
            crew = hire()
        else:
            source: Pattern | Soup
            if pattern is None:
                source = Soup(
                    Fraction(1, 2) if density is None else density, 1 if seed is None else seed
                )
                placed = soup_placement(size, chosen, where)
            else:
                with busy(f"reading {pattern}", not quiet):
                    source = patterns.read(pattern)
                placed = placement(source, steps, size, at, chosen, where, centre=center)
            streamed = cluster is not None or exceeds(placed.size, memory)
            if not streamed and (phase or keep_previous):
                raise click.UsageError("--phase and --keep-previous are for universes on disk")
            origin = origin_of(source, placed, pattern) if directories else ""
            outputs = [
                open_output(path, every, view, origin)
                for path in outs
                if not (streamed and path in directories)
            ]
            for output in outputs:  # before a universe is made for nothing
                output.check(*placed.size)
            if not streamed:
                with busy("placing the cells", not quiet):
                    start = start_of(source, placed)
                del source
                life = begin(start, backend, devices, threads, quiet)
                del start  # its cells: the backend has them now
            else:
                crew = hire()
                if placed.note and not quiet:
                    click.echo(f"lifesim: {placed.note}", err=True)
                universe = held.enter_context(
                    made_universe(
                        directories[0] if directories else None,
                        pattern,
                        source,
                        placed,
                        show,
                        budget=crew.check_budget,
                    )
                )
                left = steps_to(universe, source.generation, steps, quiet)
        if universe:
            life = StreamedLife(universe, crew, generations=phase, keep_previous=keep_previous)
        outcome = drive(life, left, outputs, every=every, show=show)
        report(life, outcome, as_json=as_json, to_stderr="-" in outs)
    finish(outcome)
