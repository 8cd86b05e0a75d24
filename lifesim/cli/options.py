"""Options that several subcommands share."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, TypeVar

import click

from arith.cli.devices import device_option
from arith.cli.sizes import Memory
from lifesim.outputs import View
from lifesim.render import parse_region, parse_scale

_Function = TypeVar("_Function", bound=Callable[..., Any])


class Size(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """WxH or N (for NxN), in cells; K, M and G stand for powers of 1024."""

    name = "WxH"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[int, int]:
        if isinstance(value, tuple):
            return value
        match = re.fullmatch(r"([0-9]{1,18})([kKmMgG]?)(?:[xX]([0-9]{1,18})([kKmMgG]?))?", value)
        if not match:
            self.fail(f"{value!r} is no size: write it as 512x256 or 64K", param, ctx)
        width = int(match[1]) * _unit(match[2])
        height = width if match[3] is None else int(match[3]) * _unit(match[4])
        if width < 1 or height < 1:
            self.fail(f"{value!r}: a universe is at least 1x1 cells", param, ctx)
        return width, height


class Position(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """X,Y: column and row of a cell."""

    name = "X,Y"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[int, int]:
        if isinstance(value, tuple):
            return value
        match = re.fullmatch(r"\s*(-?[0-9]{1,18})\s*,\s*(-?[0-9]{1,18})\s*", value)
        if not match:
            self.fail(f"{value!r} is no position: write it as 10,20", param, ctx)
        return int(match[1]), int(match[2])


class Tiles(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """Sub-universes across and down: 4x4."""

    name = "CxR"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[int, int]:
        if isinstance(value, tuple):
            return value
        match = re.fullmatch(r"([0-9]{1,9})[xX]([0-9]{1,9})", value)
        if not match or not int(match[1]) or not int(match[2]):
            self.fail(f"{value!r} is no number of sub-universes: write it as 4x4", param, ctx)
        return int(match[1]), int(match[2])


class Density(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """A probability, 0 to 1, kept exactly: 0.37 or 3/8."""

    name = "DENSITY"

    def convert(self, value: Any, param: Any, ctx: Any) -> Fraction:
        text = str(value)
        try:
            # Powers of ten are written out in full: of 1e999999999 that has no end.
            if len(text) > 1000 or re.search("[eE][+-]?0*[1-9][0-9]{3}", text.replace("_", "")):
                raise ValueError
            density = Fraction(text)
        except (ValueError, ZeroDivisionError):
            self.fail(f"{_shown(text)} is no density: write it as 0.37 or 3/8", param, ctx)
        if not 0 <= density <= 1:
            self.fail(f"{value!r}: a density is 0 to 1", param, ctx)
        return density


def _shown(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:39] + "…")


def _unit(letter: str) -> int:
    return 1 << 10 * " kmgt".index(letter.lower() or " ")


def backend_options(function: _Function) -> _Function:
    """--backend, --device, --threads."""
    names = click.Choice(["auto", "cuda", "cpu", "reference"])
    for option in (
        click.option("--threads", type=click.IntRange(1, 4096), help="CPU threads. [all cores]"),
        click.option("--device", type=click.IntRange(0), default=0, help="Which GPU. [0]"),
        click.option("--backend", type=names, default="auto", help="Who computes. [auto]"),
    ):
        function = option(function)
    return function


def many_devices(function: _Function) -> _Function:
    """--backend, --device for one or several, --threads."""
    names = click.Choice(["auto", "cuda", "cpu", "reference"])
    for option in (
        click.option("--threads", type=click.IntRange(1, 4096), help="CPU threads. [all cores]"),
        device_option,
        click.option("--backend", type=names, default="auto", help="Who computes. [auto]"),
    ):
        function = option(function)
    return function


def streaming_options(function: _Function) -> _Function:
    """--memory, --phase, --keep-previous of universes on disk."""
    for option in (
        click.option(
            "--keep-previous",
            is_flag=True,
            help="On disk: keep each generation whole until the next is. Takes twice the room.",
        ),
        click.option(
            "--phase",
            type=click.IntRange(1, 10**9),
            help="On disk: generations from one read to the next. [from measured rates]",
        ),
        click.option(
            "--memory",
            type=Memory(),
            help="That may be taken, as 4G; a universe that needs more stays on disk. "
            "[what is free; half of it for one on disk]",
        ),
    ):
        function = option(function)
    return function


def storing_options(function: _Function) -> _Function:
    """--tiles, --compression, --no-pyramid of universe directories that are made."""
    for option in (
        click.option(
            "--no-pyramid", is_flag=True, help="Of a directory: no density levels beside the cells."
        ),
        click.option(
            "--compression",
            type=click.Choice(["none", "zstd"]),
            help="Of a directory's files. [none]",
        ),
        click.option(
            "--tiles",
            type=Tiles(),
            help="Of a directory: sub-universes across and down. [full rows, up to 256 MiB]",
        ),
    ):
        function = option(function)
    return function


def universe_options(function: _Function) -> _Function:
    """--size, --topology, --rule."""
    topologies = click.Choice(["torus", "plane"])
    for option in (
        click.option("--rule", help="B3/S23 or a name, as HighLife. [the file's, else Life]"),
        click.option("--topology", type=topologies, help="How edges meet; plane: dead outside."),
        click.option("--size", type=Size(), help="Of the universe, in cells: 512x256, 64K."),
    ):
        function = option(function)
    return function


def view_options(function: _Function) -> _Function:
    """--region, --scale, --palette of pictures."""
    for option in (
        click.option("--palette", help="dark, light or viridis. [dark]"),
        click.option("--scale", help="Pixels:cells, 1:8 or 4:1. [what fits a megapixel]"),
        click.option("--region", help="Of pictures: X,Y,WxH in cells. [all]"),
    ):
        function = option(function)
    return function


def check_outs(outs: Sequence[str], every: int | None, *, as_json: bool, view: bool) -> None:
    """Raise UsageError for outputs that contradict other options. view: one of view_options."""
    if every is not None and not outs:
        raise click.UsageError("--every needs an --out to write to")
    if view and not any(out.lower().endswith((".png", ".gif")) for out in outs):
        raise click.UsageError("--region, --scale and --palette need an --out that is a picture")
    if as_json and "-" in outs:
        raise click.UsageError("--json and --out - both write to standard output")
    if len({os.path.realpath(path) for path in outs}) < len(outs):
        raise click.UsageError("two --out name the same file")


def view_of(region: str | None, scale: str | None, palette: str | None) -> View:
    """What view_options ask for. Raises RenderError."""
    return View(
        parse_region(region) if region else None,
        parse_scale(scale) if scale else None,
        palette or "dark",
    )
