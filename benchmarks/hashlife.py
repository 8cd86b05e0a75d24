"""HashLife beside Golly's and lifelib's, on files of patterns.

    python -m benchmarks.hashlife FILES... [--generations 2^14] [--golly bgolly]
        [--lifelib PYTHON] [--memory 4] [--limit 300]

Each file is run for so many generations by one thread in one step, from reading to the population.
Golly's time is that of bgolly without what it takes for generation 0. lifelib is asked through
another Python that has it. Populations must be equal, or the last column says NO. What takes longer
than the limit stands as a dash.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import shutil
import subprocess
import time
from pathlib import Path

from kernels.life.contract import LifeRule
from kernels.plane.hashlife.cpu.engine import HashPlaneEngine
from kernels.targets.cpu import CpuTarget
from lifesim import patterns
from lifesim.planes import HashedUniverse
from lifesim.rule import LIFE

LIFELIB = """
import sys, time
import lifelib
trees = lifelib.load_rules(sys.argv[1]).lifetree(memory=int(sys.argv[4]))
began = time.perf_counter()
print(trees.load(sys.argv[2])[int(sys.argv[3])].population, time.perf_counter() - began)
"""

Timed = tuple[float, int]  # seconds, population


def ours(path: Path, generations: int, memory: int) -> Timed:
    """Return the seconds from the file to the population, and that."""
    began = time.perf_counter()
    pattern = patterns.read(path, as_squares=True)
    rule = pattern.rule or LIFE
    if pattern.squares is None:
        at = pattern.x, pattern.y
        universe = HashedUniverse(CpuTarget(1), pattern.grid, at, rule, memory)
        universe.stride = generations  # in one step
        universe.step(generations)
        return time.perf_counter() - began, universe.population()
    plane = HashPlaneEngine(CpuTarget(1)).universe(LifeRule(rule.birth, rule.survival), memory)
    plane.put_list(pattern.squares)
    plane.step(generations)
    return time.perf_counter() - began, plane.population()


def golly(program: str, path: Path, generations: int, memory: int, limit: float) -> Timed | None:
    """Return the seconds that bgolly takes more than for generation 0, and its population."""
    took, population = [], 0
    for count in (0, generations):
        command = [program, "-h", "-M", str(memory >> 20), "-m", str(count), "-i", str(count or 1)]
        began = time.perf_counter()
        try:
            done = subprocess.run(
                [*command, str(path)], capture_output=True, text=True, timeout=limit, check=True
            )
        except (subprocess.TimeoutExpired, subprocess.CalledProcessError):
            return None
        took.append(time.perf_counter() - began)
        said = re.findall(r"^[\d,]+: ([\d,]+)", done.stdout, re.MULTILINE)
        population = int(said[-1].replace(",", "")) if said else -1
    return max(took[1] - took[0], 1e-4), population


def lifelib(python: str, path: Path, generations: int, memory: int, limit: float) -> Timed | None:
    """Return the seconds that lifelib takes, and its population."""
    rule = str(patterns.read(path, as_squares=True).rule or LIFE)
    name = rule.lower().replace("/", "")
    command = [python, "-c", LIFELIB, name, str(path), str(generations), str(memory >> 20)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=True)
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError):
        return None
    population, seconds = done.stdout.split()[-2:]
    return float(seconds), int(population)


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description="HashLife beside its peers.")
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--generations", default="2^14", help="as 1000 or 2^20 [2^14]")
    parser.add_argument("--golly", default=shutil.which("bgolly"))
    parser.add_argument("--lifelib", help="a Python that has it")
    parser.add_argument("--memory", type=int, default=4, help="GiB [4]")
    parser.add_argument("--limit", type=float, default=300, help="seconds [300]")
    args = parser.parse_args()
    base, _, power = args.generations.partition("^")
    generations = int(base) ** int(power or 1)
    ratios = []
    print(
        f"| {args.generations} generations | ours | bgolly | lifelib | better peer / ours | equal |"
    )
    print("| --- | ---: | ---: | ---: | ---: | --- |")
    for path in args.files:
        seconds, population = ours(path, generations, args.memory << 30)
        peers = [
            golly(args.golly, path, generations, args.memory << 30, args.limit)
            if args.golly
            else None,
            lifelib(args.lifelib, path, generations, args.memory << 30, args.limit)
            if args.lifelib
            else None,
        ]
        known = [peer for peer in peers if peer is not None]
        ratio = min((peer[0] for peer in known), default=math.nan) / seconds
        ratios.append(ratio)
        equal = "yes" if all(peer[1] == population for peer in known) else "NO"
        shown = [f"{peer[0]:.3f}" if peer else "–" for peer in peers]
        name = os.path.basename(path)
        print(f"| {name} | {seconds:.3f} | {shown[0]} | {shown[1]} | {ratio:.2f} | {equal} |",
              flush=True)  # fmt: skip
    finite = [ratio for ratio in ratios if not math.isnan(ratio)]
    if finite:
        mean = math.exp(sum(map(math.log, finite)) / len(finite))
        print(f"geometric mean {mean:.2f}, least {min(finite):.2f}")


if __name__ == "__main__":
    main()
