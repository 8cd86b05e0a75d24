"""lifesim rules: the rules that have a name."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from bulkbits.options import json_option
from lifesim.cli.options import rules_option
from lifesim.rules import files, listing


@click.command("rules")
@click.option("--search", metavar="TEXT", help="Only rules in which this text stands.")
@rules_option
@json_option
def command(search: str | None, as_json: bool) -> None:
    """List the rules that have a name: their notation, family and states, and what they are known
    for.

    Rule files are listed too: those in the folders of --rules, in the user's own folder
    (~/.config/bulkbits/rules), and where Golly keeps its own.
    """
    known = [*listing.own(), *listing.of_files(listing.places(files.asked_for()))]
    chosen = [rule for rule in known if search is None or rule.has(search)]
    if as_json:
        click.echo(json.dumps([asdict(rule) for rule in chosen]))
        return
    for rule in chosen:
        spelled = "" if rule.rule == rule.name else f"  {rule.rule}"
        states = f"{rule.states} states" if rule.states else "states as its file says"
        click.echo(f"{rule.name}{spelled}  ({rule.family}, {states})")
        if rule.known_for:
            click.echo(f"    {rule.known_for}")
        if rule.path:
            click.echo(f"    {rule.path}")
    if not chosen:
        click.echo(f"no rule has {search!r} in it", err=True)
