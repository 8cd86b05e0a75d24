"""semigroups convert: generators in another syntax."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from bulkbits.files import check_out, writing
from bulkbits.options import all_of, force_option, out_option
from semigroups.cli.info import is_stored
from semigroups.cli.kinds import GENERATORS
from semigroups.cli.options import generators_of, source_options, stored_errors

if TYPE_CHECKING:
    from kernels.transformations import Maps


@click.command("convert")
@source_options
@all_of(
    click.option(
        "--to",
        type=click.Choice(["json", "lines", "gap"]),
        default="json",
        help="gap: a list of Transformations, whose points count from 1. [json]",
    ),
    out_option(),
    force_option,
)
def command(family: str | None, path: str | None, to: str, out: str, force: bool) -> None:
    """Write the generators of a family or a file (--generators) as JSON, a line each, or GAP.

    They may also be those of a saved semigroup. A FILE appears when it is whole, or not at all.
    """
    from semigroups.files import Archive
    from semigroups.options import maps_of

    check_out(out, GENERATORS, [path], force)
    if path is not None and path != "-" and is_stored(path):
        with stored_errors(path), Archive(path) as archive:
            maps = archive.generators
    else:
        maps = maps_of(generators_of(family, path))
    with writing(out) as stream:
        for line in _lines(maps, to):
            stream.write(line.encode())


def _lines(maps: Maps, to: str) -> Iterator[str]:
    begin, end = {"json": ("[", "]\n"), "gap": ("[ ", " ];\n"), "lines": ("", "\n")}[to]
    between = "\n" if to == "lines" else ",\n"
    yield begin
    for k, images in enumerate(maps):
        yield between if k else ""
        if to == "lines":
            yield " ".join(map(str, images.tolist()))
        elif to == "json":
            yield json.dumps(images.tolist())
        else:
            yield f"Transformation( {[p + 1 for p in images.tolist()]} )"
    yield end
