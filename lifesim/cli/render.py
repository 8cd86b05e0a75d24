"""lifesim render: pictures of patterns, still or moving."""

from __future__ import annotations

import os
import sys

import click

from lifesim import patterns
from lifesim.cli.drive import begin, busy, drive, finish
from lifesim.cli.options import Size, backend_options, view_of, view_options
from lifesim.outputs import View, check_target, open_output
from lifesim.render import save_png
from lifesim.start import place
from lifesim.store.universe import Universe

FRAMES = 100


@click.command("render")
@click.argument("file")
@click.option("--out", required=True, help="A .png, or with --steps a .gif.")
@click.option("--size", type=Size(), help="Of the universe that the pattern is put in.")
@click.option("--steps", type=click.IntRange(0, 10**18), default=0, help="Run so far first.")
@click.option("--every", type=click.IntRange(1), help="Generations between frames of a .gif.")
@view_options
@backend_options
def command(
    file: str,
    out: str,
    size: tuple[int, int] | None,
    steps: int,
    every: int | None,
    region: str | None,
    scale: str | None,
    palette: str | None,
    backend: str,
    device: int,
    threads: int | None,
) -> None:
    """Draw FILE (or - for standard input), or a region of it.

    Brightness is the density of live cells. Without --size or --steps the picture is
    of the pattern's own bounding box, or of the bounded universe its file names. FILE may
    be a universe directory of any size, also one that is being run; from 1:8 on its
    density levels are drawn, and the region's edges move to multiples of the scale.
    """
    if not out.lower().endswith((".png", ".gif")):
        raise click.UsageError(f"--out {out}: a picture is a .png or a .gif")
    moving = out.lower().endswith(".gif")
    if moving and not steps:
        raise click.UsageError(f"--out {out}: an animation needs --steps")
    if every and not moving:
        raise click.UsageError("--every is for a .gif")
    if os.path.isdir(file):
        if steps or size:
            raise click.UsageError(f"{file} is a universe: `lifesim run` moves it on")
        _draw(file, out, view_of(region, scale, palette))
        return
    if moving:
        every = every or max(1, steps // FRAMES)
    output = open_output(out, every, view_of(region, scale, palette))
    with busy(f"reading {file}"):
        start = place(patterns.read(file), steps, size)
    life = begin(start, backend, [device], threads, quiet=False)
    del start  # its cells: the backend has them now
    finish(drive(life, steps, [output], every=every, show=sys.stderr.isatty()))


def _draw(path: str, out: str, view: View) -> None:
    check_target(out)
    with Universe.open(path) as universe:
        view.image_size(universe.width, universe.height)
        if not universe.is_whole:
            click.echo(f"lifesim: {path}: between two generations; some parts are newer", err=True)
        with busy(f"drawing {path}"):
            save_png(out, view.levels(universe), view.palette)
