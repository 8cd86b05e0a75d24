"""lifesim render: pictures of patterns, still or moving."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import Any

import click

from bulkbits.options import force_option, one_device_options
from kernels.plane.hashlife.listing import SquareList
from kernels.targets.cpu import levels
from lifesim import patterns
from lifesim.cli.drive import begin, busy, drive, finish
from lifesim.cli.named import PatternFile
from lifesim.cli.options import (
    Generations,
    Size,
    check_steps,
    rules_option,
    view_of,
    view_options,
)
from lifesim.cli.report import note_oddities, tell_edge
from lifesim.film import is_film
from lifesim.outputs import PICTURE, check_target, open_output
from lifesim.pauses import MOST_HASHED
from lifesim.render import save_png
from lifesim.start import placement, start_of
from lifesim.store import plane
from lifesim.store.universe import Universe
from lifesim.tree.picture import TreePicture
from lifesim.view import PictureView

FRAMES = 100


@click.command("render")
@click.argument("file", type=PatternFile())
@click.option("-o", "--out", required=True, help="A .png, or with --steps a .gif or .mp4.")
@force_option
@click.option("--size", type=Size(), help="Size of the universe that the pattern is put in.")
@click.option("--steps", type=Generations(most=MOST_HASHED), default=0, help="Run so far first.")
@click.option(
    "--every", type=Generations(1, MOST_HASHED), help="Generations between frames of a film."
)
@view_options
@rules_option
@one_device_options
def command(**options: Any) -> None:
    """Draw FILE (also a name of `lifesim patterns`, or - for standard input), or a region of it.

    Brightness is the density of live cells. Without --size or --steps the picture is
    of the pattern's own bounding box, or of the bounded universe its file names; with --steps
    and without --size, of all cells that live in any of its frames. --region is by the
    pattern's own coordinates then, which for a macrocell file may be any numbers: it is
    drawn however wide it is. FILE may be a universe directory of any size, also one that is
    being run; from 1:8 on its density levels are drawn, and the region's edges move to
    multiples of the scale.
    """
    chosen = _RenderChoices(**options)
    chosen.check()
    if os.path.isdir(chosen.file):
        check_target(chosen.out, PICTURE, force=chosen.force)
        _draw(chosen.file, chosen.out, chosen.view)
        return
    view, every = chosen.view, chosen.every
    if chosen.is_moving:
        every = every or max(1, chosen.steps // FRAMES)
    output = open_output(chosen.out, every, view, "", [chosen.file], chosen.force)
    with busy(f"reading {chosen.file}"):
        pattern = patterns.read(chosen.file, as_squares=chosen.takes_squares)
        if pattern.squares is not None and pattern.size:  # bounds are for what fits a grid
            pattern = patterns.read(chosen.file)
        placed = placement(pattern, chosen.size, steps=chosen.steps)
        check_steps(chosen.steps, chosen.runs_trees and not any(placed.size))
        start = start_of(pattern, placed)
    note_oddities(pattern, chosen.file)
    if pattern.squares is not None and not chosen.steps:
        _draw_far(pattern.squares, chosen.out, view)
        return
    del pattern
    life = begin(start, chosen.backend, [chosen.device], chosen.threads, watch=True)
    del start  # its cells: the backend has them now
    if not chosen.steps:
        view.check_meets(life.frame())
    outcome = drive(life, chosen.steps, [output], show=sys.stderr.isatty())
    tell_edge(life, outcome.first)
    finish(outcome)


@dataclass(frozen=True, slots=True, kw_only=True)
class _RenderChoices:
    """The options of `lifesim render` by their names; None where one was not given."""

    file: str
    out: str
    force: bool
    size: tuple[int, int] | None
    steps: int
    every: int | None
    region: str | None
    scale: str | None
    palette: str | None
    backend: str
    device: int
    threads: int | None

    @property
    def is_moving(self) -> bool:
        """Tell whether the picture is an animation."""
        return is_film(self.out)

    @property
    def takes_squares(self) -> bool | None:
        """Tell whether a macrocell file is taken as it is; None: where it is too wide for a grid.
        To run it then takes HashLife."""
        return None if not self.size and (self.runs_trees or not self.steps) else False

    @property
    def runs_trees(self) -> bool:
        """Tell whether HashLife is there."""
        return self.backend in ("auto", "cpu") and bool(levels())

    @property
    def view(self) -> PictureView:
        """Return what the picture shows. Raises RenderError."""
        return view_of(self.region, self.scale, self.palette)

    def check(self) -> None:
        """Raise UsageError for options that contradict each other."""
        out = self.out
        if not (self.is_moving or out.lower().endswith(".png")):
            raise click.UsageError(f"--out {out}: a picture is a .png, a .gif or a .mp4")
        if self.is_moving and not self.steps:
            raise click.UsageError(f"--out {out}: an animation needs --steps")
        if self.every and not self.is_moving:
            raise click.UsageError("--every is for a film: a .gif or a .mp4")
        if os.path.isdir(self.file) and (self.steps or self.size):
            raise click.UsageError(f"{self.file} is a universe: `lifesim run` moves it on")


def _draw_far(squares: SquareList, out: str, view: PictureView) -> None:
    with busy(f"drawing {out}"):
        cells = TreePicture(squares)
        view.check_meets(cells.frame())
        save_png(out, view.levels(cells), view.palette)


def _draw(path: str, out: str, view: PictureView) -> None:
    with Universe.open(path) as universe:
        view.image_size(*universe.bounds)
        if not universe.is_whole:
            click.echo(f"lifesim: {path}: between two generations; some parts are newer", err=True)
        with busy(f"drawing {path}"):
            picture = plane.PlanePicture(universe)
            in_colours = view.colours(universe.rule) is not None
            levels = view.pixels(picture) if in_colours else view.levels(picture)
            save_png(out, levels, view.palette)
