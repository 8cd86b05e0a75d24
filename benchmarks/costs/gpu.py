"""Measure what a GPU costs: to begin, to parse, to compute Life."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from functools import partial

import numpy as np

from benchmarks.cky_tables import random_rules, random_strings
from benchmarks.costs import gpu_numbers
from benchmarks.costs.fit import Found, Timed, best, fit, found, nonnegative, unit_of, weights
from benchmarks.costs.parsing import weights_of
from benchmarks.costs.place import Place
from ckyparse.costs import GPU_COSTS, GpuCosts
from ckyparse.engines import plain_cost, weighted_cost
from kernels.cky import Batch, Rules
from kernels.cky.costs import CHART_COSTS, LAUNCH_COSTS, ChartCosts
from kernels.cky.cuda.dense import DenseColumns, shared_bytes
from kernels.cky.cuda.engine import CudaCky
from kernels.cky.cuda.plan import dense_cost, sparse_cost
from kernels.cky.cuda.scatter import ScatterColumns
from kernels.cky.cuda.scatter_plan import scatter_cost
from kernels.cky.cuda.sparse import SparseColumns
from kernels.cky.weighted import INSIDE
from kernels.cky.weighted.cuda.engine import CudaWeighted
from kernels.cky.weighted.tables import RuleTables
from kernels.life.contract import LifeShape
from kernels.life.costs import CUDA_TUNING, CudaTuning
from kernels.life.cuda.engine import DeviceArena
from kernels.life.plan import choose_cuda
from kernels.targets.costs import START_COSTS
from lifesim.rule import LIFE
from lifesim.soup import random_grid

BATCHES = ((1, 1), 8, 200), ((1, 1), 1 << 17, 32), ((32, 8192), 4096, 32), ((32, 8192), 512, 128)
CHARTS = (32, 2048), (32, 8192), (64, 8192), (128, 16384), (64, 512), (32, 64), (256, 1024)
STRINGS = 4096  # with weights: a block each, which keep a large GPU busy
LENGTH = 32
SIDE = 65_536  # cells, of a torus
TUNINGS = (4, 7), (3, 9), (4, 6), (4, 8), (3, 8), (3, 10), (2, 12), (2, 16)

# Imports come first; what is timed is a device, a kernel from the cache, and an answer.
BEGIN = """
import sys, time
import numpy as np
from kernels.cky import Batch, Rules, engine_for
from kernels.targets.choose import pick
start = time.perf_counter()
rules = Rules.make(1, 1, [(0, 0, 0)], [(0, 0)])
engine = engine_for(pick(sys.argv[1]), rules)
assert engine.accept(Batch.of([[0, 0]]), 0).all()
print(time.perf_counter() - start)
"""


def measure(place: Place) -> Iterator[Found]:
    """Yield what the GPU costs, if there is one."""
    if place.gpu is None:
        return
    seconds = beginning(place.gpu.name)
    yield found("kernels/targets/costs.py", "START_COSTS", START_COSTS, seconds=seconds)
    yield from computing(place)


def computing(place: Place) -> Iterator[Found]:
    """Yield what a GPU that has begun costs."""
    yield gpu_costs(place)
    yield launch_costs(place)
    yield chart_costs(place)
    yield life_tuning(place)
    yield from gpu_numbers.measure(place)


def beginning(backend: str) -> float:
    """Return the seconds until a backend has answered in a process of its own, the least of three.

    The first of them may compile what the others find in the cache.
    """
    command = [sys.executable, "-c", BEGIN, backend]
    each = [subprocess.run(command, capture_output=True, check=True, text=True) for _ in range(4)]
    return min(float(done.stdout) for done in each[1:])


# --- parsing ------------------------------------------------------------------------


def gpu_costs(place: Place) -> Found:
    """Return what batches cost on the GPU, from host memory to host memory."""
    cases: list[Timed[GpuCosts]] = []
    for grammar, count, length in BATCHES:
        rules = random_rules(*grammar)
        batch = random_strings(rules, max(1, count // place.scale), length // place.scale + 1)
        engine = CudaCky(place.device, rules)

        def model(costs: GpuCosts, rules: Rules = rules, batch: Batch = batch) -> float:
            return plain_cost(rules, batch, 1, gpu=costs).device

        run = lambda e=engine, b=batch: e.accept(b, 0)  # noqa: E731
        cases.append(Timed(best(run, place.seconds), model))
    costs, missed = fit(cases, GPU_COSTS, ["cell", "pair", "copy"])
    launch, cores = _weighted(place)
    return found(
        "ckyparse/costs.py", "GPU_COSTS", GPU_COSTS, missed,
        cell=costs.cell, pair=costs.pair, copy=costs.copy, launch=launch, cores=cores,
    )  # fmt: skip


def _weighted(place: Place) -> tuple[float, float]:
    """Return the seconds of a launch with weights, and as how many cores the GPU is as quick."""
    rules = random_rules(32, 2048)
    engine, heavy = CudaWeighted(place.device, rules), weights_of(rules)
    one = random_strings(rules, 1, 2)
    many = random_strings(rules, max(2, STRINGS // place.scale), LENGTH // place.scale + 2)
    launch = best(lambda: engine.values(one, 0, heavy, INSIDE), place.seconds)
    whole = best(lambda: engine.values(many, 0, heavy, INSIDE), place.seconds)
    return launch, weighted_cost(rules, many, 1).host / max(whole - launch, 0.1 * whole)


def launch_costs(place: Place) -> Found:
    """Return how many products of weights a launch makes in a second."""
    rules = random_rules(32, 8192)
    engine, heavy = CudaWeighted(place.device, rules), weights_of(rules)
    batch = random_strings(rules, max(2, STRINGS // place.scale), LENGTH // place.scale + 2)
    seconds = best(lambda: engine.values(batch, 0, heavy, INSIDE), place.seconds)
    products = len(batch) * int(batch.lengths[0]) ** 3 / 6 * (len(RuleTables.of(rules).pairs) + 1)
    return found("kernels/cky/costs.py", "LAUNCH_COSTS", LAUNCH_COSTS, second=products / seconds)


def chart_costs(place: Place) -> Found:
    """Return what the three ways to fill charts cost, but for what ORs pairs to rows in scatter.cu.

    Only ratios matter: a clock is what makes the source's costs of dense.cu right on the whole.
    """
    by_kind: dict[type[DenseColumns | SparseColumns | ScatterColumns], list[Timed[ChartCosts]]] = {
        DenseColumns: [],
        SparseColumns: [],
        ScatterColumns: [],
    }
    device, length = place.device, LENGTH // place.scale + 1
    shared = shared_bytes(device.info.capability)
    for grammar in CHARTS[: 3 * place.cases]:
        rules = random_rules(*grammar)
        engines = [CudaCky(device, rules, columns=kind(device, rules)) for kind in by_kind]
        strings = random_strings(rules, max(32, engines[0].at_once // place.scale), length)

        def dense(costs: ChartCosts, rules: Rules = rules) -> float:
            return dense_cost(rules, length, shared, costs)

        def sparse(costs: ChartCosts, rules: Rules = rules) -> float:
            return sparse_cost(rules, length, costs)

        def scatter(costs: ChartCosts, rules: Rules = rules) -> float:
            return scatter_cost(rules, length, shared, costs)

        for engine, model in zip(engines, (dense, sparse, scatter), strict=True):
            run = partial(engine.resident(strings).run, 0)
            seconds = best(run, place.seconds, place.finish) / len(strings)
            by_kind[type(engine.columns)].append(Timed(seconds, model))  # type: ignore[index]
    clock = unit_of(by_kind[DenseColumns], CHART_COSTS)
    split, span = _fitted(by_kind[DenseColumns], ["tile_split", "tile_span"], clock)
    visit, step = _fitted(by_kind[SparseColumns], ["visit", "step"], clock)
    names = ["scatter_split", "scatter_span"]
    scatter_split, scatter_span = _fitted(by_kind[ScatterColumns], names, clock)
    return found(
        "kernels/cky/costs.py", "CHART_COSTS", CHART_COSTS,
        tile_split=split, tile_span=span, visit=visit, step=step,
        scatter_split=scatter_split, scatter_span=scatter_span,
    )  # fmt: skip


def _fitted(cases: list[Timed[ChartCosts]], names: list[str], clock: float) -> list[float]:
    """Return costs in clocks, those that are not named being what the source says."""
    clocks = np.array([case.seconds for case in cases]) / clock
    found = weights(cases, CHART_COSTS, names)
    values: list[float] = nonnegative(found[:, 1:], clocks - found[:, 0]).tolist()
    return values


# --- Life ---------------------------------------------------------------------------


def life_tuning(place: Place) -> Found:
    """Return the words a lane and generations a pass with which a large torus is quickest."""
    side = SIDE // place.scale // place.scale
    even = [(_seconds_of(place, side, tuning), tuning) for tuning in TUNINGS[: 3 * place.cases]]
    odd = [(_seconds_of(place, side - 1, tuning), tuning) for tuning in TUNINGS[: 3 * place.cases]]
    return found(
        "kernels/life/costs.py",
        "CUDA_TUNING",
        CUDA_TUNING,
        aligned=min(even)[1],
        ragged=min(odd)[1],
    )


def _seconds_of(place: Place, side: int, tuning: tuple[int, int]) -> float:
    """Return the seconds of a generation of a square torus."""
    resident, fill, uneven = CUDA_TUNING.resident, CUDA_TUNING.fill, CUDA_TUNING.uneven
    given = CudaTuning(tuning, tuning, resident, fill, uneven)
    plan = choose_cuda(side, side, True, place.device.info.multiprocessors, given)
    shape = LifeShape(side, side, True)
    universe = DeviceArena(place.device, [shape], 1, LIFE.cells, plan).open(0, shape)
    universe.put(0, random_grid(side, side, 0.5, 1).words)
    return best(lambda: universe.step(plan.steps), place.seconds) / plan.steps
