"""Options that several subcommands share, and what they choose."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click

from arith.cli.files import one_line_errors
from arith.cli.sizes import Memory

if TYPE_CHECKING:
    from kernels.transf import Maps
    from semigroups.families import Family

F = TypeVar("F", bound=Callable[..., Any])


class Points(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """auto, all, or points: 0,5,17."""

    name = "BASE"

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        return "auto|all|P,P,..."

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        if isinstance(value, list) or value in ("auto", "all"):
            return value
        if not re.fullmatch(r"[0-9]{1,10}(,[0-9]{1,10})*", value):
            self.fail(f"{value!r} is no base: write auto, all, or points as 0,5,17", param, ctx)
        return [int(point) for point in value.split(",")]


def options(*decorators: Callable[[F], F]) -> Callable[[F], F]:
    """All of them, in the order of --help."""

    def decorate(command: F) -> F:
        for decorator in reversed(decorators):
            command = decorator(command)
        return command

    return decorate


backend_options = options(
    click.option(
        "--backend",
        type=click.Choice(["auto", "cuda", "cpu", "reference"]),
        default="auto",
        help="Who computes. [auto]",
    ),
    click.option(
        "--device",
        type=click.IntRange(0),
        default=0,
        help="Which GPU: one, as each level needs all maps found before. [0]",
    ),
    click.option("-j", "--threads", type=click.IntRange(1, 4096), help="CPU threads. [all cores]"),
)
memory_option = click.option(
    "--memory", type=Memory(), help="That may be taken: 512M, 4G. [what the backend has to spare]"
)
run_options = options(
    click.option("--limit", type=click.IntRange(1), help="Stop before there are more elements."),
    memory_option,
    backend_options,
)
question_options = options(
    click.option("--levels", is_flag=True, help="How many elements have words of each length."),
    click.option("--green", is_flag=True, help="Count Green's classes, and the regular ones."),
    click.option("--idempotents", is_flag=True, help="Count the idempotents."),
    click.option("--rules", is_flag=True, help="Count the rules of the presentation found."),
    click.option(
        "--rules-out",
        metavar="FILE",
        help="Write the rules: a line each, a word, a tab and the lesser word; generators are "
        "numbered from 0. - is standard output.",
    ),
    click.option("--json", "as_json", is_flag=True, help="Print one JSON object."),
    click.option("--quiet", is_flag=True, help="No progress on standard error, no notes."),
)
source_options = options(
    click.argument("family", required=False),
    click.option(
        "-g",
        "--generators",
        "path",
        metavar="FILE",
        help="Instead of a family: JSON, a line each, or GAP; - for standard input.",
    ),
)


def say(message: str) -> None:
    """One line on standard error, whatever it quotes."""
    text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in message)
    click.echo(f"semigroups: {text}", err=True)


@contextmanager
def usage_errors() -> Iterator[None]:
    """What is wrong with an argument is one of the command line."""
    from semigroups.reading import GeneratorsError

    try:
        yield
    except GeneratorsError:
        raise
    except ValueError as error:
        raise click.UsageError(str(error), click.get_current_context()) from None


@contextmanager
def stored_errors(path: str) -> Iterator[None]:
    """What a file of a semigroup, at `path`, is refused for."""
    from semigroups.files import StoredError

    with one_line_errors(path):
        try:
            yield
        except StoredError as error:
            raise click.ClickException(str(error)) from None


def generators_of(family: str | None, path: str | None, memory: int | None = None) -> Family | Maps:
    """What source_options name; a family's are not made.

    Raises GeneratorsError and UsageError; MemoryError where a family's need more than `memory`.
    """
    if (family is None) == (path is None):
        raise click.UsageError("give either a family, as bihecke:5, or --generators FILE")
    if path is not None:
        return read_maps(path)
    from semigroups.families import Family

    assert family is not None
    if ":" not in family and os.path.exists(family):
        raise click.UsageError(f"{family} is no family, but a file: write --generators {family}")
    with usage_errors():
        found = Family.parse(family)
    if memory is not None and found.nbytes > memory:
        needed = f"its generators take {found.nbytes:,} bytes"
        raise MemoryError(f"{found}: {needed}, --memory is {memory:,}")
    return found


def read_maps(path: str) -> Maps:
    """From a file or, for -, standard input. Raises GeneratorsError."""
    from semigroups.reading import parse_generators, read_generators

    if path == "-":
        return parse_generators(sys.stdin.buffer.read(), "standard input")
    return read_generators(path)
