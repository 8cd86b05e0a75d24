"""Shared primes among RSA moduli: our trees and all pairs, beside plain trees of gmpy2.

    python -m benchmarks.factors [--counts 1000,10000,100000] [--bits 1024] [--threads N]
                                 [--device auto|cuda|none] [--json]

Seconds for random odd numbers, which share small primes as a matter of course; what is
found is compared between the ways before its time counts. plain: a product tree, and
remainders modulo squares down it, on one thread (Bernstein; fastgcd). against: a tenth
as many new moduli against the others, stored. pairs: all pairs on a GPU, with moduli and
hits brought to and from there; numbers without primes below 2000, as moduli are.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeVar

import gmpy2
from gmpy2 import mpz

from arith.factors import StoredModuli, pairs, save_moduli
from arith.factors.trees import shared_parts
from arith.factors.workers import Workers
from kernels.targets.contract import BackendUnavailableError

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Row:
    """Seconds; None where nothing was measured."""

    count: int
    plain: float
    trees: float
    against: float
    pairs: float | None


class WrongPartsError(Exception):
    """Raised where one way found what another did not: its time would mean nothing."""


def plain_parts(moduli: Sequence[mpz]) -> list[mpz]:
    """gcd(n, P/n mod n) of each, as it is usually computed."""
    levels = [list(moduli)]
    while len(levels[-1]) > 1:
        level = levels[-1]
        levels.append([gmpy2.mul(*level[i : i + 2]) for i in range(0, len(level) - 1, 2)])
        levels[-1] += level[len(level) & ~1 :]
    row = levels.pop()
    while levels:
        level = levels.pop()
        row = [row[i >> 1] % (modulus * modulus) for i, modulus in enumerate(level)]
    return [gmpy2.gcd(rest // modulus, modulus) for rest, modulus in zip(row, moduli, strict=True)]


def timed(function: Callable[[], Result]) -> tuple[float, Result]:
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def random_moduli(count: int, bits: int, *, smallest: int = 2) -> list[mpz]:
    """Odd, of exactly so many bits, without primes below `smallest`."""
    state = gmpy2.random_state(count)
    sieve = gmpy2.primorial(smallest)
    moduli: list[mpz] = []
    while len(moduli) < count:
        number = gmpy2.mpz_urandomb(state, bits) | 1 | mpz(1) << (bits - 1)
        if smallest <= 2 or gmpy2.gcd(number, sieve) == 1:
            moduli.append(number)
    return moduli


def measure(count: int, bits: int, threads: int | None, device: str) -> Row:
    moduli = random_moduli(count, bits)
    with Workers(threads) as workers:
        trees, found = timed(lambda: shared_parts(moduli, workers))
        plain, expected = timed(lambda: plain_parts(moduli))
        if found != expected:
            raise WrongPartsError(f"trees over {count} moduli")
        cut = count - count // 10
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "set"
            save_moduli(path, moduli[:cut])

            def check() -> list[mpz]:
                stored = StoredModuli(path)
                return shared_parts(
                    moduli[cut:], workers, outside=lambda m: stored.product_modulo(m, workers)
                )

            against, found = timed(check)
        if found != expected[cut:]:
            raise WrongPartsError(f"against {cut} stored moduli")
    return Row(count, plain, trees, against, measure_pairs(count, bits, device))


def measure_pairs(count: int, bits: int, device: str) -> float | None:
    """Measure all pairs on a GPU; None without one, or where none was wanted."""
    if device == "none":
        return None
    try:
        engines = pairs.engines_for(device, [0])
    except BackendUnavailableError as error:
        raise SystemExit(f"factors: {error}") from None
    if not engines:
        return None
    moduli = random_moduli(count, bits, smallest=2000)
    moduli[-1] = moduli[0] * 3  # so that something is to be found
    pairs.sharing(engines, moduli[:64], [], None)  # compiles
    seconds, (found, _) = timed(lambda: pairs.sharing(engines, moduli, [], None))
    if not {0, count - 1} <= set(found):
        raise WrongPartsError(f"pairs of {count} moduli")
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.factors")
    parser.add_argument("--counts", default="1000,10000,100000")
    parser.add_argument("--bits", type=int, default=1024)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--device", choices=["auto", "cuda", "none"], default="auto")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = []
    if not options.json:
        print(
            f"{'moduli':>8} {'plain, s':>9} {'trees, s':>9} {'ratio':>6} {'against, s':>11}", end=""
        )
        print(f" {'pairs, s':>9}")
    for count in map(int, options.counts.split(",")):
        row = measure(count, options.bits, options.threads, options.device)
        rows.append(asdict(row))
        if not options.json:
            seconds = "" if row.pairs is None else f"{row.pairs:.3f}"
            ratio = row.plain / row.trees
            print(f"{count:>8} {row.plain:>9.3f} {row.trees:>9.3f} {ratio:>6.2f}", end="")
            print(f" {row.against:>11.3f} {seconds:>9}")
    if options.json:
        print(json.dumps({"bits": options.bits, "rows": rows}))


if __name__ == "__main__":
    main()
