"""How a pass over a universe is cut up: pure functions of sizes, no device call in them."""

from __future__ import annotations

from collections.abc import Iterator
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
    *,
    chained: bool = False,
) -> CpuPlan:
    """The plan that should finish `generations` soonest, by a model of its cost.

    cache_bytes: of the level 2 cache of one core, which the rows in flight must fit.
    chained: for universes of this height, at least 2, that follow others in a chain.
    """
    best: tuple[float, CpuPlan] | None = None
    limit = max(1, generations)
    if chained:
        limit = min(limit, height // 2)
    for steps in sorted({min(limit, t) for t in (1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128)}):
        passes = -(-max(1, generations) // steps)
        rows = height + 2 * steps if chained else height
        for fits, cost, plan in _cpu_plans(
            width, rows, torus, steps, vector_bits, cache_bytes, threads
        ):
            if fits and (best is None or passes * cost < best[0]):
                best = passes * cost, plan
    assert best is not None
    return best[1]


@lru_cache(maxsize=256)
def cpu_plan(
    width: int,
    height: int,
    torus: bool,
    steps: int,
    vector_bits: int,
    cache_bytes: int,
    threads: int,
) -> CpuPlan:
    """The best plan of a pass of `steps` generations, at most 128."""
    plans = _cpu_plans(width, height, torus, steps, vector_bits, cache_bytes, threads)
    return min(plans, key=lambda found: (not found[0], found[1]))[2]


def _cpu_plans(
    width: int,
    height: int,
    torus: bool,
    steps: int,
    vector_bits: int,
    cache_bytes: int,
    threads: int,
) -> Iterator[tuple[bool, float, CpuPlan]]:
    """(whether it fits the cache, cost, plan) of plans of one pass."""
    for panels, useful, columns, halo in _panels(width, torus, steps, vector_bits):
        row_bytes = columns * vector_bits // 8
        fits = 2 * steps * row_bytes <= cache_bytes * 5 // 8 or steps <= 8
        block_rows = max(6, min(60, cache_bytes // 8 // row_bytes)) // 3 * 3
        per_row = steps * (columns + _COLUMN_COST * 2) + (
            _ROW_COST if columns == MAX_COLUMNS else _RAGGED_ROW_COST
        )
        for bands in _bands(height, panels, threads):
            band_rows = -(-height // bands)
            tasks = panels * -(-height // band_rows)
            rounds = -(-tasks // threads)
            cost = rounds * ((band_rows + 1.5 * steps) * per_row + _TASK_COST)
            plan = CpuPlan(steps, panels, useful, columns, halo, band_rows, block_rows)
            yield fits, cost, plan


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


@dataclass(frozen=True, slots=True)
class CudaLayout:
    """How a universe lies in device memory; kernels/life/life.cu says what each means.

    period: the width that is computed: the universe's own, or on a torus a multiple of
    it, as a torus repeated side by side evolves as one.
    """

    words: int
    lanes: int
    aligned: bool
    panels: int
    useful: int
    halo: int
    period: int

    @property
    def row_words(self) -> int:
        """Words in a row of one panel (K of life.cu)."""
        return self.words * self.lanes


@dataclass(frozen=True, slots=True)
class CudaPlan:
    """Parameters of one CUDA pass."""

    layout: CudaLayout
    steps: int
    segment: int
    resident: int  # warps a multiprocessor

    def defines(self, birth: int, survival: int, torus: bool) -> dict[str, int]:
        """The macros that life.cu is compiled with."""
        conway = (birth, survival) == (8, 12)
        return {
            "WORDS": self.layout.words,
            "LANES": self.layout.lanes,
            "ALIGNED": int(self.layout.aligned),
            "STEPS": self.steps,
            "MIN_BLOCKS": self.resident,
            "PLANE": int(not torus),
            "CONWAY": int(conway),
            "TABLE": 0 if conway else rule_table(birth, survival),
        }


# Found by measurement on an H200 (benchmarks/RESULTS.md): four words a lane and seven
# stages fill the registers of two warps a scheduler. Where the width is no multiple of
# four, three words a lane and their halo word by word do better.
_ALIGNED_SHAPE = (4, 7)
_RAGGED_SHAPE = (3, 9)
_RESIDENT = 8
SHORT_PASSES = (4, 2, 1)  # for what is left of a number of generations


def rule_table(birth: int, survival: int) -> int:
    """Next state by total of nine and cell, as circuit.hpp's rule_table()."""
    table = 0
    for n in range(9):
        table |= (birth >> n & 1) << (2 * n) | (survival >> n & 1) << (2 * n + 3)
    return table


def pass_steps(generations: int, longest: int) -> list[tuple[int, int]]:
    """Passes that make up `generations`, as (generations a pass, number of them)."""
    passes = []
    for steps in (longest, *(s for s in SHORT_PASSES if s < longest)):
        count, generations = divmod(generations, steps)
        if count:
            passes.append((steps, count))
    return passes


@lru_cache(maxsize=64)
def choose_cuda(width: int, height: int, torus: bool, multiprocessors: int) -> CudaPlan:
    """The plan whose longest passes should run fastest, by a model of rows and rounds."""
    words, steps = _ALIGNED_SHAPE if width % 4 == 0 else _RAGGED_SHAPE
    best: tuple[float, CudaPlan] | None = None
    for lanes in (32, 16, 8):
        layout = cuda_layout(width, torus, words, lanes, steps)
        plan = cuda_pass(layout, height, steps, multiprocessors)
        cost = _cost(plan, height, multiprocessors)
        if best is None or cost < best[0]:
            best = cost, plan
    assert best is not None
    return best[1]


@lru_cache(maxsize=256)
def cuda_pass(layout: CudaLayout, height: int, steps: int, multiprocessors: int) -> CudaPlan:
    """As choose_cuda(), where layout and steps are given."""
    plans = [
        cuda_plan(layout, height, steps, multiprocessors, rounds=rounds) for rounds in range(1, 9)
    ]
    return min(plans, key=lambda plan: _cost(plan, height, multiprocessors))


def cuda_plan(
    layout: CudaLayout,
    height: int,
    steps: int,
    multiprocessors: int,
    *,
    rounds: int = 1,
) -> CudaPlan:
    """A pass of `steps` generations whose segments fill the device `rounds` times."""
    slots = multiprocessors * _RESIDENT * (32 // layout.lanes)
    segments = max(1, min(slots * rounds // layout.panels, height // (4 * steps)))
    return CudaPlan(layout, steps, -(-height // segments), _RESIDENT)


def _cost(plan: CudaPlan, height: int, multiprocessors: int) -> float:
    rounds = _rounds(plan, height, multiprocessors)
    # The last term: teams of one round do not end together.
    return rounds * (plan.segment + plan.steps + 8.0) + 0.04 * plan.segment


def _rounds(plan: CudaPlan, height: int, multiprocessors: int) -> int:
    teams = plan.layout.panels * -(-height // plan.segment)
    return -(-teams // (multiprocessors * plan.resident * (32 // plan.layout.lanes)))


def cuda_layout(width: int, torus: bool, words: int, lanes: int, steps: int) -> CudaLayout:
    """The fewest panels that hold the width, a halo of at least `steps` on either side.

    Each word of a row holds at most one halo column, a lane's words hold theirs in the
    same bit, and every halo column is a useful column of one neighbouring panel.
    """
    row = words * lanes
    halo = -(-steps // words) * words
    if 2 * halo > row:
        raise ValueError(f"rows of {row} words hold no halos of {halo} on both sides")
    period = width
    if torus and width < 4 * row:
        period = width * -(-4 * row // width)
    aligned = period % words == 0
    most = 32 * row - 2 * halo
    panels = -(-period // most)
    while True:
        least = -(-period // panels)
        for useful in range(-(-least // words) * words, most + 1, words):
            excess = panels * useful - period
            if torus and useful - excess < halo:
                break
            if halo <= (halo + useful) % row <= row - halo:
                return CudaLayout(words, lanes, aligned, panels, useful, halo, period)
        panels += 1
