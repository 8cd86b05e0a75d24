"""Powers modulo odd numbers on the CPU beside a loop over gmpy2.powmod, in processor time.

    python -m benchmarks.powers [--bits 256 1024] [--threads 1] [--rounds 5]

Numbers and moduli are random and of full length; the exponent is 65537, or one of full length for
each. The two take turns, and each is given by the least processor time of its rounds, all its
threads together: other work on the machine then counts little. Exponents of over 2048 bits are
left out unless --full is given, as the loop takes minutes.
"""

from __future__ import annotations

import argparse
import random

import gmpy2

from benchmarks.turns import least_times
from kernels.bignum.cpu.engine import CpuArithmetic, ints_to_numbers, numbers_to_ints

BITS = (256, 512, 1024, 2048, 4096, 8192, 16384)
WORK = 1 << 20  # bits of all moduli together
LONGEST_FULL = 2048  # bits of exponents of full length, where --full is not given


def measure(bits: int, full: bool, threads: int, rounds: int) -> tuple[int, float, float]:
    """Return how many numbers there were, and the seconds of ours and of gmpy2 for all."""
    rng = random.Random(bits)
    count = max(32, WORK // bits // (8 if full else 1))
    moduli = [rng.getrandbits(bits) | 1 | 1 << bits - 1 for _ in range(count)]
    bases = [rng.getrandbits(bits) for _ in range(count)]
    exponents = [rng.getrandbits(bits) for _ in range(count)] if full else [65537]
    engine = CpuArithmetic(threads)
    a, e, m = map(ints_to_numbers, (bases, exponents, moduli))
    each = exponents if full else exponents * count
    rows = [tuple(map(gmpy2.mpz, row)) for row in zip(bases, each, moduli, strict=True)]

    def loop() -> list[int]:
        return [int(gmpy2.powmod(*row)) for row in rows]

    if numbers_to_ints(engine.powmod(a, e, m)) != loop():
        raise SystemExit("the powers differ")
    ours, theirs = least_times(rounds, lambda: engine.powmod(a, e, m), loop)
    return count, ours, theirs


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bits", type=int, nargs="+", default=BITS)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--full", action="store_true", help="with all exponents of full length")
    options = parser.parse_args(argv)
    print("| bits | exponent | count | gmpy2, µs | ours, µs | ratio |")
    print("| ---: | --- | ---: | ---: | ---: | ---: |")
    for full in (False, True):
        for bits in options.bits:
            if full and bits > LONGEST_FULL and not options.full:
                continue
            count, ours, theirs = measure(bits, full, options.threads, options.rounds)
            micro = [f"{seconds / count * 1e6:.3g}" for seconds in (theirs, ours)]
            name = "full length" if full else "65537"
            print(f"| {bits} | {name} | {count} | {' | '.join(micro)} | {theirs / ours:.1f} |")


if __name__ == "__main__":
    main()
