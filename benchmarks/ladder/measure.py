"""How fast the rungs are, in 10^9 updates of a cell a second."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels.targets.cuda.device import Device

from .cpu import CpuLadder
from .rungs import RUNGS, Rung, Simulation, Variant, Words, run, rung_named, variants

REPEATS = 3  # the best counts


@dataclass(frozen=True, slots=True)
class MeasuredRung:
    """rate: of the best variant, best of REPEATS. probes: one short run of each variant."""

    rung: Rung
    rate: float
    variant: Variant
    probes: dict[str, float]


class WrongCellsError(Exception):
    """A rung whose cells are not those of another: its rate would mean nothing."""


def soup(width: int, height: int, seed: int = 0) -> Words:
    """Half the cells alive. Speed does not depend on the cells."""
    return np.random.default_rng(seed).integers(0, 2**64, (height, width // 64), np.uint64)


def seconds(work: Callable[[], object], finish: Callable[[], object] = lambda: None) -> float:
    finish()
    start = time.perf_counter()
    work()
    finish()
    return time.perf_counter() - start


def measure(
    device: Device, rung: Rung, size: int, generations: int, *, first_variant_only: bool = False
) -> MeasuredRung:
    """The rung on a torus of size x size cells, in whichever variant is fastest here.

    generations: a multiple of 16. Raises WrongCellsError.
    """
    words = soup(size, size)
    choice = variants(rung)[:1] if first_variant_only else variants(rung)
    probe = max(16, generations // 8 // 16 * 16)  # generations

    def prepared(variant: Variant) -> Simulation:
        simulation = Simulation(device, rung, size, size, variant)
        simulation.load(words)
        simulation.advance(16)  # loads the module, wakes the clocks
        return simulation

    def rate(simulation: Simulation, n: int) -> float:
        took = seconds(lambda: simulation.advance(n), device.synchronize)
        return size * size * n / took / 1e9

    # One at a time, so that only one holds device memory.
    probes = {variant: rate(prepared(variant), probe) for variant in choice}
    best = max(probes, key=probes.__getitem__)
    verify(device, rung, best)
    simulation = prepared(best)
    fastest = max(rate(simulation, generations) for _ in range(REPEATS))
    return MeasuredRung(rung, fastest, best, {str(v): r for v, r in probes.items()})


def verify(device: Device, rung: Rung, variant: Variant) -> None:
    """Raises WrongCellsError unless the rung agrees with word_per_cell on a small torus."""
    width, height, generations = 448, 301, 48
    words = soup(width, height)
    want = run(device, rung_named("word_per_cell"), words, width, height, generations)
    got = run(device, rung, words, width, height, generations, variant)
    if not np.array_equal(got, want):
        raise WrongCellsError(f"{rung.name} ({variant}) computes other cells than word_per_cell")


def measure_cpu(ladder: CpuLadder, rung: str, size: int, generations: int) -> float:
    """The rate of one thread on a torus of size x size cells."""
    cells: npt.NDArray[Any] = soup(size, size)
    if rung == "word_per_cell":
        cells = np.unpackbits(cells.view(np.uint8), axis=1, bitorder="little")
    spare = np.zeros_like(cells)  # touched, so that no page fault is timed
    took = [
        seconds(lambda: ladder.advance(rung, cells, spare, generations)) for _ in range(REPEATS)
    ]
    return size * size * generations / min(took) / 1e9


def measure_all(
    device: Device,
    size: int,
    generations: int,
    *,
    first_variant_only: bool = False,
    progress: Callable[[str], None] = lambda line: None,
) -> list[MeasuredRung]:
    results = []
    for rung in RUNGS:
        result = measure(device, rung, size, generations, first_variant_only=first_variant_only)
        progress(f"{rung.name}: {result.rate:.4g}")
        results.append(result)
    return results
