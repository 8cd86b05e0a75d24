"""What it takes to make an IntArray of Python's ints and to get them back, in processor time.

    python -m benchmarks.conversions [--bits 64 1024] [--count 1000000] [--rounds 5]

By turns, nanoseconds for one of many random ints of full length: `in order` of a list whose ints
were made one after another, `shuffled` of one whose ints lie anywhere, and `to ints`. Beside them
Python's own `[-x for x in list]`, which makes as many ints.
"""

from __future__ import annotations

import argparse
import random

from arith import IntArray
from benchmarks.turns import least_times


def measure(bits: int, count: int, rounds: int) -> list[float]:
    """Return the nanoseconds of each column."""
    rng = random.Random(bits)
    values = [rng.getrandbits(bits) | 1 << bits - 1 for _ in range(count)]
    shuffled = values.copy()
    rng.shuffle(shuffled)
    array = IntArray(values)
    if array.to_ints() != values:
        raise SystemExit("the integers differ")
    seconds = least_times(
        rounds,
        lambda: IntArray(values),
        lambda: IntArray(shuffled),
        array.to_ints,
        lambda: [-x for x in values],
    )
    return [1e9 * x / count for x in seconds]


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bits", type=int, nargs="+", default=(64, 256, 1024, 4096))
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args(argv)
    print("| bits | count | in order, ns | shuffled, ns | to ints, ns | Python's, ns |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: |")
    for bits in options.bits:
        count = min(options.count, (1 << 30) // bits)
        cells = " | ".join(f"{x:.1f}" for x in measure(bits, count, options.rounds))
        print(f"| {bits} | {count:,} | {cells} |")


if __name__ == "__main__":
    main()
