"""What a command says of a run when it is over."""

from __future__ import annotations

import json
from typing import Any

import click

from lifesim.cli.drive import Outcome, rate_text
from lifesim.engine import Life
from lifesim.stream.run import StreamedLife


def report(
    life: Life | StreamedLife, outcome: Outcome, *, as_json: bool, to_stderr: bool = False
) -> None:
    """On standard output, or standard error where a result is written to that."""
    whole = isinstance(life, Life) or life.universe.is_whole
    runner = life.backend if isinstance(life, Life) else life.crew
    facts: dict[str, Any] = {
        "generation": life.generation,
        "population": life.population() if whole else None,
        "digest": life.digest() if whole else None,
        "seconds": round(life.seconds, 6),
        "cell_updates_per_second": round(life.rate),
        "backend": runner.name,
        "device": runner.describe(),
        "width": life.width,
        "height": life.height,
        "rule": str(life.rule),
        "topology": str(life.topology),
        "interrupted": outcome.interrupted,
        "written": outcome.written,
        "errors": outcome.errors,
    }
    if isinstance(life, StreamedLife):
        facts["universe"] = life.universe.path
        facts["phases"] = [_phase_facts(life, i) for i in range(len(life.tallies))]
    if as_json:
        click.echo(json.dumps(facts))
        return
    state = life.where().removeprefix("at ")
    lines = [f"{state} of {life.width}x{life.height} ({life.rule}, {life.topology})"]
    if whole:
        lines = [
            f"generation {facts['generation']:,}: population {facts['population']:,} "
            f"in {life.width}x{life.height} ({life.rule}, {life.topology})",
            f"digest {facts['digest']}",
        ]
    lines.append(f"{facts['seconds']:.3f} s, {rate_text(life.rate)} on {facts['device']}")
    if isinstance(life, StreamedLife):
        if not whole or life.universe.manifest.run:
            lines.append(f"`lifesim resume {life.universe.path}` goes on")
        lines.append(f"universe {life.universe.path}")
    lines += [f"wrote {path}" for path in outcome.written if path != "-"]
    for line in lines:
        click.echo(line, err=to_stderr)


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
