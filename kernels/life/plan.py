"""How a pass over a universe is cut up: pure functions of sizes, no device call in them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

MAX_COLUMNS = 32  # vectors in a row of a CPU panel: a strip is at most a 32-bit word wide


@dataclass(frozen=True, slots=True)
class CpuPlan:
    """Parameters of one CPU pass; kernels/life/life.hpp says what each means."""

    steps: int
    panels: int
    useful: int
    columns: int
    halo: int
    band_rows: int
    block_rows: int


# Costs in units of one vector of cells moved on by one generation (about 4 cycles with
# AVX-512): fitted to measurements on a Sapphire Rapids core, where only ratios matter.
_ROW_COST = 100.0  # to and from vectors, a row of a panel whose strips are 32-bit words
_RAGGED_ROW_COST = 420.0  # the same, strips of any other width
_COLUMN_COST = 0.35  # a column's extra work per row: seam, first rows
_TASK_COST = 2000.0


@lru_cache(maxsize=256)
def choose_cpu(
    width: int,
    height: int,
    torus: bool,
    generations: int,
    vector_bits: int,
    cache_bytes: int,
    threads: int,
) -> CpuPlan:
    """The plan that should finish `generations` soonest, by a model of its cost.

    cache_bytes: of the level 2 cache of one core, which the rows in flight must fit.
    """
    best: tuple[float, CpuPlan] | None = None
    limit = max(1, generations)
    for steps in sorted({min(limit, t) for t in (1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128)}):
        passes = -(-limit // steps)
        for panels, useful, columns, halo in _panels(width, torus, steps, vector_bits):
            row_bytes = columns * vector_bits // 8
            if 2 * steps * row_bytes > cache_bytes * 5 // 8 and steps > 8:
                continue
            block_rows = max(6, min(60, cache_bytes // 8 // row_bytes)) // 3 * 3
            per_row = steps * (columns + _COLUMN_COST * 2) + (
                _ROW_COST if columns == MAX_COLUMNS else _RAGGED_ROW_COST
            )
            for bands in _bands(height, panels, threads):
                band_rows = -(-height // bands)
                tasks = panels * -(-height // band_rows)
                rounds = -(-tasks // threads)
                cost = passes * rounds * ((band_rows + 1.5 * steps) * per_row + _TASK_COST)
                if best is None or cost < best[0]:
                    plan = CpuPlan(steps, panels, useful, columns, halo, band_rows, block_rows)
                    best = cost, plan
    assert best is not None
    return best[1]


def _panels(
    width: int, torus: bool, steps: int, vector_bits: int
) -> list[tuple[int, int, int, int]]:
    """Ways to cut the columns: (panels, useful, columns, halo)."""
    if torus and width % vector_bits == 0 and width // vector_bits <= MAX_COLUMNS:
        return [(1, width, width // vector_bits, 0)]
    widest = (MAX_COLUMNS * vector_bits - 2 * steps) // 64 * 64
    if widest < 64:
        return []
    least = -(-width // widest)
    ways = []
    for panels in range(least, least + 4):
        useful = -(-width // panels)
        useful = -(-useful // 64) * 64
        count = -(-width // useful)
        columns = -(-(useful + 2 * steps) // vector_bits)
        if useful <= widest and columns <= MAX_COLUMNS:
            ways.append((count, useful, columns, steps))
    return ways


def _bands(height: int, panels: int, threads: int) -> list[int]:
    """Numbers of bands worth trying: what shares the tasks out evenly, and few more."""
    if threads == 1:
        return [1]
    counts = {1} | {
        b
        for rounds in range(1, 7)
        for b in (threads * rounds // panels, -(-threads * rounds // panels))
        if 1 <= b <= height
    }
    return sorted(counts)
