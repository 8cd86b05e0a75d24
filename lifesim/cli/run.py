"""lifesim run: the main job."""

from __future__ import annotations

import json
import os
import sys
from fractions import Fraction
from typing import Any

import click

from lifesim import patterns
from lifesim.cli.drive import Outcome, begin, busy, drive, finish
from lifesim.cli.drive import rate_text as rate_text
from lifesim.cli.options import (
    Density,
    Position,
    backend_options,
    universe_options,
    view_of,
    view_options,
)
from lifesim.digest import digest
from lifesim.engine import Life
from lifesim.outputs import open_output
from lifesim.rule import Rule
from lifesim.start import place, soup
from lifesim.topology import Topology

PICTURES = (".png", ".gif")


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
    "an animation (.gif), a series of populations (.csv). May be given several times.",
)
@click.option("--every", type=click.IntRange(1), help="Also write each K-th generation.")
@view_options
@backend_options
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
    backend: str,
    device: int,
    threads: int | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Run PATTERN (a file, or - for standard input) for --steps generations.

    Without PATTERN the universe starts as a random soup. Without --size a pattern gets
    a plane that nothing reaches the edge of, if that is at most 8192 cells a side.
    Ctrl-C writes what --out asks for, says where it stopped and exits with 130.
    """
    if pattern is None and (at or center):
        raise click.UsageError("--at and --center place a pattern; there is none")
    if pattern is not None and (density is not None or seed is not None):
        raise click.UsageError("--random and --seed make a soup; a pattern is given")
    if at and center:
        raise click.UsageError("--at and --center contradict each other")
    if every is not None and not outs:
        raise click.UsageError("--every needs an --out to write to")
    if (region or scale or palette) and not any(o.lower().endswith(PICTURES) for o in outs):
        raise click.UsageError("--region, --scale and --palette need an --out that is a picture")
    if as_json and "-" in outs:
        raise click.UsageError("--json and --out - both write to standard output")
    if len({os.path.realpath(path) for path in outs}) < len(outs):
        raise click.UsageError("two --out name the same file")
    view = view_of(region, scale, palette)
    outputs = [open_output(path, every, view) for path in outs]
    chosen = Rule.parse(rule) if rule else None
    where = Topology(topology) if topology else None
    with busy(f"reading {pattern}" if pattern else "making the soup", not quiet):
        if pattern is None:
            probability = Fraction(1, 2) if density is None else density
            start = soup(size, probability, 1 if seed is None else seed, chosen, where)
        else:
            start = place(patterns.read(pattern), steps, size, at, chosen, where, centre=center)
    life = begin(start, backend, device, threads, quiet)
    del start  # its cells: the backend has them now
    outcome = drive(life, steps, outputs, every=every, show=not quiet and sys.stderr.isatty())
    _report(life, outcome, as_json, to_stderr="-" in outs)
    finish(outcome)


def _report(life: Life, outcome: Outcome, as_json: bool, to_stderr: bool) -> None:
    grid = life.grid()
    facts: dict[str, Any] = {
        "generation": life.generation,
        "population": grid.population(),
        "digest": digest(grid),
        "seconds": round(life.seconds, 6),
        "cell_updates_per_second": round(life.rate),
        "backend": life.backend.name,
        "device": life.backend.describe(),
        "width": life.width,
        "height": life.height,
        "rule": str(life.rule),
        "topology": str(life.topology),
        "interrupted": outcome.interrupted,
        "written": outcome.written,
        "errors": outcome.errors,
    }
    if as_json:
        click.echo(json.dumps(facts))
        return
    click.echo(
        f"generation {facts['generation']:,}: population {facts['population']:,} "
        f"in {life.width}x{life.height} ({life.rule}, {life.topology})\n"
        f"digest {facts['digest']}\n"
        f"{facts['seconds']:.3f} s, {rate_text(life.rate)} on {facts['device']}",
        err=to_stderr,
    )
    for path in outcome.written:
        if path != "-":
            click.echo(f"wrote {path}", err=to_stderr)
