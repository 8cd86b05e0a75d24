"""`ckyparse view`. ckyparse does not know this package: it finds the command by its name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from bulkbits.options import backend_option
from ui.cli import NoWindowError, check_display, why_not

if TYPE_CHECKING:
    from ui.parsing.model import Way


@click.command("view")
@click.option("-g", "--grammar", metavar="FILE", help="In nltk's syntax, UTF-8.")
@click.argument("sentences", required=False, metavar="[FILE]")
@click.option(
    "--tokens",
    type=click.Choice(["space", "chars"]),
    help="What a line's tokens are. [as the grammar's terminals suggest]",
)
@backend_option()
@click.option("--theme", type=click.Choice(["dark", "light"]), help="[the last one]")
def command(
    grammar: str | None, sentences: str | None, tokens: Way | None, backend: str, theme: str | None
) -> int:
    """Open a window with a grammar, sentences, charts and trees.

    FILE has sentences, one a line. Needs a display, and Qt: pip install 'bulkbits[gui]'.
    """
    from ui.parsing.files import FileError
    from ui.parsing.launch import ParseLaunch
    from ui.parsing.sentences import TextError

    launch = ParseLaunch(grammar, sentences, tokens, backend, theme)
    try:
        text, lines = launch.text(), launch.lines()
        check_display()
    except (FileError, TextError, NoWindowError) as error:
        raise click.ClickException(str(error)) from None
    try:
        from ui.qt.parsing.app import run
    except ImportError as error:
        if (error.name or "").startswith("ui."):
            raise
        raise click.ClickException(f"Qt cannot be loaded: {why_not(str(error))}") from None
    return run(launch, text, lines)
