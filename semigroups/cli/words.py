"""semigroups words: elements by number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from semigroups.cli.options import stored_errors

if TYPE_CHECKING:
    from kernels.transformations import Maps
    from semigroups.sequences import Words

_AT_ONCE = 4096
_FEW = 256  # words that are followed one by one; of more, all is read


@click.command("words")
@click.argument("path", metavar="S.h5")
@click.argument("numbers", nargs=-1, type=click.IntRange(0), metavar="[I]...")
@click.option("--images", is_flag=True, help="The map, too: a tab, and its images from 0.")
def command(path: str, numbers: tuple[int, ...], images: bool) -> None:
    """Print the least word of each element I of a saved semigroup, or of all.

    A line each: the number, a tab, and the generators of the word. All are numbered from 0; a
    word's first generator acts first.
    """
    with stored_errors(path):
        words = _WordsAsText(path)
        if numbers and max(numbers) >= len(words):
            there = f"there are {len(words):,}, from 0"
            raise click.ClickException(f"{path}: no element {max(numbers)}: {there}")
    wanted: range | tuple[int, ...] = numbers or range(len(words))
    for start in range(0, len(wanted), _AT_ONCE):
        part = wanted[start : start + _AT_ONCE]
        with stored_errors(path):
            lines = _lines(words, part, images)
        click.echo(lines, nl=False)  # whose errors are not the file's


def _lines(words: _WordsAsText, numbers: Sequence[int], images: bool) -> str:
    lines = []
    for number, word in zip(numbers, words.of(numbers), strict=True):
        line = f"{number}\t{' '.join(map(str, word))}"
        if images:
            line += f"\t{_images(words.generators, word)}"
        lines.append(line + "\n")
    return "".join(lines)


class _WordsAsText:
    """Reads the words of a file, finished or not; of it only what they need is read."""

    def __init__(self, path: str) -> None:
        from kernels.transformations.tables import check_starts
        from semigroups.files import Archive

        self._archive = Archive(path)
        told = self._archive.summary
        with self._archive.errors():
            check_starts(told.starts, told.size, told.expanded)
            for name in ("first", "suffix"):
                if self._archive.shape(name) != (told.size,):
                    raise ValueError(f"{name} is {self._archive.shape(name)}, not {(told.size,)}")
        self._begin = int(not told.monoid)
        self._all: Words | None = None

    def __len__(self) -> int:
        return self._archive.summary.size - self._begin

    @property
    def generators(self) -> Maps:
        """Generators of the file."""
        return self._archive.generators

    def of(self, numbers: Sequence[int]) -> list[tuple[int, ...]]:
        """Return the words of elements, each a tuple of numbers of generators."""
        import numpy as np

        from semigroups.finished import follow
        from semigroups.sequences import Words

        archive, told = self._archive, self._archive.summary
        with archive.errors():
            if self._all is None and len(numbers) <= _FEW:
                of = (number + self._begin for number in numbers)
                return [tuple(follow(archive, told.starts, told.letters, n)) for n in of]
            if self._all is None:
                first, suffix = archive.array("first"), archive.array("suffix")
                if (first[1:] >= told.letters).any():
                    raise ValueError("first names a generator that is not there")
                self._all = Words(told.starts, first, suffix, self._begin)
            return self._all.of(np.array(numbers) + self._begin)


def _images(generators: Maps, word: tuple[int, ...]) -> str:
    images = list(range(generators.shape[1]))
    for letter in word:
        images = generators[letter][images].tolist()
    return " ".join(map(str, images))
