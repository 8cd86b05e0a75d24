"""semigroups enumerate: all elements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bulkbits.options import out_option
from semigroups.cli.options import (
    EnumerationChoices,
    Points,
    enumeration_options,
    generators_of,
    source_options,
    usage_errors,
)

if TYPE_CHECKING:
    from semigroups.options import Base


@click.command("enumerate")
@source_options
@click.option(
    "--semigroup",
    is_flag=True,
    help="Without the identity, unless it is a product of generators. [with it: a monoid]",
)
@click.option(
    "--base",
    type=Points(),
    help="Tell elements apart by the images of these points, and prove that that is enough. "
    "[all; auto where a map takes 4 KiB]",
)
@click.option("--hash-only", is_flag=True, help="Take equal hashes of 128 bits for equal maps.")
@enumeration_options(
    out_option("Save what is found, finished or not.", default=None, metavar="S.h5")
)
def command(
    family: str | None,
    path: str | None,
    semigroup: bool,
    base: Base | None,
    hash_only: bool,
    **options: Any,
) -> int:
    """Find all elements of a semigroup, and say how many there are.

    FAMILY is one of `semigroups families`, as bihecke:5; with --generators FILE the maps are
    read. Elements are in the order of their shortest words. The result is certain, unless
    --hash-only.

    Ctrl-C, --limit and full memory stop the enumeration; what was found is saved where --out
    says, and `semigroups resume` goes on. Ctrl-C again stops at once, and saves nothing.

    \b
    Exit codes: 0 all found, 1 stopped by --limit or for want of memory, 2 bad input, 3 no
    backend, 130 interrupted.
    """
    choices = EnumerationChoices(**options)
    source = generators_of(family, path, choices.memory)
    from semigroups.cli.drive import check_backend, drive
    from semigroups.cli.report import check_outputs, report
    from semigroups.semigroup import Semigroup

    check_outputs(choices, [path])
    with usage_errors():
        found = Semigroup(
            source,
            monoid=not semigroup,
            base=base,
            hash_only=hash_only,
            backend=choices.backend,
            device=choices.device,
            threads=choices.threads,
            memory=choices.memory,
        )
    check_backend(found, choices)
    name = str(family) if path is None else path
    outcome = drive(found, choices.limit, choices.out, choices.quiet)
    report(found, outcome, name, choices)
    return outcome.exit_code
