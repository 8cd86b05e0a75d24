"""What every engine of ageing cells must do, as tests, beside what CellsContract asks."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache
from itertools import accumulate
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.ageing import engine_for, ref
from kernels.life.bytewise import States, packed, unpacked
from kernels.life.contract import ChainShape, LifeEngine, LifeShape, Words
from kernels.life.rules import AgeingRule, LifeRule
from kernels.targets.contract import Target
from tests.life_cells_contract import CellsContract, assert_holds
from tests.life_contract import rule_of, run_chain
from tests.quick import examples


def ageing(text: str, states: int) -> AgeingRule:
    """Return the rule "B2/S345" of so many states."""
    return AgeingRule(LifeRule(*rule_of(text)).table, states)


BRIANS_BRAIN = ageing("B2/S", 3)
STAR_WARS = ageing("B2/S345", 4)
RULES = {  # by the number of states: two rules each
    3: (BRIANS_BRAIN, ageing("B23/S23", 3)),
    4: (STAR_WARS, ageing("B37/S3458", 4)),
    5: (ageing("B2/S345", 5), ageing("B0/S8", 5)),
    6: (ageing("B2/S2345", 6), ageing("B34/S12", 6)),
    25: (ageing("B2/S345", 25), ageing("B01234/S3467", 25)),
    256: (ageing("B3/S23", 256), ageing("B0245/S01", 256)),
}


@cache
def some_states(states: int, width: int, height: int, seed: int = 0) -> States:
    """Return cells in all states; of every ten about three are live, and four are ageing."""
    draw = np.random.default_rng([states, width, height, seed])
    cells = draw.integers(2, states, (height, width), np.uint8, endpoint=False)
    kind = draw.random((height, width))
    cells[kind < 0.6] = 1
    cells[kind < 0.3] = 0
    cells.flags.writeable = False
    return cells


def moved(cells: States, rule: AgeingRule, torus: bool, t: int) -> States:
    """Return what becomes of cells in t generations, by the definition."""
    for _ in range(t):
        cells = ref.step(cells, rule, torus)
    return cells


class AgeingContract(CellsContract):
    """Asks what all engines of cells promise, of rules of `states` states, and more of any rule.

    The attributes are for backends that are slow, or slow to compile for a rule.
    """

    states: ClassVar[int] = 4
    few_times = (1, 2, 9)
    sizes: ClassVar[tuple[tuple[int, int], ...]] = (
        (1, 1),
        (2, 2),
        (1, 65),
        (65, 1),
        (64, 64),
        (63, 20),
        (131, 37),
        (512, 20),
        (513, 3),
        (1021, 7),
        (2048, 4),
        (16400, 5),
    )
    times: ClassVar[tuple[int, ...]] = (1, 2, 3, 8, 17, 40)
    chain_widths: ClassVar[tuple[int, ...]] = (1, 64, 131, 577)
    examples: ClassVar[int] = 40
    any_rule: ClassVar[st.SearchStrategy[AgeingRule]] = st.builds(
        lambda birth, survival, states: AgeingRule(LifeRule(birth, survival).table, states),
        st.integers(0, 511),
        st.integers(0, 511),
        st.one_of(st.integers(3, 9), st.integers(3, 256)),
    )

    def __init_subclass__(cls) -> None:
        cls.a_rule, cls.another_rule = RULES[cls.states]
        cls.planes = cls.a_rule.planes

    @pytest.fixture
    def engine(self, backend: Target) -> LifeEngine[AgeingRule]:
        return engine_for(backend, self.planes)

    def some_rows(self, width: int, height: int, seed: int = 0) -> Words:
        return packed(some_states(self.states, width, height, seed), self.planes)

    def moved(self, rows: Words, shape: LifeShape, t: int, rule: AgeingRule | None = None) -> Words:
        cells = moved(unpacked(rows, shape.width), rule or self.a_rule, shape.torus, t)
        return packed(cells, self.planes)

    @pytest.mark.sample(6)
    @pytest.mark.parametrize("torus", [True, False], ids=["torus", "plane"])
    @pytest.mark.parametrize("number", range(2))
    def test_sizes(self, engine: LifeEngine[Any], number: int, torus: bool) -> None:
        """Tori, and planes whose outside is dead, of all sizes that hurt."""
        rule = RULES[self.states][number]
        for width, height in self.sizes:
            shape, cells = self.shape(width, height, torus), some_states(self.states, width, height)
            times = self.times if width * height <= 10_000 else self.few_times
            universe, now = engine.universe(packed(cells, self.planes), shape, rule), 0
            for t in times:
                cells, now = moved(cells, rule, torus, t - now), t
                universe.step(t - universe.generation)
                assert_holds(universe, packed(cells, self.planes), (shape, f"in generation {t}"))

    def test_any_rule(self, backend: Target) -> None:
        """A fast path for some size, rule or number of steps gives what the definition does."""

        @settings(max_examples=examples(self.examples), deadline=None)
        @given(
            self.any_rule,
            st.one_of(st.integers(1, 5), st.integers(1, 300)),
            st.integers(1, 40),
            st.integers(0, 9),
            st.booleans(),
            st.integers(0, 20),
        )
        def check(
            rule: AgeingRule, width: int, height: int, seed: int, torus: bool, t: int
        ) -> None:
            cells = some_states(rule.states, width, height, seed)
            shape = LifeShape(width, height, torus, rule.planes)
            given = packed(cells, rule.planes)
            universe = engine_for(backend, rule.planes).universe(given, shape, rule)
            universe.step(t)
            assert_holds(universe, packed(moved(cells, rule, torus, t), rule.planes))

        check()

    def test_padding_stays_zero(self, engine: LifeEngine[Any]) -> None:
        """Padding stays zero where everything is born, and in every generation."""
        rule = AgeingRule((1 << 512) - 1, self.states)
        for width in (1, 63, 65):
            cells = some_states(self.states, width, 5)
            universe = engine.universe(
                packed(cells, self.planes), self.shape(width, 5, False), rule
            )
            for t in range(1, 4):
                cells = moved(cells, rule, False, 1)
                universe.step(1)
                assert_holds(universe, packed(cells, self.planes), f"in generation {t}")

    def test_rules_that_are_refused(self, engine: LifeEngine[Any]) -> None:
        """An engine is made for as many planes as its rules have."""
        rule = AgeingRule(self.a_rule.table, 256 if self.planes < 8 else 3)
        with pytest.raises(ValueError, match="states for cells in"):
            engine.arena([self.shape(65, 33)], 1, rule)

    @pytest.mark.sample(3)
    @pytest.mark.parametrize("torus", [True, False], ids=["torus", "plane"])
    @pytest.mark.parametrize("slots", [1, 2])
    def test_chains(self, engine: LifeEngine[Any], slots: int, torus: bool) -> None:
        """Blocks one below the other, all of a torus, or inside of a plane."""
        for width, t in zip(self.chain_widths, (1, 7, 20, 3), strict=False):
            check_chain(engine, self.a_rule, ChainShape(width, t, torus, 24, self.planes), slots)


def check_chain(engine: LifeEngine[Any], rule: AgeingRule, chain: ChainShape, slots: int) -> None:
    """Compare three blocks, of the least height and of others, with the definition."""
    width, t, torus, planes = chain.width, chain.generations, chain.torus, chain.planes
    least = engine.chain(chain).least_height(first=False)
    heights = [least + 3, least, least + 1]
    height = sum(heights) + (0 if torus else 2 * t)
    cells = some_states(rule.states, width, height)
    expected = packed(moved(cells, rule, torus, t), planes)
    shapes = [LifeShape(width, high + 2 * t, torus, planes) for high in heights]
    arena = engine.arena(shapes, slots, rule, chain)
    cuts: Sequence[int] = list(accumulate(heights, initial=5 if torus else t))
    for y, found in run_chain(arena, packed(cells, planes), cuts, random.Random(height)):
        np.testing.assert_array_equal(found, expected[np.arange(y, y + len(found)) % height])
