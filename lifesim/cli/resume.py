"""lifesim resume: the rest of a run on disk."""

from __future__ import annotations

from typing import Any

import click

from lifesim.cli.choices import ResumeChoices, running_options
from lifesim.cli.drive import drive, finish
from lifesim.cli.report import report
from lifesim.store.universe import Universe
from lifesim.stream.run import StreamedLife


@click.command("resume")
@click.argument("directory")
@click.option("-o", "--out", "outs", multiple=True, help="Write the result, as `lifesim run` does.")
@running_options
def command(**options: Any) -> None:
    """Take the universe in DIRECTORY to where the run that was broken off should end.

    Where none was, it says so, and writes what --out asks for.
    """
    choices = ResumeChoices(**options)
    choices.check()
    directory, quiet = choices.directory, choices.quiet
    with Universe.open(directory, writing=True) as universe:
        outputs = choices.open_outputs()
        if universe.manifest.run is None and universe.phase is None and not quiet:
            click.echo(f"lifesim: {directory}: no run was broken off", err=True)
        with choices.executor() as executor:
            keep = choices.keep_previous
            life = StreamedLife(universe, executor, generations=choices.phase, keep_previous=keep)
            outcome = drive(life, None, outputs, show=choices.shows_progress)
            to_stderr = "-" in choices.outs
            report(outcome, as_json=choices.as_json, quiet=quiet, to_stderr=to_stderr)
    finish(outcome)
