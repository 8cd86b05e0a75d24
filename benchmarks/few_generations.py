"""Life on the CPU where only few generations are made at a time, as by who looks at each.

    python -m benchmarks.few_generations [--sizes SIDE ...] [--seconds SECONDS] [--level LEVEL]

Calls of 1, 2, 4, 8 and 16 generations on a soup: straight on the rows, one after the other
(direct.hpp), by strips in one pass (panel.hpp), and as planned. Rates are cell updates per
second, the best of rounds that take turns.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from bulkbits.timing import Samples, TimedRunner, compete
from kernels.life.contract import LifeShape
from kernels.life.cpu.engine import CpuArena
from kernels.life.plan import CpuPlan, best_of, direct_plans, strip_plans
from kernels.targets.cpu import CpuTarget
from lifesim.rule import LIFE
from lifesim.soup import random_grid

GENERATIONS = (1, 2, 4, 8, 16)
SIDES = (1024, 4096, 16384, 16385, 32768)


def runner(backend: CpuTarget, side: int, generations: int, plan: CpuPlan | None) -> TimedRunner:
    """A step is a call of so many generations."""
    shape = LifeShape(side, side, True)
    universe = CpuArena(backend, [shape], 1, LIFE.cells, plan).open(0, shape)
    universe.put(0, random_grid(side, side, 0.5, 1).words)

    def step(calls: int) -> None:
        for _ in range(calls):
            universe.step(generations)

    return TimedRunner(side * side * generations, step)


def plans(backend: CpuTarget, side: int, generations: int) -> tuple[CpuPlan | None, ...]:
    """Direct, by strips, and None: as planned."""
    shape, machine = LifeShape(side, side, True), backend.machine
    strips = strip_plans(shape, generations, machine)
    return best_of(direct_plans(shape, machine)), best_of(strips), None


def measure(backend: CpuTarget, side: int, generations: int, seconds: float) -> list[Samples]:
    """Direct, by strips, as planned."""
    ways = plans(backend, side, generations)
    return compete([runner(backend, side, generations, plan) for plan in ways], seconds)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.few_generations",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=SIDES, metavar="SIDE")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each line [1]")
    parser.add_argument("--level", help="of the CPU; the best by default")
    chosen = parser.parse_args(arguments)
    backend = CpuTarget(level=chosen.level)
    print(f"{backend.describe()}. Cell updates per second, best of rounds by turns.\n")
    print("| torus | generations | direct, 10⁹/s | strips | planned | direct to strips |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for side in chosen.sizes:
        for generations in GENERATIONS:
            found = measure(backend, side, generations, chosen.seconds)
            rates = " | ".join(f"{samples.best / 1e9:.3g}" for samples in found)
            ratio = found[0].ratio(found[1])
            print(f"| {side}² | {generations} | {rates} | {ratio:.3g} |", flush=True)


if __name__ == "__main__":
    main()
