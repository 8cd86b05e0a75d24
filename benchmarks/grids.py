"""Golly's bounded grids beside a torus of the same size.

    python -m benchmarks.grids [--sizes SIDE ...] [--backend NAME] [--threads N] [--seconds S]

A soup runs on a plain torus and on each other surface by turns: a torus whose horizontal edges are
shifted, one whose vertical edges are, Klein bottles of both kinds, a cross-surface and a sphere.
The figures are how many times as long as on the torus as many generations take: the median of the
rounds. Each round renews every halo at least once. One thread of the CPU is timed by the time of
the processor, so that others on the machine do not count; all else as it passes.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence

from bulkbits.timing import Samples, TimedRunner, compete
from kernels.life import engine_for
from kernels.life.contract import LifeShape
from kernels.targets.choose import pick
from kernels.targets.contract import Target
from lifesim.joined import open_joined
from lifesim.rule import LIFE
from lifesim.soup import random_grid
from lifesim.topology import JoinedEdges, parse_bounds

BOUNDS = ("T{0}+5,{0}", "T{0},{0}+5", "K{0}*,{0}", "K{0},{0}*", "C{0}", "S{0}")
SIDES = (1024, 4096, 16384)
GENERATIONS = 1024  # of a step, in which each halo is renewed


def runners(backend: Target, side: int) -> list[TimedRunner]:
    """Return a runner of the torus, and one of each surface."""
    engine = engine_for(backend)
    words = random_grid(side, side, 0.5, 1).words
    universes = [engine.universe(words, LifeShape(side, side, True), LIFE.cells)]
    for bounds in BOUNDS:
        edges, _ = parse_bounds(bounds.format(side))
        assert isinstance(edges, JoinedEdges)
        on_device = backend.free_device_memory() is not None
        universes.append(open_joined(engine, words, edges, LIFE.cells, on_device=on_device))
    return [
        TimedRunner(side * side * GENERATIONS, lambda n, u=universe: u.step(n * GENERATIONS))
        for universe in universes
    ]


def measure(backend: Target, side: int, seconds: float) -> list[Samples]:
    """Measure the torus and each surface, for so many seconds together."""
    alone = not backend.devices and backend.threads == 1
    clock = time.process_time if alone else time.perf_counter
    return compete(runners(backend, side), seconds, clock=clock)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a table, a line for each size."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.grids",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=SIDES, metavar="SIDE")
    parser.add_argument("--backend", default="auto", help="[auto]")
    parser.add_argument("--threads", type=int, help="of the CPU [all]")
    parser.add_argument("--seconds", type=float, default=10.0, help="for each size [10]")
    chosen = parser.parse_args(arguments)
    backend = pick(chosen.backend, threads=chosen.threads)
    print(f"{backend.describe()}. Time of as many generations over a torus's, median of rounds.\n")
    print(f"| size | torus, 10⁹/s | {' | '.join(b.format('N') for b in BOUNDS)} |")
    print("| --- |" + " ---: |" * (len(BOUNDS) + 1))
    for side in chosen.sizes:
        torus, *others = measure(backend, side, chosen.seconds)
        figures = [f"{torus.best / 1e9:.3g}", *(f"{torus.ratio(other):.2f}" for other in others)]
        print(f"| {side}² | {' | '.join(figures)} |", flush=True)


if __name__ == "__main__":
    main()
