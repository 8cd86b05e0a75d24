"""The rows of `arith bench` on the CPU in processor time, beside a loop over gmpy2 by turns.

python -m benchmarks.arith_rows [--bits 256 --bits 1024] [--op isqrt --op invert] [--count 1000]

`arith bench` tells times on the clock, in which other work on the machine counts. A ratio here is
that of one core: on a quiet machine of n cores the row of `arith bench` is up to n times as much.
"""

from __future__ import annotations

import argparse

from arith.cli.bench import OPERATIONS, _operands
from benchmarks.turns import least_times

RUNS = 5
HEAD = """\
| operation | bits | ours, ns | gmpy2, ns | ratio |
| --- | ---: | ---: | ---: | ---: |"""


def row(name: str, bits: int, count: int | None) -> str:
    bulk, single = OPERATIONS[name]
    arrays, numbers = _operands(bits, count, "cpu")

    def loop() -> None:
        for each in numbers:
            single(*each)

    ours, theirs = least_times(RUNS, lambda: bulk(*arrays), loop)
    ours, theirs = 1e9 * ours / len(arrays[0]), 1e9 * theirs / len(numbers)
    return f"| {name} | {bits} | {ours:.3g} | {theirs:.3g} | {theirs / ours:.2f} |"


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bits", type=int, action="append")
    parser.add_argument("--op", choices=list(OPERATIONS), action="append")
    parser.add_argument("--count", type=int)
    options = parser.parse_args(argv)
    print(HEAD)
    for bits in options.bits or (256, 1024, 4096):
        for name in options.op or OPERATIONS:
            print(row(name, bits, options.count), flush=True)


if __name__ == "__main__":
    main()
