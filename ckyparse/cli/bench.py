"""ckyparse bench: strings a second on some grammars, beside other machines and nltk."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from itertools import cycle
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from bulkbits.comparison import Comparison, Row, present
from bulkbits.options import backend_option, device_option, json_option, threads_option
from bulkbits.timing import TimedRunner, compete
from kernels.cky import Batch

if TYPE_CHECKING:
    from ckyparse.grammar import Grammar
    from ckyparse.parser import CKYParser

ROUNDS = 5
SECONDS = 1.0  # of a row, all rounds together
_TIME = 0.1  # seconds of a measurement, about
_PATIENCE = 2.0  # seconds for nltk's parser and one string
_MOST = 1 << 20  # strings at a time
_DISTINCT = 1 << 12  # strings, repeated as often as need be
_RANDOM = ((32, 2048), (32, 8192), (64, 8192))  # grammars, where no size is asked for
_BRACKETS = "S -> S S | '(' S ')' | '(' ')'"


class GrammarSizes(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """Takes numbers of nonterminals and binary rules: 32,8192."""

    name = "N,RULES"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[int, int]:
        """Return the two numbers of a text."""
        if isinstance(value, tuple):
            return value
        parts = value.split(",")
        if len(parts) != 2 or not all(p.isascii() and p.isdecimal() and len(p) < 9 for p in parts):
            self.fail(f"{value!r}: write nonterminals and rules as in 32,8192", param, ctx)
        nonterminals, rules = map(int, parts)
        if not (1 <= nonterminals <= 4096 and rules <= min(nonterminals**3, 1 << 22)):
            self.fail(f"{value!r}: at most 4096 nonterminals, N**3 or {1 << 22} rules", param, ctx)
        return nonterminals, rules


@click.command("bench")
@click.option(
    "--grammar",
    "sizes",
    type=GrammarSizes(),
    multiple=True,
    help="Of a random grammar; several times, too. [two small ones; 32,2048 32,8192 64,8192]",
)
@click.option(
    "--length",
    "lengths",
    type=click.IntRange(1, 1024),
    multiple=True,
    help="Of strings; several times, too. [8 and 32]",
)
@click.option("--count", type=click.IntRange(1, 1 << 24), help="Strings at a time. [by rate]")
@backend_option()
@device_option
@threads_option
@json_option
def command(
    sizes: tuple[tuple[int, int], ...],
    lengths: tuple[int, ...],
    count: int | None,
    backend: str,
    device: int,
    threads: int | None,
    as_json: bool,
) -> None:
    """Measure this machine beside the figures of benchmarks/RESULTS.md, in a table to paste.

    Rows are grammars and lengths of strings, each of which is accepted or rejected. Grammars are
    balanced brackets, S -> S S | a, and random ones, as in Fujita's tables: distinct binary rules,
    and a terminal for each nonterminal. Strings are random, too, and encoded before. Columns with
    "/" say how many times as fast this machine is: also as nltk's chart parser on one core, by
    turns with ours, on some of the same strings; empty where one takes it more than two seconds.
    """
    from ckyparse.parser import CKYParser
    from kernels.targets import cpu
    from kernels.targets.choose import pick

    target = pick(backend, device=device, threads=threads)
    comparison = Comparison("ckyparse", target.describe(), target.name, cpu.model())
    tasks: list[Callable[[], Row]] = []
    for name, make in _grammars(sizes):
        parser = cache(
            lambda make=make: CKYParser(make(), backend=backend, device=device, threads=threads)
        )
        nltk = cache(lambda parser=parser: _Nltk(parser().normal_form.grammar))
        tasks += [
            partial(_measured, name, parser, nltk, length, count)
            for length in sorted(lengths or (8, 32))
        ]
    present(comparison, tasks, as_json=as_json)


def _grammars(sizes: Sequence[tuple[int, int]]) -> Iterator[tuple[str, Callable[[], Grammar]]]:
    """Yield names of grammars, and what makes them."""
    from ckyparse.grammar import Grammar

    if not sizes:
        yield "brackets", partial(Grammar.fromstring, _BRACKETS)
        yield "S -> S S | a", partial(Grammar.fromstring, "S -> S S | 'a'")
    for nonterminals, rules in sizes or _RANDOM:
        yield f"random {nonterminals},{rules}", partial(Grammar.random, nonterminals, rules, seed=1)


def _strings(grammar: Grammar, length: int) -> list[list[str]]:
    """Return strings of random terminals; of brackets that close, as far as the length allows."""
    source = random.Random(length)
    if grammar.terminals != ("(", ")"):
        return [source.choices(grammar.terminals, k=length) for _ in range(_DISTINCT)]
    found = []
    for _ in range(_DISTINCT):
        string: list[str] = []
        depth = 0
        for left in range(length, 0, -1):
            opens = depth == 0 or (depth < left and source.random() < 0.5)
            string.append("(" if opens else ")")
            depth += 1 if opens else -1
        found.append(string)
    return found


def _measured(
    name: str,
    parser_of: Callable[[], CKYParser],
    nltk_of: Callable[[], _Nltk],
    length: int,
    count: int | None,
) -> Row:
    """Measure by turns ours and nltk's."""
    parser = parser_of()
    strings = _strings(parser.normal_form.grammar, length)
    batch = partial(_repeated, parser.encode(strings).batch, length)
    if count is None:
        count = 32
        parser.accepts(batch(count))  # what is made once
        while count < _MOST and _seconds(parser.accepts, batch(count)) < _TIME:
            count *= 2
    all_of_them = batch(count)
    accepted = parser.accepts(all_of_them)

    def ours(times: int) -> None:
        for _ in range(times):
            parser.accepts(all_of_them)

    runners = [TimedRunner(count, ours)]
    nltk = nltk_of()
    peer = nltk.runner(strings)
    if peer:
        runners.append(peer)
    mine, *theirs = compete(runners, SECONDS, rounds=ROUNDS)
    if nltk.given_up:
        theirs = []
    return Row(
        name,
        f"length {length}",
        "strings",
        mine,
        {"nltk": theirs[0]} if theirs else {},
        details={
            "length": length,
            "count": count,
            "accepted": float(accepted.mean()),
            "microseconds": 1e6 / mine.median,
        },
    )


def _repeated(some: Batch, length: int, count: int) -> Batch:
    """Return so many strings of a batch whose strings are all of that length, over and over."""
    terminals = np.empty(length * count, np.uint32)
    step = len(some.terminals)
    for start in range(0, terminals.size, step):
        part = terminals[start : start + step]
        part[:] = some.terminals[: part.size]
    return Batch(terminals, np.arange(count + 1, dtype=np.int64) * length)


class _Nltk:
    """nltk's chart parser, until it takes too long."""

    def __init__(self, grammar: Grammar) -> None:
        self._grammar = grammar
        self.given_up = False

    def runner(self, strings: list[list[str]]) -> TimedRunner | None:
        """Return a runner that fills the charts of some strings, one after another; None where
        one takes more than _PATIENCE."""
        from nltk.parse.chart import ChartParser

        if self.given_up:
            return None
        try:
            parser = ChartParser(self._grammar.to_nltk(), max_time=_PATIENCE)
        except TypeError:  # before nltk 3.10 it knew no limit
            return None
        some = cycle(strings)

        def step(times: int) -> None:
            for _ in range(times):
                self._parse(parser, next(some))

        self._parse(parser, strings[0])
        return None if self.given_up else TimedRunner(1, step)

    def _parse(self, parser: Any, string: list[str]) -> None:
        """Fill a chart, or note that it takes too long."""
        try:
            parser.chart_parse(string)
        except TimeoutError:
            self.given_up = True


def _seconds(function: Callable[[Any], object], argument: object) -> float:
    start = time.perf_counter()
    function(argument)
    return time.perf_counter() - start
