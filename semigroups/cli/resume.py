"""semigroups resume: the rest of an enumeration that was saved."""

from __future__ import annotations

from typing import Any

import click

from semigroups.cli.options import question_options, run_options, say, stored_errors


@click.command("resume")
@click.argument("path", metavar="S.h5")
@run_options
@click.option("-o", "--out", metavar="T.h5", help="Leave S.h5 as it is, and save here.")
@question_options
def command(
    path: str,
    limit: int | None,
    memory: int | None,
    backend: str,
    device: int,
    threads: int | None,
    out: str | None,
    as_json: bool,
    quiet: bool,
    **asked: Any,
) -> int:
    """Go on with an enumeration that `semigroups enumerate --out S.h5` saved.

    What is found besides is saved in S.h5 again. Where all was found, only questions are
    answered. Any backend goes on with what another has done. Seconds and products are those of
    this time; exit codes as of `semigroups enumerate`.
    """
    from kernels.choose import pick
    from semigroups.cli.drive import Outcome, busy, check_backend, drive
    from semigroups.cli.report import check_outputs, report
    from semigroups.semigroup import Semigroup

    check_outputs(out, asked["rules_out"], as_json)
    with stored_errors(path), busy(f"reading {path}", quiet):
        found = Semigroup.load(path, backend=backend, device=device, threads=threads, memory=memory)
        finished = found.finished
    check_backend(found, backend, device, threads, quiet)
    if finished and out is None:
        if not quiet:
            say(f"{path}: all elements were found before")
        outcome = Outcome()
    else:
        outcome = drive(found, limit, out or path, quiet, found.progress.size)
    place = pick(found.backend, device=device, threads=threads)
    report(found, outcome, place, source=path, as_json=as_json, quiet=quiet, **asked)
    return outcome.exit_code
