"""Begins a command. Ctrl-C ends it in one line also while what it needs is being imported."""

from __future__ import annotations

import importlib
import sys

from kernels.signals import undisturbed


def begin(name: str) -> None:
    """Import the `cli` of the package of that name, and run its main()."""
    try:
        with undisturbed():
            cli = importlib.import_module(f"{name}.cli")
        cli.main()
    except KeyboardInterrupt:
        # Too early, or too late, for arith.cli.entry.
        if sys.stderr is not None:
            print(f"{name}: interrupted", file=sys.stderr)
        sys.exit(130)
