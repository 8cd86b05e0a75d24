"""lifesim undo: take back changes of the cells of a universe on disk."""

from __future__ import annotations

import click

from lifesim.cli.streamed import counting_bar
from lifesim.errors import LifesimError
from lifesim.store import editing
from lifesim.store.universe import Universe


@click.command("undo")
@click.argument("universe")
@click.option("--redo", is_flag=True, help="Redo what was undone last instead.")
def command(universe: str, redo: bool) -> None:
    """Undo the last change of the cells of UNIVERSE, a directory.

    That is what `lifesim paste` or the window have changed since the universe was moved on last.
    """
    with Universe.open(universe, writing=True) as opened:
        with counting_bar(f"writing {universe}", show=True) as progress:
            done = (editing.redo if redo else editing.undo)(opened, progress=progress)
        if done is None:
            raise LifesimError(f"{universe}: there is nothing to {'redo' if redo else 'undo'}")
        what = "redone" if redo else "undone"
        click.echo(f"{what}: {done.title}; population {opened.population():,}")
