"""The report of a command on a run that is over."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import click

from lifesim.cli.drive import RunOutcome, rate_text
from lifesim.engine import Life
from lifesim.errors import DamagedDataError
from lifesim.grid import Box, GridError
from lifesim.patterns import Pattern
from lifesim.stream.run import StreamedLife
from lifesim.topology import Topology, described


def note_oddities(pattern: Pattern, name: str) -> None:
    """Say on standard error what was odd in the file that a pattern was read from."""
    for note in pattern.notes:
        click.echo(f"lifesim: {name}: {note}", err=True)


def report(
    outcome: RunOutcome,
    *,
    as_json: bool,
    notes: Sequence[str] = (),
    quiet: bool = False,
    to_stderr: bool = False,
    pattern: str | None = None,
) -> None:
    """Tell of the run on standard output, or standard error where a result is written to that;
    and on standard error where live cells met the edge.

    notes: what was odd in the pattern's file. pattern: that file; None of a soup.
    """
    life = outcome.life
    whole = life.is_whole
    runner = life.backend if isinstance(life, Life) else life.executor
    made = life.made if isinstance(life, Life) else {"dense": life.generation - outcome.first}
    bounded = all(life.bounds)
    population = life.population() if whole else None
    frame = life.frame() if whole or bounded else None
    counts = life.populations() if isinstance(life, Life) and life.rule.states > 2 else None
    edge = edge_facts(life)
    if not quiet:
        tell_edge(life, outcome.first)
    digest, notes = _digest(life, notes)
    facts: dict[str, Any] = {
        "pattern": pattern,
        "generation": life.generation,
        "population": population,
        "states": life.rule.states,
        "populations": counts,
        "digest": digest,
        "seconds": round(life.seconds, 6),
        "cell_updates_per_second": round(life.rate) if set(made) <= {"dense"} else None,
        "engine": life.engine if isinstance(life, Life) else "dense",
        "engines": made,
        "backend": runner.name,
        "device": runner.describe(),
        "x": frame and frame.x,
        "y": frame and frame.y,
        "width": frame and (frame.width if bounded or population else 0),
        "height": frame and (frame.height if bounded or population else 0),
        "rule": str(life.rule),
        "topology": str(life.topology),
        "bounds": list(life.bounds) if any(life.bounds) else None,
        "edge": edge,
        "until": outcome.found and outcome.found.facts(),
        "interrupted": outcome.interrupted,
        "written": outcome.written,
        "errors": outcome.errors,
        "notes": list(notes),
    }
    if isinstance(life, StreamedLife):
        facts["universe"] = life.universe.path
        facts["phases"] = [_phase_facts(life, i) for i in range(len(life.tallies))]
    if as_json:
        click.echo(json.dumps(facts))
        return
    for line in _lines(outcome, facts, frame):
        click.echo(line, err=to_stderr)


def _digest(life: Life | StreamedLife, notes: Sequence[str]) -> tuple[str | None, Sequence[str]]:
    """Return the digest of a universe, None where it has none just now, and the notes, with one on
    a universe too large for it."""
    if not life.is_whole:
        return None, notes
    try:
        return life.digest(), notes
    except GridError as error:
        return None, [*notes, f"no digest: {error}"]


def _lines(outcome: RunOutcome, facts: dict[str, Any], frame: Box | None) -> list[str]:
    """Return what people are told of a run."""
    life, bounded = outcome.life, all(outcome.life.bounds)
    state = life.where().removeprefix("at ")
    kind = f"({life.rule}, {described(life.topology)}{'' if bounded else ' without bounds'})"
    where = f"{facts['width']}x{facts['height']}"
    if not bounded and frame:
        where += f" at ({frame.x}, {frame.y})"
    lines = [f"{state} of {where if frame else 'a universe'} {kind}"]
    if life.is_whole:
        lines = [
            f"generation {facts['generation']:,}: population {facts['population']:,} "
            f"in {where} {kind}",
            *([f"by state {states_text(facts['populations'])}"] if facts["populations"] else []),
            f"digest {facts['digest']}" if facts["digest"] else str(facts["notes"][-1]),
        ]
    if outcome.found:
        lines.insert(0, str(outcome.found))
    rate = _engines_text(facts["engines"]) or rate_text(life.rate)
    lines.append(f"{facts['seconds']:.3f} s, {rate} on {facts['device']}")
    if isinstance(life, StreamedLife):
        begun = not life.is_whole or life.universe.manifest.run
        if begun and outcome.exit_code != DamagedDataError.exit_code:  # else it would end there too
            lines.append(f"`lifesim resume {life.universe.path}` goes on")
        lines.append(f"universe {life.universe.path}")
    return lines + [f"wrote {path}" for path in outcome.written if path != "-"]


def states_text(populations: Sequence[int]) -> str:
    """Return how many cells are in each live state that has any."""
    counts = [f"{state}: {count:,}" for state, count in enumerate(populations) if state and count]
    return ", ".join(counts) or "none"


def _engines_text(made: dict[str, int]) -> str:
    """Return which engines made a run, where it was not the rectangle alone: all that made a
    hundredth of it."""
    total = sum(made.values())
    names = [name for name, generations in made.items() if 100 * generations >= total]
    return f"by {' and '.join(names)}" if names and names != ["dense"] else ""


def edge_facts(life: Life | StreamedLife) -> dict[str, Any] | None:
    """Return what is known of whether live cells met the edge; None where nobody asked, as of
    soups.

    reached: true, false, or null where it is not known. generation: the first one in which
    they did; where only that is known: after which one, and by which.
    """
    if not any(life.bounds):
        return {"reached": False}
    if isinstance(life, Life):
        if not life.is_watched:
            return None
        met = life.edge
        return {"reached": False} if met is None else {"reached": True, "generation": met}
    known = life.universe.manifest.edge
    if known is None:
        return None
    clear, met = known
    if met is None:
        if clear >= life.generation:
            return {"reached": False}
        return {"reached": None, "after": clear}
    if met == clear + 1:
        return {"reached": True, "generation": met}
    return {"reached": True, "after": clear, "by": met}


def tell_edge(life: Life | StreamedLife, first: int) -> None:
    """Say on standard error that live cells met the edge, if they did, or may have, in a run
    from generation `first` on; not of a torus that they filled from the start, as soups do."""
    edge = edge_facts(life)
    if edge is None or edge["reached"] is False or life.generation == first:
        return
    if life.topology is Topology.PLANE or edge.get("generation") != first:
        click.echo(f"lifesim: {_edge_text(life, edge)}", err=True)


def _edge_text(life: Life | StreamedLife, edge: dict[str, Any]) -> str:
    width, height = life.bounds
    universe = f"the {width or 'unbounded'}x{height or 'unbounded'} {described(life.topology)}"
    exact = "cells are those of a plane without bounds up to then only"
    if edge["reached"] is None:
        return f"live cells may have met the edge of {universe} after generation {edge['after']:,}"
    if "generation" in edge:
        when = f"in generation {edge['generation']:,}"
    else:
        when = f"between generations {edge['after']:,} and {edge['by']:,}"
    return f"live cells met the edge of {universe} {when}: {exact}"


def _phase_facts(life: StreamedLife, index: int) -> dict[str, Any]:
    plan, tally = life.tallies[index]
    return {
        "generations": plan.generations,
        "block": [plan.shape.across, plan.shape.down],
        "windows": plan.shape.slots,
        "tiles_computed": tally.computed,
        "tiles_unchanged": tally.unchanged,
        "tiles_linked": tally.linked,
        "seconds": round(tally.seconds, 3),
        "step_seconds": round(tally.step_seconds, 3),
        "read_seconds": round(tally.read_seconds, 3),
        "write_seconds": round(tally.write_seconds, 3),
        "read_bytes": tally.read_bytes,
        "written_bytes": tally.written_bytes,
        "cell_updates_with_halos": tally.work,
    }
