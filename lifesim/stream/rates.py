"""What this machine can do, measured in a moment, so that phases need not be guessed."""

from __future__ import annotations

import time

import numpy as np

from kernels.backend import Backend
from kernels.cpu import CpuBackend, levels
from kernels.reference import ReferenceBackend
from lifesim.doctor import disk_rates
from lifesim.grid import Box
from lifesim.soup import Soup
from lifesim.store.universe import Universe
from lifesim.stream.plan import PERIOD, Rates

_SMALL = 1 << 22  # bytes of a universe that is not worth the time
_USUAL = Rates(2e11, 1e9, 1e9)
_CELLS = {"cuda": 1 << 31, "cpu": 1 << 27, "reference": 1 << 14}
_USUAL_CELLS = {"cuda": 3e13, "cpu": 2e11, "reference": 2e7}
_SECONDS = 0.15
_SAMPLES, _SAMPLE_ROWS, _SAMPLE_COLUMNS = 8, 512, 1024


def measure(universe: Universe, backend: Backend) -> Rates:
    """Rates of the disk that a universe lies on and of a backend at its windows' width."""
    cells = _USUAL_CELLS.get(backend.name, _USUAL.cells)
    if universe.manifest.stored_bytes < _SMALL:
        return Rates(cells, _USUAL.read, _USUAL.write)
    width = universe.width
    rows = max(64, min(universe.height, _CELLS.get(backend.name, 1 << 24) // width))
    rates = disk_rates(universe.path) or (_USUAL.read, _USUAL.write)
    return Rates(_cell_rate(universe, backend, width, rows), *rates)


def _cell_rate(universe: Universe, backend: Backend, width: int, height: int) -> float:
    rule = universe.rule
    torus = universe.tiling.torus
    arena = backend.life_arena(
        [(width, height, torus)], 1, birth=rule.birth, survival=rule.survival
    )
    try:
        life = arena.open(0, width, height, torus=torus)
        step = max(1, (8 << 20) // (width // 8 + 1))
        for y in range(0, height, step):
            words = np.empty((min(step, height - y), -(-width // 64)), np.uint64)
            Soup(0.5, 1).fill(words, y, 0, width)
            life.put(y, words)
        life.step(life.stride)  # compiles, wakes clocks
        began, first = time.perf_counter(), life.generation
        while (taken := time.perf_counter() - began) < _SECONDS or life.generation == first:
            life.step(4 * life.stride)
        taken = time.perf_counter() - began
        return width * height * (life.generation - first) / taken
    finally:
        arena.close()


def looks_quiet(universe: Universe) -> bool:
    """Whether most of some samples of a universe are after a period what they were.

    It only tells how long a phase had best be: what is linked is found out exactly. The
    CPU is asked, where it can: a device would compile kernels for so little.
    """
    backend: Backend = CpuBackend(1) if levels() else ReferenceBackend()
    tiling = universe.tiling
    halo = 64
    chosen = np.random.default_rng(1).permutation(len(tiling))[:_SAMPLES]
    quiet = 0
    for tile in chosen:
        box = tiling.box(int(tile))
        width = min(box.width, _SAMPLE_COLUMNS) // 64 * 64
        height = min(box.height, _SAMPLE_ROWS)
        if height <= 2 * halo or width <= 2 * halo:
            return False
        sample = universe.region(
            Box(box.x, box.y + (box.height - height) // 2, width, height)
        ).words
        life = backend.life(
            sample,
            width,
            height,
            torus=True,
            birth=universe.rule.birth,
            survival=universe.rule.survival,
        )
        life.step(PERIOD)
        inner = np.s_[halo:-halo, halo // 64 : -halo // 64]
        quiet += bool(np.array_equal(life.words()[inner], sample[inner]))
    return 2 * quiet > len(chosen)
