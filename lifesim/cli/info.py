"""lifesim info: what a pattern file or a universe directory holds."""

from __future__ import annotations

import json
import os

import click

from lifesim import patterns
from lifesim.digest import digest
from lifesim.store.universe import Universe


@click.command("info")
@click.argument("file")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(file: str, as_json: bool) -> None:
    """Say what FILE (or - for standard input) holds: size, rule, population, digest.

    The digest of a pattern is of the live cells' bounding box, so that it does not depend
    on the format or on where the pattern lies. FILE may be a universe directory, also one
    that is being run: its digest is of the whole, as `lifesim run` tells it.
    """
    if os.path.isdir(file):
        _tell_universe(file, as_json)
        return
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
    _show(lines)


def _tell_universe(path: str, as_json: bool) -> None:
    with Universe.open(path) as universe:
        manifest, phase = universe.manifest, universe.phase
        tiling, form = universe.tiling, manifest.form
        whole = universe.is_whole
        facts = {
            "universe": path,
            "id": manifest.id,
            "width": universe.width,
            "height": universe.height,
            "rule": str(universe.rule),
            "topology": str(universe.topology),
            "origin": manifest.origin,
            "generation": universe.generation,
            "population": universe.population() if whole else None,
            "digest": universe.digest() if whole else None,
            "tiles": [tiling.across, tiling.down],
            "bytes": manifest.stored_bytes,
            "compression": form.compression,
            "pyramid": [3, form.top] if form.top else None,
            "run": list(manifest.run) if manifest.run else None,
            "phase": phase
            and {"from": phase.start, "to": phase.stop, "tiles_done": len(phase.done)},
        }
    if as_json:
        click.echo(json.dumps(facts))
        return
    levels = f"density levels 1:8 to 1:{1 << form.top}" if form.top else "no density levels"
    lines = [
        ("universe", f"{universe.topology} {universe.width}x{universe.height}"),
        ("rule", str(universe.rule)),
        ("began as", manifest.origin or "-"),
        ("generation", f"{universe.generation:,}"),
        *([("population", f"{facts['population']:,}")] if whole else []),
        *([("digest", str(facts["digest"]))] if whole else []),
        (
            "files",
            f"{tiling.across}x{tiling.down} sub-universes, {manifest.stored_bytes:,} bytes, "
            f"compression {form.compression}, {levels}",
        ),
    ]
    if manifest.run:
        lines.append(("run", f"to generation {manifest.run[1]:,}: `lifesim resume` ends it"))
    if phase:
        left = len(tiling) - len(phase.done)
        lines.append(
            ("phase", f"to generation {phase.stop:,}, {left} of {len(tiling)} sub-universes to go")
        )
    _show(lines)


def _show(lines: list[tuple[str, str]]) -> None:
    for label, value in lines:
        # A name or comment may hold what a terminal takes for a command.
        shown = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in value)
        click.echo(f"{label:<11}{shown}")
