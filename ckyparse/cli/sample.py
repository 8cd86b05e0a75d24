"""ckyparse sample: random sentences of a grammar."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Sequence
from typing import Any

import click

from ckyparse.cli.options import read_grammar, start_option


class Lengths(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """Takes numbers of tokens: 8, or 3-12."""

    name = "LENGTH"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[int, int]:
        """Return the least and the greatest length of a text."""
        if isinstance(value, tuple):
            return value
        parts = value.split("-")
        if len(parts) > 2 or not all(p.isascii() and p.isdecimal() and len(p) < 9 for p in parts):
            self.fail(f"{value!r} is no length: write 8, or 3-12", param, ctx)
        least, most = int(parts[0]), int(parts[-1])
        if most < least:
            self.fail(f"{value!r}: the second is less than the first", param, ctx)
        return least, most


_JOINED: dict[str, Callable[[Sequence[str]], str]] = {
    "space": " ".join,
    "chars": "".join,
    "json": lambda tokens: json.dumps(list(tokens)),
}


@click.command("sample")
@click.argument("grammar", metavar="GRAMMAR")
@start_option
@click.option("-n", "count", type=click.IntRange(0), default=10, help="How many. [10]")
@click.option("--length", type=Lengths(), metavar="N|N-M", help="In tokens. [as they come]")
@click.option("--seed", type=click.IntRange(0), help="For the same sentences again. [random]")
@click.option(
    "--tokens",
    type=click.Choice(list(_JOINED)),
    default="space",
    help="What is between tokens: a space, nothing; or JSON arrays. [space]",
)
def command(
    grammar: str,
    start: str | None,
    count: int,
    length: tuple[int, int] | None,
    seed: int | None,
    tokens: str,
) -> None:
    """Print random sentences of the grammar in a file, a line each.

    With probabilities, sentences are drawn as these say. Without, each length that there is
    is as likely, and so is each tree of a length.
    """
    from ckyparse.sample import SampleError, sentences

    least, most = (0, None) if length is None else length
    if seed is None:
        seed = secrets.randbits(32)
    try:
        drawn = sentences(read_grammar(grammar, start), count, seed, minimum=least, maximum=most)
        for sentence in drawn:
            click.echo(_JOINED[tokens](sentence))
    except SampleError as error:
        raise click.ClickException(f"{grammar}: {error}") from None
