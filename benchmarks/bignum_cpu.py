"""Big integers on the CPU beside loops over lists of gmpy2's, in one run.

Each operation takes batches of random numbers of full length; a quotient is that of a
dividend twice as long as its divisor. Fresh results are made each time, as by users.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass

import gmpy2
import numpy as np

from kernels.bignum.cpu.engine import (
    CpuArithmetic,
    format_lines,
    ints_to_numbers,
    numbers_to_ints,
    parse_lines,
)
from kernels.bignum.numbers import Numbers
from kernels.targets.contract import BackendUnavailableError
from kernels.targets.cpu import CpuTarget

BITS = (256, 1024, 4096, 16384)
WORDS = 2**22  # of an operand, unless --count tells
MOST_GCD_WORDS = 2**19  # GMP would take too long


@dataclass(frozen=True, slots=True)
class Row:
    """Nanoseconds of one operation."""

    operation: str
    bits: int
    count: int
    ours: float
    peer: float

    @property
    def ratio(self) -> float:
        return self.peer / self.ours


class WrongResultError(Exception):
    """Results that are not those of the peer: their time would mean nothing."""


def random_numbers(bits: int, count: int, seed: int) -> Numbers:
    """Make random numbers of full length, odd, so that no divisor is zero."""
    width = -(-bits // 64)
    words = np.random.default_rng(seed).integers(0, 2**64, (count, width), np.uint64)
    top = np.uint64(bits - 64 * (width - 1) - 1)
    words[:, -1] &= np.uint64(2 * (1 << int(top)) - 1)
    words[:, -1] |= np.uint64(1) << top
    words[:, 0] |= np.uint64(1)
    return Numbers(words.ravel(), count, width, width)


def best_of(rounds: int, *runs: Callable[[], object]) -> list[float]:
    """Seconds of each, the least of some rounds; one after the other in every round."""
    best = [float("inf")] * len(runs)
    for _ in range(rounds):
        for i, run in enumerate(runs):
            start = time.perf_counter()
            result = run()
            best[i] = min(best[i], time.perf_counter() - start)
            del result  # its memory is the next one's
    return best


@dataclass(frozen=True, slots=True)
class PeerComparison:
    operation: str
    count: int
    ours: Callable[[], object]
    peer: Callable[[], object]
    check: Callable[[object], object]  # our result as what the peer's is


def arithmetic_cases(cpu: CpuArithmetic, bits: int, count: int) -> Iterator[PeerComparison]:
    a, b, double = (random_numbers(n, count, i) for i, n in enumerate((bits, bits, 2 * bits)))
    x, y, z = ([gmpy2.mpz(v) for v in numbers_to_ints(n)] for n in (a, b, double))
    few = min(count, max(1, MOST_GCD_WORDS * 64 // bits))
    c, d, u, v = a.take(slice(few)), b.take(slice(few)), x[:few], y[:few]

    def values(result: object) -> object:
        return numbers_to_ints(result) if isinstance(result, Numbers) else result

    def pairs(result: object) -> object:
        assert isinstance(result, tuple)
        return list(zip(*map(numbers_to_ints, result), strict=True))

    def loop(function: Callable[..., object], p: list[object], q: list[object]) -> object:
        return [function(m, n) for m, n in zip(p, q, strict=True)]

    yield PeerComparison(
        "add",
        count,
        lambda: cpu.add(a, b),
        lambda: [p + q for p, q in zip(x, y, strict=True)],
        values,
    )
    yield PeerComparison(
        "multiply",
        count,
        lambda: cpu.multiply(a, b),
        lambda: [p * q for p, q in zip(x, y, strict=True)],
        values,
    )
    yield PeerComparison(
        "divmod",
        count,
        lambda: cpu.divmod(double, b),
        lambda: loop(gmpy2.f_divmod, z, y),
        pairs,
    )
    yield PeerComparison("gcd", few, lambda: cpu.gcd(c, d), lambda: loop(gmpy2.gcd, u, v), values)


def conversion_cases(bits: int, count: int, threads: int) -> Iterator[PeerComparison]:
    numbers = random_numbers(bits, count, 0)
    ints = numbers_to_ints(numbers)
    few = min(count, max(1, MOST_GCD_WORDS * 64 // bits))
    part, some = numbers.take(slice(few)), [gmpy2.mpz(v) for v in ints[:few]]
    text = format_lines(part, 10).encode()
    lines = text.decode().splitlines()
    width = bits // 8 + 1

    def values(result: object) -> object:
        return numbers_to_ints(result) if isinstance(result, Numbers) else result

    yield PeerComparison(
        "from ints",
        count,
        lambda: ints_to_numbers(ints),
        lambda: b"".join([v.to_bytes(width, "little") for v in ints]),
        lambda result: b"".join([v.to_bytes(width, "little") for v in values(result)]),  # type: ignore[attr-defined]
    )
    raw = b"".join([v.to_bytes(width, "little") for v in ints])
    yield PeerComparison(
        "to ints",
        count,
        lambda: numbers_to_ints(numbers),
        lambda: [int.from_bytes(raw[i : i + width], "little") for i in range(0, len(raw), width)],
        lambda result: result,
    )
    yield PeerComparison(
        "from decimal",
        few,
        lambda: parse_lines(text, 10, threads),
        lambda: [gmpy2.mpz(line) for line in lines],
        values,
    )
    yield PeerComparison(
        "to decimal",
        few,
        lambda: format_lines(part, 10, threads),
        lambda: [str(v) for v in some],
        lambda result: str(result).splitlines(),
    )


def measure(
    cpu: CpuArithmetic, bits: int, count: int, rounds: int, operations: Sequence[str] = ()
) -> Iterator[Row]:
    """Raises WrongResultError."""
    for cases in (
        arithmetic_cases(cpu, bits, count),
        conversion_cases(bits, count, cpu.threads),
    ):
        for case in cases:
            if operations and case.operation not in operations:
                continue
            if case.check(case.ours()) != case.peer():
                raise WrongResultError(f"{case.operation} of {bits} bits")
            ours, peer = best_of(rounds, case.ours, case.peer)
            yield Row(
                case.operation, bits, case.count, ours / case.count * 1e9, peer / case.count * 1e9
            )


HEAD = """\
| bits | operation | count | gmpy2 or int in a loop, ns | ours, ns | ratio |
| ---: | --- | ---: | ---: | ---: | ---: |"""


def as_line(row: Row) -> str:
    return (
        f"| {row.bits} | {row.operation} | {row.count} | {row.peer:.1f} | {row.ours:.1f} "
        f"| {row.ratio:.1f} |"
    )


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bignum_cpu", description=__doc__)
    parser.add_argument("--bits", type=int, nargs="+", default=BITS)
    parser.add_argument("--count", type=int, help=f"numbers (as many as have {WORDS} words)")
    parser.add_argument("--threads", type=int, help="all cores by default")
    parser.add_argument("--level", help="CPU level, the best by default")
    parser.add_argument("--rounds", type=int, default=5, help="of which the best counts")
    parser.add_argument("--operations", nargs="+", default=(), help="only these")
    parser.add_argument("--json", action="store_true", help="figures instead of a table")
    options = parser.parse_args(arguments)
    if min(options.bits) < 1 or options.rounds < 1 or (options.count or 1) < 1:
        parser.error("--bits, --count and --rounds must be positive")
    return options


def main(arguments: Sequence[str] | None = None) -> None:
    options = parse(arguments)
    try:
        cpu = CpuArithmetic(options.threads, options.level)
    except BackendUnavailableError as error:
        sys.exit(f"nothing to measure on: {error}")
    where = CpuTarget(cpu.threads, cpu.level).describe()
    if not options.json:
        print(f"{where}; gmpy2 {gmpy2.version()}, {gmpy2.mp_version()}.\n\n{HEAD}")
    rows = []
    for bits in options.bits:
        count = options.count or max(1, WORDS * 64 // bits)
        for row in measure(cpu, bits, count, options.rounds, options.operations):
            rows.append(asdict(row) | {"ratio": row.ratio})
            if not options.json:
                print(as_line(row), flush=True)
    if options.json:
        print(json.dumps({"unit": "ns", "cpu": where, "rows": rows}, indent=1))


if __name__ == "__main__":
    main()
