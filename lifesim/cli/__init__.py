"""The lifesim command. Each subcommand is a module of this package, imported when used."""

from __future__ import annotations

import click

from bulkbits import entry
from bulkbits.options import version_option

COMMANDS = {
    "run": "Run a pattern, a universe or a random soup for a number of generations.",
    "resume": "Finish the run of a universe directory that was broken off.",
    "info": "Say what a pattern file or a universe directory holds.",
    "verify": "Check every byte of a universe directory.",
    "convert": "Convert between pattern formats and universe directories.",
    "random": "Write a random soup: a pattern file or a universe directory.",
    "paste": "Put a pattern into a universe directory.",
    "undo": "Take back what was changed in a universe directory.",
    "render": "Draw a region of a pattern or universe at any power-of-two scale.",
    "view": "Open a window on a pattern, a universe or an empty one.",
    "patterns": "List the patterns that have a name, or those of a folder.",
    "serve": "Show a pattern or a universe in a browser, also over SSH.",
    "rules": "List the rules that have a name, and rule files.",
    "bench": "Measure this machine beside recorded figures, and bgolly.",
    "doctor": "Say what this machine has, which backend is taken, and why.",
}


@click.group(
    cls=entry.LazyGroup,
    package="lifesim.cli",
    lines=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@version_option("lifesim")
def group() -> None:
    """Conway's Game of Life and its relatives, bigger and longer.

    \b
    lifesim run gosper-gun --steps 16384 --size 512x512
    lifesim run --steps 16384 --size 16384x16384 --out soup.rle.gz
    """


def main() -> None:
    """Run the command and exit: 0 done, 2 bad input, 3 no backend, 4 damaged, 130 interrupted."""
    entry.run(group, "lifesim")
