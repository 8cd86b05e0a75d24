"""Ageing cells on the CPU: the contract at every level, any plan, and all numbers of states."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.ageing.cpu.engine import CpuAgeingArena
from kernels.ageing.plan import age_planes, choose_cpu, cpu_plan
from kernels.life.bytewise import packed
from kernels.life.contract import LifeShape
from kernels.life.plan import CpuPlan
from kernels.life.rules import AgeingRule, LifeRule
from kernels.targets import cpu
from kernels.targets.contract import Target
from kernels.targets.cpu import CpuTarget, Machine
from tests.ageing_contract import AgeingContract, ageing, moved, some_states
from tests.life_cells_contract import assert_holds
from tests.quick import examples

if not cpu.levels():
    pytest.skip("the extension is not built", allow_module_level=True)

extension: Any = importlib.import_module("kernels._cpu")
LEVELS = cpu.levels()
# Rules whose circuits are compiled in (ageing.cpp).
KNOWN = [
    ageing("B2/S", 3), ageing("B2/S345", 4), ageing("B37/S3458", 4), ageing("B24/S345", 25),
    ageing("B2/S345", 5), ageing("B246/S6", 3), ageing("B34/S12", 3), ageing("B378/S124567", 4),
]  # fmt: skip


class Cpu(AgeingContract):
    @pytest.fixture(
        params=[*((level, 1) for level in LEVELS[:-1]), (LEVELS[-1], 3)],
        ids=lambda p: f"{p[0]}x{p[1]}",
    )
    def backend(self, request: pytest.FixtureRequest) -> Target:
        level, threads = request.param
        return CpuTarget(threads, level)


class TestThreeStates(Cpu):
    states = 3


@pytest.mark.slow
class TestFourStates(Cpu):
    states = 4


@pytest.mark.slow
class TestFiveStates(Cpu):
    states = 5


@pytest.mark.slow
class TestSixStates(Cpu):
    states = 6


class TestTwentyFiveStates(Cpu):
    states = 25


@pytest.mark.slow
class TestAllStates(Cpu):
    states = 256


def check(rule: AgeingRule, level: str, shape: LifeShape, plan: CpuPlan | None, t: int) -> None:
    """Compare a universe with the definition."""
    cells = some_states(rule.states, shape.width, shape.height)
    arena = CpuAgeingArena(CpuTarget(2, level), [shape], 1, rule, plan)
    universe = arena.open(0, shape)
    universe.put(0, packed(cells, rule.planes))
    universe.step(t)
    assert_holds(universe, packed(moved(cells, rule, shape.torus, t), rule.planes), (rule, plan))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("rule", KNOWN, ids=str)
@pytest.mark.sample(8)
def test_rules_that_are_compiled_in(rule: AgeingRule, level: str) -> None:
    for torus in (True, False):
        check(rule, level, LifeShape(131, 37, torus, rule.planes), None, 14)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.sample(1)
def test_every_number_of_states(level: str) -> None:
    """Cells go through all ages: they begin in every state, and are moved on past the last."""
    for states in (*range(3, 36), 64, 65, 66, 128, 129, 130, 255, 256):
        rule = ageing("B2/S1345", states)
        check(rule, level, LifeShape(61, 9, True, rule.planes), None, min(states, 40) + 2)


@settings(max_examples=examples(60), deadline=None)
@given(
    st.sampled_from(LEVELS),
    st.integers(0, 511),
    st.integers(0, 511),
    st.integers(3, 20),
    st.integers(1, 700),
    st.integers(1, 30),
    st.booleans(),
    st.integers(1, 25),
    st.integers(1, 3),
    st.integers(1, 40),
    st.integers(1, 40),
    st.integers(0, 3),
)
def test_any_plan(
    level: str,
    birth: int,
    survival: int,
    states: int,
    width: int,
    height: int,
    torus: bool,
    steps: int,
    useful_words: int,
    band_rows: int,
    block_rows: int,
    more: int,
) -> None:
    """Passes are cut up in any way that the kernel takes."""
    bits = extension.vector_bits(level)
    useful = 64 * useful_words
    columns = min(32, -(-(useful + 2 * steps) // bits) + more)
    rule = AgeingRule(LifeRule(birth, survival).table, states)
    plan = CpuPlan(steps, -(-width // useful), useful, columns, steps, band_rows, block_rows)
    if useful + 2 * steps <= columns * bits:
        check(rule, level, LifeShape(width, height, torus, rule.planes), plan, 2 * steps + 1)


@settings(max_examples=examples(80), deadline=None)
@given(
    st.integers(1, 40_000),
    st.integers(1, 5000),
    st.booleans(),
    st.integers(1, 2000),
    st.sampled_from((128, 256, 512)),
    st.sampled_from((1 << 18, 1 << 21)),
    st.integers(1, 64),
    st.integers(3, 256),
)
def test_plans_that_are_chosen(
    width: int,
    height: int,
    torus: bool,
    generations: int,
    bits: int,
    cache: int,
    threads: int,
    states: int,
) -> None:
    """A plan is no longer than the run, and its rows in flight fit the cache."""
    shape, machine = LifeShape(width, height, torus), Machine(bits, cache, threads)
    plan = choose_cpu(shape, generations, machine, states)
    assert 1 <= plan.steps <= generations
    row = plan.columns * bits // 8 * (1 + age_planes(states))
    assert plan.steps <= 8 or 2 * plan.steps * row <= cache
    again = cpu_plan(shape, plan.steps, machine, states)
    assert again.steps == plan.steps


def test_passes_that_are_refused() -> None:
    """No argument, however wrong, writes where it must not."""
    words = np.zeros((9, 2, 3), np.uint64)
    good: dict[str, Any] = {
        "level": LEVELS[0], "src": words, "dst": words.copy(), "width": 131, "torus": True,
        "birth": 4, "survival": 0, "states": 3, "steps": 2, "panels": 1, "useful": 192,
        "columns": 4, "halo": 2, "band_rows": 9, "block_rows": 6, "threads": 1,
    }  # fmt: skip
    assert extension.ageing_pass(**good)
    wrong: dict[str, tuple[Any, ...]] = {
        "states": (2, 5, 257, -1),
        "columns": (0, 1, 33, -1),
        "halo": (0, 1, -1, 1 << 30),
        "useful": (0, 64, 100),
        "panels": (0, 2),
        "steps": (0, 3),
        "width": (0, 128, 193, 1 << 60),
        "birth": (512,),
        "survival": (512,),
        "block_rows": (0, 1 << 30),
        "band_rows": (0, -1),
        "threads": (0, -1),
        "dst": (words, np.zeros((9, 3, 3), np.uint64), np.zeros((8, 2, 3), np.uint64)),
    }
    for name, values in wrong.items():
        for value in values:
            with pytest.raises(ValueError, match="contradict"):
                extension.ageing_pass(**{**good, name: value})


@settings(max_examples=examples(20), deadline=None)
@given(st.sampled_from(LEVELS), st.integers(0, 2**32), st.integers(3, 40), st.booleans())
def test_any_table_of_nine_cells(level: str, seed: int, states: int, torus: bool) -> None:
    """Rules that mind where neighbours are go by circuits that are searched for."""
    draw = np.random.default_rng(seed)
    table = sum(1 << int(i) for i in draw.choice(512, draw.integers(1, 40), replace=False))
    rule = AgeingRule(table, states)
    check(rule, level, LifeShape(131, 17, torus, rule.planes), None, 9)
