"""Measure how fast the backends are, in cell updates per second, beside the tile loop."""

from __future__ import annotations

import ctypes
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import numpy.typing as npt

from kernels.life import engine_for
from kernels.life.contract import LifeShape, LifeUniverse
from kernels.targets.contract import Target
from lifesim.grid import GridError, check_size
from lifesim.rule import LIFE, Rule
from lifesim.soup import random_grid
from lifesim.topology import Topology

TILE_SOURCE = Path(__file__).parents[1] / "benchmarks" / "tile_loop.cpp"

_ROUNDS = 16
_TILE_ROWS, _TILE_COLUMNS = 60, 32

Tile = npt.NDArray[np.uint32]


class TileLoopError(RuntimeError):
    """The tile loop cannot be built or run here; the message says why."""


@dataclass(frozen=True, slots=True)
class TimedRunner:
    """A computation that can be timed to be timed. step(n) makes n * cells cell updates, and waits
    for them."""

    cells: int
    step: Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Samples:
    """The speeds that were measured of one runner. rates: cell updates per second, one a round,
    each of `steps` steps in one call."""

    rates: tuple[float, ...]
    steps: int

    @property
    def best(self) -> float:
        """Return the highest rate."""
        return max(self.rates)

    @property
    def median(self) -> float:
        """Return the median of the rates."""
        return statistics.median(self.rates)

    def ratio(self, other: Samples) -> float:
        """Return the median over the rounds of the ratio to another's rate: what slows a round
        slows both of its figures."""
        pairs = zip(self.rates, other.rates, strict=True)
        return statistics.median(mine / others for mine, others in pairs)


@dataclass(frozen=True, slots=True)
class MeasuredSize:
    """One line of the table. problem: why there are no figures; '' where there are."""

    width: int
    height: int
    problem: str = ""
    samples: Samples | None = None
    tile: Samples | None = None

    @property
    def ratio(self) -> float | None:
        """Return the ratio to the tile loop, which ran by turns with it."""
        if self.samples is None or self.tile is None:
            return None
        return self.samples.ratio(self.tile)


def compete(
    runners: Sequence[TimedRunner],
    seconds: float,
    *,
    rounds: int = _ROUNDS,
    clock: Callable[[], float] = time.perf_counter,
) -> list[Samples]:
    """Time the runners by turns, A B A B, so that a noisy machine is noisy to them all.

    seconds: for all rounds of all runners together, warm-up apart. Rounds are left out
    where one step takes too long for them, but never the first.
    """

    def timed(runner: TimedRunner, steps: int) -> float:
        start = clock()
        runner.step(steps)
        return max(clock() - start, 1e-9)

    share = seconds / rounds / len(runners)
    counts = []
    for runner in runners:
        timed(runner, 1)  # compiles, touches memory, wakes clocks
        count, took = 1, timed(runner, 1)
        while took < share / 4:
            count = min(count * 8, max(count + 1, round(count * share / took)))
            took = timed(runner, count)
        counts.append(max(1, round(count * share / took)))
    rates: list[list[float]] = [[] for _ in runners]
    start = clock()
    for done in range(1, rounds + 1):
        for runner, count, found in zip(runners, counts, rates, strict=True):
            found.append(runner.cells * count / timed(runner, count))
        if (clock() - start) * (done + 1) / done > seconds * 1.1:
            break
    return [Samples(tuple(r), count) for r, count in zip(rates, counts, strict=True)]


def runner_of(universe: LifeUniverse) -> TimedRunner:
    """Return a runner of a universe, one step of which is one stride, so that no pass does less
    than it could."""
    return TimedRunner(
        universe.width * universe.height * universe.stride,
        lambda n: universe.step(n * universe.stride),
    )


def soup_universe(
    backend: Target,
    width: int,
    height: int,
    *,
    rule: Rule = LIFE,
    topology: Topology = Topology.TORUS,
) -> LifeUniverse:
    """Make a soup of density 1/2, seed 1, in the backend. Raises GridError and MemoryError."""
    check_size(width, height, copies=1 if backend.devices else 3)
    return engine_for(backend).universe(
        random_grid(width, height, Fraction(1, 2), 1).words,
        LifeShape(width, height, topology is Topology.TORUS),
        rule,
    )


def measure(
    backend: Target,
    sizes: Sequence[tuple[int, int]],
    *,
    rule: Rule = LIFE,
    topology: Topology = Topology.TORUS,
    seconds: float = 2.0,
    tile: TimedRunner | None = None,
) -> Iterator[MeasuredSize]:
    """Measure each size for about `seconds`, by turns with `tile` if it is given.

    A size that there is no memory for becomes a line that says so.
    """
    for width, height in sizes:
        yield _measure_one(backend, width, height, rule, topology, seconds, tile)


# A function of its own, so that one universe is gone before the next is made.
def _measure_one(
    backend: Target,
    width: int,
    height: int,
    rule: Rule,
    topology: Topology,
    seconds: float,
    tile: TimedRunner | None,
) -> MeasuredSize:
    try:
        universe = soup_universe(backend, width, height, rule=rule, topology=topology)
        samples = compete([runner_of(universe), *([tile] if tile else [])], seconds)
    except (GridError, MemoryError) as error:
        return MeasuredSize(width, height, problem=str(error) or "out of memory")
    return MeasuredSize(width, height, "", samples[0], samples[1] if tile else None)


class TileLoop:
    """benchmarks/tile_loop.cpp, compiled for this machine: the CPU's ceiling."""

    def __init__(self, source: Path = TILE_SOURCE) -> None:
        """Compile it (a second or two) with CXX, or g++. Raises TileLoopError."""
        if not source.is_file():
            raise TileLoopError(f"{source.name} comes with the source checkout only")
        compiler = os.environ.get("CXX") or "g++"
        with tempfile.TemporaryDirectory() as folder:
            library = Path(folder) / "tile_loop.so"
            command = [*compiler.split(), "-O3", "-march=native", "-std=gnu++17", "-Wno-psabi"]
            command += ["-shared", "-fPIC", str(source), "-o", str(library)]
            try:
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                if done.returncode:
                    said = (done.stderr.strip().splitlines() or ["no message"])[0]
                    raise TileLoopError(f"{compiler} refuses {source.name}: {said}")
                self._library = ctypes.CDLL(str(library))  # stays mapped when the file goes
            except OSError as error:
                raise TileLoopError(f"{compiler}: {error.strerror or error}") from None

    def advance(self, a: Tile, b: Tile, columns: int, generations: int) -> Tile:
        """Return a or b, which has a's cells `generations` on, and as many rows further down.

        b is of a's shape; both are overwritten, and lie as aligned_tile()'s do.
        """
        function = getattr(self._library, f"tile_{32 * a.shape[2]}")
        function.restype = None
        function(
            ctypes.c_void_p(a.ctypes.data),
            ctypes.c_void_p(b.ctypes.data),
            ctypes.c_int(a.shape[0]),
            ctypes.c_int(columns),
            ctypes.c_longlong(generations),
        )
        return b if generations % 2 else a

    def runner(self, bits: int = 512, threads: int = 1) -> TimedRunner:
        """Return a runner on vectors of 128, 256 or 512 bits; every thread has a tile of its
        own."""
        pairs = [
            tuple(aligned_tile(_TILE_ROWS, _TILE_COLUMNS, bits, seed) for seed in (i, i))
            for i in range(threads)
        ]
        pool = ThreadPoolExecutor(threads) if threads > 1 else None
        unit = 64  # generations a step: a single one takes no longer than a call

        def step(count: int) -> None:
            def run(pair: tuple[Tile, ...]) -> None:
                self.advance(pair[0], pair[1], _TILE_COLUMNS, unit * count)

            if pool is None:
                run(pairs[0])
            else:  # ctypes lets go of the interpreter: they run at once
                list(pool.map(run, pairs))

        return TimedRunner(_TILE_ROWS * _TILE_COLUMNS * bits * threads * unit, step)


def aligned_tile(rows: int, columns: int, bits: int, seed: int) -> Tile:
    """Make a random tile: uint32 (rows, columns | 1, bits / 32), its vectors aligned."""
    shape = rows, columns | 1, bits // 32
    count = rows * (columns | 1) * bits // 32
    memory = np.empty(count + 16, np.uint32)
    first = -memory.ctypes.data % 64 // 4
    tile = memory[first : first + count].reshape(shape)
    tile[:] = np.random.default_rng(seed).integers(0, 1 << 32, shape, np.uint32)
    return tile
