"""lifesim resume: the rest of a run on disk."""

from __future__ import annotations

import sys

import click

from arith.cli.devices import check_cluster, cluster_option
from lifesim.cli.drive import drive, finish
from lifesim.cli.options import (
    check_outs,
    many_devices,
    streaming_options,
    view_of,
    view_options,
)
from lifesim.cli.report import report
from lifesim.cli.streamed import crew_of
from lifesim.outputs import is_directory_name, open_output
from lifesim.store.universe import Universe
from lifesim.stream.run import StreamedLife


@click.command("resume")
@click.argument("directory")
@click.option("--out", "outs", multiple=True, help="Write the result, as `lifesim run` does.")
@click.option("--every", type=click.IntRange(1), help="Also write each K-th generation.")
@view_options
@streaming_options
@many_devices
@cluster_option
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
@click.option("--quiet", is_flag=True, help="No progress bar, no notes.")
def command(
    directory: str,
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
    """Take the universe in DIRECTORY to where the run that was broken off should end.

    Where none was, it says so, and writes what --out asks for.
    """
    check_cluster(cluster, devices)
    check_outs(outs, every, as_json=as_json, view=bool(region or scale or palette))
    for path in outs:
        if is_directory_name(path):
            raise click.UsageError(f"{directory} moves on where it is, not in {path}")
    view = view_of(region, scale, palette)
    with Universe.open(directory, writing=True) as universe:
        outputs = [open_output(path, every, view) for path in outs]
        if universe.manifest.run is None and universe.phase is None and not quiet:
            click.echo(f"lifesim: {directory}: no run was broken off", err=True)
        with crew_of(cluster, backend, devices, threads, memory, quiet) as crew:
            life = StreamedLife(universe, crew, generations=phase, keep_previous=keep_previous)
            show = not quiet and sys.stderr.isatty()
            outcome = drive(life, None, outputs, every=every, show=show)
            report(life, outcome, as_json=as_json, to_stderr="-" in outs)
    finish(outcome)
