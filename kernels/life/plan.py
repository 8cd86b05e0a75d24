"""Choices how a pass over a universe is cut up: pure functions of sizes, with no device call."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from kernels.life.circuits import circuit_of
from kernels.life.contract import LifeShape
from kernels.life.costs import CPU_COSTS, CUDA_TUNING, CpuCosts, CudaTuning
from kernels.life.rules import LifeRule, NineCellRule
from kernels.targets.cpu import Machine

STATIC_OPERATIONS = 14  # of StaticRule in circuit.hpp, beside the row sums
_LENGTHS = (1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128)  # generations of passes that are tried
MAX_COLUMNS = 32  # vectors in a row of a CPU panel: a strip is at most a 32-bit word wide


class CpuPlan(NamedTuple):
    """Parameters of one CPU pass, in the order in which compiled code takes them.

    kernels/life/cpu/life.hpp says what each means. columns: 0 for a single generation
    straight on the rows.
    """

    steps: int
    panels: int
    useful: int
    columns: int
    halo: int
    band_rows: int
    block_rows: int


Plans = Iterator[tuple[bool, float, CpuPlan]]  # (whether it fits the cache, cost, plan)


@lru_cache(maxsize=256)
def choose_cpu(
    shape: LifeShape,
    generations: int,
    machine: Machine,
    *,
    chained: bool = False,
    costs: CpuCosts = CPU_COSTS,
) -> CpuPlan:
    """Return the plan that should finish `generations` soonest, by a model of its cost.

    Its parameters are all that the model knows. chained: for universes of this height, at least
    2, that follow others in a chain. costs: of the machine.
    """
    return quickest(
        generations,
        shape.height,
        lambda steps: _cpu_plans(shape, steps, machine, costs),
        costs.whole_pass,
        chained=chained,
    )


def quickest(
    generations: int,
    height: int,
    plans: Callable[[int], Plans],
    whole_pass: float,
    *,
    chained: bool,
) -> CpuPlan:
    """Return the plan by which passes of its length finish `generations` soonest.

    plans: the plans of one pass of so many generations. whole_pass: what a pass costs beside.
    chained: as of choose_cpu().
    """
    best: tuple[float, CpuPlan] | None = None
    limit = max(1, generations)
    if chained:
        limit = min(limit, height // 2)
    for steps in sorted({min(limit, length) for length in _LENGTHS}):
        passes = -(-max(1, generations) // steps)
        for fits, cost, plan in plans(steps):
            total = passes * (cost + whole_pass)
            if fits and (best is None or total < best[0]):
                best = total, plan
    assert best is not None  # a pass of one generation always fits
    return best[1]


@lru_cache(maxsize=256)
def cpu_plan(
    shape: LifeShape, steps: int, machine: Machine, costs: CpuCosts = CPU_COSTS
) -> CpuPlan:
    """Return the best plan of a pass of `steps` generations, at most 128."""
    return best_of(_cpu_plans(shape, steps, machine, costs))


def best_of(plans: Plans) -> CpuPlan:
    """Return the cheapest plan, of those that fit the cache where there are such."""
    return min(plans, key=lambda found: (not found[0], found[1]))[2]


def _cpu_plans(shape: LifeShape, steps: int, machine: Machine, costs: CpuCosts) -> Plans:
    """Yield plans of one pass of `steps` generations."""
    if steps == 1:
        return direct_plans(shape, machine, costs)
    return strip_plans(shape, steps, machine, costs)


def direct_plans(shape: LifeShape, machine: Machine, costs: CpuCosts = CPU_COSTS) -> Plans:
    """Yield plans of one generation straight on the rows."""
    fixed, per_bit = costs.direct_vector
    vectors = shape.width / machine.vector_bits
    per_row = costs.direct_row + vectors * (fixed + per_bit * machine.vector_bits)
    for band_rows, rounds in _bands(shape.height, 1, machine.threads):
        cost = rounds * (band_rows * per_row + costs.task)
        yield True, cost, CpuPlan(1, 1, shape.row_words * 64, 0, 0, band_rows, 6)


def strip_plans(
    shape: LifeShape, steps: int, machine: Machine, costs: CpuCosts = CPU_COSTS
) -> Plans:
    """Yield plans of a pass of several generations by strips, with their costs."""
    vector_bits, cache_bytes, threads = machine
    for panels, useful, columns, halo in _panels(shape.width, shape.torus, steps, vector_bits):
        row_bytes = columns * vector_bits // 8
        fits = 2 * steps * row_bytes <= cache_bytes * 5 // 8 or steps <= 8
        block_rows = max(6, min(60, cache_bytes // 8 // row_bytes)) // 3 * 3
        per_row = steps * (columns + costs.column * 2) + _row_cost(columns, vector_bits, costs)
        for band_rows, rounds in _bands(shape.height, panels, threads):
            cost = rounds * ((band_rows + 1.5 * steps) * per_row + costs.task)
            plan = CpuPlan(steps, panels, useful, columns, halo, band_rows, block_rows)
            yield fits, cost, plan


def _row_cost(columns: int, vector_bits: int, costs: CpuCosts) -> float:
    narrow = columns <= MAX_COLUMNS // 2
    fixed, per_bit = costs.narrow_row if narrow else costs.ragged_row
    if columns == MAX_COLUMNS:
        fixed, per_bit = costs.row
    return fixed + per_bit * vector_bits


def _panels(
    width: int, torus: bool, steps: int, vector_bits: int
) -> list[tuple[int, int, int, int]]:
    """Return ways to cut the columns: (panels, useful, columns, halo)."""
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
    """Yield (rows of a band, rounds of tasks): bands that share the tasks out evenly, and few
    more."""
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
    """Layout of a universe in device memory; kernels/life/cuda/life.cu says what each field means.

    period: the width that is computed: the universe's own, or on a torus a multiple of
    it, as a torus repeated side by side evolves as one. parts: rows of memory that each row of
    cells takes: one for each bit of a cell.
    """

    words: int
    lanes: int
    aligned: bool
    panels: int
    useful: int
    halo: int
    period: int
    parts: int = 1

    @property
    def row_words(self) -> int:
        """The words in a row of one panel (K of life.cu)."""
        return self.words * self.lanes

    @property
    def flush(self) -> bool:
        """Tell whether panels of a plane can begin and end with its edges (panels.hpp)."""
        last = self.period - 32 * self.row_words - (self.panels - 2) * self.useful
        return self.panels > 1 and last >= self.halo


@dataclass(frozen=True, slots=True)
class CudaPlan:
    """Parameters of one CUDA pass."""

    layout: CudaLayout
    steps: int
    segment: int
    resident: int  # warps a multiprocessor

    def defines(self, rule: NineCellRule, torus: bool) -> dict[str, int | str]:
        """Return the macros that life.cu is compiled with."""
        return {
            "WORDS": self.layout.words,
            "LANES": self.layout.lanes,
            "ALIGNED": int(self.layout.aligned),
            "STEPS": self.steps,
            "MIN_BLOCKS": self.resident,
            "PLANE": int(not torus),
            "FLUSH": int(not torus and self.layout.flush),
            **rule_defines(rule),
        }


SHORT_PASSES = (4, 2, 1)  # for what is left of a number of generations


def rule_defines(rule: NineCellRule) -> dict[str, int | str]:
    """Return the macros that tell life.cu the rule, as what takes the fewest operations there."""
    if rule == LifeRule(8, 12):
        return {"CONWAY": 1, "TABLE": 0}
    circuit = circuit_of(rule)
    if isinstance(rule, LifeRule) and len(circuit.ops) >= STATIC_OPERATIONS:
        return {"CONWAY": 0, "TABLE": rule_table(rule.birth, rule.survival)}
    return {"CIRCUIT": circuit.source, "TOP_CELLS": int(circuit.needs(0, "lcr"))}


def reads_top_cells(rule: NineCellRule) -> bool:
    """Tell whether life.cu keeps the cells of the row above for a rule."""
    return bool(rule_defines(rule).get("TOP_CELLS"))


def rule_table(birth: int, survival: int) -> int:
    """Return the next state by total of nine and cell, as circuit.hpp's rule_table() does."""
    table = 0
    for n in range(9):
        table |= (birth >> n & 1) << (2 * n) | (survival >> n & 1) << (2 * n + 3)
    return table


def pass_steps(generations: int, longest: int) -> list[tuple[int, int]]:
    """Return the passes that make up `generations`, as (generations a pass, number of them)."""
    passes = []
    for steps in (longest, *(s for s in SHORT_PASSES if s < longest)):
        count, generations = divmod(generations, steps)
        if count:
            passes.append((steps, count))
    return passes


@lru_cache(maxsize=64)
def choose_cuda(
    width: int,
    height: int,
    torus: bool,
    multiprocessors: int,
    tuning: CudaTuning = CUDA_TUNING,
) -> CudaPlan:
    """Return the plan whose longest passes should run fastest, by a model of rows and rounds."""
    words, steps = tuning.aligned if width % 4 == 0 else tuning.ragged
    best: tuple[float, CudaPlan] | None = None
    for lanes in (32, 16, 8):
        layout = cuda_layout(width, torus, words, lanes, steps, tuning.parts)
        plan = cuda_pass(layout, height, steps, multiprocessors, tuning)
        cost = _cost(plan, height, multiprocessors, tuning)
        if best is None or cost < best[0]:
            best = cost, plan
    assert best is not None
    return best[1]


@lru_cache(maxsize=256)
def cuda_pass(
    layout: CudaLayout,
    height: int,
    steps: int,
    multiprocessors: int,
    tuning: CudaTuning = CUDA_TUNING,
) -> CudaPlan:
    """Return the plan that should run fastest with a given layout and number of generations."""
    plans = [
        cuda_plan(layout, height, steps, multiprocessors, rounds=rounds, tuning=tuning)
        for rounds in range(1, 9)
    ]
    return min(plans, key=lambda plan: _cost(plan, height, multiprocessors, tuning))


def cuda_plan(
    layout: CudaLayout,
    height: int,
    steps: int,
    multiprocessors: int,
    *,
    rounds: int = 1,
    tuning: CudaTuning = CUDA_TUNING,
) -> CudaPlan:
    """Return a plan of `steps` generations whose segments fill the device `rounds` times."""
    slots = multiprocessors * tuning.resident * (32 // layout.lanes)
    segments = max(1, min(slots * rounds // layout.panels, height // (4 * steps)))
    return CudaPlan(layout, steps, -(-height // segments), tuning.resident)


def _cost(plan: CudaPlan, height: int, multiprocessors: int, tuning: CudaTuning) -> float:
    rounds = _rounds(plan, height, multiprocessors)
    return rounds * (plan.segment + plan.steps + tuning.fill) + tuning.uneven * plan.segment


def _rounds(plan: CudaPlan, height: int, multiprocessors: int) -> int:
    teams = plan.layout.panels * -(-height // plan.segment)
    return -(-teams // (multiprocessors * plan.resident * (32 // plan.layout.lanes)))


def cuda_layout(
    width: int, torus: bool, words: int, lanes: int, steps: int, parts: int = 1
) -> CudaLayout:
    """Return the layout with the fewest panels that hold the width.

    A halo of at least `steps` columns is on either side of a panel. Each word of a row holds at
    most one halo column, a lane's words hold theirs in the same bit, and every halo column is a
    useful column of one neighbouring panel.
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
                return CudaLayout(words, lanes, aligned, panels, useful, halo, period, parts)
        panels += 1
