"""Larger than Life on soups, on this CPU or a GPU, beside Golly's.

python -m benchmarks.ranges [--backend cuda] [--size N] [--golly BGOLLY]
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from kernels.life.bytewise import packed
from kernels.life.contract import LifeShape
from kernels.ranges import engine_for
from kernels.ranges.rules import RangeRule, circle, diamond, square
from kernels.targets.choose import pick

RULES = {
    "R5,C0,M1,S34..58,B34..45,NM": RangeRule(square(5, middle=True), ((34, 45),), ((34, 58),)),
    "R7,C0,M1,S65..114,B65..95,NM": RangeRule(square(7, middle=True), ((65, 95),), ((65, 114),)),
    "R10,C0,M1,S123..212,B123..170,NM": RangeRule(
        square(10, middle=True), ((123, 170),), ((123, 212),)
    ),
    "R100,C0,M1,S11352..19366,B11352..15025,NM": RangeRule(
        square(100, middle=True), ((11352, 15025),), ((11352, 19366),)
    ),
    "R5,C0,M1,S20..35,B20..30,NN": RangeRule(diamond(5, middle=True), ((20, 30),), ((20, 35),)),
    "R100,C0,M1,S5612..9776,B5612..7585,NN": RangeRule(
        diamond(100, middle=True), ((5612, 7585),), ((5612, 9776),)
    ),
    "R10,C0,M1,S100..180,B100..150,NC": RangeRule(
        circle(10, middle=True), ((100, 150),), ((100, 180),)
    ),
}


def quickest(step: Callable[[int], None], clock: Callable[[], float]) -> float:
    """Return the least time of a generation, over some runs of as many as take a while."""
    step(1)
    began = clock()
    step(1)
    count = max(1, int(0.2 / max(1e-6, clock() - began)))
    times = []
    for _ in range(3):
        began = clock()
        step(count)
        times.append((clock() - began) / count)
    return min(times)


def golly_seconds(bgolly: str, rule: str, cells: np.ndarray) -> float:
    """Return the processor's time of one of bgolly's generations: of some more less one."""
    height, width = cells.shape
    text = "\n".join("".join("o" if c else "b" for c in row) + "$" for row in cells)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "soup.rle"
        file.write_text(f"x = {width}, y = {height}, rule = {rule}:T{width},{height}\n{text}!\n")

        def seconds(generations: int) -> float:
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            command = [bgolly, "-a", "Larger than Life", "-m", str(generations), str(file)]
            subprocess.run(command, check=True, capture_output=True)
            return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before

        return (seconds(5) - seconds(1)) / 4


def main() -> None:
    """Print a row for each rule."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--size", type=int, default=2048)
    parser.add_argument("--golly")
    given = parser.parse_args()
    target = pick(given.backend, threads=1)
    clock = time.process_time if given.backend == "cpu" else time.perf_counter
    cells = (np.random.default_rng(1).random((given.size, given.size)) < 0.45).astype(np.uint8)
    print(f"on {target.describe()}, {given.size} x {given.size}, 10^9 updates a second\n")
    print(
        "| rule | neighbours | ours | bgolly | times as fast |\n| --- | ---: | ---: | ---: | ---: |"
    )
    for name, rule in RULES.items():
        shape = LifeShape(given.size, given.size, True)
        universe = engine_for(target, 1).universe(packed(cells, 1), shape, rule)
        ours = cells.size / quickest(universe.step, clock) / 1e9
        row = f"| {name} | {rule.most} | {ours:.3g} |"
        if given.golly:
            theirs = cells.size / golly_seconds(given.golly, name, cells) / 1e9
            row += f" {theirs:.2g} | {ours / theirs:.1f} |"
        print(row, flush=True)


if __name__ == "__main__":
    main()
