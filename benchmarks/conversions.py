"""What it takes to make an IntArray of Python's ints and to get them back, in processor time.

    python -m benchmarks.conversions [--bits 64 1024] [--count 1000000] [--rounds 5]

By turns, nanoseconds for one of many random ints of full length: `in order` of a list whose ints
were made one after another, `shuffled` of one whose ints lie anywhere, `to ints`, with the ints
dropped again, and `there and back`: an array made of ints, and these as ints, beside `bytes`, a
loop of `int.to_bytes()` and `int.from_bytes()`. `journey`: two arrays made of ints, their sums, and
these as ints. Beside it what else makes as many sums: Python's own `[x + y for ...]`, numpy's sums
of arrays of objects, made of lists and turned into one, and a loop over gmpy2's mpz.
"""

from __future__ import annotations

import argparse
import random

import gmpy2
import numpy as np

from arith import IntArray
from benchmarks.turns import least_times

SIZES = (64, 256, 1024, 4096, 16384, 65536, 262144, 1 << 20)  # bits
COLUMNS = (
    "bits",
    "count",
    "in order, ns",
    "shuffled",
    "to ints",
    "there and back",
    "bytes",
    "journey",
    "Python's",
    "numpy's",
    "mpz",
)


def measure(bits: int, count: int, rounds: int) -> list[float]:
    """Return the nanoseconds of each column."""
    rng = random.Random(bits)
    values = [rng.getrandbits(bits) | 1 << bits - 1 for _ in range(count)]
    others = [rng.getrandbits(bits) | 1 << bits - 1 for _ in range(count)]
    shuffled = values.copy()
    rng.shuffle(shuffled)
    array = IntArray(values)
    if array.to_ints() != values:
        raise SystemExit("the integers differ")
    mpz, nbytes = gmpy2.mpz, bits // 8 + 1

    def objects() -> list[int]:
        sums: list[int] = (np.array(values, object) + np.array(others, object)).tolist()
        return sums

    seconds = least_times(
        rounds,
        lambda: IntArray(values),
        lambda: IntArray(shuffled),
        array.to_ints,
        lambda: IntArray(values).to_ints(),
        lambda: [int.from_bytes(x.to_bytes(nbytes, "little"), "little") for x in values],
        lambda: (IntArray(values) + IntArray(others)).to_ints(),
        lambda: [x + y for x, y in zip(values, others, strict=True)],
        objects,
        lambda: [int(mpz(x) + mpz(y)) for x, y in zip(values, others, strict=True)],
    )
    return [1e9 * x / count for x in seconds]


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bits", type=int, nargs="+", default=SIZES)
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args(argv)
    print("|", " | ".join(COLUMNS), "|")
    print("| ---: " * len(COLUMNS) + "|")
    for bits in options.bits:
        count = min(options.count, (1 << 30) // bits)
        cells = " | ".join(f"{x:.1f}" for x in measure(bits, count, options.rounds))
        print(f"| {bits} | {count:,} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
