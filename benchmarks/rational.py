"""Rationals in bulk beside a loop over gmpy2's mpq: in lowest terms, and as Gusenbauer has them.

    python -m benchmarks.rational [--place auto|host|cuda] [--words 4 --words 32] [--json]
    python -m benchmarks.rational --processor-time [--words 4 --words 32]

Numerators and denominators are random and of full length, reduced once. Times are
nanoseconds for one of many operations, from memory to memory of the place, the best of
several runs. mpq: a list comprehension on one core, in the same process. gcd: of two
integers as long as the products of a numerator and a denominator, in the same place.
Unreduced: numerators and denominators are only multiplied and added up (Gusenbauer 2015,
4.4), on the same operands. With --processor-time: only what reduced ones in host memory and mpq
take, all threads together, by turns.
"""

from __future__ import annotations

import argparse
import json
import operator
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import gmpy2
import numpy as np

from arith import IntArray, engines
from arith.rational import RationalArray
from benchmarks.turns import least_times
from kernels.targets.contract import BackendUnavailableError

OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "multiply": operator.mul,
    "divide": operator.truediv,
}
RUNS = 5
RUN_SECONDS = 0.05  # a run is as many calls as take about this long
WORDS = {"host": 1 << 19, "cuda": 1 << 24}  # of an array of numerators
LOOPED = 1 << 17  # words of an array in the loops over mpq
CHECKED = 100  # results that are compared with those of mpq


@dataclass(frozen=True, slots=True)
class Row:
    """Nanoseconds for one; words: 32 bits each, of a numerator and of a denominator."""

    words: int
    operation: str
    count: int
    reduced: float
    unreduced: float
    mpq: float
    gcd: float


class WrongResultError(Exception):
    """Its time would mean nothing."""


def integers(seed: int, count: int, words: int) -> IntArray:
    """Random ones of full length."""
    limbs = np.random.default_rng(seed).integers(0, 1 << 32, (count, words), np.uint32)
    limbs[:, -1] |= 1 << 31
    return IntArray.from_limbs(limbs)


def rationals(seed: int, count: int, words: int, place: str) -> RationalArray:
    n, d = (integers(seed + i, count, words).to(place) for i in range(2))
    return RationalArray(n, d)


def quotients(array: RationalArray) -> list[Any]:
    """Return the same numbers as gmpy2's mpq."""
    return [gmpy2.mpq(*pair) for pair in zip(array.numerator, array.denominator, strict=True)]


def nanoseconds(count: int, run: Callable[[], object], finish: Callable[[], object]) -> float:
    """Return the nanoseconds for one of `count`."""

    def seconds(calls: int) -> float:
        start = time.perf_counter()
        for _ in range(calls):
            run()
        finish()
        return time.perf_counter() - start

    seconds(1)  # compiles what there is to compile
    calls = max(1, int(RUN_SECONDS / seconds(1)))
    return min(seconds(calls) for _ in range(RUNS)) / calls / count * 1e9


def verify(name: str, a: RationalArray, b: RationalArray) -> None:
    """Raises WrongResultError unless the first results are those of mpq."""
    a, b = a[:CHECKED], b[:CHECKED]
    expected = [OPERATIONS[name](x, y) for x, y in zip(quotients(a), quotients(b), strict=True)]
    if list(OPERATIONS[name](a, b)) != expected:
        raise WrongResultError(name)


def measure(place: str, words: int, count: int, looped: int) -> list[Row]:
    """looped: how many of them are in the loops over mpq."""
    engine = engines.named(place)
    device = getattr(engine, "device", None)
    finish = device.synchronize if device else lambda: None
    a, b = (rationals(seed, count, words, place) for seed in (1, 3))
    c, d = (integers(seed, count, 2 * words).to(place) for seed in (5, 6))
    loose = [RationalArray(x, reduce=False) for x in (a, b)]
    p, q = quotients(a[:looped]), quotients(b[:looped])
    gcd = nanoseconds(count, lambda: c.gcd(d), finish)
    rows = []
    for name, operation in OPERATIONS.items():
        for x, y in ((a, b), (loose[0], loose[1])):
            verify(name, x, y)
        rows.append(
            Row(
                words,
                name,
                count,
                nanoseconds(count, lambda f=operation: f(a, b), finish),
                nanoseconds(count, lambda f=operation: f(*loose), finish),
                nanoseconds(len(p), lambda f=operation: list(map(f, p, q)), lambda: None),
                gcd,
            )
        )
    return rows


def print_processor_times(words: int, count: int) -> None:
    a, b = (rationals(seed, count, words, "host") for seed in (1, 3))
    p, q = quotients(a), quotients(b)
    for name, f in OPERATIONS.items():
        verify(name, a, b)
        ours, theirs = least_times(
            RUNS, lambda f=f: f(a, b), lambda f=f: [f(x, y) for x, y in zip(p, q, strict=True)]
        )
        figures = (f"{seconds / count * 1e9:.0f}" for seconds in (ours, theirs))
        print(
            f"| {32 * words} | {name} | {count:,} | {' | '.join(figures)} | {theirs / ours:.1f} |"
        )


def as_markdown(rows: Sequence[Row]) -> str:
    def line(*cells: object) -> str:
        return "| " + " | ".join(map(str, cells)) + " |"

    heads = ["words", "operation", "count", "reduced, ns", "unreduced, ns", "mpq, ns"]
    heads += ["mpq over reduced", "gcd of twice the words, ns", "reduced over gcd"]
    lines = [line(*heads), line("---:", "---", *["---:"] * (len(heads) - 2))]
    for row in rows:
        figures = (row.reduced, row.unreduced, row.mpq, row.mpq / row.reduced)
        figures += (row.gcd, row.reduced / row.gcd)
        cells = (f"{x:.3g}" if x < 100 else f"{x:.0f}" for x in figures)
        lines.append(line(row.words, row.operation, f"{row.count:,}", *cells))
    return "\n".join(lines)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.rational", description="Rationals in bulk beside mpq."
    )
    parser.add_argument("--place", choices=("auto", "host", "cuda"), default="auto")
    parser.add_argument("--words", type=int, action="append", help="of a numerator; 4 and 32")
    parser.add_argument("--count", type=int, help="how many; by default as fill the memory well")
    parser.add_argument("--json", action="store_true", help="figures instead of a table")
    parser.add_argument("--processor-time", action="store_true", help="by turns, in host memory")
    options = parser.parse_args(arguments)
    options.words = options.words or [4, 32]
    if min(options.words) < 1 or (options.count is not None and options.count < 1):
        parser.error("--words and --count must be positive")
    return options


def choose_place(wanted: str) -> str:
    if wanted == "auto":
        try:
            engines.named("cuda")
        except BackendUnavailableError as error:
            print(f"in host memory: {error}", file=sys.stderr)
            return "host"
        return "cuda"
    try:
        engines.named(wanted)
    except BackendUnavailableError as error:
        sys.exit(str(error))
    return wanted


def main(arguments: Sequence[str] | None = None) -> None:
    options = parse(arguments)
    if options.processor_time:
        print("| bits | operation | count | ours, ns | mpq, ns | ratio |")
        print("| ---: | --- | ---: | ---: | ---: | ---: |")
        for words in options.words:
            print_processor_times(words, options.count or max(1, LOOPED // words))
        return
    place = choose_place(options.place)
    rows = []
    for words in options.words:
        count = options.count or WORDS[place] // words
        rows += measure(place, words, count, min(count, max(1, LOOPED // words)))
    if options.json:
        figures = {"unit": "ns", "place": place, "rows": [asdict(row) for row in rows]}
        print(json.dumps(figures, indent=1))
        return
    print(f"In the memory of: {place} ({engines.named(place).name}). Best of {RUNS} runs.\n")
    print(as_markdown(rows))


if __name__ == "__main__":
    main()
