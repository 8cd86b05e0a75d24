"""Run the semigroups command. Each subcommand is a module here, imported when used."""

from __future__ import annotations

import click

from bulkbits.entry import LazyGroup, run
from bulkbits.options import version_option

COMMANDS = {
    "enumerate": "Find all elements of a semigroup.",
    "resume": "Go on with an enumeration that was saved.",
    "info": "Describe a saved semigroup, a family or generators.",
    "words": "Print elements of a saved semigroup by number.",
    "find": "Find maps in a saved semigroup.",
    "convert": "Write generators as JSON, lines or GAP.",
    "families": "List the families that are known by name.",
    "bench": "Measure this machine beside recorded figures, and libsemigroups.",
}


@click.group(
    cls=LazyGroup,
    package="semigroups.cli",
    lines=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@version_option("semigroups")
def group() -> None:
    """Transformation semigroups, enumerated on GPU or CPU: one device, or the cores of one
    machine; more cannot share a semigroup.

    \b
    semigroups enumerate bihecke:5 --levels --green
    semigroups enumerate --generators maps.json --out S.h5
    """


def main() -> None:
    """Run the command and exit: 0 done, 1 not finished for want of memory or by --limit (find:
    something is no element), 2 bad input, 3 no backend, 4 damaged, 130 interrupted."""
    run(group, "semigroups")
