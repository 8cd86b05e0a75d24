"""lifesim run: the main job."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import ExitStack
from fractions import Fraction
from typing import Any

import click

from kernels import backend as backends
from lifesim.cli.options import (
    Density,
    Position,
    backend_options,
    universe_options,
    view_options,
)
from lifesim.digest import digest
from lifesim.engine import Life, Progress
from lifesim.outputs import Output, View, open_output
from lifesim.render import parse_region, parse_scale
from lifesim.rule import Rule
from lifesim.start import Start, place, soup
from lifesim.topology import Topology


@click.command("run")
@click.argument("pattern", required=False)
@click.option("--steps", type=click.IntRange(0, 10**18), required=True, help="Generations.")
@universe_options
@click.option("--random", "density", type=Density(), help="Density of the random soup. [0.5]")
@click.option("--seed", type=click.IntRange(0, 2**64 - 1), default=1, help="Of the soup. [1]")
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
    seed: int,
    at: tuple[int, int] | None,
    center: bool,
    outs: tuple[str, ...],
    every: int | None,
    region: str | None,
    scale: str | None,
    palette: str,
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
    if pattern is not None and density is not None:
        raise click.UsageError("--random makes a soup; a pattern is given")
    if at and center:
        raise click.UsageError("--at and --center contradict each other")
    if every is not None and not outs:
        raise click.UsageError("--every needs an --out to write to")
    if as_json and "-" in outs:
        raise click.UsageError("--json and --out - both write to standard output")
    view = View(
        parse_region(region) if region else None, parse_scale(scale) if scale else None, palette
    )
    outputs = [open_output(path, every, view) for path in outs]
    chosen = Rule.parse(rule) if rule else None
    where = Topology(topology) if topology else None
    if pattern is None:
        start = soup(size, Fraction(1, 2) if density is None else density, seed, chosen, where)
    else:
        from lifesim import patterns

        read = patterns.read(pattern)
        if center:
            at = _centre(read.grid.width, read.grid.height, size or read.size)
        start = place(read, steps, size, at, chosen, where)
    runner, passed_over = backends.explain(backend, device=device, threads=threads)
    if not quiet:
        _notes(start, runner, passed_over, steps)
    life = Life(
        start.grid,
        rule=start.rule,
        topology=start.topology,
        generation=start.generation,
        backend=runner,
    )
    start = Start(start.grid, start.rule, start.topology)  # the note has been shown
    interrupted = _run(life, steps, every, outputs, show=not quiet and sys.stderr.isatty())
    written = [path for output in outputs for path in output.close(life)]
    _report(life, start, written, interrupted, as_json, to_stderr="-" in outs)
    if interrupted:
        click.echo(f"lifesim: interrupted at generation {life.generation}", err=True)
        sys.exit(130)


def _centre(width: int, height: int, size: tuple[int, int] | None) -> tuple[int, int] | None:
    if size is None or min(size) < 1:
        return None
    return (size[0] - width) // 2, (size[1] - height) // 2


def _notes(start: Start, runner: backends.Backend, passed_over: list[str], steps: int) -> None:
    if start.note:
        click.echo(f"lifesim: {start.note}", err=True)
    if runner.name == "reference" and passed_over:
        from kernels.cpu import HOW_TO_BUILD

        click.echo(
            f"lifesim: no compiled kernels here, running on the slow reference; "
            f"to get the fast ones, {HOW_TO_BUILD}",
            err=True,
        )


def _run(life: Life, steps: int, every: int | None, outputs: list[Output], show: bool) -> bool:
    """Run to the end; True if Ctrl-C came first. What fails leaves nothing half-written."""

    def snapshot(now: Life) -> None:
        for output in outputs:
            output.add(now)

    with ExitStack() as stack:
        progress = stack.enter_context(_Bar(steps)).update if show else None
        try:
            if every is not None:
                snapshot(life)
            life.run(steps, every=every, progress=progress, on_snapshot=snapshot)
        except KeyboardInterrupt:
            return True
        except BaseException:
            for output in outputs:
                output.abort()
            raise
    return False


def _report(
    life: Life, start: Start, written: list[str], interrupted: bool, as_json: bool, to_stderr: bool
) -> None:
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
        "rule": str(start.rule),
        "topology": str(start.topology),
        "interrupted": interrupted,
        "written": written,
    }
    if as_json:
        click.echo(json.dumps(facts))
        return
    click.echo(
        f"generation {facts['generation']:,}: population {facts['population']:,} "
        f"in {life.width}x{life.height} ({start.rule}, {start.topology})\n"
        f"digest {facts['digest']}\n"
        f"{facts['seconds']:.3f} s, {rate_text(life.rate)} on {facts['device']}",
        err=to_stderr,
    )
    for path in written:
        if path != "-":
            click.echo(f"wrote {path}", err=to_stderr)


def rate_text(rate: float) -> str:
    """Cell updates per second, to three digits, with a unit."""
    for unit, size in (("T", 1e12), ("G", 1e9), ("M", 1e6)):
        if rate >= size:
            return f"{rate / size:.3g} {unit} cell updates/s"
    return f"{rate:.3g} cell updates/s"


class _Bar:
    """A progress bar on standard error: generation, rate, time left."""

    def __init__(self, total: int) -> None:
        from rich import progress
        from rich.console import Console

        self._bar = progress.Progress(
            progress.TextColumn("generation {task.fields[generation]:,}"),
            progress.BarColumn(),
            progress.TaskProgressColumn(),
            progress.TextColumn("{task.fields[rate]}"),
            progress.TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._bar.add_task("", total=total, generation=0, rate="")
        self.update: Callable[[Progress], None] = self._update

    def __enter__(self) -> _Bar:
        self._bar.start()
        return self

    def __exit__(self, *reason: object) -> None:
        self._bar.stop()

    def _update(self, now: Progress) -> None:
        self._bar.update(
            self._task, completed=now.done, generation=now.generation, rate=rate_text(now.rate)
        )
