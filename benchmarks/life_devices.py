"""Life in memory over several GPUs of one host: rates beside one, and a long run.

    python -m benchmarks.life_devices [--device 0,1,2,3] [--sides N ...] [--seconds S]
                                      [--run SIDE STEPS]

A table: rates on the first GPU, the first two, four ..., in cell updates per second, the best
of rounds that take turns; ratios to one are medians over the rounds. Before it, the digests
of a soup after 1000 generations on one GPU and on all. --run: a soup of density 0.37, seed 1,
on all GPUs; the seconds to fill and upload it, to step, and to download and digest it.
"""

from __future__ import annotations

import argparse
import random
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import TypeVar

import numpy as np

from bulkbits.options import Devices
from bulkbits.timing import compete
from kernels.life import engine_for
from kernels.life.contract import LifeShape, LifeUniverse, Words
from kernels.life.rules import LifeRule
from kernels.targets.choose import pick
from kernels.targets.contract import Target
from kernels.targets.cpu import core_count
from lifesim.bench import runner_of
from lifesim.digests import finish, partial
from lifesim.engine import Life
from lifesim.soup import Soup, random_grid

CHECKED = 65536  # side of the universe whose digests are compared
BAND_BYTES = 1 << 25  # of the rows that are put and got at once

T = TypeVar("T")


def universe_on(backend: Target, side: int) -> LifeUniverse:
    arena = engine_for(backend).arena([LifeShape(side, side, True)], 1, LifeRule(8, 12))
    return arena.open(0, LifeShape(side, side, True))


class Bands:
    """The rows of a universe by bands, in many threads, each with memory of its own."""

    def __init__(self, backend: Target, universe: LifeUniverse) -> None:
        self._backend, self._universe = backend, universe
        self._words = -(-universe.width // 64)
        self._rows = min(universe.height, max(1, BAND_BYTES // (8 * self._words)))
        self._mine = threading.local()

    def each(self, work: Callable[[int, Words], T]) -> list[T]:
        """work(y, words), words being room for the rows from y on; in no order, so that all
        devices are busy."""
        tops = list(range(0, self._universe.height, self._rows))
        random.Random(1).shuffle(tops)

        def one(y: int) -> T:
            if not hasattr(self._mine, "words"):
                memory = self._backend.staging(8 * self._words * self._rows)
                self._mine.words = memory.view(np.uint64).reshape(self._rows, self._words)
            return work(y, self._mine.words[: self._universe.height - y])

        with ThreadPoolExecutor(min(32, core_count())) as pool:
            return list(pool.map(one, tops))

    def fill(self, soup: Soup) -> None:
        def work(y: int, words: Words) -> None:
            soup.fill(words, y, 0, self._universe.width)
            self._universe.put(y, words)

        self.each(work)

    def repeat(self) -> None:
        """Random rows, the same again and again: quick, and rates do not depend on them."""
        shape = self._rows, self._words
        rows = np.random.default_rng(1).integers(0, 2**64, shape, np.uint64, endpoint=False)

        def work(y: int, words: Words) -> None:
            words[:] = rows[: len(words)]
            self._universe.put(y, words)

        self.each(work)

    def digest(self) -> str:
        def work(y: int, words: Words) -> int:
            self._universe.get(y, words)
            return partial(words, y, 0)

        return finish(self._universe.width, self._universe.height, sum(self.each(work)))


def check(devices: Sequence[int]) -> None:
    grid = random_grid(CHECKED, CHECKED, Fraction(37, 100), 1)
    for topology in ("torus", "plane"):
        found = []
        for numbers in ((devices[0],), devices):
            life = Life(grid, topology=topology, backend="cuda", device=numbers)
            life.run(1000)
            found.append(life.digest())
        verdict = "the same" if found[0] == found[1] else "DIFFERENT"
        print(f"{topology} {CHECKED}², 1000 generations: {found[0]}, {verdict} on {len(devices)}")


def counts_of(devices: int) -> list[int]:
    """1, 2, 4 ..., and all."""
    return sorted({*(1 << i for i in range(devices.bit_length())), devices})


def rates(devices: Sequence[int], sides: Iterable[int], seconds: float) -> None:
    counts = counts_of(len(devices))
    print("| universe | " + " | ".join(f"{n}, 10¹²/s" for n in counts), end=" | ")
    print(" | ".join(f"{n} over 1" for n in counts[1:]) + " |")
    print("| --- |" + " ---: |" * (2 * len(counts) - 1))
    for side in sides:
        lives = []
        for count in counts:
            backend = pick("cuda", device=devices[:count])
            lives.append(universe_on(backend, side))
            Bands(backend, lives[-1]).repeat()
        samples = compete([runner_of(life) for life in lives], seconds)
        row = [f"{side}²", *(f"{found.best / 1e12:.1f}" for found in samples)]
        row += [f"{found.ratio(samples[0]):.2f}" for found in samples[1:]]
        print("| " + " | ".join(row) + " |", flush=True)


def long_run(devices: Sequence[int], side: int, steps: int) -> None:
    backend = pick("cuda", device=devices)
    universe = universe_on(backend, side)
    bands = Bands(backend, universe)
    print(f"{side}×{side}, {steps} generations, {backend.describe()}")

    def timed(what: str, work: Callable[[], T]) -> T:
        began = time.perf_counter()
        result = work()
        print(f"{what}: {time.perf_counter() - began:.2f} s", flush=True)
        return result

    timed("uploaded alone", bands.repeat)
    timed("filled and uploaded", lambda: bands.fill(Soup(Fraction(37, 100), 1)))
    timed("stepped", lambda: universe.step(steps))
    print("digest", timed("downloaded and digested", bands.digest))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="0,1")
    parser.add_argument("--sides", type=int, nargs="*", default=[1 << n for n in range(14, 20)])
    parser.add_argument("--seconds", type=float, default=6.0)
    parser.add_argument("--run", type=int, nargs=2, metavar=("SIDE", "STEPS"))
    args = parser.parse_args()
    devices = Devices().convert(args.device, None, None)
    check(devices)
    rates(devices, args.sides, args.seconds)
    if args.run:
        long_run(devices, *args.run)


if __name__ == "__main__":
    main()
