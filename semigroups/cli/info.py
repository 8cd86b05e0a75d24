"""semigroups info: what can be said without enumerating."""

from __future__ import annotations

import json
import os
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import click

from bulkbits.options import json_option
from semigroups.cli.options import read_maps, stored_errors, usage_errors

if TYPE_CHECKING:
    from semigroups.files import Summary

HDF5 = b"\x89HDF\r\n\x1a\n"


@click.command("info")
@click.argument("source")
@json_option
def command(source: str, as_json: bool) -> None:
    """Describe SOURCE: a saved semigroup, a family as bihecke:5, or a file of generators.

    Nothing is enumerated, and of a saved semigroup only what there is of it is read, not
    whether it is whole: all other commands check that.
    """
    facts = _facts(source)
    if as_json:
        click.echo(json.dumps(facts))
        return
    for name, value in facts.items():
        click.echo(f"{name.replace('_', ' ') + ':':<20} {_text(name, value)}")


def _text(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return " ".join(map(str, value))
    if name == "memory":
        return f"{value:,} bytes"
    return f"{value:,}" if isinstance(value, int) else str(value)


def is_stored(path: str) -> bool:
    """Return whether a file begins as HDF5 does."""
    try:
        with open(path, "rb") as stream:
            return stream.read(len(HDF5)) == HDF5
    except OSError:
        return False


def _facts(source: str) -> dict[str, Any]:
    if source != "-" and not os.path.exists(source):
        return _family(source)
    if is_stored(source):
        from semigroups.files import summary

        with stored_errors(source):
            return _stored(source, summary(source))
    maps = read_maps(source)
    return {
        "file": source,
        "degree": maps.shape[1],
        "generators": len(maps),
        "memory": maps.nbytes,
    }


def _family(source: str) -> dict[str, Any]:
    from kernels.targets.memory import available_memory
    from semigroups.families import Family

    if ":" not in source:
        raise click.ClickException(f"{source}: no such file; a family is written as bihecke:4")
    with usage_errors():
        family = Family.parse(source)
    return {
        "family": str(family),
        "degree": family.degree,
        "generators": family.count,
        "memory": family.nbytes,
        "fits": family.nbytes <= available_memory(),
    }


def _stored(path: str, found: Summary) -> dict[str, Any]:
    begin = int(not found.monoid)
    bounds = [begin, *found.starts[1:], found.size]
    levels = [b - a for a, b in pairwise(bounds)]
    return {
        "file": path,
        "degree": found.degree,
        "generators": found.letters,
        "monoid": found.monoid,
        "size": found.size - begin,
        "finished": found.finished,
        "levels": levels if levels[-1] else levels[:-1],
        "points_compared": found.width,
        "hash_only": not found.compare,
        "rules_checked": found.checked,
        "memory": found.nbytes,
    }
