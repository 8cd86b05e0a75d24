"""Report on a semigroup when its enumeration is over."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from typing import Any, get_args

import click
import numpy as np

from bulkbits.files import check_out, writing
from bulkbits.plurals import many
from kernels.targets.contract import Target
from semigroups.classes import GreenKind
from semigroups.cli.drive import EnumerationOutcome, busy
from semigroups.cli.kinds import RULES, SEMIGROUP
from semigroups.cli.options import EnumerationChoices, say
from semigroups.semigroup import Semigroup


def check_outputs(choices: EnumerationChoices, inputs: Sequence[str | None]) -> None:
    """Find out before a long enumeration what cannot be written after it.

    inputs: what is read. A file that is gone on from is none of --out, which adds to it.
    """
    out, rules_out = choices.out, choices.rules_out
    if choices.as_json and rules_out == "-":
        raise click.UsageError("--json and --rules-out - both write to standard output")
    paths = [path for path in (out, rules_out) if path is not None and path != "-"]
    if out == "-":
        raise click.UsageError("--out - : HDF5 is not written to standard output")
    if len({os.path.realpath(path) for path in paths}) < len(paths):
        raise click.UsageError("--out and --rules-out name the same file")
    check_out(out, SEMIGROUP, inputs, choices.force, regular=True)
    check_out(rules_out, RULES, inputs, choices.force)


def report(
    semigroup: Semigroup,
    outcome: EnumerationOutcome,
    source: str,
    choices: EnumerationChoices,
) -> None:
    """Answer what was asked; what needs all elements is null where there are not.

    Lines go to standard error where rules are written to standard output. source: a family or a
    file.
    """
    rules_out, quiet = choices.rules_out, choices.quiet
    asked = {
        "green": choices.green,
        "idempotents": choices.idempotents,
        "rules": choices.rules,
    }
    wanted = [f"--{name}" for name, flag in asked.items() if flag]
    wanted += ["--rules-out"] if rules_out is not None else []
    if wanted and outcome.stopped:
        say(f"no answer to {', '.join(wanted)}: that needs all elements")
    facts = _facts(semigroup, outcome, choices.place(semigroup.backend), source)
    if choices.levels:
        facts["levels"] = semigroup.current_levels
    for name, flag in asked.items():
        if flag:
            facts[name] = None if outcome.stopped else _answer(semigroup, name, quiet)
    if rules_out is not None and not outcome.stopped:
        with busy(f"writing {rules_out}", quiet), writing(rules_out) as stream:
            for left, right in semigroup.rules:
                stream.write(f"{_letters(left)}\t{_letters(right)}\n".encode())
    if choices.as_json:
        click.echo(json.dumps(facts))
        return
    for line in _lines(facts):
        click.echo(line, err=rules_out == "-")


def _letters(word: tuple[int, ...]) -> str:
    return " ".join(map(str, word))


def _facts(
    semigroup: Semigroup, outcome: EnumerationOutcome, backend: Target, source: str
) -> dict[str, Any]:
    now = semigroup.progress
    rate = outcome.found / outcome.seconds if outcome.seconds else 0
    return {
        "source": source,
        "degree": semigroup.degree,
        "generators": len(semigroup.generators),
        "monoid": semigroup.monoid,
        "base": semigroup.base,
        "size": now.size,
        "finished": not outcome.stopped,
        "interrupted": outcome.interrupted,
        "certainty": semigroup.certainty,
        "seconds": round(outcome.seconds, 6),
        "elements_per_second": round(rate),
        "computed": now.counts.computed,
        "deduced": now.counts.deduced,
        "bytes_moved": now.counts.moved,
        "memory": now.nbytes,
        "backend": backend.name,
        "device": backend.describe(),
        "written": outcome.written,
    }


def _answer(semigroup: Semigroup, name: str, quiet: bool) -> Any:
    with busy(f"computing {name}", quiet):
        if name == "idempotents":
            return len(semigroup.idempotents)
        if name == "rules":
            return len(semigroup.rules)
        classes = {kind: semigroup.green(kind) for kind in get_args(GreenKind)}
        return {
            kind: {"classes": each.count, "regular": int(np.count_nonzero(each.regular))}
            for kind, each in classes.items()
        }


def _lines(facts: dict[str, Any]) -> Iterator[str]:
    identity = "with the identity" if facts["monoid"] else "without the empty product"
    so_far = "" if facts["finished"] else " so far"
    yield f"{many(facts['size'], 'element')}{so_far}, {identity}"
    yield f"{many(facts['generators'], 'generator')} of degree {facts['degree']:,}"
    if facts["finished"]:
        yield facts["certainty"]
    for length, count in enumerate(facts.get("levels", [])):
        yield f"level {length}: {count:,}"
    for kind, found in (facts.get("green") or {}).items():
        yield f"{kind}-classes: {found['classes']:,}, {found['regular']:,} of them regular"
    for name in ("idempotents", "rules"):
        if facts.get(name) is not None:
            yield f"{name}: {facts[name]:,}"
    if facts["seconds"]:
        yield from _rates(facts)
    if facts["written"]:
        yield f"wrote {facts['written']}"


def _rates(facts: dict[str, Any]) -> Iterator[str]:
    yield (
        f"products: {facts['computed']:,} computed, {facts['deduced']:,} deduced; "
        f"{facts['bytes_moved'] / 1e6:,.1f} MB moved"
    )
    yield (
        f"{facts['seconds']:.3f} s, {facts['elements_per_second']:,} elements/s, "
        f"{facts['memory'] / 2**20:,.1f} MiB on {facts['device']}"
    )
