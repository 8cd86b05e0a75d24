"""Options that several subcommands share, and what they choose."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import click

from bulkbits.files import one_line_errors
from bulkbits.options import (
    all_of,
    force_option,
    json_option,
    memory_option,
    one_device_options,
    quiet_option,
)

if TYPE_CHECKING:
    from kernels.targets.contract import Target
    from kernels.transformations import Maps
    from semigroups.families import Family

F = TypeVar("F", bound=Callable[..., Any])


class Points(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """Parses a base: auto, all, or points as 0,5,17."""

    name = "BASE"

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        """Return how the base is written, for --help."""
        return "auto|all|P,P,..."

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return auto, all or a list of points; fail for anything else."""
        if isinstance(value, list) or value in ("auto", "all"):
            return value
        if not re.fullmatch(r"[0-9]{1,10}(,[0-9]{1,10})*", value):
            self.fail(f"{value!r} is no base: write auto, all, or points as 0,5,17", param, ctx)
        return [int(point) for point in value.split(",")]


@dataclass(frozen=True)
class EnumerationChoices:
    """Holds what enumeration_options say."""

    limit: int | None
    memory: int | None
    backend: str
    device: int
    threads: int | None
    out: str | None
    force: bool
    levels: bool
    green: bool
    idempotents: bool
    rules: bool
    rules_out: str | None
    as_json: bool
    quiet: bool

    def place(self, backend: str) -> Target:
        """Return the target of that name, on the device and with the threads that were said."""
        from kernels.targets.choose import pick

        return pick(backend, device=self.device, threads=self.threads)


# One GPU, as each level needs all maps found before.
memory_options = memory_option("That may be taken: 512M, 4G. [what the backend has to spare]")
run_options = all_of(
    click.option("--limit", type=click.IntRange(1), help="Stop before there are more elements."),
    memory_options,
    one_device_options,
)
question_options = all_of(
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
    json_option,
    quiet_option,
)


def enumeration_options(out: Callable[[F], F]) -> Callable[[F], F]:
    """Return a decorator that adds the options of EnumerationChoices. out: --out of the command."""
    return all_of(run_options, out, force_option, question_options)


source_options = all_of(
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
    """Print one line on standard error, whatever it quotes."""
    text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in message)
    click.echo(f"semigroups: {text}", err=True)


@contextmanager
def usage_errors() -> Iterator[None]:
    """Make what is wrong with an argument an error of the command line."""
    from semigroups.reading import GeneratorsError

    try:
        yield
    except GeneratorsError:
        raise
    except ValueError as error:
        raise click.UsageError(str(error), click.get_current_context()) from None


@contextmanager
def stored_errors(path: str) -> Iterator[None]:
    """Make what the system refuses of a semigroup's file, at `path`, an error of one line.

    A StoredError is one already, and says by its exit code whether the file is damaged.
    """
    with one_line_errors(path):
        yield


def generators_of(family: str | None, path: str | None, memory: int | None = None) -> Family | Maps:
    """Return what source_options name; a family's generators are not made.

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
    """Read maps from a file or, for -, standard input. Raises GeneratorsError."""
    from semigroups.reading import GeneratorsError, parse_generators, read_generators

    if path == "-":
        try:
            data = sys.stdin.buffer.read()
        except OSError as error:
            raise GeneratorsError(error.strerror or str(error), "standard input") from None
        return parse_generators(data, "standard input")
    return read_generators(path)
