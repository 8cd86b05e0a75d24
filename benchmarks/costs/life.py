"""Measure the costs of Life's passes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.costs.fit import Found, Timed, best, error, found, nonnegative, unit_of, weights
from benchmarks.costs.place import Place
from kernels.life.contract import LifeShape
from kernels.life.costs import CPU_COSTS, CpuCosts
from kernels.life.cpu.engine import CpuArena
from kernels.life.plan import MAX_COLUMNS, Plans, direct_plans, strip_plans
from kernels.targets.cpu import CpuTarget, core_count, levels
from lifesim.rule import LIFE
from lifesim.soup import random_grid

FILE = "kernels/life/costs.py"
FITTED = (
    "row", "narrow_row", "ragged_row", "direct_row", "direct_vector", "column", "task",
    "whole_pass",
)  # fmt: skip
PAIRS = "row", "narrow_row", "ragged_row", "direct_vector"
HEIGHTS = 48, 384, 1536
COLUMNS = MAX_COLUMNS // 4, MAX_COLUMNS // 2, 3 * MAX_COLUMNS // 4, MAX_COLUMNS
STEPS = 2, 8, 32


def measure(place: Place) -> Iterator[Found]:
    """Yield what passes cost on one core, whatever the level of its instructions."""
    if not levels():
        return
    by_level = {}
    for level in levels():
        by_level[CpuTarget(1, level).vector_bits] = _cases(level, place)
    yield fitted(by_level)


def fitted(by_level: dict[int, list[Timed[CpuCosts]]]) -> Found:
    """Return costs that say, in units of a level's vector, what was timed with each level."""
    values: dict[str, list[float]] = {name: [] for name in FITTED}
    units = {}
    for bits, cases in by_level.items():
        seconds = np.array([case.seconds for case in cases])
        unit, *rest = nonnegative(weights(cases, CPU_COSTS, FITTED), seconds).tolist()
        unit = unit or unit_of(cases, CPU_COSTS)  # where times are nothing but noise
        units[bits] = unit
        for name, value in zip(FITTED, rest, strict=True):
            values[name].append(value / unit)
    made: dict[str, Any] = {}
    for name, each in values.items():
        if name in PAIRS:
            made[name] = _line(list(by_level), each)
        else:
            made[name] = float(np.median(each))
    costs = replace(CPU_COSTS, **made)
    missed = [
        error([Timed(case.seconds / units[bits], case.model) for case in cases], costs)
        for bits, cases in by_level.items()
    ]
    return found(FILE, "CPU_COSTS", CPU_COSTS, float(np.median(missed)), **made)


def _line(bits: Sequence[int], values: Sequence[float]) -> tuple[float, float]:
    """Return what is fixed and what each bit of a vector costs, neither below zero."""
    if not any(values):
        return 0.0, 0.0
    matrix = np.column_stack([np.ones(len(bits)), np.array(bits, np.float64)])
    if len(bits) == 1:  # nothing tells the two apart
        return 0.0, values[0] / bits[0]
    fixed, each = nonnegative(matrix, np.maximum(values, max(values) / 100)).tolist()
    return fixed, each


def _cases(level: str, place: Place) -> list[Timed[CpuCosts]]:
    """Time passes of all kinds with one level: straight on the rows, and by strips."""
    backend = CpuTarget(1, level)
    cases: list[Timed[CpuCosts]] = []
    bits = backend.vector_bits
    for height in HEIGHTS[: place.cases]:
        for columns in COLUMNS:
            cases += _direct(backend, LifeShape(columns * bits, height, True), place)
        for steps in STEPS[: place.cases]:
            for width in (*(columns * bits for columns in COLUMNS), 3 * MAX_COLUMNS * bits):
                cases += _strips(backend, LifeShape(width, height, True), steps, place)
    if core_count() > 1:  # what a task costs is seen where threads share them
        cases += _direct(CpuTarget(level=level), LifeShape(8 * bits, 768, True), place)
    return cases


def _direct(backend: CpuTarget, shape: LifeShape, place: Place) -> Iterator[Timed[CpuCosts]]:
    def plans(costs: CpuCosts) -> Plans:
        return direct_plans(shape, backend.machine, costs)

    for i, _ in enumerate(plans(CPU_COSTS)):
        yield _timed(backend, shape, plans, i, place)


def _strips(
    backend: CpuTarget, shape: LifeShape, steps: int, place: Place
) -> Iterator[Timed[CpuCosts]]:
    def plans(costs: CpuCosts) -> Plans:
        return strip_plans(shape, steps, backend.machine, costs)

    seen = set()
    for i, (_, _, plan) in enumerate(plans(CPU_COSTS)):
        if (plan.columns, plan.panels) not in seen:
            seen.add((plan.columns, plan.panels))
            yield _timed(backend, shape, plans, i, place)


def _timed(
    backend: CpuTarget,
    shape: LifeShape,
    plans: Callable[[CpuCosts], Plans],
    index: int,
    place: Place,
) -> Timed[CpuCosts]:
    """Time one of the plans, a pass of its generations."""

    def model(costs: CpuCosts) -> float:
        return float(list(plans(costs))[index][1] + costs.whole_pass)

    plan = list(plans(CPU_COSTS))[index][2]
    universe = CpuArena(backend, [shape], 1, LIFE.cells, plan).open(0, shape)
    universe.put(0, random_grid(shape.width, shape.height, 0.5, 1).words)
    return Timed(best(lambda: universe.step(plan.steps), place.seconds), model)
