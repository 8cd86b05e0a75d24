"""Options that several subcommands share."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, TypeVar

import click

from bulkbits.amounts import Memory
from lifesim.pauses import MOST_STEPS
from lifesim.render import parse_region, parse_scale
from lifesim.rule import Rule
from lifesim.rules import files
from lifesim.soup import SoupError, parse_density
from lifesim.topology import TopologyError, check_topology, parse_bounds
from lifesim.view import PictureView

_FAR = 10**300  # beyond all that is of use

_Function = TypeVar("_Function", bound=Callable[..., Any])


class Size(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """A size in cells, WxH or N for NxN; K, M and G stand for powers of 1024."""

    name = "WxH"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[int, int]:
        """Return the value of the text, or fail."""
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
    """A position X,Y: column and row of a cell."""

    name = "X,Y"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[int, int]:
        """Return the value of the text, or fail."""
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
        """Return the value of the text, or fail."""
        if isinstance(value, tuple):
            return value
        match = re.fullmatch(r"([0-9]{1,9})[xX]([0-9]{1,9})", value)
        if not match or not int(match[1]) or not int(match[2]):
            self.fail(f"{value!r} is no number of sub-universes: write it as 4x4", param, ctx)
        return int(match[1]), int(match[2])


class Generations(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """A number of generations, exactly: 1000, 64K, 1e6, 2^20; K, M and G as in sizes."""

    name = "N"

    def __init__(self, least: int = 0, most: int = MOST_STEPS) -> None:
        self._least, self._most = least, most

    def convert(self, value: Any, param: Any, ctx: Any) -> int:
        """Return the value of the text, or fail."""
        count = value if isinstance(value, int) else _count(value)
        if count is None:
            text = f"{_shown(value)} is no number of generations"
            self.fail(f"{text}: write it as 1000, 64K, 1e6 or 2^20", param, ctx)
        if not self._least <= count <= self._most:
            text = f"{_shown(str(value))} generations are out of range"
            self.fail(f"{text}: {self._least} to {self._most:,}", param, ctx)
        return count


def _count(text: str) -> int | None:
    """Return the number, None for what is no whole number; of one that is far too large, one that
    is so too."""
    match = re.fullmatch(r"([0-9]{1,30})(?:([kKmMgG]?)|([eE^])\+?([0-9]{1,9}))", text)
    if not match:
        return None
    number = int(match[1])
    if match[3] is None:
        return number * _unit(match[2])
    power = min(int(match[4]), 300)
    made: int = number**power if match[3] == "^" else number * 10**power
    return min(made, _FAR)


def check_steps(steps: int, is_any: bool) -> None:
    """Raise UsageError for more generations than are made. is_any: whether any number is."""
    if not is_any and steps > MOST_STEPS:
        raise click.UsageError(
            f"{steps} generations are out of range: 0 to {MOST_STEPS:,}, or more by "
            "HashLife, on a plane without bounds"
        )


class Density(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """A probability, 0 to 1, kept exactly: 0.37 or 3/8."""

    name = "DENSITY"

    def convert(self, value: Any, param: Any, ctx: Any) -> Fraction:
        """Return the value of the text, or fail."""
        try:
            return parse_density(str(value))
        except SoupError as error:
            self.fail(str(error), param, ctx)


class Every(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """Generations between snapshots, or `end` for none (0)."""

    name = "K"

    def convert(self, value: Any, param: Any, ctx: Any) -> int:
        """Return the value of the text, or fail."""
        if value == "end":
            return 0
        return Generations(1).convert(value, param, ctx)


def _shown(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:39] + "…")


def _unit(letter: str | None) -> int:
    return 1 << 10 * " kmgt".index((letter or " ").lower())


def streaming_options(function: _Function) -> _Function:
    """Add --memory, --phase, --keep-previous of universes on disk."""
    for option in (
        click.option(
            "--keep-previous",
            is_flag=True,
            help="On disk: keep each generation whole until the next is. Takes twice the room.",
        ),
        click.option(
            "--phase",
            type=Generations(1, 10**9),
            help="On disk: generations from one read to the next. [from measured rates]",
        ),
        click.option(
            "--memory",
            type=Memory(),
            help="Memory that may be taken, as 4G; a universe that needs more stays on disk. "
            "[what is free; half of it for one on disk]",
        ),
    ):
        function = option(function)
    return function


def storing_options(function: _Function) -> _Function:
    """Add --tiles, --compression, --no-pyramid of universe directories that are made."""
    for option in (
        click.option(
            "--no-pyramid",
            is_flag=True,
            help="Leave out a directory's density levels beside the cells.",
        ),
        click.option(
            "--compression",
            type=click.Choice(["none", "zstd"]),
            help="Compression of a directory's files. [none]",
        ),
        click.option(
            "--tiles",
            type=Tiles(),
            help="Sub-universes of a directory, across and down. [full rows, up to 256 MiB]",
        ),
    ):
        function = option(function)
    return function


class TopologyText(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """A topology by its name, or Golly's bounds: kept as a text."""

    name = "TOPOLOGY"

    def convert(self, value: Any, param: Any, ctx: Any) -> str:
        """Return the text if it is one of a topology, or fail."""
        try:
            check_topology(value)
        except TopologyError as error:
            self.fail(str(error), param, ctx)
        return str(value)


def chosen_edges(rule: str | None, topology: str | None) -> tuple[Rule | None, str | None]:
    """Return the rule of --rule, and the topology that --topology names, or the bounds that stand
    behind the rule, as in B3/S23:T30,20. Raises RuleError, and UsageError where both say one."""
    if rule is None:
        return None, topology
    name, colon, bounds = rule.partition(":")
    chosen = Rule.parse(name)
    if not colon:
        return chosen, topology
    if topology is not None:
        raise click.UsageError(f"--rule {rule} has bounds, and --topology says them too")
    parse_bounds(bounds)
    return chosen, bounds


def _look_in(_context: click.Context, _option: click.Parameter, folders: tuple[str, ...]) -> None:
    files.look_in(folders)


def rules_option(function: _Function) -> _Function:
    """Add --rules, the folders that rule files are looked for in."""
    option = click.option(
        "--rules",
        multiple=True,
        metavar="FOLDER",
        type=click.Path(exists=True, file_okay=False),
        expose_value=False,
        callback=_look_in,
        help="A folder with rule files (.rule, .table, .tree), looked in before the pattern's own "
        "and the usual ones. May be given several times.",
    )
    return option(function)


def universe_options(function: _Function) -> _Function:
    """Add --size, --topology, --rule, --rules."""
    for option in (
        rules_option,
        click.option(
            "--rule",
            help="B3/S23, B2-a/S12, 345/2/4 or a name, as HighLife (`lifesim rules` lists them); "
            "with bounds as in Golly, B3/S23:T30,20. [the file's, else Life]",
        ),
        click.option(
            "--topology",
            type=TopologyText(),
            help="How edges meet: torus, plane (dead outside), unbounded, klein (top and bottom "
            "twisted), cross-surface, sphere; or with its size, as Golly writes it: T30+5,20, "
            "P30,20, K30,20*, C30,20, S30. [unbounded; with --size plane; of a soup torus]",
        ),
        click.option(
            "--size",
            type=Size(),
            help="Size of the universe, in cells: 512x256, 64K. [of a pattern: no bounds]",
        ),
    ):
        function = option(function)
    return function


def view_options(function: _Function) -> _Function:
    """Add --region, --scale, --palette of pictures."""
    for option in (
        click.option("--palette", help="dark, light or viridis. [dark]"),
        click.option("--scale", help="Pixels:cells, 1:8 or 4:1. [what fits a megapixel]"),
        click.option("--region", help="Part that pictures show: X,Y,WxH in cells. [all]"),
    ):
        function = option(function)
    return function


def every_option(function: _Function) -> _Function:
    """Add --every, for all --out or for each."""
    return click.option(
        "--every",
        "everies",
        type=Every(),
        multiple=True,
        help="Also write each K-th generation. Given as often as --out, each --out has its own, "
        "in the same order; 'end' writes the end only.",
    )(function)


def periods(outs: Sequence[str], everies: Sequence[int]) -> list[int | None]:
    """Return the --every of each --out. Raises UsageError where they do not match."""
    if everies and not outs:
        raise click.UsageError("--every needs an --out to write to")
    if len(everies) not in (0, 1, len(outs)):
        raise click.UsageError(
            f"{len(everies)} --every for {len(outs)} --out: give one for all, or one for each"
        )
    if len(everies) < len(outs):
        everies = [*everies, 0][:1] * len(outs)
    return [every or None for every in everies]


def check_outs(outs: Sequence[str], *, as_json: bool, view: bool) -> None:
    """Raise UsageError for outputs that contradict other options. view: one of view_options."""
    if view and not any(out.lower().endswith((".png", ".gif", ".mp4")) for out in outs):
        raise click.UsageError("--region, --scale and --palette need an --out that is a picture")
    if as_json and "-" in outs:
        raise click.UsageError("--json and --out - both write to standard output")
    if len({os.path.realpath(path) for path in outs}) < len(outs):
        raise click.UsageError("two --out name the same file")


def view_of(region: str | None, scale: str | None, palette: str | None) -> PictureView:
    """Return what view_options ask for. Raises RenderError."""
    return PictureView(
        None if region is None else parse_region(region),
        None if scale is None else parse_scale(scale),
        "dark" if palette is None else palette,
    )
