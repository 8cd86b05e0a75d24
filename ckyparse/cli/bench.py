"""ckyparse bench: strings a second on random grammars, beside nltk's chart parser."""

from __future__ import annotations

import json
import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from bulkbits.options import backend_option, device_option, json_option, threads_option
from kernels.cky import Batch

if TYPE_CHECKING:
    from ckyparse.grammar import Grammar
    from ckyparse.parser import CKYParser

ROUNDS = 5
_TIME = 0.2  # seconds of a measurement, about
_PATIENCE = 2.0  # seconds for nltk's parser and one string
_MOST = 1 << 20  # strings at a time
_DISTINCT = 1 << 12  # strings, repeated as often as need be
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
    help="Of a random grammar; several times, too. [brackets, and 16,256 32,2048 32,8192]",
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
    """Measure how long it takes to accept or reject a string.

    Grammars are random, as in Fujita's tables: distinct binary rules, and a terminal for
    each nonterminal. Strings are random, too, and encoded before. The last column is nltk's
    chart parser on some of the same strings, in the same run: how many times as long it
    takes for one, on one core; - where it does not come to an end within two seconds.
    """
    from ckyparse.parser import CKYParser
    from kernels.targets.choose import pick

    place = pick(backend, device=device, threads=threads).describe()
    results = []
    if not as_json:
        click.echo(f"{place}; median of {ROUNDS} rounds")
        click.echo(
            f"{'grammar':>12} {'length':>6} {'strings':>9} {'accepted':>8} {'µs each':>10} "
            f"{'nltk':>12}"
        )
    for name, grammar in _grammars(sizes):
        parser = CKYParser(grammar, backend=backend, device=device, threads=threads)
        for length in lengths or (8, 32):
            result = _measured(parser, _strings(grammar, length), count)
            results.append({"grammar": name, "length": length, **result})
            if as_json:
                continue
            ratio = result["nltk_ratio"]
            click.echo(
                f"{name:>12} {length:>6} {result['count']:>9} {result['accepted']:>8.1%} "
                f"{result['microseconds']:>10,.3f} {'-' if ratio is None else f'{ratio:,.0f}x':>12}"
            )
    if as_json:
        click.echo(json.dumps({"place": place, "results": results}))


def _grammars(sizes: Sequence[tuple[int, int]]) -> Iterator[tuple[str, Grammar]]:
    from ckyparse.grammar import Grammar

    if not sizes:
        yield "brackets", Grammar.fromstring(_BRACKETS)
    for nonterminals, rules in sizes or ((16, 256), (32, 2048), (32, 8192)):
        yield f"{nonterminals},{rules}", Grammar.random(nonterminals, rules, seed=1)


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


def _measured(parser: CKYParser, strings: list[list[str]], count: int | None) -> dict[str, Any]:
    """Measure by turns the seconds of ours and of nltk's."""
    some = parser.encode(strings).batch

    def batch(size: int) -> Batch:
        return some.take(np.arange(size) % len(some))

    if count is None:
        count = 32
        parser.accepts(batch(count))  # what is made once
        while count < _MOST and _seconds(parser.accepts, batch(count)) < _TIME:
            count *= 2
    all_of_them = batch(count)
    accepted = parser.accepts(all_of_them)
    others = _Nltk(parser.normal_form.grammar)
    times, ratios = [], []
    for turn in range(ROUNDS):
        mine = _seconds(parser.accepts, all_of_them) / count
        times.append(mine)
        theirs = others.seconds(strings[turn % len(strings)])
        if theirs is not None:
            ratios.append(theirs / mine)
    return {
        "count": count,
        "accepted": float(accepted.mean()),
        "microseconds": statistics.median(times) * 1e6,
        "nltk_ratio": statistics.median(ratios) if len(ratios) == ROUNDS else None,
    }


class _Nltk:
    """nltk's chart parser, until it takes too long."""

    def __init__(self, grammar: Grammar) -> None:
        self._grammar = grammar
        self._given_up = False

    def seconds(self, string: list[str]) -> float | None:
        """Return what it takes to fill the chart; None if that is more than _PATIENCE."""
        from nltk.parse.chart import ChartParser

        if self._given_up:
            return None
        try:
            parser = ChartParser(self._grammar.to_nltk(), max_time=_PATIENCE)
        except TypeError:  # before nltk 3.10 it knew no limit
            self._given_up = True
            return None
        try:
            return _seconds(parser.chart_parse, string)
        except TimeoutError:
            self._given_up = True
            return None


def _seconds(function: Callable[[Any], object], argument: object) -> float:
    start = time.perf_counter()
    function(argument)
    return time.perf_counter() - start
