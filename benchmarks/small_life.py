"""Small universes on a GPU: generations a second of one, and cell updates of many at once.

    python -m benchmarks.small_life [--device N] [--seconds S] [--universes N]

Each size is moved on by plots, which stay on the chip (kernels/life/cuda/plots.cu), and by passes,
by turns; before anything is timed the two are compared. Batches are of 128 x 128 soups, as
`lifesim.run_batch` takes them: the whole call, and the generations alone, as the difference
between calls of many generations and of few.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

import numpy as np

from bulkbits.timing import TimedRunner, compete
from kernels.life import engine_for
from kernels.life.contract import LifeShape
from kernels.life.cuda.engine import DeviceLife
from kernels.targets.contract import BackendUnavailableError
from kernels.targets.cuda.target import CudaTarget
from lifesim import random_grid, run_batch
from lifesim.rule import LIFE

SIZES = (256, 512, 1024, 2048, 4096, 8192, 16384)
CHECKED = 3000  # generations after which plots and passes are compared
FEW, MANY = 1000, 21000  # generations of batches


def opened(target: CudaTarget, side: int, torus: bool, *, plots: bool) -> DeviceLife:
    """Return a soup that has, or has not, plots with kernels that are compiled."""
    words = random_grid(side, side, 0.5, 1).words
    universe = engine_for(target).universe(words, LifeShape(side, side, torus), LIFE.cells)
    assert isinstance(universe, DeviceLife)
    if not plots:
        universe.plots = None
    elif universe.plots:
        universe.plots.compiling().result()
    return universe


def measure(target: CudaTarget, side: int, torus: bool, seconds: float) -> str:
    """Return a line of the table."""
    plotted = opened(target, side, torus, plots=True)
    passed = opened(target, side, torus, plots=False)
    for universe in (plotted, passed):
        universe.step(CHECKED)
    if not np.array_equal(plotted.words(), passed.words()):
        sys.exit(f"{side}x{side}: plots and passes differ")
    if plotted.plots is None or plotted.plots.plots.missed:
        return f"| {name(side, torus)} | no plots |"
    runners = [TimedRunner(1.0, plotted.step), TimedRunner(1.0, passed.step)]
    ours, old = compete(runners, seconds)
    plan = plotted.plots.plan
    shape = f"{plan.across} x {plan.down} of {32 * plan.warps * plan.words} x {32 * plan.rows}"
    return (
        f"| {name(side, torus)} | {ours.best:.3g} | {old.best:.3g} | {ours.ratio(old):.2f} "
        f"| {ours.best * side * side / 1e12:.1f} | {shape}, halo {plan.halo} |"
    )


def name(side: int, torus: bool) -> str:
    return f"{'torus' if torus else 'plane'} {side}²"


def measure_batch(target: CudaTarget, count: int, topology: str) -> str:
    """Return a line about a batch."""
    soups = np.stack([random_grid(128, 128, 0.5, n).words for n in range(min(count, 100))])
    words = np.tile(soups, (-(-count // len(soups)), 1, 1))[:count]
    took = {}
    for generations in (1, FEW, MANY, FEW, MANY):  # the first compiles
        start = time.perf_counter()
        made = run_batch(words, 128, generations, topology=topology, backend=target)
        seconds = time.perf_counter() - start
        took[generations] = min(seconds, took.get(generations, seconds))
    alone = engine_for(target).universe(
        words[-1], LifeShape(128, 128, topology == "torus"), LIFE.cells
    )
    alone.step(MANY)
    if not np.array_equal(alone.words(), made[-1]):
        sys.exit(f"a batch on a {topology}: universes differ from one alone")
    cells = count * 128 * 128
    rate, whole = cells * (MANY - FEW) / (took[MANY] - took[FEW]), cells * MANY / took[MANY]
    return (
        f"| {count} of 128², {topology} | {rate / 1e12:.1f} | {whole / 1e12:.1f} "
        f"| {took[FEW]:.3f} | {took[MANY]:.3f} |"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.small_life", description="Small universes on a GPU."
    )
    parser.add_argument("--device", type=int, default=0, help="a GPU's number")
    parser.add_argument("--seconds", type=float, default=2.0, help="for each row")
    parser.add_argument("--universes", type=int, default=100_000, help="of a batch")
    options = parser.parse_args(arguments)
    try:
        target = CudaTarget(options.device)
    except BackendUnavailableError as error:
        sys.exit(f"benchmarks.small_life: {error}")
    print("| universe | plots, generations/s | passes | ratio | 10¹² updates/s | plots |")
    print("| --- | ---: | ---: | ---: | ---: | --- |")
    for torus in (True, False):
        for side in SIZES:
            print(measure(target, side, torus, options.seconds), flush=True)
    print("\n| batch | 10¹² updates/s | of the whole call | s, 1000 generations | s, 21000 |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for topology in ("torus", "plane"):
        print(measure_batch(target, options.universes, topology), flush=True)


if __name__ == "__main__":
    main()
