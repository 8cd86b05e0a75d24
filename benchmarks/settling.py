"""A soup in a torus as it settles: as a whole, where it changes, and beside lifelib.

    python -m benchmarks.settling [--side 4096] [--ages 0-500 4500-5000 ...] [--lifelib FOLDER]
        [--rule B3/S23] [--plane] [--threads 1 | --device 0] [--rounds 3]

For each span of generations, in 10⁹ updates of cells a second of all of the torus, or plane: a
universe that is always computed as a whole; the same as Life has it, which begins to be computed
where it changes once little does; and lifelib's tiles, for which the same soup lies on a plane
without an edge.
FOLDER has lifelib's sources, which are compiled. Each figure is the best of the rounds. One thread
is timed by the time of the processor, more of them, and a GPU, as it passes; lifelib has one
thread. What the soup has become is compared after each round.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from benchmarks.plane import PeerError, body_of, compiled, lifelib
from kernels.life import engine_for
from kernels.life.contract import LifeShape, LifeUniverse
from kernels.life.settling.cuda.universe import CudaSettlingLife
from kernels.life.settling.universe import settling
from kernels.targets.choose import pick
from kernels.targets.cpu import CpuTarget
from lifesim.rule import Rule
from lifesim.soup import random_grid

DENSITY = 0.37
AGES = ("0-500", "500-1000", "1500-2000", "3000-3500", "4500-5000", "8000-8500", "16000-16500")
NAMES = ("whole", "settling", "lifelib")
Spans = list[tuple[int, int]]
Clock = Callable[[], float]


def times(universe: LifeUniverse, spans: Spans, clock: Clock) -> list[float]:
    """Move a universe on from generation 0, and return the seconds that each span took."""
    found = []
    for first, last in spans:
        universe.step(first - universe.generation)
        began = clock()
        universe.step(last - first)
        found.append(clock() - began)
    return found


def peer_times(program: Path, body: Path, spans: Spans) -> list[float]:
    """Return the seconds that lifelib takes to the beginning and to the end of each span."""
    took = {n: lifelib(program, body, n)[0] if n else 0.0 for span in spans for n in span}
    return [took[n] for span in spans for n in span]


def spans_of(texts: Sequence[str]) -> Spans:
    """Return first and last generations. Raises ValueError unless they follow each other."""
    spans = [(int(first), int(last)) for first, _, last in (text.partition("-") for text in texts)]
    numbers = [n for span in spans for n in span]
    if numbers != sorted(numbers) or any(first == last for first, last in spans):
        raise ValueError("spans must follow each other")
    return spans


def run(chosen: argparse.Namespace, spans: Spans, folder: Path) -> None:
    """Print the table."""
    side, cells = chosen.side, Rule.parse(chosen.rule).nine_cells
    if cells is None:
        raise PeerError(f"{chosen.rule} is no rule of two states and nine cells")
    cpu = CpuTarget(chosen.threads)
    target = cpu if chosen.device is None else pick("cuda", device=chosen.device)
    on_one = target is cpu and cpu.threads == 1
    clock = time.process_time if on_one else time.perf_counter
    soup = random_grid(side, side, DENSITY, 1)
    shape = LifeShape(side, side, torus=not chosen.plane)
    best: dict[str, list[float]] = {}

    def note(name: str, seconds: list[float]) -> None:
        before = best.get(name, seconds)
        best[name] = [min(pair) for pair in zip(before, seconds, strict=True)]

    program = compiled(chosen.lifelib, folder / "driver") if chosen.lifelib else None
    body = folder / "soup"
    if program:
        body.write_text(body_of(soup))
    for _ in range(chosen.rounds):
        engine = engine_for(target)
        whole = engine.universe(soup.words, shape, cells)
        note(NAMES[0], times(whole, spans, clock))
        begun = engine.universe(soup.words, shape, cells)
        universe = settling(begun, target, cells, torus=shape.torus)
        if isinstance(universe, CudaSettlingLife):
            universe.on_device.compiling().result()
        note(NAMES[1], times(universe, spans, clock))
        if not np.array_equal(whole.words(), universe.words()):
            raise PeerError("the universes differ")
        if program:
            note(NAMES[2], peer_times(program, body, spans))
    if program:
        totals = best[NAMES[2]]
        best[NAMES[2]] = [
            last - first for first, last in zip(totals[::2], totals[1::2], strict=True)
        ]
    names = [name for name in NAMES if name in best]
    print(f"{target.describe()}. {side}², 10⁹ updates a second.\n")
    print(f"| generations | {' | '.join(names)} | settling / whole | settling / lifelib |")
    print("| --- |" + " ---: |" * (len(names) + 2))
    for place, (first, last) in enumerate(spans):
        seconds = {name: best[name][place] for name in names}
        rates = [rate_of(side * side * (last - first), seconds[name]) for name in names]
        ratios = [ratio_of(seconds.get(name), seconds[NAMES[1]]) for name in (NAMES[0], NAMES[2])]
        print(f"| {first} to {last} | {' | '.join([*rates, *ratios])} |", flush=True)


def rate_of(updates: int, seconds: float) -> str:
    """Return 10⁹ updates a second; nothing where the time is lost in the noise of two others."""
    return f"{updates / seconds / 1e9:.0f}" if seconds > 0 else ""


def ratio_of(seconds: float | None, ours: float) -> str:
    """Return how many times as long another takes, where that is known."""
    return f"{seconds / ours:.2f}" if seconds is not None and seconds > 0 and ours > 0 else ""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the benchmark with the options of a command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.settling",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--side", type=int, default=4096)
    parser.add_argument("--ages", nargs="+", default=AGES, metavar="FIRST-LAST")
    parser.add_argument("--lifelib", type=Path, metavar="FOLDER", help="lifelib's sources")
    parser.add_argument("--rule", default="B3/S23", help="lifelib has Life's [B3/S23]")
    parser.add_argument("--plane", action="store_true", help="with edges, where lifelib has none")
    parser.add_argument("--threads", type=int, default=1, help="[1]")
    parser.add_argument("--device", type=int, help="the number of a GPU, in place of threads")
    parser.add_argument("--rounds", type=int, default=3, help="[3]")
    chosen = parser.parse_args(arguments)
    try:
        spans = spans_of(chosen.ages)
    except ValueError as error:
        parser.error(str(error))
    try:
        with tempfile.TemporaryDirectory() as folder:
            run(chosen, spans, Path(folder))
    except PeerError as error:
        parser.exit(1, f"{error}\n")


if __name__ == "__main__":
    main()
