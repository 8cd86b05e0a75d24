"""How a pass over a universe is cut up: pure functions of sizes, no device call in them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

MAX_COLUMNS = 32  # vectors in a row of a CPU panel: a strip is at most a 32-bit word wide


@dataclass(frozen=True, slots=True)
class CpuPlan:
    """Parameters of one CPU pass; kernels/life/life.hpp says what each means.

    columns: 0 for a single generation straight on the rows.
    """

    steps: int
    panels: int
    useful: int
    columns: int
    halo: int
    band_rows: int
    block_rows: int


Plans = Iterator[tuple[bool, float, CpuPlan]]  # (whether it fits the cache, cost, plan)

# Costs in units of one vector of cells moved on by one generation (about 4 cycles with
# AVX-512): fitted to measurements on a Sapphire Rapids core, where only ratios matter.
# To and from vectors, a row of a panel: that, and more for each bit of a vector. Strips that
# are 32-bit words are cheapest by far, so that few generations are best made of such even
# where most of them is halo.
_ROW_COST = 60.0, 0.40
_RAGGED_ROW_COST = 160.0, 0.94  # strips of any other width
_NARROW_ROW_COST = 90.0, 0.62  # of no more than half a word
_DIRECT_ROW_COST, _DIRECT_VECTOR_COST = 33.0, (1.05, 0.0040)  # a vector, and each of its bits
_COLUMN_COST = 0.35  # a column's extra work per row: seam, first rows
_TASK_COST = 2000.0
_PASS_COST = 7500.0


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
            total = passes * (cost + _PASS_COST)
            if fits and (best is None or total < best[0]):
                best = total, plan
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
    return best_of(_cpu_plans(width, height, torus, steps, vector_bits, cache_bytes, threads))


def best_of(plans: Plans) -> CpuPlan:
    return min(plans, key=lambda found: (not found[0], found[1]))[2]


def _cpu_plans(
    width: int,
    height: int,
    torus: bool,
    steps: int,
    vector_bits: int,
    cache_bytes: int,
    threads: int,
) -> Plans:
    """Plans of one pass."""
    if steps == 1:
        return direct_plans(width, height, vector_bits, threads)
    return strip_plans(width, height, torus, steps, vector_bits, cache_bytes, threads)


def direct_plans(width: int, height: int, vector_bits: int, threads: int) -> Plans:
    """Of one generation straight on the rows."""
    fixed, per_bit = _DIRECT_VECTOR_COST
    per_row = _DIRECT_ROW_COST + width / vector_bits * (fixed + per_bit * vector_bits)
    for band_rows, rounds in _bands(height, 1, threads):
        cost = rounds * (band_rows * per_row + _TASK_COST)
        yield True, cost, CpuPlan(1, 1, -(-width // 64) * 64, 0, 0, band_rows, 6)


def strip_plans(
    width: int,
    height: int,
    torus: bool,
    steps: int,
    vector_bits: int,
    cache_bytes: int,
    threads: int,
) -> Plans:
    for panels, useful, columns, halo in _panels(width, torus, steps, vector_bits):
        row_bytes = columns * vector_bits // 8
        fits = 2 * steps * row_bytes <= cache_bytes * 5 // 8 or steps <= 8
        block_rows = max(6, min(60, cache_bytes // 8 // row_bytes)) // 3 * 3
        per_row = steps * (columns + _COLUMN_COST * 2) + _row_cost(columns, vector_bits)
        for band_rows, rounds in _bands(height, panels, threads):
            cost = rounds * ((band_rows + 1.5 * steps) * per_row + _TASK_COST)
            plan = CpuPlan(steps, panels, useful, columns, halo, band_rows, block_rows)
            yield fits, cost, plan


def _row_cost(columns: int, vector_bits: int) -> float:
    narrow = columns <= MAX_COLUMNS // 2
    fixed, per_bit = _NARROW_ROW_COST if narrow else _RAGGED_ROW_COST
    if columns == MAX_COLUMNS:
        fixed, per_bit = _ROW_COST
    return fixed + per_bit * vector_bits


def _panels(
    width: int, torus: bool, steps: int, vector_bits: int
) -> list[tuple[int, int, int, int]]:
    """Ways to cut the columns: (panels, useful, columns, halo)."""
    ways = []
    if torus and width % vector_bits == 0 and width // vector_bits <= MAX_COLUMNS:
        ways.append((1, width, width // vector_bits, 0))
    widest = (MAX_COLUMNS * vector_bits - 2 * steps) // 64 * 64
    if widest < 64:
        return ways
    least = -(-width // widest)
    for panels in range(least, least + 4):
        useful = -(-width // panels)
        useful = -(-useful // 64) * 64
        count = -(-width // useful)
        columns = -(-(useful + 2 * steps) // vector_bits)
        if useful <= widest and columns <= MAX_COLUMNS:
            ways.append((count, useful, columns, steps))
            if panels == least:
                ways.append((count, useful, MAX_COLUMNS, steps))
    return ways


def _bands(height: int, panels: int, threads: int) -> Iterator[tuple[int, int]]:
    """(rows of a band, rounds of tasks): what shares the tasks out evenly, and few more."""
    counts = {1}
    if threads > 1:
        counts |= {
            b
            for rounds in range(1, 7)
            for b in (threads * rounds // panels, -(-threads * rounds // panels))
            if 1 <= b <= height
        }
    for bands in sorted(counts):
        band_rows = -(-height // bands)
        tasks = panels * -(-height // band_rows)
        yield band_rows, -(-tasks // threads)


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


@dataclass(frozen=True, slots=True)
class Strip:
    """Rows first to end - 1 of a universe, which one device of several has.

    above, below: rows of its neighbours around them, copied from time to time: the halo. Rows
    that are not all right any more come nearer by one a generation.
    """

    first: int
    end: int
    above: int
    below: int
    plan: CudaPlan

    @property
    def height(self) -> int:
        """With the halo."""
        return self.above + self.end - self.first + self.below


# Cell updates that a multiprocessor of an H200 could make while devices exchange rows, and
# while the host queues a pass on one of them (measured: benchmarks/RESULTS.md).
_EXCHANGE, _QUEUING = 4e7, 6e6
_ROUND = 32  # passes from one exchange to the next, at most


@lru_cache(maxsize=64)
def choose_strips(
    width: int, height: int, torus: bool, multiprocessors: tuple[int, ...]
) -> tuple[Strip, ...]:
    """On as many of the devices, from the first on, as should be done soonest.

    multiprocessors: of each device. A strip has rows in proportion to them.
    """
    counts = range(1, len(multiprocessors) + 1)
    ways = [cut_strips(width, height, torus, multiprocessors[:count]) for count in counts]
    return min(ways, key=lambda strips: _pass_cost(strips, multiprocessors))


def _pass_cost(strips: tuple[Strip, ...], multiprocessors: tuple[int, ...]) -> float:
    """As _EXCHANGE. The host queues one pass while another runs."""
    plan = strips[0].plan
    columns = 32 * plan.layout.panels * plan.layout.row_words
    longest = max(
        strip.height * columns * plan.steps / multiprocessors[i] for i, strip in enumerate(strips)
    )
    if len(strips) > 1:
        longest += _EXCHANGE * plan.steps / strips[0].below
    return max(longest, _QUEUING * len(strips))


def cut_strips(
    width: int, height: int, torus: bool, multiprocessors: tuple[int, ...]
) -> tuple[Strip, ...]:
    """One strip for each device, from the first on; fewer where rows are too few for so many.

    All have the same layout. A halo is as high as both ways to lose time are alike: to compute
    it, for nothing in the end, and to exchange it often.
    """
    for count in range(len(multiprocessors), 0, -1):
        cuts = [
            height * sum(multiprocessors[:i]) // sum(multiprocessors[:count])
            for i in range(count + 1)
        ]
        least = min(end - first for first, end in pairwise(cuts))
        common = choose_cuda(width, -(-height // count), torus, multiprocessors[0])
        if least >= common.steps:
            break
    halo = 0
    if count > 1:
        best = math.isqrt(int(_EXCHANGE * multiprocessors[0] / (2 * width)))
        passes = min(_ROUND, min(best, least // 4) // common.steps)
        halo = max(1, passes) * common.steps
    strips = []
    for i, (first, end) in enumerate(pairwise(cuts)):
        above = halo if torus or i > 0 else 0
        below = halo if torus or i < count - 1 else 0
        rows = above + end - first + below
        plan = cuda_pass(common.layout, rows, common.steps, multiprocessors[i])
        strips.append(Strip(first, end, above, below, plan))
    return tuple(strips)


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
