"""Shared primes by the trees of workers, beside one process.

    python -m benchmarks.cluster_factors [--count 60000] [--bits 1024] [--workers 1,2]
                                         [--repeat 3] [--json]

Random odd numbers without primes below 200 000; workers and the one process have a thread each.
Of the runs, which take turns, the least seconds count. Where others use the machine too, CPU
seconds say more: of all processes together, and of the client with the busiest worker, which is
about what it takes where each has a core. What is found is compared. The cluster is there
before its time begins.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass

from gmpy2 import mpz

from arith.factors import Finding, shared_factors
from benchmarks.factors import WrongPartsError, random_moduli
from bulkbits.cluster import Cluster


@dataclass(frozen=True, slots=True)
class Row:
    workers: int  # 0: no cluster
    seconds: float
    cpu: float
    longest: float  # CPU seconds of the client and the busiest worker


def cpu_seconds() -> float:
    """Return the processor time of this process so far."""
    return time.process_time()


def timed(moduli: Sequence[mpz], cluster: Cluster | None) -> tuple[Row, list[Finding]]:
    def spent() -> list[float]:
        return [cpu_seconds(), *(cluster.everywhere(cpu_seconds).values() if cluster else [])]

    before, start = spent(), time.perf_counter()
    found = shared_factors(moduli, backend="cpu", threads=1, cluster=cluster)
    seconds = time.perf_counter() - start
    client, *workers = (b - a for a, b in zip(before, spent(), strict=True))
    longest = client + max(workers, default=0.0)
    return Row(len(workers), seconds, client + sum(workers), longest), found


def measure(count: int, bits: int, workers: list[int], repeat: int) -> list[Row]:
    moduli = random_moduli(count, bits, smallest=200_000)
    moduli[-1] = moduli[0] * 3  # so that something is to be found
    rows: dict[int, list[Row]] = {}
    with ExitStack() as stack:
        clusters: list[Cluster | None] = [None]
        for each in workers:
            opened = Cluster.open(f"local:{each}", backend="cpu", threads=1)
            clusters.append(stack.enter_context(opened))
        expected: list[Finding] | None = None
        for _ in range(repeat):
            for cluster in clusters:
                row, found = timed(moduli, cluster)
                expected = expected or found
                if found != expected:
                    raise WrongPartsError(f"{row.workers} workers, {count} moduli")
                rows.setdefault(row.workers, []).append(row)
    return [
        Row(
            key,
            min(row.seconds for row in some),
            min(row.cpu for row in some),
            min(row.longest for row in some),
        )
        for key, some in rows.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.cluster_factors")
    parser.add_argument("--count", type=int, default=60_000)
    parser.add_argument("--bits", type=int, default=1024)
    parser.add_argument("--workers", default="1,2")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    workers = [int(each) for each in options.workers.split(",")]
    rows = measure(options.count, options.bits, workers, options.repeat)
    if options.json:
        facts = {"count": options.count, "bits": options.bits}
        print(json.dumps(facts | {"rows": [asdict(row) for row in rows]}))
        return
    print(f"{options.count:,} moduli of {options.bits} bits, a thread each")
    print(f"{'workers':>8} {'seconds':>8} {'CPU s':>8} {'longest':>8}")
    for row in rows:
        name = row.workers or "none"
        print(f"{name:>8} {row.seconds:>8.2f} {row.cpu:>8.2f} {row.longest:>8.2f}")


if __name__ == "__main__":
    main()
