"""Measure the costs of parsing on a core: of whole batches, and of ways to multiply."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from statistics import median

import numpy as np

from benchmarks.cky_tables import random_rules, random_strings
from benchmarks.costs.fit import Found, Timed, best, fit, found, nonnegative
from benchmarks.costs.place import Place
from ckyparse.costs import CORE_COSTS, CoreCosts
from ckyparse.engines import plain_cost, weighted_cost
from kernels.cky import Batch, Rules
from kernels.cky.costs import HOST_COSTS
from kernels.cky.cpu.engine import CpuCky
from kernels.cky.cpu.plan import HostPlan, host_plan
from kernels.cky.weighted import INSIDE, Weights, weighted_for
from kernels.targets.cpu import CpuTarget, levels

Took = Callable[[Rules, HostPlan], float]

MEMORY = 1 << 30
GRAMMARS = (1, 1), (8, 128), (16, 1024), (32, 4096), (32, 8192)  # full charts
LENGTHS = 64, 48, 96
FEW = 32, 4  # strings of a narrow word, and of those that have weights
MATRICES = (24, 900), (32, 1600), (48, 4000)  # of which about half of all pairs are in rules
LISTED = (32, 1024), (32, 4096), (48, 4096), (24, 8192), (24, 12000)


def measure(place: Place) -> Iterator[Found]:
    """Yield what parsing costs on one core."""
    if levels():
        backend = CpuTarget(1)
        yield core_costs(backend, place)
        yield host_costs(backend, place)


def weights_of(rules: Rules) -> Weights:
    """Return weights of a grammar without unit rules whose sums stay small."""
    binary = np.full(len(rules.binary), rules.symbols / max(1, len(rules.binary)) / 2)
    return Weights(binary, np.empty(0), np.ones(len(rules.lexical)), np.ones(rules.symbols))


def core_costs(backend: CpuTarget, place: Place) -> Found:
    """Return what batches cost: as many strings as a core parses at once, few, and with weights."""
    plain: list[Timed[CoreCosts]] = []
    weighted: list[Timed[CoreCosts]] = []
    narrow, strings = [], 0
    for grammar in GRAMMARS[: 2 * place.cases]:
        rules = random_rules(*grammar)
        engine = CpuCky(backend, rules, MEMORY)
        strings = engine.at_once
        known = replace(CORE_COSTS, strings=strings)
        for length in LENGTHS[: place.cases]:
            batch = random_strings(rules, strings, length)
            few, fewer = (batch.take(np.arange(count)) for count in FEW)

            def model(costs: CoreCosts, rules: Rules = rules, batch: Batch = batch) -> float:
                return plain_cost(rules, batch, 1, costs).host

            plain.append(Timed(_accept(engine, batch, place), model))
            narrow.append(_accept(engine, few, place) / plain[-1].seconds)

            def heavy(costs: CoreCosts, rules: Rules = rules, batch: Batch = fewer) -> float:
                return weighted_cost(rules, batch, 1, costs).host

            slow, weights = weighted_for(backend, rules, MEMORY), weights_of(rules)
            run = lambda e=slow, w=weights, b=fewer: e.values(b, 0, w, INSIDE)  # noqa: E731
            weighted.append(Timed(best(run, place.seconds), heavy))
    costs, missed = fit(plain, known, ["clear", "pair"])
    costs, more = fit(weighted, costs, ["split", "rule"])
    return found(
        "ckyparse/costs.py", "CORE_COSTS", CORE_COSTS, max(missed, more),
        clear=costs.clear, pair=costs.pair, strings=strings, narrow=median(narrow),
        split=costs.split, rule=costs.rule,
    )  # fmt: skip


def _accept(engine: CpuCky, batch: Batch, place: Place) -> float:
    return best(lambda: engine.accept(batch, 0), place.seconds)


def host_costs(backend: CpuTarget, place: Place) -> Found:
    """Return what the ways to multiply cost beside each other."""

    def took(rules: Rules, plan: HostPlan) -> float:
        engine = CpuCky(backend, rules, MEMORY, plan)
        return _accept(engine, random_strings(rules, engine.at_once, 32 // place.scale), place)

    return found(
        "kernels/cky/costs.py", "HOST_COSTS", HOST_COSTS,
        pair=_pair(took, place), entry=_entry(took, place), table_word=_table_word(took, place),
    )  # fmt: skip


def _pair(took: Took, place: Place) -> float:
    """Return how many times as long as one of a matrix a pair takes that is in a list."""
    ratios = []
    for grammar in MATRICES[: place.cases]:
        rules = random_rules(*grammar)
        pairs = len(np.unique(rules.binary[:, :2], axis=0))
        by_list = took(rules, host_plan(rules, dense=False)) / pairs
        by_matrix = took(rules, host_plan(rules, dense=True)) / rules.symbols**2
        ratios.append(by_list / by_matrix)
    return median(ratios)


def _entry(took: Took, place: Place) -> float:
    """Return what an entry costs beside 1 for each of its C's, whose number is forced."""
    ratios = []
    for grammar in LISTED[: 2 * place.cases]:
        rules = random_rules(*grammar)
        rows, seconds = [], []
        for entry in (0.0, 1e9):  # one C each, and four
            plan = host_plan(rules, False, replace(HOST_COSTS, entry=entry))
            entries = sum(some.head.size for kind in plan.rows for some in kind)
            rows.append([entries * plan.arity, entries])
            seconds.append(took(rules, plan))
        child, whole = nonnegative(np.array(rows, np.float64), np.array(seconds))
        ratios.append(whole / max(child, 1e-3 * whole))
    return float(median(ratios))


def _table_word(took: Took, place: Place) -> float:
    """Return what a word of a table costs, where a C that is looked up costs 1."""
    rows, seconds = [], []
    for grammar in LISTED[: 2 * place.cases]:
        rules = random_rules(*grammar)
        for word in (1e-9, 1e9):  # with tables in any case, and without
            plan = host_plan(rules, True, replace(HOST_COSTS, table_word=word))
            words = sum(matrix.words for matrix in plan.matrices)
            looked_up = sum(matrix.operand.size for matrix in plan.matrices)
            rows.append([rules.symbols**2, looked_up, words])
            seconds.append(took(rules, plan))
    _, one, word = nonnegative(np.array(rows, np.float64), np.array(seconds))
    return float(word / max(one, 1e-3 * word, 1e-30))
