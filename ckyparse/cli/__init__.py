"""The ckyparse command. Each subcommand is a module of this package, imported when used."""

from __future__ import annotations

import os
import sys
import threading

import click

from bulkbits.entry import LazyGroup, run
from bulkbits.options import version_option

COMMANDS = {
    "accept": "Say of each line whether it is a sentence.",
    "parse": "Print the trees of each line.",
    "count": "Count the trees of each line.",
    "prob": "Print the probability of each line.",
    "info": "Describe a grammar.",
    "convert": "Write a grammar in Chomsky normal form.",
    "sample": "Print random sentences of a grammar.",
    "view": "Open a window with charts and trees.",
    "bench": "Measure this machine beside recorded figures, and nltk.",
}

STREAM = "ckyparse-stream"  # the name of threads that read and write


@click.group(
    cls=LazyGroup,
    package="ckyparse.cli",
    lines=COMMANDS,
    at_once=1,  # the others begin where there is enough to do (devices.py)
    context_settings={"help_option_names": ["-h", "--help"]},
)
@version_option("ckyparse")
def group() -> None:
    """CKY parsing of sentences in bulk, on GPU or CPU.

    \b
    ckyparse accept -g dyck.cfg --tokens chars brackets.txt
    echo "the man saw the dog" | ckyparse parse -g english.cfg
    """


def main() -> None:
    """Run the command and exit: 0 all accepted, 1 some rejected, 2 bad input, 3 no backend or
    no cluster, 130 interrupted."""
    try:
        run(group, "ckyparse")
    except SystemExit as stop:
        early = sys.modules.get("kernels.targets.cuda.early")
        starting = early is not None and early.under_way()  # a GPU that is not needed any more
        if starting or any(thread.name.startswith(STREAM) for thread in threading.enumerate()):
            # Stuck, as where nobody reads what is written. To end the interpreter under it
            # would be noticed by what it holds.
            os._exit(stop.code if isinstance(stop.code, int) else 1)
        raise
