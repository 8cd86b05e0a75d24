"""semigroups words: elements by number."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from semigroups.cli.options import stored_errors

if TYPE_CHECKING:
    from kernels.transf import Maps

_AT_ONCE = 4096


@click.command("words")
@click.argument("path", metavar="S.h5")
@click.argument("numbers", nargs=-1, type=click.IntRange(0), metavar="[I]...")
@click.option("--images", is_flag=True, help="The map, too: a tab, and its images from 0.")
def command(path: str, numbers: tuple[int, ...], images: bool) -> None:
    """Print the least word of each element I of a saved semigroup, or of all.

    A line each: the number, a tab, and the generators of the word. All are numbered from 0; a
    word's first generator acts first.
    """
    import numpy as np

    from semigroups.files import load
    from semigroups.sequences import Words

    with stored_errors(path):
        stored = load(path)
    tables, begin = stored.tables, int(not stored.summary.monoid)
    words = Words(tables.starts, tables.first, tables.suffix, begin)
    if numbers and max(numbers) >= len(words):
        there = f"there are {len(words):,}, from 0"
        raise click.ClickException(f"{path}: no element {max(numbers)}: {there}")
    wanted: range | tuple[int, ...] = numbers or range(len(words))
    for start in range(0, len(wanted), _AT_ONCE):
        part = wanted[start : start + _AT_ONCE]
        for number, word in zip(part, words.of(np.array(part) + begin), strict=True):
            line = f"{number}\t{' '.join(map(str, word))}"
            if images:
                line += f"\t{_images(stored.generators, word)}"
            click.echo(line)


def _images(generators: Maps, word: tuple[int, ...]) -> str:
    images = list(range(generators.shape[1]))
    for letter in word:
        images = generators[letter][images].tolist()
    return " ".join(map(str, images))
