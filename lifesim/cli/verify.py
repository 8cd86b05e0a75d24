"""lifesim verify: whether a universe on disk is what was written."""

from __future__ import annotations

import json
import sys

import click

from bulkbits.options import json_option, one_device_options
from bulkbits.plurals import many
from kernels.targets.choose import pick
from lifesim.cli.drive import busy
from lifesim.cli.streamed import counting_bar
from lifesim.errors import DamagedDataError, LifesimError
from lifesim.store.universe import Universe
from lifesim.stream.verify import check_facts, check_files, replay


@click.command("verify")
@click.argument("directory")
@click.option(
    "--recompute",
    is_flag=True,
    help="Also find out again what is kept of the cells (population, digest, pyramid) and, of "
    "what began as a soup, make samples again from the first generation on.",
)
@click.option("--samples", type=click.IntRange(1, 10**6), default=4, help="To make again. [4]")
@one_device_options
@json_option
def command(
    directory: str,
    recompute: bool,
    samples: int,
    backend: str,
    device: int,
    threads: int | None,
    as_json: bool,
) -> None:
    """Read every byte of the universe in DIRECTORY and compare its checksums.

    Every damaged file is named, and the exit code is 4, if there is any.
    """
    show = sys.stderr.isatty()
    damaged: list[str] = []
    notes: list[str] = []
    with Universe.open(directory, still=True) as universe:
        with counting_bar(f"verifying {directory}", show) as progress:
            checked = check_files(universe, damaged.append, progress)
        if recompute and not damaged:
            with counting_bar("recomputing", show) as progress:
                check_facts(universe, damaged.append, progress)
            try:
                with busy("making samples again", show):
                    runner = pick(backend, device=device, threads=threads)
                    generations = replay(universe, runner, samples, damaged.append)
                notes.append(
                    f"{many(samples, 'sample')} made again over {many(generations, 'generation')}"
                )
            except DamagedDataError as error:
                damaged.append(str(error))
            except LifesimError as error:
                notes.append(str(error))
        state = "" if universe.is_whole else " (between two generations)"
        facts = {
            "universe": directory,
            "generation": universe.generation,
            "digest": universe.digest() if universe.is_whole else None,
            "files": checked.files,
            "bytes": checked.bytes,
            "notes": notes,
            "damaged": damaged,
        }
    if as_json:
        click.echo(json.dumps(facts))
    else:
        click.echo(f"{checked.files} files, {checked.bytes:,} bytes read{state}")
        for note in notes:
            click.echo(note)
        if not damaged:
            click.echo("all is as it was written")
    if damaged:
        for line in damaged[:-1]:
            click.echo(f"lifesim: {line}", err=True)
        raise DamagedDataError(damaged[-1])
