"""The arith command. Each subcommand is a module of this package, imported when used."""

from __future__ import annotations

import click

from bulkbits.entry import LazyGroup, run
from bulkbits.options import version_option

COMMANDS = {
    "shared-primes": "Find the RSA keys that share a prime with another.",
    "eval": "Compute with files of numbers, a number a line.",
    "bench": "Measure this machine beside recorded figures, and gmpy2.",
}


@click.group(
    cls=LazyGroup,
    package="arith.cli",
    lines=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@version_option("arith")
def group() -> None:
    """Big integers and rationals in bulk, on GPU or CPU.

    \b
    arith eval mul a.txt b.txt -o products.txt
    arith shared-primes keys/*.pem known_hosts
    """


def main() -> None:
    """Run the command and exit: 0 done, 1 where shared-primes found something, 2 bad input, 3 no
    backend or cluster, 4 damaged, 130 interrupted."""
    run(group, "arith")
