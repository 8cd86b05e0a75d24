"""Small tori on the CPU: generations a second of calls of different lengths, folded and in passes.

    python -m benchmarks.small_tori [--threads N] [--sides N ...] [--calls N ...] [--rounds N]

Each torus is moved on as the library does it, and by passes over its rows alone, as it was done
before small universes were folded (kernels/life/cpu/folded.hpp), by turns; before anything is timed
the two are compared. Times are the least of the rounds: as they pass, and of all processors.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

import numpy as np

from kernels.life.contract import LifeShape
from kernels.life.cpu.engine import CpuArena, CpuLife
from kernels.targets.cpu import CpuTarget
from lifesim import random_grid
from lifesim.rule import LIFE

SIDES = (
    50,
    64,
    100,
    128,
    200,
    256,
    300,
    500,
    512,
    800,
    1000,
    1024,
    1500,
    1536,
    1792,
    2000,
    2048,
    4096,
    8192,
    16384,
)
CALLS = (1, 10, 100, 1000, 10_000, 100_000)  # generations
CHECKED = 300  # generations after which both ways are compared
LONGEST = 1.0  # seconds of a call that is made, about
SHORTEST = 0.002  # seconds that are timed at once


class PassesOnly(CpuArena):
    """An arena whose universes are never folded."""

    def fold_of(self, shape: LifeShape, generations: int) -> None:
        """Return None."""


def opened(arena: type[CpuArena], side: int, threads: int) -> CpuLife:
    """Return a soup on a torus."""
    shape = LifeShape(side, side, torus=True)
    universe = arena(CpuTarget(threads), [shape], 1, LIFE.cells).open(0, shape)
    universe.put(0, random_grid(side, side, 0.5, 1).words)
    return universe


def timed(universe: CpuLife, generations: int) -> tuple[float, float]:
    """Return the seconds of a call, and those of all processors."""
    calls, took = 0, 0.0
    clock, work = time.perf_counter(), time.process_time()
    while not calls or took < SHORTEST:
        universe.step(generations)
        calls += 1
        took = time.perf_counter() - clock
    return took / calls, max(time.process_time() - work, 1e-9) / calls  # its clock is coarse


def measure(side: int, threads: int, calls: Sequence[int], rounds: int) -> list[str]:
    """Return a line of the table for each length of a call."""
    ways = [opened(CpuArena, side, threads), opened(PassesOnly, side, threads)]
    for universe in ways:
        universe.step(CHECKED)
    if not np.array_equal(ways[0].words(), ways[1].words()):
        sys.exit(f"{side}x{side}: folded and in passes differ")
    lines = []
    for generations in calls:
        found = [[timed(universe, generations) for universe in ways]]
        if found[0][0][0] < LONGEST:
            found += [[timed(universe, generations) for universe in ways] for _ in range(rounds)]
        clock = [min(turn[way][0] for turn in found) for way in (0, 1)]
        work = [min(turn[way][1] for turn in found) for way in (0, 1)]
        cells = generations * side * side / 1e9
        now, before = generations / clock[0], generations / clock[1]
        lines.append(
            f"| {side}² | {generations} | {now:.3g} | {before:.3g} | {now / before:.2f} "
            f"| {cells / work[0]:.3g} | {cells / work[1]:.3g} | {work[1] / work[0]:.2f} |"
        )
        if clock[0] > LONGEST / 10:
            break
    return lines


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.small_tori", description="Small tori on the CPU."
    )
    parser.add_argument("--threads", type=int, default=None, help="all cores by default")
    parser.add_argument("--sides", type=int, nargs="+", default=SIDES, help="of tori, in cells")
    parser.add_argument("--calls", type=int, nargs="+", default=CALLS, help="their generations")
    parser.add_argument("--rounds", type=int, default=5, help="for each row, by turns")
    options = parser.parse_args(arguments)
    target = CpuTarget(options.threads)
    print(f"{target.describe()}\n")
    print("| torus | generations a call | generations/s | in passes | ratio", end=" ")
    print("| 10⁹ updates a core second | in passes | ratio |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for side in options.sides:
        for line in measure(side, target.threads, options.calls, options.rounds):
            print(line, flush=True)


if __name__ == "__main__":
    main()
