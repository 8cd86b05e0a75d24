"""Folded universes on the CPU: any plan against the definition, and the choice of plans."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.life import ref
from kernels.life.contract import LifeShape, Words
from kernels.life.cpu.engine import CpuArena, CpuLife
from kernels.life.folds import STRIPS, FoldPlan, choose_fold, most_folded
from kernels.life.plan import CpuPlan
from kernels.life.rules import LifeRule
from kernels.targets import cpu
from kernels.targets.cpu import CpuTarget, Machine
from tests.life_contract import pack, rule_of, soup
from tests.quick import examples

if not cpu.levels():
    pytest.skip("the extension is not built", allow_module_level=True)

extension: Any = importlib.import_module("kernels._cpu")
LEVELS = cpu.levels()
LIFE, HIGH_LIFE = rule_of("B3/S23"), rule_of("B36/S23")


def folded(
    level: str,
    source: Words,
    width: int,
    plan: FoldPlan,
    generations: int,
    *,
    torus: bool = True,
    rule: tuple[int, int] = LIFE,
    threads: int = 1,
) -> Words:
    target = np.full_like(source, 77)
    assert extension.life_folded(
        level, source, target, width, torus, *rule, generations, *plan, threads
    )
    return target


@settings(max_examples=examples(150), deadline=None)
@given(st.data(), st.sampled_from(LEVELS), st.integers(1, 3))
def test_any_plan(data: st.DataObject, level: str, threads: int) -> None:
    """One piece that is the whole universe, and several with halos, are as the definition says."""
    lanes = extension.vector_bits(level) // 32
    width = data.draw(
        st.one_of(
            st.integers(STRIPS, 130),
            st.sampled_from([992, 1023, 1024, 1025, 1056, 1057, 1279, 1280, 1311]),
        ),
        "width",
    )
    torus, rule = (
        data.draw(st.booleans(), "torus"),
        data.draw(
            st.one_of(
                st.sampled_from([LIFE, HIGH_LIFE, (1, 256)]),
                st.tuples(st.integers(0, 511), st.integers(0, 511)),
            ),
            "rule",
        ),
    )
    if data.draw(st.booleans(), "whole"):
        height = lanes * data.draw(st.integers(1, 5), "bands")
        plan = FoldPlan(1, 0, data.draw(st.sampled_from([1, 2, 99]), "stretch"))
    else:
        height = data.draw(st.integers(2, 90), "height")
        pieces = data.draw(st.integers(1 if torus else 2, min(height, 4)), "pieces")
        halo = data.draw(st.integers(1, height // pieces), "halo")
        plan = FoldPlan(pieces, halo, data.draw(st.integers(1, halo), "stretch"))
    generations = data.draw(st.integers(1, 12), "generations")
    found = folded(
        level,
        pack(soup(width, height)),
        width,
        plan,
        generations,
        torus=torus,
        rule=rule,
        threads=threads,
    )
    cells = ref.run(soup(width, height), *rule, torus, generations)
    assert np.array_equal(found, pack(cells))


@pytest.mark.parametrize("torus", [True, False], ids=["torus", "plane"])
@pytest.mark.parametrize(
    "size",
    [
        (64, 64),
        (96, 100),
        (512, 512),
        (992, 48),
        (1000, 1000),
        (1024, 1040),
        (2080, 256),
        (2047, 199),
    ],
)
def test_universes_that_are_folded_are_as_those_that_are_not(
    size: tuple[int, int], torus: bool
) -> None:
    """Runs of few and of many generations, by one thread and by several, are as single
    generations straight on the rows."""
    width, height = size
    rows = CpuPlan(1, 1, -(-width // 64) * 64, 0, 0, height, 6)
    shape = LifeShape(width, height, torus)

    def opened(threads: int, plan: CpuPlan | None) -> CpuLife:
        universe = CpuArena(CpuTarget(threads), [shape], 1, LifeRule(*LIFE), plan).open(0, shape)
        universe.put(0, pack(soup(width, height)))
        return universe

    straight, others = opened(1, rows), [opened(1, None), opened(3, None)]
    for generations in (1, 7, 257):
        straight.step(generations)
        for universe in others:
            universe.step(generations)
            assert np.array_equal(universe.words(), straight.words()), generations
            assert universe.generation == straight.generation


@pytest.mark.parametrize(
    "wrong",
    [
        {"width": 0},
        {"width": 31},
        {"width": 65},
        {"width": 128},
        {"birth": 512},
        {"survival": 512},
        {"generations": 0},
        {"pieces": 0},
        {"pieces": 65},
        {"pieces": 2, "halo": 33},
        {"pieces": 2, "halo": 4, "stretch": 5},
        {"pieces": 2, "halo": 0},
        {"halo": -1},
        {"halo": 8, "stretch": 4, "torus": False},
        {"stretch": 0},
        {"threads": 0},
        {"level": "v9"},
        {"dst": np.zeros((63, 1), np.uint64)},
    ],
    ids=str,
)
def test_parameters_that_contradict_each_other(wrong: dict[str, Any]) -> None:
    good = {
        "level": LEVELS[0],
        "src": np.zeros((64, 1), np.uint64),
        "dst": np.zeros((64, 1), np.uint64),
        "width": 64,
        "torus": True,
        "birth": 8,
        "survival": 12,
        "generations": 3,
        "pieces": 1,
        "halo": 0,
        "stretch": 3,
        "threads": 1,
    }
    assert extension.life_folded(**good)
    with pytest.raises(ValueError, match=r"."):
        extension.life_folded(**{**good, **wrong})


@pytest.mark.parametrize("threads", [1, 2])
def test_a_run_can_be_broken_off(threads: int) -> None:
    source, target = pack(soup(64, 64)), np.zeros((64, 1), np.uint64)
    arguments = 64, True, *LIFE, 1 << 60, 2, 16, 16, threads
    assert not extension.life_folded(LEVELS[-1], source, target, *arguments, lambda: True)

    def fails() -> bool:
        raise KeyError("asked")

    with pytest.raises(KeyError, match="asked"):
        extension.life_folded(LEVELS[-1], source, target, *arguments, fails)
    assert np.array_equal(source, pack(soup(64, 64)))


@settings(deadline=None)
@given(
    width=st.one_of(st.integers(1, 9999), st.integers(1, 300).map(lambda n: 32 * n)),
    height=st.integers(1, 9999),
    torus=st.booleans(),
    generations=st.integers(1, 10**6),
    vector_bits=st.sampled_from([128, 256, 512]),
    cache_bytes=st.sampled_from([1 << 15, 1 << 19, 1 << 21]),
    threads=st.integers(1, 200),
)
def test_choice(
    width: int,
    height: int,
    torus: bool,
    generations: int,
    vector_bits: int,
    cache_bytes: int,
    threads: int,
) -> None:
    """A plan that is chosen fits the cache, and is one that compiled code takes."""
    shape, machine = LifeShape(width, height, torus), Machine(vector_bits, cache_bytes, threads)
    plan = choose_fold(shape, generations, machine)
    assert most_folded(shape, machine) >= 1
    if plan is None:
        return
    lanes = vector_bits // 32
    assert width >= STRIPS
    assert 1 <= plan.pieces <= min(max(2, threads), height)
    assert plan.stretch >= 1
    if plan.halo:
        assert plan.stretch <= plan.halo <= height // plan.pieces
        assert torus or plan.pieces > 1
    else:
        assert plan.pieces == 1
        assert height % lanes == 0
    rows = -(-height // plan.pieces) + 2 * plan.halo
    assert 2 * rows * width // 8 <= cache_bytes


def test_choice_makes_sense() -> None:
    """Small tori are folded, by as many threads as have enough to do; large ones are not."""

    def chosen(
        width: int, height: int, generations: int, threads: int = 2, *, torus: bool = True
    ) -> FoldPlan | None:
        machine = Machine(512, 1 << 20, threads)
        return choose_fold(LifeShape(width, height, torus), generations, machine)

    def pieces(plan: FoldPlan | None) -> int:
        return plan.pieces if plan else 0

    assert chosen(64, 64, 1) == FoldPlan(1, 0, (512 << 21) // 64**2)
    assert pieces(chosen(1024, 1024, 10**5)) == 2
    assert pieces(chosen(1024, 1024, 10)) == 1
    assert pieces(chosen(1000, 1000, 10**5, 1)) == 1
    assert pieces(chosen(1000, 1000, 10**5, 1, torus=False)) == 2
    assert chosen(31, 1024, 10**5) is None
    assert chosen(4096, 4096, 10**5) is None
