"""semigroups families: those that are known by name."""

from __future__ import annotations

import inspect

import click


@click.command("families")
def command() -> None:
    """List the families of generators, each to be named with its n, as bihecke:5."""
    from semigroups import families

    text = inspect.cleandoc(families.__doc__ or "")
    _, table, _ = text.split("\n\n", 2)
    click.echo(inspect.cleandoc(table))
