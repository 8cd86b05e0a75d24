"""HashLife beside Golly's and lifelib's, on files of patterns.

    python -m benchmarks.hashlife FILES... [--generations 2^14] [--golly bgolly]
        [--lifelib PYTHON] [--memory 4] [--limit 120] [--rounds 1] [--threads 1]

Each file is run for so many generations by one thread in one step, from reading to the population.
Times are seconds of the processor, the least of some rounds in which all take turns; with more
threads ours are as they pass, on a machine that nobody else uses. Ours begin when the circuit of
the file's rule is found, which takes some tenths of a second for one that is not Life-like. Golly's
is that of bgolly without what it takes for generation 0. lifelib is asked through another Python
that has it. Populations must be equal, or the last column says NO. What takes more than the limit,
or more memory, stands as a dash: nothing is equal to that.
"""

from __future__ import annotations

import argparse
import math
import re
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

from kernels.life.cpu.compiled import compiled_rule
from kernels.life.rules import NineCellRule
from kernels.plane.hashlife.cpu.engine import HashPlaneEngine
from kernels.targets.cpu import CpuTarget
from lifesim import patterns
from lifesim.planes import HashedUniverse
from lifesim.rule import LIFE

LIFELIB = """
import sys, time
import lifelib
trees = lifelib.load_rules(sys.argv[1]).lifetree(memory=int(sys.argv[4]))
began = time.process_time()
print(trees.load(sys.argv[2])[int(sys.argv[3])].population, time.process_time() - began)
"""

OURS = """
import sys
from pathlib import Path
from benchmarks.hashlife import ours
print(*ours(Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]) << 20, THREADS))
"""

Timed = tuple[float, int]  # seconds, population


def ours(path: Path, generations: int, memory: int, threads: int) -> tuple[int, float]:
    """Return the population, and the seconds from the file to it: of the processor if by one
    thread, else as they pass."""
    clock = time.process_time if threads == 1 else time.perf_counter
    compiled_rule(rule_of(path))
    began = clock()
    pattern = patterns.read(path, as_squares=True)
    rule = pattern.rule or LIFE
    if pattern.squares is None:
        at = pattern.x, pattern.y
        universe = HashedUniverse(CpuTarget(threads), pattern.grid, at, rule, memory)
        universe.stride = generations  # in one step
        universe.step(generations)
        return universe.population(), clock() - began
    plane = HashPlaneEngine(CpuTarget(threads)).universe(rule_of(path), memory)
    plane.put_list(pattern.squares)
    plane.step(generations)
    return plane.population(), clock() - began


def rule_of(path: Path) -> NineCellRule:
    """Return the rule of a file. Raises ValueError for one that HashLife does not compute."""
    rule = (patterns.read(path, as_squares=True).rule or LIFE).nine_cells
    if rule is None:
        raise ValueError(f"{path}: a rule of HashLife has two states and nine cells")
    return rule


def run(command: list[str], limit: float) -> tuple[str, float] | None:
    """Return what a command says, and its seconds of the processor; None if it fails or takes more
    than the limit."""

    def confine() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(limit), math.ceil(limit)))

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=confine)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        return None
    return done.stdout, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def golly(program: str, path: Path, generations: int, memory: int, limit: float) -> Timed | None:
    """Return the seconds that bgolly takes more than for generation 0, and its population."""
    took, population = [], 0
    for count in (0, generations):
        command = [program, "-h", "-M", str(memory), "-m", str(count), "-i", str(count or 1)]
        done = run([*command, str(path)], limit)
        if done is None:
            return None
        took.append(done[1])
        said = re.findall(r"^[\d,]+: ([\d,]+)", done[0], re.MULTILINE)
        population = int(said[-1].replace(",", "")) if said else -1
    return max(took[1] - took[0], 1e-4), population


def by_python(
    python: str, program: str, path: Path, generations: int, memory: int, limit: float
) -> Timed | None:
    """Return the seconds and the population that a program of Python says."""
    rule = str(patterns.read(path, as_squares=True).rule or LIFE).lower().replace("/", "")
    done = run([python, "-c", program, rule, str(path), str(generations), str(memory)], limit)
    if done is None:
        return None
    population, seconds = done[0].split()[-2:]
    return max(float(seconds), 1e-4), int(population)


def quicker(one: Timed | None, other: Timed | None) -> Timed | None:
    """Return what took less time, if any of them came to an end."""
    return min((timed for timed in (one, other) if timed), default=None)


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description="HashLife beside its peers.")
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--generations", default="2^14", help="as 1000 or 2^20 [2^14]")
    parser.add_argument("--golly", default=shutil.which("bgolly"))
    parser.add_argument("--lifelib", help="a Python that has it")
    parser.add_argument("--memory", type=int, default=4, help="GiB [4]")
    parser.add_argument("--limit", type=float, default=120, help="seconds of the processor [120]")
    parser.add_argument("--rounds", type=int, default=1, help="[1]")
    parser.add_argument("--threads", type=int, default=1, help="of ours [1]")
    args = parser.parse_args()
    base, _, power = args.generations.partition("^")
    generations = int(base) ** int(power or 1)
    ratios = []
    print(
        f"| {args.generations} generations | ours | bgolly | lifelib | better peer / ours | equal |"
    )
    print("| --- | ---: | ---: | ---: | ---: | --- |")
    for path in args.files:
        each = path, generations, args.memory << 10, args.limit
        best: list[Timed | None] = [None] * 3
        for _ in range(args.rounds):
            now = (
                by_python(sys.executable, OURS.replace("THREADS", str(args.threads)), *each),
                golly(args.golly, *each) if args.golly else None,
                by_python(args.lifelib, LIFELIB, *each) if args.lifelib else None,
            )
            best = [quicker(one, other) for one, other in zip(best, now, strict=True)]
        mine, *peers = best
        known = [peer for peer in peers if peer is not None]
        ratio = min((peer[0] for peer in known), default=math.nan) / (mine or (math.nan,))[0]
        ratios.append(ratio)
        equal = "–"
        if mine and known:
            equal = "yes" if all(peer[1] == mine[1] for peer in known) else "NO"
        shown = " | ".join(f"{timed[0]:.3f}" if timed else "–" for timed in best)
        print(f"| {path.name} | {shown} | {ratio:.2f} | {equal} |".replace("nan", "–"), flush=True)
    finite = [ratio for ratio in ratios if not math.isnan(ratio)]
    if finite:
        mean = math.exp(sum(map(math.log, finite)) / len(finite))
        print(f"geometric mean {mean:.2f}, least {min(finite):.2f}")


if __name__ == "__main__":
    main()
