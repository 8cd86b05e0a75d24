"""semigroups find: numbers of maps."""

from __future__ import annotations

import click

from bulkbits.options import one_device_options
from semigroups.cli.options import memory_options, read_maps, say, stored_errors


@click.command("find")
@click.argument("path", metavar="S.h5")
@click.argument("maps", metavar="FILE")
@memory_options
@one_device_options
def command(
    path: str,
    maps: str,
    memory: int | None,
    backend: str,
    device: int,
    threads: int | None,
) -> int:
    """Print the number of each map of FILE in a saved semigroup, a line each; - for none.

    FILE is read as --generators are; - for standard input. Exit code 1 where one is not found.
    """
    from semigroups.files import summary
    from semigroups.semigroup import Semigroup

    images = read_maps(maps)
    with stored_errors(path):
        degree = summary(path).degree
        if images.shape[1] != degree:
            raise click.ClickException(
                f"{maps}: maps of {images.shape[1]:,} points, not {degree:,} as in {path}"
            )
        found = Semigroup.load(path, backend=backend, device=device, threads=threads, memory=memory)
    if not found.finished:
        say(f"{path}: not all elements are found, but {found.current_size:,}")
    numbers = found.current_positions(images).tolist()
    for number in numbers:
        click.echo(number if number >= 0 else "-")
    return int(min(numbers) < 0)
