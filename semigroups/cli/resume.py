"""semigroups resume: the rest of an enumeration that was saved."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import click

from bulkbits.files import check_out
from bulkbits.options import out_option
from semigroups.cli.kinds import SEMIGROUP
from semigroups.cli.options import EnumerationChoices, enumeration_options, say, stored_errors


@click.command("resume")
@click.argument("path", metavar="S.h5")
@enumeration_options(
    out_option("Leave S.h5 as it is, and save here.", default=None, metavar="T.h5")
)
def command(path: str, **options: Any) -> int:
    """Go on with an enumeration that `semigroups enumerate --out S.h5` saved.

    What is found besides is saved in S.h5 again. Where all was found, only questions are
    answered. Any backend goes on with what another has done. Seconds and products are those of
    this time; exit codes as of `semigroups enumerate`.
    """
    from semigroups.cli.drive import EnumerationOutcome, busy, check_backend, drive
    from semigroups.cli.report import check_outputs, report
    from semigroups.semigroup import Semigroup

    choices = EnumerationChoices(**options)
    out, quiet = choices.out, choices.quiet
    if out is not None and os.path.realpath(out) == os.path.realpath(path):
        choices, out = replace(choices, out=None), None  # as without it
    check_outputs(choices, [path])
    with stored_errors(path), busy(f"reading {path}", quiet):
        found = Semigroup.load(
            path,
            backend=choices.backend,
            device=choices.device,
            threads=choices.threads,
            memory=choices.memory,
        )
        finished = found.finished
    if not finished and out is None:
        check_out(path, SEMIGROUP, regular=True)
    check_backend(found, choices)
    if finished and out is None:
        if not quiet:
            say(f"{path}: all elements were found before")
        outcome = EnumerationOutcome()
    else:
        outcome = drive(found, choices.limit, out or path, quiet, found.progress.size)
    report(found, outcome, path, choices)
    return outcome.exit_code
