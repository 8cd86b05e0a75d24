"""Larger than Life: engines against the definition, on tori and planes, and in chains."""

from __future__ import annotations

import random
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.life.bytewise import packed, unpacked
from kernels.life.contract import ChainShape, LifeEngine, LifeShape, Words
from kernels.life.rules import LifeRule
from kernels.ranges.cpu.engine import CpuRangeEngine
from kernels.ranges.plan import range_plan
from kernels.ranges.ref import ReferenceRangeEngine
from kernels.ranges.rules import Interval, RangeRule, circle, diamond, square
from kernels.targets.cpu import CpuTarget
from tests.life_cells_contract import CellsContract
from tests.life_contract import run_chain
from tests.quick import examples

BUGS = RangeRule(square(5, middle=True), birth=((34, 45),), survival=((34, 58),))
GNARL = RangeRule(diamond(1, middle=True), birth=((1, 1),), survival=((1, 1),))
AGEING = RangeRule(circle(2, middle=False), ((4, 6), (9, 9)), ((3, 5),), states=5)
RULES = (BUGS, GNARL, AGEING)

States = npt.NDArray[np.uint8]


def step(cells: States, rule: RangeRule, torus: bool) -> States:
    """Move on by one generation, cell by cell."""
    height, width = cells.shape
    new = np.zeros_like(cells)
    near = [(dy, dx) for dy, first, last in rule.runs for dx in range(first, last + 1)]
    for y in range(height):
        for x in range(width):
            count = sum(
                cells[(y + dy) % height, (x + dx) % width] == 1
                for dy, dx in near
                if torus or (0 <= y + dy < height and 0 <= x + dx < width)
            )
            state = int(cells[y, x])
            if state == 0:
                new[y, x] = any(low <= count <= high for low, high in rule.birth)
            elif state == 1 and any(low <= count <= high for low, high in rule.survival):
                new[y, x] = 1
            else:
                new[y, x] = (state + 1) % rule.states
    return new


def soup(width: int, height: int, states: int, seed: int) -> States:
    draw = np.random.default_rng([width, height, seed])
    cells = draw.integers(0, states, (height, width), np.uint8)
    cells[draw.random((height, width)) < 0.5] = 0
    return cells


class RangesContract(CellsContract):
    few_times = (1, 2, 5)
    arena_sizes = ((65, 9, True), (131, 4, False), (63, 3, True), (1, 11, False), (70, 1, True))
    a_rule, another_rule = BUGS, GNARL

    def some_rows(self, width: int, height: int, seed: int = 0) -> Words:
        return packed(soup(width, height, self.a_rule.states, seed), self.planes)

    def moved(self, rows: Words, shape: LifeShape, t: int, rule: RangeRule | None = None) -> Words:
        cells, engine = unpacked(rows, shape.width), ReferenceRangeEngine(self.planes)
        for _ in range(t):
            cells = engine.step(cells, rule or self.a_rule, shape.torus)
        return packed(cells, self.planes)

    @pytest.mark.parametrize("slots", [1, 2])
    def test_chains(self, engine: LifeEngine[RangeRule], slots: int) -> None:
        """Blocks of a torus, one after the other, in the order of all chains."""
        shape = ChainShape(67, 7, True, 9, self.planes)
        least = engine.chain(shape).least_height(first=False)
        heights = [least + 3, least, least + 1]
        words = self.some_rows(67, sum(heights))
        expected = self.moved(words, LifeShape(67, sum(heights), True, self.planes), 7)
        shapes = [LifeShape(67, heights[0] + 14, True, self.planes)]
        arena = engine.arena(shapes, slots, self.a_rule, shape)
        cuts = list(accumulate(heights, initial=5))
        for y, found in run_chain(arena, words, cuts, random.Random(1)):
            np.testing.assert_array_equal(
                found, expected[np.arange(y, y + len(found)) % len(words)]
            )


class TestCpu(RangesContract):
    a_rule = RangeRule(diamond(1, middle=True), birth=((1, 2),), survival=((1, 3),))

    @pytest.fixture(params=[1, 3])
    def engine(self, request: pytest.FixtureRequest) -> LifeEngine[RangeRule]:
        return CpuRangeEngine(CpuTarget(request.param), 1)


class TestCpuWithStates(RangesContract):
    planes = 3
    a_rule = RangeRule(circle(1, middle=False), ((2, 3),), ((3, 5),), states=5)
    another_rule = RangeRule(square(1, middle=True), ((3, 3),), ((3, 4),), states=8)

    @pytest.fixture
    def engine(self) -> LifeEngine[RangeRule]:
        return CpuRangeEngine(CpuTarget(2), 3)


@pytest.mark.parametrize("torus", [True, False])
@pytest.mark.parametrize("rule", RULES)
def test_the_reference_is_the_definition(rule: RangeRule, torus: bool) -> None:
    for width, height in ((23, 17), (4, 3), (1, 1)):
        cells = soup(width, height, rule.states, 1)
        made = ReferenceRangeEngine(rule.planes).step(cells, rule, torus)
        np.testing.assert_array_equal(made, step(cells, rule, torus))


@st.composite
def intervals(draw: Any, most: int) -> tuple[Interval, ...]:
    ends = sorted(draw(st.sets(st.integers(0, most), max_size=4)))
    return tuple(zip(ends[::2], ends[1::2], strict=False))


@st.composite
def rules(draw: Any) -> RangeRule:
    shape = draw(st.sampled_from([square, diamond, circle]))
    # Counts of all sizes: of 7 in a square they just fit into a byte, of 8 not.
    radius = draw(st.sampled_from([1, 2, 3, 5, 7, 8, 10, 40, 127, 128, 130]))
    runs = shape(radius, middle=draw(st.booleans()))
    most = sum(last - first + 1 for _, first, last in runs)
    return RangeRule(
        runs, draw(intervals(most)), draw(intervals(most)), draw(st.sampled_from([2, 2, 3, 256]))
    )


@settings(max_examples=examples(60), deadline=None)
@given(
    rules(), st.integers(1, 300), st.integers(1, 40), st.booleans(), st.integers(1, 3),
    st.integers(0, 9),
)  # fmt: skip
def test_the_cpu_makes_what_the_reference_does(
    rule: RangeRule, width: int, height: int, torus: bool, threads: int, seed: int
) -> None:
    cells = soup(width, height, rule.states, seed)
    if seed == 0:
        cells[height // 3 :] = 0  # rows where nothing lives
    made = CpuRangeEngine(CpuTarget(threads), rule.planes).step(cells, rule, torus)
    expected = ReferenceRangeEngine(rule.planes).step(cells, rule, torus)
    np.testing.assert_array_equal(made, expected)


def test_many_strips_and_bands(monkeypatch: pytest.MonkeyPatch) -> None:
    cells = soup(500, 90, 2, 3)
    for rule in (BUGS, GNARL):
        expected = ReferenceRangeEngine(1).step(cells, rule, True)
        monkeypatch.setattr("kernels.ranges.cpu.engine.range_plan", lambda *_, **__: (37, 11))
        made = CpuRangeEngine(CpuTarget(2), 1).step(cells, rule, True)
        np.testing.assert_array_equal(made, expected)


def test_life_is_a_rule_of_range_one() -> None:
    from kernels.life.ref import ReferenceLifeEngine

    cells = soup(70, 50, 2, 5)
    life = RangeRule(square(1, middle=False), ((3, 3),), ((2, 3),))
    made = CpuRangeEngine(CpuTarget(1), 1).step(cells, life, True)
    expected = ReferenceLifeEngine().step(cells, LifeRule(8, 12), True)
    np.testing.assert_array_equal(made, expected)


def test_no_chain_of_a_rule_that_looks_far() -> None:
    engine = CpuRangeEngine(CpuTarget(1), 1)
    shape, chain = LifeShape(65, 33, True), ChainShape(65, 3, True, 20)
    with pytest.raises(ValueError, match="looks 5 cells far"):
        engine.arena([shape], 1, BUGS, chain)


def test_neighbourhoods() -> None:
    assert RangeRule(square(5, middle=True), (), ()).most == 121
    assert RangeRule(square(5, middle=False), (), ()).square == (5, False)
    assert RangeRule(diamond(100, middle=True), (), ()).most == 2 * 100 * 101 + 1
    assert circle(1, middle=True) == square(1, middle=True)
    assert RangeRule(circle(3, middle=True), (), ()).most == 37
    assert RangeRule((), (), ()).reach == 1
    assert RangeRule((), ((0, 0),), ()).stays_empty is False
    assert BUGS.stays_empty


@pytest.mark.parametrize(
    ("runs", "birth", "states", "says"),
    [
        (((0, 1, 0),), (), 2, "columns 1 to 0"),
        (((501, 0, 0),), (), 2, "row 501"),
        (((0, 0, 3), (0, 3, 4)), (), 2, "twice"),
        (((0, 1, 2),), ((0, 3),), 2, "counts 0 to 3 of at most 2"),
        (((0, 1, 2),), ((1, 1), (1, 2)), 2, "counts 1 to 2"),
        (((0, 1, 2),), ((2, 1),), 2, "counts 2 to 1"),
        ((), (), 1, "2 to 256"),
        ((), (), 257, "2 to 256"),
    ],
)
def test_rules_that_are_none(runs: Any, birth: Any, states: int, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        RangeRule(runs, birth, (), states)


@given(
    st.integers(1, 10**6), st.integers(1, 10**6), st.integers(1, 500), st.integers(1, 64),
    st.booleans(),
)  # fmt: skip
def test_plans(width: int, height: int, reach: int, threads: int, square: bool) -> None:
    most = (2 * reach + 1) ** 2
    plan = range_plan(width, height, reach, most, threads, square=square)
    assert 1 <= plan.columns <= width
    assert 1 <= plan.rows <= height
    assert plan.columns >= min(width, 4 * reach)
    assert plan.rows >= min(height, 4 * reach)
