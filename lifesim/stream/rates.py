"""Measure in a moment what this machine can do, so that phases need not be guessed."""

from __future__ import annotations

import threading
import time

import numpy as np

from kernels.life.contract import LifeShape
from kernels.life.rules import AgeingRule, LifeRule, MapRule
from kernels.targets.contract import Target
from kernels.targets.cpu import CpuTarget, levels
from kernels.targets.reference import ReferenceTarget
from lifesim.disk_speed import disk_rates
from lifesim.engines import engine_of
from lifesim.grid import Box, shape_of
from lifesim.scale import scale_of
from lifesim.soup import Soup
from lifesim.states import as_planes
from lifesim.store.universe import Universe
from lifesim.stream.plan import PERIOD, Rates

_SMALL = 1 << 22  # bytes of a universe that is not worth the time
_USUAL_READ = _USUAL_WRITE = 1e9  # bytes a second, of a disk that cannot be measured
_SLOW = 1 << 24  # cells that are measured by rules of which a generation may take long
_WIDEST = 1 << 24  # cells of a row that is measured: a manifest may tell of more than memory has
_SAMPLES, _SAMPLE_ROWS, _SAMPLE_COLUMNS = 8, 512, 1024


def measure(universe: Universe, backend: Target) -> Rates:
    """Measure the rates of the disk that a universe lies on and of a backend at its windows'
    width."""
    scale = scale_of(backend)
    is_usual = isinstance(universe.rule.cells, LifeRule | MapRule | AgeingRule)
    is_small = universe.manifest.stored_bytes < _SMALL
    if is_small and is_usual:
        return Rates(scale.usual_rate, _USUAL_READ, _USUAL_WRITE)
    width = min(universe.width, _WIDEST)
    rows = max(64, min(universe.height, scale.window_cells // width))
    if not is_usual:
        rows = min(rows, max(64, _SLOW // width))
    if is_small:
        cells = _cell_rate(universe, backend, width, rows, scale.window_seconds)
        return Rates(cells, _USUAL_READ, _USUAL_WRITE)
    disk = _DiskMeasurement(universe.path)
    try:
        cells = _cell_rate(universe, backend, width, rows, scale.window_seconds)
        return Rates(cells, *disk.rates())
    finally:
        disk.stop()


class _DiskMeasurement:
    """The measuring of a disk, which mostly waits, on a thread of its own, while something else is
    measured. Whoever is interrupted need not wait for it: it is told to stop, and changes nothing
    that anybody sees."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._found: tuple[float, float] | None = None
        self._ended, self._stopped = threading.Event(), threading.Event()
        threading.Thread(target=self._measure, daemon=True).start()

    def _measure(self) -> None:
        try:
            self._found = disk_rates(self._path, self._stopped.is_set)
        finally:
            self._ended.set()

    def rates(self) -> tuple[float, float]:
        """Wait for the end, and return the bytes per second that are read and written."""
        self._ended.wait()
        return self._found or (_USUAL_READ, _USUAL_WRITE)

    def stop(self) -> None:
        """Let it end soon."""
        self._stopped.set()


def _cell_rate(
    universe: Universe, backend: Target, width: int, height: int, seconds: float
) -> float:
    """Return the cell updates per second of a universe of random cells, measured for so long at
    least."""
    planes = universe.manifest.form.planes
    shape = LifeShape(width, height, universe.tiling.torus, planes)
    arena = engine_of(universe.rule, backend).arena([shape], 1, universe.rule.cells)
    try:
        life = arena.open(0, shape)
        step = max(1, (8 << 20) // (width // 8 + 1))
        for y in range(0, height, step):
            words = np.zeros(shape_of(width, min(step, height - y), planes), np.uint64)
            # Cells of states 0 and 1: others are computed as quickly, and take longer to choose.
            lowest = np.ascontiguousarray(as_planes(words)[:, 0])
            Soup(0.5, 1).fill(lowest, y, 0, width)
            as_planes(words)[:, 0] = lowest
            life.put(y, words)
        life.step(life.stride)  # compiles, wakes clocks
        began, first, pieces = time.perf_counter(), life.generation, 1
        while (taken := time.perf_counter() - began) < seconds or life.generation == first:
            life.step(pieces * life.stride)
            pieces = min(2 * pieces, 4)
        return width * height * (life.generation - first) / taken
    finally:
        arena.close()


def looks_quiet(universe: Universe) -> bool:
    """Tell whether most of some samples of a universe are after a period what they were.

    It only tells how long a phase had best be: what is linked is found out exactly. The
    CPU is asked, where it can: a device would compile kernels for so little.
    """
    backend: Target = CpuTarget(1) if levels() else ReferenceTarget()
    tiling = universe.tiling
    halo = 64
    if universe.manifest.halo(PERIOD) > halo:
        return False
    chosen = np.random.default_rng(1).permutation(len(tiling))[:_SAMPLES]
    quiet = 0
    for seen, tile in enumerate(chosen, 1):
        box = tiling.box(int(tile))
        width = min(box.width, _SAMPLE_COLUMNS) // 64 * 64
        height = min(box.height, _SAMPLE_ROWS)
        if height <= 2 * halo or width <= 2 * halo:
            return False
        sample = universe.region(
            Box(box.x, box.y + (box.height - height) // 2, width, height)
        ).words
        life = engine_of(universe.rule, backend).universe(
            sample, LifeShape(width, height, True, universe.rule.planes), universe.rule.cells
        )
        life.step(PERIOD)
        inner = np.s_[halo:-halo, ..., halo // 64 : -halo // 64]
        quiet += bool(np.array_equal(life.words()[inner], sample[inner]))
        if 2 * (len(chosen) - seen + quiet) <= len(chosen):  # whatever the others are
            return False
    return True
