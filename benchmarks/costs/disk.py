"""Measure what phases of a universe on disk cost beside its cells and its bytes."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.costs.fit import Found, found
from benchmarks.costs.place import Place
from kernels.life.contract import Words
from kernels.targets.cpu import CpuTarget, core_count, levels
from kernels.targets.reference import ReferenceTarget
from lifesim.soup import Soup
from lifesim.store.make import make_universe
from lifesim.store.tiling import tile_universe
from lifesim.stream.costs import PHASE_COSTS
from lifesim.stream.run import StreamedLife

SMALL = 1024  # cells, of the side of a square whose bytes cost nothing
TILES = 1, 4  # to a side
LARGE = 32_768  # cells, of the side of a square of 128 MiB
PHASES = 7


MEMORY = Path("/dev/shm")  # a folder of files in memory, where there is one


@dataclass(frozen=True)
class Phase:
    """The costs of a phase of one generation, medians of some. seconds: on the clock. byte: of a
    core, whether it computes or waits, for a byte that was read or written."""

    seconds: float
    byte: float


def measure(place: Place) -> Iterator[Found]:
    """Yield what phases cost in a folder; and a byte, in memory, where no disk is waited for."""
    with tempfile.TemporaryDirectory(dir=place.folder) as name:
        few, many = (phases(Path(name) / str(side), SMALL, side, place) for side in TILES)
    file = (many.seconds - few.seconds) / (TILES[1] ** 2 - TILES[0] ** 2)
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else place.folder) as name:
        large = phases(Path(name) / "large", LARGE // place.scale, 2, place)
    yield found(
        "lifesim/stream/costs.py", "PHASE_COSTS", PHASE_COSTS,
        file=max(file, 0.0), phase=max(few.seconds - file, 0.0), byte=max(large.byte, 0.0),
    )  # fmt: skip


def phases(path: Path, side: int, tiles: int, place: Place) -> Phase:
    """Measure phases of a soup in so many tiles to a side, with all cores."""

    def source(words: Words, y0: int, w0: int, width: int) -> None:
        Soup(0.5, 1).fill(words, y0, w0, width)

    seconds, each = [], []
    tiling = tile_universe(side, side, True, (tiles, tiles))
    with make_universe(path, tiling, source) as universe:
        target = CpuTarget() if levels() else ReferenceTarget()
        life = StreamedLife(universe, [target], generations=1)
        life.run(1)  # measures what a plan must know
        for _ in range(max(1, PHASES // place.scale)):
            start = time.perf_counter()
            life.run(1)
            seconds.append(time.perf_counter() - start)
            tally = life.tallies[-1][1]
            beside = core_count() * (seconds[-1] - tally.step_seconds)
            each.append(beside / (tally.read_bytes + tally.written_bytes))
    return Phase(median(seconds), median(each))
