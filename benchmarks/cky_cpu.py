"""CKY parsing on the CPU, beside nltk's chart parser and, where installed, lark and pyformlang.

    python -m benchmarks.cky_cpu [--threads N] [--json]

Microseconds per string, from terminals in memory to accept bits; best of several runs. The
CPU's rates hold within one run only: others share the machine.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass

import numpy as np

from benchmarks import natural
from benchmarks.cky_tables import LENGTH, TABLE, random_rules, random_strings, splits
from kernels.cky import Batch, engine_for
from kernels.targets.choose import pick

RUNS = 5
CASES = ((32, 8192), (32, 32768), (64, 8192), (128, 16384), (256, 65536), (512, 131072))


@dataclass(frozen=True, slots=True)
class Row:
    what: str
    strings: int
    us: float  # per string
    accepted: float  # share
    other: str = ""  # whose time the next is
    other_us: float = 0.0

    @property
    def ratio(self) -> float:
        return self.other_us / self.us


def best(run: Callable[[], object], runs: int = RUNS) -> float:
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def random_grammars(threads: int | None) -> list[Row]:
    rows = []
    for symbols, rules in CASES:
        of = random_rules(symbols, rules)
        engine = engine_for(pick("cpu", threads=threads), of)
        batch = random_strings(of, max(1 << 20 >> symbols.bit_length(), 2048), LENGTH)
        share = float(engine.accept(batch, 0).mean())
        us = best(lambda: engine.accept(batch, 0), 3) / len(batch) * 1e6  # noqa: B023
        what = f"{symbols} symbols, {rules} rules, length {LENGTH}"
        rows.append(Row(what, len(batch), us, share, "Fujita's CPU", TABLE[symbols, rules][0]))
    return rows


def mixed_lengths(threads: int | None) -> tuple[float, float]:
    """Nanoseconds per split and string, lengths 8 to 128 mixed, and all 68 (32 symbols)."""
    of = random_rules(32, 8192)
    engine = engine_for(pick("cpu", threads=threads), of)
    times = []
    for lengths in (range(8, 129), 68):
        batch = random_strings(of, 8192, lengths)
        engine.accept(batch, 0)
        seconds = best(lambda: engine.accept(batch, 0), 3)  # noqa: B023
        times.append(seconds / splits(batch.lengths) * 1e9)
    return times[0], times[1]


def natural_language(threads: int | None) -> list[Row]:
    from nltk.parse.chart import BottomUpLeftCornerChartParser

    from ckyparse import CKYParser

    grammar = natural.grammar()
    sentences = natural.sentences(grammar, 10_000)
    start = time.perf_counter()
    parser = CKYParser(grammar, backend="cpu")
    found = parser.accepts(sentences[:1])
    made = time.perf_counter() - start
    found = parser.accepts(sentences)
    us = best(lambda: parser.accepts(sentences)) / len(sentences) * 1e6
    one = sentences[0]
    single = best(lambda: parser.accepts([one])) * 1e6
    tree = best(lambda: next(iter(parser.parse(one)))) * 1e6
    chart = BottomUpLeftCornerChartParser(grammar.to_nltk())
    few = sentences[:10]
    theirs = best(lambda: [list(chart.chart_parse(s).edges()) for s in few], 1) / len(few) * 1e6
    share = float(np.mean(found))
    name = "nltk chart parser"
    what = f"natural, {len(grammar.productions)} productions"
    return [
        Row(f"{what}: batch of {len(sentences)}", len(sentences), us, share, name, theirs),
        Row(f"{what}: one sentence", 1, single, 1.0, name, theirs),
        Row(f"{what}: one sentence to its first tree", 1, tree, 1.0, name, theirs),
        Row(f"{what}: parser made, and one sentence", 1, made * 1e6, 1.0, name, theirs),
    ]


def one_ambiguous_rule(length: int, threads: int | None) -> list[Row]:
    """S → S S | a: strings of one length, all accepted."""
    from nltk.parse.chart import BottomUpLeftCornerChartParser

    from ckyparse import Grammar
    from ckyparse.normal import NormalForm

    grammar = Grammar.fromstring("S -> S S | 'a'")
    form = NormalForm(grammar)
    engine = engine_for(pick("cpu", threads=threads), form.rules)
    count = 1 << 17
    offsets = np.arange(count + 1, dtype=np.int64) * length
    batch = Batch(np.full(count * length, form.vocabulary["a"], np.uint32), offsets)
    share = float(engine.accept(batch, form.start).mean())
    us = best(lambda: engine.accept(batch, form.start)) / count * 1e6
    words = ["a"] * length
    chart = BottomUpLeftCornerChartParser(grammar.to_nltk())
    others = {"nltk chart parser": best(lambda: chart.chart_parse(words), 2) * 1e6}
    others.update(_lark(length))
    others.update(_pyformlang(length))
    what = f"S → S S | a, length {length}"
    return [Row(what, count, us, share, name, other) for name, other in others.items()]


def _lark(length: int) -> dict[str, float]:
    try:
        from lark import Lark
    except ImportError:
        return {}
    parser = Lark('start: start start | "a"', parser="earley", ambiguity="forest")
    return {"lark": best(lambda: parser.parse("a" * length), 2) * 1e6}


def _pyformlang(length: int) -> dict[str, float]:
    try:
        from pyformlang.cfg import CFG
    except ImportError:
        return {}
    grammar = CFG.from_text("S -> S S | a")
    grammar.contains(["a"])  # its normal form is made here
    return {"pyformlang": best(lambda: grammar.contains(["a"] * length), 2) * 1e6}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    threads = arguments.threads
    rows = [*random_grammars(threads), *natural_language(threads)]
    for length in (16, LENGTH):
        rows += one_ambiguous_rule(length, threads)
    mixed, equal = mixed_lengths(threads)
    if arguments.json:
        print(json.dumps({"rows": [asdict(r) for r in rows], "mixed": mixed, "equal": equal}))
        return
    print("| what | strings | µs a string | accepted | beside | its µs | ratio |")
    print("| --- | ---: | ---: | ---: | --- | ---: | ---: |")
    for r in rows:
        tail = f"{r.other} | {r.other_us:.4g} | {r.ratio:.3g}"
        print(f"| {r.what} | {r.strings} | {r.us:.3g} | {r.accepted:.0%} | {tail} |")
    print(f"lengths 8 to 128 mixed: {mixed:.4g} ns a split and string; all 68: {equal:.4g}")
    print(f"mixed lengths reach {equal / mixed:.0%} of the rate of equal ones")


if __name__ == "__main__":
    main()
