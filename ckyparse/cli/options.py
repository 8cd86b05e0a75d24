"""Options of the subcommands that read sentences, and what they choose."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import click

from bulkbits.options import (
    check_cluster,
    cluster_option,
    format_option,
    many_devices_options,
    memory_option,
)
from ckyparse.cli.reports import say
from ckyparse.cli.tokenise import JsonTokenizer, PlainTokenizer, RegexTokenizer, Tokenizer
from kernels.cky.text import ABSENT

if TYPE_CHECKING:
    from ckyparse.grammar import Grammar
    from ckyparse.parser import CKYParser
    from kernels.targets.contract import Target

F = TypeVar("F", bound=Callable[..., Any])


class Tokens(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """Takes the name of a way to cut lines, and the pattern of a regex."""

    name = "WAY"

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        """Return what help shows for a value."""
        return "space|chars|regex:PATTERN|json"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[str, re.Pattern[str] | None]:
        """Return the name of a way, and the pattern of a regex."""
        if isinstance(value, tuple):
            return value
        way, colon, pattern = value.partition(":")
        if way == "regex" and not pattern:
            self.fail(r"write the pattern, too: regex:\w+", param, ctx)
        if way not in ("space", "chars", "regex", "json") or (colon and way != "regex"):
            self.fail(f"{value!r} is none of space, chars, regex:PATTERN and json", param, ctx)
        try:
            return way, re.compile(pattern) if colon else None
        except (re.error, RecursionError, OverflowError) as error:
            self.fail(f"{pattern!r} is no regular expression: {error}", param, ctx)


@dataclass(frozen=True)
class Choices:
    """Holds what a command that reads sentences was told."""

    grammar: str
    files: tuple[str, ...]
    start: str | None
    tokens: tuple[str, re.Pattern[str] | None]
    unknown: str
    skip_empty: bool
    backend: str
    devices: tuple[int, ...]
    threads: int | None
    memory: int | None
    cluster: str | None

    def __post_init__(self) -> None:
        check_cluster(self.cluster, self.devices)

    @property
    def paths(self) -> tuple[str, ...]:
        """The files to read; standard input where none is named."""
        return self.files or ("-",)

    def read_grammar(self) -> Grammar:
        """Return the grammar of the file. Raises GrammarError."""
        from ckyparse.analysis import is_empty

        grammar = read_grammar(self.grammar, self.start)
        if is_empty(grammar):
            say(f"{self.grammar}: the language is empty, no sentence will be accepted")
        return grammar

    def parser(
        self, grammar: Grammar, backend: Target | None = None, memory: int | None = None
    ) -> CKYParser:
        """backend, memory: instead of what was said, and where nothing was.

        Raises ClickException where --unknown is no terminal.
        """
        from ckyparse.parser import CKYParser

        unknown = "reject" if self.unknown == "error" else self.unknown
        try:
            return CKYParser(
                grammar,
                backend=backend or self.backend,
                device=self.devices[0] if len(self.devices) == 1 else self.devices,
                threads=self.threads,
                memory=self.memory or memory,
                unknown=unknown,
            )
        except ValueError as error:
            if unknown == "reject" or unknown in grammar.terminals:
                raise
            raise click.ClickException(
                f"--unknown {unknown}: no terminal of the grammar"
            ) from error

    def parsers(self, grammar: Grammar) -> Iterator[CKYParser]:
        """Yield a parser for each of the devices, which begins when it is asked for.

        With "auto" each has an even share of the CPU's threads, and uses its GPU where that is
        quicker. Raises BackendUnavailableError; for a number that no GPU has before the first.
        """
        from kernels.targets.choose import check_gpus, pick
        from kernels.targets.cpu import core_count

        if self.backend == "auto":
            threads = max(1, (self.threads or core_count()) // len(self.devices))
            for number in self.devices:
                yield replace(self, devices=(number,), threads=threads).parser(grammar)
        else:
            check_gpus(self.backend, self.devices)
            for number in self.devices:
                yield self.parser(grammar, pick(self.backend, device=number))

    def tokenizer(self, parser: CKYParser) -> Tokenizer:
        """Return the tokenizer that the options choose."""
        from kernels.targets.cpu import core_count

        numbers = parser.vocabulary.numbers
        unknown = ABSENT if self.unknown in ("reject", "error") else numbers[self.unknown]
        way, pattern = self.tokens
        if pattern is not None:
            return RegexTokenizer(numbers, unknown, pattern)
        if way == "json":
            return JsonTokenizer(numbers, unknown)
        threads = self.threads or core_count()
        return PlainTokenizer(numbers, unknown, chars=way == "chars", threads=threads)


def read_grammar(path: str, start: str | None) -> Grammar:
    """Return the grammar in a file, and say what is odd about it. Raises GrammarError."""
    from ckyparse.grammar import parse_file, undefined_note

    grammar = parse_file(path, start)
    if note := undefined_note(grammar, path):
        say(note)
    return grammar


grammar_option = click.option(
    "-g", "--grammar", required=True, metavar="FILE", help="In nltk's syntax, UTF-8."
)
start_option = click.option(
    "--start", metavar="SYMBOL", help="What sentences derive from. [as the grammar says]"
)


def lines_option(tsv: str, jsonl: str) -> Callable[[F], F]:
    """Return --format of results a line each: what either has."""
    return format_option("tsv", "jsonl", help=f"tsv: {tsv}. jsonl: an object with {jsonl}.")


def sentence_options(command: F) -> F:
    """FILES and the options of Choices."""
    for decorate in reversed(
        [
            grammar_option,
            click.argument("files", nargs=-1),
            start_option,
            click.option(
                "--tokens",
                type=Tokens(),
                default="space",
                help="What a line's tokens are. [space: what blanks separate]",
            ),
            click.option(
                "--unknown",
                default="reject",
                metavar="reject|error|TOKEN",
                help="A token that the grammar has not: the line is rejected, or all ends there, "
                "or it counts as TOKEN. [reject]",
            ),
            click.option("--skip-empty", is_flag=True, help="Pass over lines without tokens."),
            many_devices_options,
            memory_option("For charts: 512M, 4G. [what there is]"),
            cluster_option,
        ]
    ):
        command = decorate(command)
    return command
