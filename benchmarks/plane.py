"""Planes without an edge in tiles, beside Golly's QuickLife and lifelib's tiles.

    python -m benchmarks.plane [--bgolly PROGRAM] [--lifelib FOLDER] [--patterns FOLDER]
        [--cases NAME ...] [--rounds ROUNDS] [--level LEVEL] [--cuda]

Milliseconds for all generations of a pattern, the best of the rounds, which take turns: ours on one
thread, QuickLife and lifelib as time of the processor (so that others on the machine do not count),
ours on all threads and on a GPU (--cuda) as it passes. Reading the pattern is not counted, nor
finding the circuit of its rule: for bgolly, its time for no generation at all is subtracted, and
short runs are made up to 30 times. FOLDER of --patterns is Golly's Patterns, for what is in its
collection; that of --lifelib has upattern.h, whose tiles are moved on by B3/S23, two generations at
once (so all numbers are even). All populations must be the same.
"""

from __future__ import annotations

import argparse
import io
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from kernels.life.rules import NineCellRule
from kernels.plane.contract import SIDE, Places, PlaneEngine, Words
from kernels.plane.tiles.cpu.engine import CpuTilesEngine
from kernels.targets.cpu import CpuTarget
from lifesim import patterns
from lifesim.grid import BitGrid
from lifesim.patterns import Pattern
from lifesim.rule import LIFE, Rule
from lifesim.soup import random_grid

MEMORY = 1 << 34
DATA = Path(__file__).parents[1] / "data" / "patterns"
DRIVER = Path(__file__).with_name("plane_lifelib.cpp")
# David Bell's predecessor of Andrzej Okrasinski's lidka, which lives for 29 055 generations.
LIDKA = b"x = 9, y = 15, rule = B3/S23\nbo$obo$bo8$8bo$6bobo$5boobo$$4b3o!\n"


class PeerError(RuntimeError):
    """Raised where another program cannot be run, or finds another population."""


@dataclass(frozen=True, slots=True)
class Case:
    """A pattern, by its file or the side of a soup, and how far it is moved on. rule: of a soup."""

    name: str
    generations: int
    path: str = ""
    side: int = 0
    rule: str = "B3/S23"

    def pattern(self, golly: Path | None) -> Pattern | None:
        """Return its cells and its rule; None where Golly's patterns are not there."""
        if self.side:
            soup = random_grid(self.side, self.side, seed=1, density=0.375)
            return Pattern(soup, rule=Rule.parse(self.rule))
        if self.path and "/" in self.path:
            return None if golly is None else patterns.read(golly / self.path)
        return patterns.read(DATA / self.path if self.path else io.BytesIO(LIDKA), name="lidka.rle")


CASES = (
    Case("r-pentomino", 1104, "r-pentomino.rle"),
    Case("acorn", 5206, "acorn.rle"),
    Case("lidka", 30_000),
    Case("gosper-gun", 100_000, "gosper-gun.rle"),
    Case("breeder", 10_000, "Life/Breeders/breeder.lif"),
    Case("spacefiller", 2000, "Life/Breeders/spacefiller.rle"),
    Case("spacefiller-20000", 20_000, "Life/Breeders/spacefiller.rle"),
    Case("soup-1000", 1000, side=4000),
    Case("soup-5000", 5000, side=4000),
    Case("pondpuffer", 100_000, "Non-Totalistic/pondpuffer-spaceship.rle"),
    Case("limited-spacefiller", 2000, "Non-Totalistic/limited-spacefiller.rle"),
    Case("b2ein-rakes", 5000, "Other-Rules/b2ein-spaceships-and-rakes.rle"),
    Case("soup-isotropic", 1000, side=4000, rule="B3/S2-i34q"),
    Case("soup-hexagonal", 1000, side=4000, rule="B24/S35H"),
    Case("soup-von-neumann", 1000, side=4000, rule="B24/S023V"),
)


@dataclass(slots=True)
class Timed:
    """The least seconds of some rounds, and the population at their end."""

    seconds: float = math.inf
    population: int = -1

    def add(self, seconds: float, population: int) -> None:
        self.seconds = min(self.seconds, seconds)
        self.population = population


def squares_of(grid: BitGrid) -> tuple[Places, Words]:
    """Return the cells of a grid as a plane takes them."""
    words = grid.words
    high = -(-len(words) // SIDE)
    padded = np.zeros((high * SIDE, words.shape[1]), np.uint64)
    padded[: len(words)] = words
    squares = padded.reshape(high, SIDE, -1).transpose(0, 2, 1).reshape(-1, SIDE)
    rows, columns = np.divmod(np.arange(len(squares)), words.shape[1])
    places = np.stack([columns, rows], axis=1).astype(np.int64)
    live = squares.any(axis=1)
    return np.ascontiguousarray(places[live]), np.ascontiguousarray(squares[live])


def ours(
    engine: PlaneEngine, clock: Callable[[], float], pattern: Pattern, generations: int
) -> tuple[float, int]:
    """Move a pattern on; return the seconds by a clock."""
    universe = engine.universe(rule_of(pattern), MEMORY)
    universe.put(*squares_of(pattern.grid))
    start = clock()
    universe.step(generations)
    return clock() - start, universe.population()


def rule_of(pattern: Pattern) -> NineCellRule:
    """Return the rule of a pattern. Raises PeerError for one that tiles do not compute."""
    rule = (pattern.rule or LIFE).nine_cells
    if rule is None:
        raise PeerError(f"rule {pattern.rule} is none of two states and nine cells")
    return rule


def run_timed(command: Sequence[str]) -> tuple[float, str]:
    """Return a program's seconds of the processor, and what it prints. Raises PeerError."""
    with tempfile.TemporaryFile() as said:
        try:
            process = subprocess.Popen(command, stdout=said, stderr=subprocess.DEVNULL)
        except OSError as error:
            raise PeerError(f"{command[0]}: {error.strerror}") from None
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        text = said.read().decode(errors="replace")
    if process.returncode:
        raise PeerError(f"{command[0]} failed: {text.strip()[-200:]}")
    return usage.ru_utime + usage.ru_stime, text


def quicklife(bgolly: str, path: Path, generations: int) -> tuple[float, int]:
    """Move a pattern on by QuickLife; of short runs, take the mean of many. Raises PeerError."""
    common = [bgolly, "-a", "QuickLife", "-m"]
    short, many = 0.05, 30
    total, runs, text = 0.0, 0, ""
    while not runs or (runs < many and total < short):
        nothing, _ = run_timed([*common, "0", str(path)])
        seconds, text = run_timed([*common, str(generations), "-i", str(generations), str(path)])
        total, runs = total + seconds - nothing, runs + 1
    last = text.strip().splitlines()[-1]  # "5,206: 633"
    return max(total / runs, 1e-4), int(last.split(":")[-1].replace(",", ""))


def lifelib(program: Path, path: Path, generations: int) -> tuple[float, int]:
    """Move a pattern on in lifelib's tiles. Raises PeerError."""
    _, text = run_timed([str(program), str(path), str(generations)])
    seconds, population = text.split()[-2:]
    return float(seconds), int(population)


def compiled(folder: Path, to: Path) -> Path:
    """Compile the driver of lifelib. Raises PeerError."""
    compiler = (os.environ.get("CXX") or "g++").split()
    command = [*compiler, "-std=c++17", "-O3", "-march=native", "-w", f"-I{folder}"]
    run_timed([*command, str(DRIVER), "-o", str(to)])
    return to


def body_of(grid: BitGrid) -> str:
    """Return the cells as lifelib reads them."""
    rows = ("".join(".A"[int(cell)] for cell in row).rstrip(".") for row in grid.to_bool())
    return "$\n".join(rows) + "!\n"


def measure(
    case: Case, ways: dict[str, Callable[[], tuple[float, int]]], rounds: int
) -> dict[str, Timed]:
    """Run every way by turns. Raises PeerError where populations differ."""
    found = {name: Timed() for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            found[name].add(*way())
    populations = {name: timed.population for name, timed in found.items()}
    if len(set(populations.values())) > 1:
        raise PeerError(f"{case.name}: populations differ: {populations}")
    return found


def line_of(case: Case, found: dict[str, Timed], names: Sequence[str]) -> str:
    """Return a line of the table."""
    peers = [found[name].seconds for name in names[3:] if name in found]
    times = [f"{1e3 * found[name].seconds:.2f}" if name in found else "" for name in names]
    ratios = [
        f"{min(peers) / found[name].seconds:.1f}" if peers and name in found else ""
        for name in (names[0], names[2])
    ]
    population = found[names[0]].population
    cells = [case.name, str(case.generations), str(population), *times, *ratios]
    return "| " + " | ".join(cells) + " |"


NAMES = ("one thread", "all threads", "GPU", "QuickLife", "lifelib")


def gpu_engine() -> PlaneEngine:
    """Return the engine of the first GPU, its code compiled. Raises BackendUnavailableError."""
    from kernels.plane.tiles.cuda.engine import CudaTilesEngine
    from kernels.targets.cuda.target import CudaTarget

    target = CudaTarget()
    print(f"GPU: {target.describe()}.")
    engine = CudaTilesEngine.of(target)
    ours(engine, time.perf_counter, Pattern(random_grid(64, 64, seed=1, density=0.375)), 100)
    return engine


def run(chosen: argparse.Namespace, folder: Path) -> None:
    """Print the table."""
    one, all_threads = CpuTarget(1, chosen.level), CpuTarget(level=chosen.level)
    gpu = gpu_engine() if chosen.cuda else None
    driver = compiled(chosen.lifelib, folder / "driver") if chosen.lifelib else None
    print(f"{all_threads.describe()}. Milliseconds; the better of the others to ours.\n")
    ratios = "times as fast | GPU: times as fast"
    print(f"| pattern | generations | population | {' | '.join(NAMES)} | {ratios} |")
    print("| --- | " + " | ".join(["---:"] * 9) + " |")
    for case in CASES:
        pattern = case.pattern(chosen.patterns) if case.name in chosen.cases else None
        if pattern is None:
            continue
        rle, body = folder / "pattern.rle", folder / "pattern.body"
        patterns.write(Pattern(pattern.grid, rule=pattern.rule), rle)
        body.write_text(body_of(pattern.grid))
        n = case.generations
        ways = {
            NAMES[0]: partial(ours, CpuTilesEngine(one), time.process_time, pattern, n),
            NAMES[1]: partial(ours, CpuTilesEngine(all_threads), time.perf_counter, pattern, n),
        }
        if gpu is not None:
            ways[NAMES[2]] = partial(ours, gpu, time.perf_counter, pattern, n)
        if chosen.bgolly:
            ways[NAMES[3]] = partial(quicklife, chosen.bgolly, rle, n)
        if driver and (pattern.rule or LIFE) == LIFE:
            ways[NAMES[4]] = partial(lifelib, driver, body, n)
        print(line_of(case, measure(case, ways, chosen.rounds), NAMES), flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the benchmark with the options of a command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.plane",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    names = [case.name for case in CASES]
    parser.add_argument("--bgolly", help="Golly's program without windows")
    parser.add_argument("--lifelib", type=Path, metavar="FOLDER", help="lifelib's sources")
    parser.add_argument("--patterns", type=Path, metavar="FOLDER", help="Golly's patterns")
    parser.add_argument("--cases", nargs="+", choices=names, default=names, metavar="NAME")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--level", help="of the CPU; the best by default")
    parser.add_argument("--cuda", action="store_true", help="on a GPU, too")
    try:
        with tempfile.TemporaryDirectory() as folder:
            run(parser.parse_args(arguments), Path(folder))
    except PeerError as error:
        sys.exit(f"python -m benchmarks.plane: {error}")


if __name__ == "__main__":
    main()
