"""lifesim info: what a pattern file or a universe directory holds."""

from __future__ import annotations

import json
import os
from typing import Any

import click

from bulkbits.options import json_option
from kernels.targets.cpu import levels
from lifesim import patterns
from lifesim.cli.named import PatternFile
from lifesim.cli.options import rules_option
from lifesim.cli.report import states_text
from lifesim.digests import digest
from lifesim.grid import BitGrid, Box, GridError
from lifesim.patterns import Pattern
from lifesim.rule import LIFE
from lifesim.store.manifest import Manifest, Phase
from lifesim.store.universe import Universe
from lifesim.topology import described
from lifesim.tree.quadtree import Quadtree


@click.command("info")
@click.argument("file", type=PatternFile())
@json_option
@rules_option
def command(file: str, as_json: bool) -> None:
    """Say what FILE (also a name of `lifesim patterns`, or - for standard input) holds: size, rule,
    population, digest.

    The digest of a pattern is of the live cells' bounding box, so that it does not depend
    on the format or on where the pattern lies. FILE may be a universe directory, also one
    that is being run: its digest is of the whole, as `lifesim run` tells it.
    """
    if os.path.isdir(file):
        _tell_universe(file, as_json)
        return
    pattern = patterns.read(file, as_squares=True if levels() else None)
    population, box, digested, notes = _survey(pattern)
    states = pattern.rule.states if pattern.rule else 1 << pattern.grid.planes
    counts = pattern.grid.populations()[:states] if states > 2 else None
    facts = {
        "file": file,
        "name": pattern.name,
        "width": box.width if population else 0,
        "height": box.height if population else 0,
        "x": box.x,
        "y": box.y,
        "population": population,
        "states": states,
        "populations": counts,
        "rule": str(pattern.rule) if pattern.rule else None,
        "topology": str(pattern.topology) if pattern.topology else None,
        "universe": list(pattern.size) if pattern.size else None,
        "generation": pattern.generation,
        "digest": digested,
        "comments": list(pattern.comments),
        "notes": notes,
    }
    if as_json:
        click.echo(json.dumps(facts))
        return
    universe = "unbounded"
    if pattern.size and pattern.topology:
        width, height = pattern.size
        universe = f"{described(pattern.topology)} {width}x{height}"
    lines = [
        ("name", pattern.name or "-"),
        ("cells", f"{facts['width']}x{facts['height']} at ({box.x}, {box.y})"),
        ("population", f"{population:,}"),
        *([("by state", states_text(counts))] if counts else []),
        ("rule", str(facts["rule"] or "not named (Life is meant)")),
        ("universe", universe),
        ("generation", f"{pattern.generation:,}"),
        ("digest", digested or "-"),
        *(("comment", line) for line in pattern.comments),
        *(("note", line) for line in notes),
    ]
    _show(lines)


def _survey(pattern: Pattern) -> tuple[int, Box, str | None, list[str]]:
    """Return the population, the live cells' bounding box, their digest, None where they lie too
    far apart for one, and the notes."""
    grid, notes = pattern.grid, list(pattern.notes)
    if pattern.squares is None:
        box = Box(pattern.x, pattern.y, grid.width, grid.height)
        return grid.population(), box, digest(grid), notes
    cells = Quadtree(pattern.squares)
    population, box = cells.population(), cells.box() or Box(0, 0, 1, 1)
    if not levels():
        return population, box, None, [*notes, "no digest: it takes compiled code"]
    from lifesim.planes import HashedUniverse, plane_target

    target = plane_target("hashlife", "cpu", None)
    tree = HashedUniverse(target, BitGrid(1, 1), (0, 0), LIFE, None)
    tree.take(pattern.squares)
    try:
        return population, box, tree.digest(box), notes
    except GridError as error:
        return population, box, None, [*notes, f"no digest: {error}"]


def _tell_universe(path: str, as_json: bool) -> None:
    with Universe.open(path) as universe:
        manifest, phase = universe.manifest, universe.phase
        tiling, form = universe.tiling, manifest.form
        whole, bounded = universe.is_whole, all(universe.bounds)
        frame = universe.frame() if whole or bounded else None
        population = universe.population() if whole else None
        facts: dict[str, Any] = {
            "universe": path,
            "id": manifest.id,
            "x": frame and frame.x,
            "y": frame and frame.y,
            "width": frame and (frame.width if bounded or population else 0),
            "height": frame and (frame.height if bounded or population else 0),
            "bounds": list(universe.bounds) if bounded else None,
            "held": [universe.width, universe.height],
            "rule": str(universe.rule),
            "states": universe.rule.states,
            "topology": str(universe.topology),
            "origin": manifest.origin,
            "generation": universe.generation,
            "population": population,
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
    _show(_universe_lines(manifest, phase, facts))


def _universe_lines(
    manifest: Manifest, phase: Phase | None, facts: dict[str, Any]
) -> list[tuple[str, str]]:
    """Return what people are told of a universe on disk."""
    tiling, form = manifest.tiling, manifest.form
    levels = f"density levels 1:8 to 1:{1 << form.top}" if form.top else "no density levels"
    shown = f"{manifest.topology} {tiling.width}x{tiling.height}"
    if not facts["bounds"]:
        shown = f"plane without bounds, of which {tiling.width}x{tiling.height} are held"
        if facts["x"] is not None:
            shown = f"plane without bounds, cells {facts['width']}x{facts['height']} "
            shown += f"at ({facts['x']}, {facts['y']})"
    lines = [
        ("universe", shown),
        ("rule", str(manifest.rule)),
        ("began as", manifest.origin or "-"),
        ("generation", f"{manifest.generation:,}"),
        *([("population", f"{facts['population']:,}")] if facts["digest"] else []),
        *([("digest", str(facts["digest"]))] if facts["digest"] else []),
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
    return lines


def _show(lines: list[tuple[str, str]]) -> None:
    for label, value in lines:
        # A name or comment may hold what a terminal takes for a command.
        shown = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in value)
        click.echo(f"{label:<11}{shown}")
