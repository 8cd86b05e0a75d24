"""Rates of rules of the Generations family, on a torus of random states, beside bgolly's.

    python -m benchmarks.rules_of_states [--backend cpu|cuda] [--size N] [--rules RULE ...]
        [--golly PROGRAM] [--seconds S]

Rates are cell updates per second: on the CPU of one thread and its seconds of the processor, on a
GPU of all of it. bgolly moves a square of 1024 x 1024 such cells on for 100 generations with its
algorithm Generations, on a plane without bounds; what it takes for none is subtracted. `equal` says
whether it then counts as many cells that are not dead as the engine here does.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.plane import PeerError, run_timed
from bulkbits.timing import compete
from kernels.ageing import engine_for
from kernels.life.bytewise import States, packed, unpacked
from kernels.life.contract import LifeShape, LifeUniverse
from kernels.life.rules import AgeingRule
from kernels.targets.contract import Target
from kernels.targets.cpu import CpuTarget
from lifesim.bench import runner_of
from lifesim.rule import Rule

RULES = ("/2/3", "345/2/4", "3458/37/4", "345/2/5", "345/24/25", "235/34/9", "23/3/256")
BLOCK = 2048  # cells of a side, of which larger universes are copies
PEER_SIDE, PEER_GENERATIONS = 1024, 100


def random_states(states: int, side: int) -> States:
    """Return a square of random states, half of them dead."""
    draw = np.random.default_rng(states)
    cells = draw.integers(1, states, (side, side), np.uint8, endpoint=False)
    cells[draw.random((side, side)) < 0.5] = 0
    return cells


def universe_of(target: Target, rule: AgeingRule, side: int) -> LifeUniverse:
    """Return a torus of copies of one block."""
    block = packed(random_states(rule.states, min(BLOCK, side)), rule.planes)
    shape = LifeShape(side, side, True, rule.planes)
    universe = engine_for(target, rule.planes).arena([shape], 1, rule).open(0, shape)
    band = np.ascontiguousarray(np.tile(block, (1, 1, -(-side // BLOCK)))[..., : shape.row_words])
    for y in range(0, side, len(band)):
        universe.put(y, band[: side - y])
    return universe


def rle_of(cells: States, text: str) -> str:
    """Return cells as the text of an RLE file, a letter for each."""
    letters = np.array([".", *(_letter(state) for state in range(1, 256))])
    rows = "$\n".join("".join(letters[row]) for row in cells)
    return f"x = {cells.shape[1]}, y = {len(cells)}, rule = {text}\n{rows}!\n"


def _letter(state: int) -> str:
    high, low = divmod(state - 1, 24)
    return ("" if not high else chr(ord("o") + high)) + chr(ord("A") + low)


def by_golly(golly: str, cells: States, text: str) -> tuple[float, int]:
    """Return bgolly's rate, and the population that it finds. Raises PeerError."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "soup.rle"
        path.write_text(rle_of(cells, text))
        steps = str(PEER_GENERATIONS)
        common = [golly, "-a", "Generations", "-M", "2000", "-m"]
        nothing, _ = run_timed([*common, "0", str(path)])
        seconds, said = run_timed([*common, steps, "-i", steps, str(path)])
    population = int(said.strip().splitlines()[-1].split(":")[-1].replace(",", ""))
    return cells.size * PEER_GENERATIONS / max(seconds - nothing, 1e-4), population


def population(target: Target, rule: AgeingRule, cells: States) -> int:
    """Return how many cells are not dead after as many generations, on a plane with room."""
    shown = np.pad(cells, PEER_GENERATIONS + 1)
    shape = LifeShape(shown.shape[1], shown.shape[0], False, rule.planes)
    universe = engine_for(target, rule.planes).universe(packed(shown, rule.planes), shape, rule)
    universe.step(PEER_GENERATIONS)
    return int(np.count_nonzero(unpacked(universe.words(), shape.width)))


def main() -> None:
    """Print a line of a table for each rule."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--size", type=int, default=0, help="cells of a side")
    parser.add_argument("--rules", nargs="+", default=RULES)
    parser.add_argument("--golly", default=shutil.which("bgolly"))
    parser.add_argument("--seconds", type=float, default=2.0, help="for each rule")
    args = parser.parse_args()
    target: Target
    if args.backend == "cuda":
        from kernels.targets.cuda.target import CudaTarget

        target, side, clock = CudaTarget(), args.size or 65536, time.perf_counter
    else:
        target, side, clock = CpuTarget(1), args.size or 16384, time.process_time
    print(f"{target.describe()}, torus of {side} x {side}")
    print("| rule | generations a pass | updates/s | bgolly | ratio | equal |")
    print("| --- | ---: | ---: | ---: | ---: | --- |")
    for text in args.rules:
        rule = Rule.parse(text).cells
        if not isinstance(rule, AgeingRule):
            raise SystemExit(f"{text} is no rule of the Generations family")
        universe = universe_of(target, rule, side)
        (samples,) = compete([runner_of(universe)], args.seconds, rounds=8, clock=clock)
        peer = "| | |"
        if args.golly:
            cells = random_states(rule.states, PEER_SIDE)
            try:
                rate, found = by_golly(args.golly, cells, text)
            except (PeerError, subprocess.SubprocessError) as error:
                raise SystemExit(str(error)) from None
            equal = "yes" if found == population(target, rule, cells) else "NO"
            peer = f"{rate:.3g} | {samples.median / rate:.0f} | {equal} |"
        print(f"| {text} | {universe.stride} | {samples.median:.3g} | {peer}", flush=True)


if __name__ == "__main__":
    main()
