"""Fujita's Tables 4.4 and 4.5, measured here: iterations of his five Euclidean algorithms.

    python -m benchmarks.gcd_counts [--bits 1024 2048 ...] [--kib 256] [--seed 1] [--json]

Pairs of random odd numbers of exactly s bits, as his, and as many as fill --kib KiB for
each s (he filled 2 GiB). `half` ends a search as that for a shared prime of RSA moduli
ends, when the smaller number has fewer than s / 2 bits.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import statistics
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

import gmpy2

from kernels.gcd.fujita import ALGORITHMS, CASES, WORD, Approximation, approximate

SIZES = (1024, 2048, 4096, 8192, 16384)
TABLE_4_4 = {
    "(A) original": (598.5, 1196.7, 2393.1, 4785.8, 9571.5),
    "(B) fast": (380.9, 761.7, 1523.1, 3046.0, 6091.6),
    "(C) binary": (1444.8, 2890.6, 5782.3, 11565.6, 23132.2),
    "(D) fast binary": (723.4, 1446.4, 2892.2, 5783.8, 11567.1),
    "(E) approximate": (380.9, 761.7, 1523.2, 3046.0, 6091.7),
}
TABLE_4_4_DIFFERENCE = (0.0059, 0.0120, 0.0227, 0.0457, 0.0923)  # (E) - (B)
TABLE_4_4_BYTES = 2 << 30  # of numbers, for each size
TABLE_4_5_BOUND = 1e-8  # that beta > 0: less, he says below Table 4.6


@dataclass(frozen=True, slots=True)
class Mean:
    value: float
    error: float  # standard error of it

    @classmethod
    def of(cls, sample: Sequence[int]) -> Mean:
        return cls(statistics.fmean(sample), statistics.stdev(sample) / math.sqrt(len(sample)))


@dataclass(frozen=True, slots=True)
class IterationCounts:
    """iterations, half: by algorithm, of the whole and of the early-ending search.

    difference: (E) - (B) of the same pair. cases: calls of approx by case; positive: those
    with beta > 0; d: bits of a word.
    """

    bits: int
    pairs: int
    d: int
    iterations: dict[str, Mean]
    half: dict[str, Mean]
    difference: Mean
    cases: dict[str, int]
    positive: int

    @property
    def calls(self) -> int:
        return sum(self.cases.values())


class WrongGcdError(Exception):
    """A gcd that is not GMP's: its iterations would mean nothing."""


def odd_pairs(bits: int, count: int, seed: int) -> list[tuple[int, int]]:
    """Odd numbers in [2**(bits - 1), 2**bits)."""
    numbers = random.Random(seed)
    ends = 1 << (bits - 1) | 1
    return [
        (numbers.getrandbits(bits) | ends, numbers.getrandbits(bits) | ends) for _ in range(count)
    ]


def measure(bits: int, pairs: int, seed: int, d: int = WORD) -> IterationCounts:
    """pairs: at least 2. Raises WrongGcdError."""
    sample = [(gmpy2.mpz(x), gmpy2.mpz(y)) for x, y in odd_pairs(bits, pairs, seed)]
    cases: Counter[str] = Counter()
    positive = 0

    def record(x: int, y: int, guess: Approximation) -> None:
        nonlocal positive
        cases[guess.case] += 1
        positive += guess.beta > 0

    columns: dict[str, list[int]] = {}
    half: dict[str, Mean] = {}
    for name, algorithm in ALGORITHMS.items():
        if algorithm is approximate:
            found = [approximate(x, y, 0, d, record) for x, y in sample]
            early = [approximate(x, y, bits // 2, d) for x, y in sample]
        else:
            found = [algorithm(x, y, 0) for x, y in sample]
            early = [algorithm(x, y, bits // 2) for x, y in sample]
        if [c.gcd for c in found] != [gmpy2.gcd(x, y) for x, y in sample]:
            raise WrongGcdError(f"{name}, {bits} bits, seed {seed}")
        columns[name] = [c.iterations for c in found]
        half[name] = Mean.of([c.iterations for c in early])
    exact, guessed = columns["(B) fast"], columns["(E) approximate"]
    return IterationCounts(
        bits,
        pairs,
        d,
        {name: Mean.of(column) for name, column in columns.items()},
        half,
        Mean.of([e - b for e, b in zip(guessed, exact, strict=True)]),
        {case: cases[case] for case in CASES},
        positive,
    )


def as_markdown(table: Iterable[IterationCounts]) -> str:
    """Our mean ± its standard error, and his after a slash; then the cases of approx."""
    columns = list(table)

    def line(*cells: str) -> str:
        return "| " + " | ".join(cells) + " |"

    def his(row: Sequence[float], counts: IterationCounts, digits: int) -> str:
        known = counts.bits in SIZES and counts.d == WORD
        return f" / {row[SIZES.index(counts.bits)]:.{digits}f}" if known else ""

    def ours(mean: Mean, digits: int) -> str:
        return f"{mean.value:.{digits}f} ± {mean.error:.{digits}f}"

    lines = [line("iterations: ours / his", *(f"{c.bits} bits" for c in columns))]
    lines.append(line("---", *["---:"] * len(columns)))
    for name, row in TABLE_4_4.items():
        lines.append(line(name, *(ours(c.iterations[name], 1) + his(row, c, 1) for c in columns)))
    lines.append(
        line(
            "(E) - (B)",
            *(ours(c.difference, 4) + his(TABLE_4_4_DIFFERENCE, c, 4) for c in columns),
        )
    )
    for name in TABLE_4_4:
        lines.append(line(f"{name}, half", *(ours(c.half[name], 1) for c in columns)))
    for case in CASES:
        lines.append(line(f"case {case}", *(f"{c.cases[case] / c.calls:.3%}" for c in columns)))
    lines.append(line("beta > 0", *(f"{c.positive} of {c.calls}" for c in columns)))
    lines.append(line("pairs", *(str(c.pairs) for c in columns)))
    return "\n".join(lines)


def pairs_in(kib: int, bits: int) -> int:
    return max(2, kib * 8192 // (2 * bits))


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.gcd_counts",
        description="Fujita's Tables 4.4 and 4.5, measured here.",
    )
    parser.add_argument("--bits", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--kib", type=int, default=256, help="KiB of numbers for each size")
    parser.add_argument("--word", type=int, default=WORD, help="bits of a word, his d")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="figures instead of a table")
    options = parser.parse_args(arguments)
    if min(options.bits) < 2 or options.kib < 1 or options.word < 2:
        parser.error("--kib must be positive, --bits and --word 2 or more")
    return options


def main(arguments: Sequence[str] | None = None) -> None:
    options = parse(arguments)
    table = []
    for bits in options.bits:
        pairs = pairs_in(options.kib, bits)
        print(f"{pairs} pairs of {bits} bits", file=sys.stderr)
        table.append(measure(bits, pairs, options.seed, options.word))
    if options.json:
        print(json.dumps([asdict(counts) for counts in table], indent=1))
        return
    print(f"Words of {options.word} bits. Early-ending searches are marked half.\n")
    print(as_markdown(table))


if __name__ == "__main__":
    main()
