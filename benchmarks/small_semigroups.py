"""Many small semigroups, beside libsemigroups: what one costs before it has elements to find.

python -m benchmarks.small_semigroups [--count 1000] [--degree 4]
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable

from semigroups import Semigroup

RUNS = 5

Maps = list[list[int]]


def random_generators(count: int, degree: int, seed: int = 5) -> list[Maps]:
    """Return `count` times two or three random maps."""
    rng = random.Random(seed)
    return [
        [[rng.randrange(degree) for _ in range(degree)] for _ in range(rng.choice((2, 3)))]
        for _ in range(count)
    ]


def ours(generators: Maps) -> int:
    return Semigroup(generators, monoid=False).size


def libsemigroups() -> Callable[[Maps], int] | None:
    """Return what enumerates with it; None where it is not installed."""
    try:
        import libsemigroups_pybind11 as other
    except ImportError:
        return None
    quiet = other.ReportGuard(False)

    def size(generators: Maps, _: object = quiet) -> int:
        return int(other.FroidurePin([other.Transf(images) for images in generators]).size())

    return size


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--degree", type=int, default=4)
    options = parser.parse_args(argv)
    cases = random_generators(options.count, options.degree)
    engines: dict[str, Callable[[Maps], int]] = {"semigroups": ours}
    if (other := libsemigroups()) is not None:
        engines["libsemigroups"] = other
    best = dict.fromkeys(engines, float("inf"))
    sizes: dict[str, list[int]] = {}
    for _ in range(RUNS):  # by turns, so that both meet the same machine
        for name, size_of in engines.items():
            start = time.perf_counter()
            sizes[name] = [size_of(generators) for generators in cases]
            best[name] = min(best[name], time.perf_counter() - start)
    if len({tuple(found) for found in sizes.values()}) > 1:
        raise SystemExit("they find different sizes")
    print(f"{options.count} semigroups of degree {options.degree}, {sum(sizes['semigroups'])} maps")
    for name, seconds in best.items():
        print(
            f"{name}: {seconds:.4f} s; ours takes {best['semigroups'] / seconds:.2f} times as long"
        )


if __name__ == "__main__":
    main()
