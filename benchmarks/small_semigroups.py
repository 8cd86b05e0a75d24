"""Many small semigroups, beside libsemigroups: what one costs before it has elements to find.

python -m benchmarks.small_semigroups [--count 1000] [--degree 4] [--families catalan:3 full:4]

Random ones are enumerated one by one, by both, and in one call of count_batch. Times are of the
processor, all threads together; they take turns. With --families it is what enumerating each takes,
many times over, without making what enumerates.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.turns import least_times
from semigroups import Semigroup, count_batch
from semigroups.families import Family
from semigroups.options import maps_of

RUNS = 5
TOGETHER = 20_000  # elements of all copies of a family's semigroup

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


def together(cases: list[Maps]) -> list[int]:
    """Return the sizes of all; sets of two maps repeat one of them."""
    sets = np.array([[*maps, *maps[: 3 - len(maps)]] for maps in cases])
    sizes: list[int] = count_batch(sets, monoid=False, limit=100_000).sizes.tolist()
    return sizes


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


def measure_family(name: str) -> tuple[int, list[float]]:
    """Return the elements of a family's semigroup, and the seconds of ours and of libsemigroups."""
    import libsemigroups_pybind11 as other

    generators = maps_of(Family.parse(name))
    size = Semigroup(generators).size
    copies = max(1, min(200, TOGETHER // size))
    made: dict[str, list[Any]] = {}

    def run(engine: str) -> None:
        for each in made[engine]:
            each.run()

    best = [float("inf")] * 2
    quiet = other.ReportGuard(False)
    for _ in range(4 * RUNS):
        made["ours"] = [Semigroup(generators, backend="cpu") for _ in range(copies)]
        rows = generators.tolist()
        made["other"] = [other.FroidurePin([other.Transf(x) for x in rows]) for _ in range(copies)]
        seconds = least_times(1, lambda: run("ours"), lambda: run("other"))
        best = [min(pair) for pair in zip(best, seconds, strict=True)]
    del quiet
    return size, [seconds / copies for seconds in best]


def print_families(names: list[str]) -> None:
    print("| semigroup | elements | libsemigroups, µs | ours, µs | ratio |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for name in names:
        size, (ours_took, other_took) = measure_family(name)
        micro = " | ".join(f"{1e6 * x:.3g}" for x in (other_took, ours_took))
        print(f"| {name} | {size:,} | {micro} | {other_took / ours_took:.2f} |")


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--degree", type=int, default=4)
    parser.add_argument("--families", nargs="+", help="of these instead")
    options = parser.parse_args(argv)
    if options.families:
        print_families(options.families)
        return
    cases = random_generators(options.count, options.degree)
    engines: dict[str, Callable[[], list[int]]] = {
        "Semigroup": lambda: [ours(generators) for generators in cases],
        "count_batch": lambda: together(cases),
    }
    if (other := libsemigroups()) is not None:
        engines["libsemigroups"] = lambda: [other(generators) for generators in cases]
    sizes: dict[str, list[int]] = {}

    def run(name: str) -> None:
        sizes[name] = engines[name]()

    seconds = least_times(RUNS, *(lambda name=name: run(name) for name in engines))
    best = dict(zip(engines, seconds, strict=True))
    if len({tuple(found) for found in sizes.values()}) > 1:
        raise SystemExit("they find different sizes")
    print(f"{options.count} semigroups of degree {options.degree}, {sum(sizes['Semigroup'])} maps")
    for name, took in best.items():
        each, times = 1e6 * took / options.count, best["Semigroup"] / took
        print(f"{name}: {each:.3g} µs for each, {times:.3g} times as fast as Semigroup")


if __name__ == "__main__":
    main()
