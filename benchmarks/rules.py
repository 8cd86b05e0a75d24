"""Rules of two states by circuits, beside Golly's QuickLife, on one thread.

    python -m benchmarks.rules [RULE ...] [--side 8192] [--bgolly PROGRAM] [--device 0]

Cell updates a second of CPU time on a torus of random cells, half of them alive; on a device, a
second of the clock. bgolly is given the same cells and the same torus, and its time without
generations is subtracted.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

from kernels.life import engine_for
from kernels.life.circuits import circuit_of
from kernels.life.contract import LifeShape
from kernels.life.rules import LifeRule, MapRule
from kernels.targets.choose import pick
from kernels.targets.contract import Target
from kernels.targets.cpu import CpuTarget
from lifesim.grid import BitGrid
from lifesim.patterns import write
from lifesim.patterns.pattern import Pattern
from lifesim.rule import Rule
from lifesim.topology import Topology

RULES = (
    "B3/S23",
    "B36/S23",
    "B3678/S34678",
    "B2/S",
    "B345/S2",
    "B2-a/S12",
    "B37/S2-i34q",
    "B3-ej6e/S234i",
    "B2ein3cijn4cnrwy5cnq6e/S1c2-ai3acny4anqy5c6ek8",
    "B2cek3i/S12cei",
    "B2ak3nr4iy/S3-nr4ent5er",
    "B2aei3r4kn5jnr6k/S2ai3k4iknqr5r6ai",
    "B2-ac3ai/S1c2-n3-aky4a",
    "B2-a5/S1e2-a35678",
    "B3/S23-a4ei6",
)
ROUNDS, GENERATIONS, GOLLY_GENERATIONS = 3, 256, 16


def rate(target: Target, rule: LifeRule | MapRule, side: int) -> float:
    """Return the best rate of some rounds."""
    shape = LifeShape(side, side, True)
    words = np.random.default_rng(1).integers(0, 2**64, (side, side // 64), np.uint64)
    universe = engine_for(target).universe(words, shape, rule)
    universe.step(universe.stride)  # what is compiled at the first step is there
    clock = time.perf_counter if target.devices else time.process_time
    generations = 64 * GENERATIONS if target.devices else GENERATIONS
    best = 0.0
    for _ in range(ROUNDS):
        start = clock()
        universe.step(generations)
        best = max(best, side * side * generations / (clock() - start))
    return best


def quicklife(program: str, rule: Rule, side: int) -> float:
    """Return bgolly's rate on the same cells."""

    def seconds(path: Path, generations: int) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [program, "-a", "QuickLife", "-m", str(generations), str(path)],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    words = np.random.default_rng(1).integers(0, 2**64, (side, side // 64), np.uint64)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "soup.rle"
        grid, corner = BitGrid(side, side, words), -(side // 2)
        torus = Pattern(grid, corner, corner, rule, Topology.TORUS, (side, side))
        write(torus, path)
        took = seconds(path, GOLLY_GENERATIONS) - seconds(path, 0)
    return side * side * GOLLY_GENERATIONS / took


def main() -> None:
    """Print a row for each rule."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rules", nargs="*", default=RULES, metavar="RULE")
    parser.add_argument("--side", type=int, default=8192, help="a multiple of 64")
    parser.add_argument("--bgolly", help="Golly's program without windows")
    parser.add_argument("--device", type=int, help="the number of a GPU, in place of one core")
    options = parser.parse_args()
    target = pick("cuda", device=options.device) if options.device is not None else CpuTarget(1)
    print(target.describe())
    print("| rule | operations | updates/s | QuickLife | ratio |\n| --- | --- | --- | --- | --- |")
    for text in options.rules:
        rule = Rule.parse(text)
        if not isinstance(rule.cells, LifeRule | MapRule):
            parser.error(f"{rule} is not a rule of two states and nine cells")
        ours = rate(target, rule.cells, options.side)
        row = [rule.name, str(len(circuit_of(rule.cells).ops)), f"{ours / 1e9:.1f}e9"]
        if options.bgolly:
            theirs = quicklife(options.bgolly, rule, min(options.side, 2048))
            row += [f"{theirs / 1e9:.2f}e9", f"{ours / theirs:.0f}"]
        print("| " + " | ".join([*row, "", ""][:5]) + " |", flush=True)


if __name__ == "__main__":
    main()
