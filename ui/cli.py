"""`lifesim view`. lifesim does not know this package: it finds the command by its name."""

from __future__ import annotations

import importlib.util
import os
import sys

import click

from bulkbits.options import one_device_options
from lifesim.cli.named import PatternFile
from lifesim.cli.options import chosen_edges, universe_options
from lifesim.errors import LifesimError
from lifesim.unbounded import ENGINES
from lifesim.window import advice, missing


class NoWindowError(LifesimError):
    """Raised where Qt is missing, or a screen."""


@click.command("view")
@click.argument("universe", required=False, metavar="[PATTERN|UNIVERSE]", type=PatternFile())
@universe_options
@click.option(
    "--engine",
    type=click.Choice(ENGINES),
    help="What keeps a plane without bounds. [dense; hashlife where no memory holds that]",
)
@one_device_options
@click.option("--theme", type=click.Choice(["dark", "light"]), help="[the last one]")
@click.option(
    "--script",
    metavar="FILE",
    help="Run this Python file in the window. It may do whatever you may: run what you trust.",
)
def command(  # each parameter is an option, or an argument
    universe: str | None,
    rule: str | None,
    topology: str | None,
    size: tuple[int, int] | None,
    engine: str | None,
    backend: str,
    device: int,
    threads: int | None,
    theme: str | None,
    script: str | None,
) -> int:
    """Open a window on PATTERN (a file, or a name of `lifesim patterns`), a universe directory, or
    an empty universe.

    Needs a display, and Qt: pip install 'bulkbits[gui]'.
    """
    chosen, where = chosen_edges(rule, topology)
    check_display()
    from ui.launch import ViewLaunch

    launch = ViewLaunch(
        universe, chosen, where, size, engine, backend, device, threads, theme, script
    )
    try:
        from ui.qt.app import run
    except ImportError as error:
        if (error.name or "").startswith("ui."):
            raise
        raise NoWindowError(f"Qt cannot be loaded: {why_not(str(error))}") from None
    return run(launch)


def why_not(otherwise: str) -> str:
    """Say why Qt could open no window, better than it does where libraries are missing."""
    libraries = missing()
    return advice(libraries) if libraries else otherwise


def check_display() -> None:
    """Raise NoWindowError where Qt is not installed or would abort for want of a screen."""
    if importlib.util.find_spec("PySide6") is None:
        raise NoWindowError("the window needs PySide6: pip install 'bulkbits[gui]'")
    if sys.platform.startswith("linux") and os.environ.get("QT_QPA_PLATFORM", "") in (
        "", "xcb", "wayland",
    ) and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):  # fmt: skip
        raise NoWindowError("there is no display: neither DISPLAY nor WAYLAND_DISPLAY is set")
