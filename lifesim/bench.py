"""Measure cell updates per second on random soups, beside the tile loop and other peers."""

from __future__ import annotations

import ctypes
import os
import subprocess
import tempfile
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import numpy.typing as npt

from bulkbits.comparison import Row
from bulkbits.timing import TimedRunner, compete
from kernels.life.contract import LifeShape, LifeUniverse
from kernels.targets.contract import Target
from lifesim.engines import engine_of
from lifesim.grid import BitGrid, GridError, check_size
from lifesim.rule import LIFE, Rule
from lifesim.soup import Soup
from lifesim.topology import Topology

TILE_SOURCE = Path(__file__).parents[1] / "benchmarks" / "tile_loop.cpp"

_TILE_ROWS, _TILE_COLUMNS = 60, 32
_UNBROKEN = 64  # steps of the tile loop in one call: some hundredths of a second

Tile = npt.NDArray[np.uint32]

# What makes the runner of a peer on a soup: of its width, height, rule and topology; None where
# the peer takes too long there.
SoupPeer = Callable[[int, int, Rule, Topology], TimedRunner | None]


class TileLoopError(RuntimeError):
    """The tile loop cannot be built or run here; the message says why."""


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
    planes = rule.planes
    check_size(width, height, copies=planes * (1 if backend.devices else 3))
    soup = BitGrid(width, height, planes=planes)
    Soup(Fraction(1, 2), 1).fill_grid(soup, rule.states)
    shape = LifeShape(width, height, topology is Topology.TORUS, planes)
    return engine_of(rule, backend).universe(soup.words, shape, rule.cells)


def measure_soup(
    backend: Target,
    size: tuple[int, int],
    *,
    rule: Rule = LIFE,
    topology: Topology = Topology.TORUS,
    seconds: float = 2.0,
    peers: Mapping[str, SoupPeer] | None = None,
) -> Row:
    """Measure a soup for about `seconds`, by turns with the peers.

    peers: by their names, functions that make the runner of a peer. A size that there is no memory
    for becomes a row that says so.
    """
    width, height = size
    row = Row(
        f"{topology} {rule}",
        f"{width}×{height}",
        "cell updates",
        details={"width": width, "height": height},
    )
    try:
        universe = soup_universe(backend, width, height, rule=rule, topology=topology)
        runners = {"": runner_of(universe)}
        for name, make in (peers or {}).items():
            peer = make(width, height, rule, topology)
            if peer is not None:
                runners[name] = peer
        samples = dict(zip(runners, compete(list(runners.values()), seconds), strict=True))
    except (GridError, MemoryError) as error:
        return replace(row, problem=str(error) or "out of memory")
    return replace(row, ours=samples.pop(""), peers=samples)


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
            left = threading.Event()

            def run(pair: tuple[Tile, ...]) -> None:
                for done in range(0, count, _UNBROKEN):  # a call cannot be interrupted
                    if left.is_set():
                        return
                    generations = unit * min(_UNBROKEN, count - done)
                    self.advance(pair[0], pair[1], _TILE_COLUMNS, generations)

            try:
                if pool is None:
                    run(pairs[0])
                else:  # ctypes lets go of the interpreter: they run at once
                    list(pool.map(run, pairs))
            except BaseException:
                left.set()
                raise

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
