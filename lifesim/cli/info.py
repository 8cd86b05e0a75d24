"""lifesim info: what a pattern file holds."""

from __future__ import annotations

import json

import click

from lifesim import patterns
from lifesim.digest import digest


@click.command("info")
@click.argument("file")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(file: str, as_json: bool) -> None:
    """Say what FILE (or - for standard input) holds: size, rule, population, digest.

    The digest is of the live cells' bounding box, so that it does not depend on the
    format or on where the pattern lies.
    """
    pattern = patterns.read(file)
    box = pattern.grid
    population = box.population()
    facts = {
        "file": file,
        "name": pattern.name,
        "width": box.width if population else 0,
        "height": box.height if population else 0,
        "x": pattern.x,
        "y": pattern.y,
        "population": population,
        "rule": str(pattern.rule) if pattern.rule else None,
        "topology": str(pattern.topology) if pattern.topology else None,
        "universe": list(pattern.size) if pattern.size else None,
        "generation": pattern.generation,
        "digest": digest(box),
        "comments": list(pattern.comments),
    }
    if as_json:
        click.echo(json.dumps(facts))
        return
    universe = "unbounded"
    if pattern.size and pattern.topology:
        width, height = pattern.size
        universe = f"{pattern.topology} {width}x{height}"
    lines = [
        ("name", pattern.name or "-"),
        ("cells", f"{facts['width']}x{facts['height']} at ({pattern.x}, {pattern.y})"),
        ("population", f"{population:,}"),
        ("rule", str(facts["rule"] or "not named (Life is meant)")),
        ("universe", universe),
        ("generation", f"{pattern.generation:,}"),
        ("digest", str(facts["digest"])),
        *(("comment", line) for line in pattern.comments),
    ]
    for label, value in lines:
        # A name or comment may hold what a terminal takes for a command.
        shown = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in value)
        click.echo(f"{label:<11}{shown}")
