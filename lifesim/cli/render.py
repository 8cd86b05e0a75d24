"""lifesim render: pictures of patterns, still or moving."""

from __future__ import annotations

import click

from kernels import backend as backends
from lifesim import patterns
from lifesim.cli.options import Size, backend_options, view_options
from lifesim.engine import Life
from lifesim.outputs import View, open_output
from lifesim.render import parse_region, parse_scale
from lifesim.start import place

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
    palette: str,
    backend: str,
    device: int,
    threads: int | None,
) -> None:
    """Draw FILE (or - for standard input), or a region of it.

    Brightness is the density of live cells. Without --size or --steps the picture is
    of the pattern's own bounding box, or of the bounded universe its file names.
    """
    if not out.lower().endswith((".png", ".gif")):
        raise click.UsageError(f"--out {out}: a picture is a .png or a .gif")
    moving = out.lower().endswith(".gif")
    if moving and not steps:
        raise click.UsageError(f"--out {out}: an animation needs --steps")
    if every and not moving:
        raise click.UsageError("--every is for a .gif")
    view = View(
        parse_region(region) if region else None, parse_scale(scale) if scale else None, palette
    )
    output = open_output(out, every or (max(1, steps // FRAMES) if moving else None), view)
    start = place(patterns.read(file), steps, size)
    life = Life(
        start.grid,
        rule=start.rule,
        topology=start.topology,
        generation=start.generation,
        backend=backends.pick(backend, device=device, threads=threads),
    )
    try:
        if moving:
            output.add(life)
        life.run(
            steps,
            every=(every or max(1, steps // FRAMES)) if moving else None,
            on_snapshot=output.add if moving else None,
        )
        output.close(life)
    except BaseException:
        output.abort()
        raise
