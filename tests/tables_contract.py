"""What every engine of tables must do, as tests, beside what CellsContract asks."""

from __future__ import annotations

import random
from abc import abstractmethod
from collections.abc import Sequence
from functools import cache
from itertools import accumulate
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.life.bytewise import packed, unpacked
from kernels.life.contract import ChainShape, LifeEngine, LifeShape, Words
from kernels.tables.diagram import Transition, of_transitions
from kernels.tables.rules import CELLS, CENTRE, TableRule
from tests.life_cells_contract import CellsContract, assert_holds
from tests.life_contract import run_chain
from tests.quick import examples

States = npt.NDArray[np.uint8]


class Case:
    """A rule, and the transitions that it was made of."""

    def __init__(self, transitions: Sequence[Transition], states: int) -> None:
        self.transitions, self.states = transitions, states
        self.rule = of_transitions(transitions, states)

    def step(self, cells: States, torus: bool) -> States:
        """Move on by one generation: the first transition that fits a cell says what it becomes."""
        padded = np.pad(cells, 1, mode="wrap" if torus else "constant")
        height, width = cells.shape
        near = [padded[1 + y : 1 + y + height, 1 + x : 1 + x + width] for y, x in CELLS]
        new = cells.copy()
        for one in reversed(self.transitions):
            fits = np.ones(cells.shape, np.bool_)
            for states, allowed in zip(near, one.allowed, strict=True):
                fits &= np.array([allowed >> s & 1 for s in range(self.states)], np.bool_)[states]
            new[fits] = one.output
        return new

    def moved(self, words: Words, shape: LifeShape, t: int) -> Words:
        cells = unpacked(words, shape.width)
        for _ in range(t):
            cells = self.step(cells, shape.torus)
        return packed(cells, shape.planes)


@cache
def some_case(states: int, seed: int, corners: bool = True, quiet: bool = True) -> Case:
    """Return a rule of random transitions, more of them for cells that are few.

    corners: whether the cells at the corners matter. quiet: whether dead cells among dead ones
    stay dead.
    """
    draw = random.Random(f"{states} {seed} {corners}")
    every = (1 << states) - 1
    transitions = [Transition((1,) * len(CELLS), 0)] if quiet else []
    for _ in range(14 if states < 10 else 5 if states < 100 else 3):
        allowed = [every] * len(CELLS)
        for i, (y, x) in enumerate(CELLS):
            if (corners or not (x and y)) and draw.random() < 0.5:
                allowed[i] = draw.randrange(1, every + 1) | draw.randrange(every + 1)
        transitions.append(Transition(tuple(allowed), draw.randrange(states)))
    return Case(transitions, states)


def some_states(states: int, width: int, height: int, seed: int = 0) -> Words:
    """Return rows in all states, 0 most often, packed."""
    draw = np.random.default_rng([states, width, height, seed])
    cells = draw.integers(0, states, (height, width), np.uint8)
    cells[draw.random((height, width)) < 0.4] = 0
    return packed(cells, (states - 1).bit_length())


A_CASE, ANOTHER_CASE = some_case(5, 0), some_case(6, 1)


class TablesContract(CellsContract):
    """Asks what all engines of cells promise, of a rule of 5 states, and more of any rule.

    sizes: of universes that any_rule asks for: the most columns and rows.
    """

    planes = 3
    a_rule, another_rule = A_CASE.rule, ANOTHER_CASE.rule
    few_times = (1, 2, 5)
    sizes: ClassVar[tuple[int, int]] = (150, 40)

    @abstractmethod
    def made(self, planes: int) -> LifeEngine[Any]:
        """Return the engine for so many planes."""

    @pytest.fixture
    def engine(self) -> LifeEngine[Any]:
        return self.made(self.planes)

    def some_rows(self, width: int, height: int, seed: int = 0) -> Words:
        return some_states(5, width, height, seed)

    def moved(self, rows: Words, shape: LifeShape, t: int, rule: TableRule | None = None) -> Words:
        case = ANOTHER_CASE if rule == ANOTHER_CASE.rule else A_CASE
        return case.moved(rows, shape, t)

    def test_any_rule(self) -> None:
        """Universes of any rule, size and number of states are what the transitions say."""

        @settings(max_examples=examples(25), deadline=None)
        @given(
            st.sampled_from((2, 3, 4, 5, 8, 9, 16, 17, 60, 256)),
            st.integers(0, 99),
            st.booleans(),
            st.booleans(),
            st.integers(1, self.sizes[0]),
            st.integers(1, self.sizes[1]),
            st.booleans(),
            st.lists(st.integers(0, 4), min_size=1, max_size=3),
        )
        def check(
            states: int,
            seed: int,
            corners: bool,
            quiet: bool,
            width: int,
            height: int,
            torus: bool,
            times: list[int],
        ) -> None:
            case = some_case(states, seed, corners, quiet)
            shape = LifeShape(width, height, torus, case.rule.planes)
            words = some_states(states, width, height, seed)
            universe = self.made(case.rule.planes).universe(words, shape, case.rule)
            for t in times:
                universe.step(t)
                words = case.moved(words, shape, t)
                assert_holds(universe, words, t)

        check()

    def test_few_cells_in_a_wide_universe(self) -> None:
        """Cells far apart, at edges and in corners, are moved on as those in a crowd are."""
        for torus in (True, False):
            for seed in range(3):
                case = some_case(4, seed)
                cells = np.zeros((70, 330), np.uint8)
                draw = random.Random(seed)
                spots = [(0, 0), (69, 329), (35, 63), (34, 64), (69, 0), (10, 200), (11, 201)]
                for y, x in spots:
                    cells[y, x] = draw.randrange(1, 4)
                shape = LifeShape(330, 70, torus, 2)
                words = packed(cells, 2)
                universe = self.made(2).universe(words, shape, case.rule)
                for _ in range(4):
                    universe.step(3)
                    words = case.moved(words, shape, 3)
                    assert_holds(universe, words, (torus, seed))

    def test_cells_put_between_steps(self, engine: LifeEngine[Any]) -> None:
        """Rows that are put after steps count, though nothing lived near them before."""
        case = A_CASE
        shape = LifeShape(200, 90, True, 3)
        words = packed(np.zeros((90, 200), np.uint8), 3)
        universe = engine.universe(words, shape, case.rule)
        for seed in range(4):
            universe.step(2)
            words = case.moved(words, shape, 2)
            assert_holds(universe, words, seed)
            rows = some_states(5, 200, 3, seed)
            universe.put(20 * seed, rows)
            words[20 * seed : 20 * seed + 3] = rows
            assert_holds(universe, words, seed)

    @pytest.mark.parametrize("slots", [1, 2])
    @pytest.mark.parametrize("width", [67, 1])
    def test_chains(self, engine: LifeEngine[Any], slots: int, width: int) -> None:
        shape = ChainShape(width, 11, True, 14, planes=3)
        least = engine.chain(shape).least_height(first=False)
        heights = [least + 3, least, least + 1]
        words = some_states(5, width, sum(heights))
        expected = A_CASE.moved(words, LifeShape(width, sum(heights), True, 3), 11)
        shapes = [LifeShape(width, heights[0] + 22, True, 3)]
        arena = engine.arena(shapes, slots, A_CASE.rule, shape)
        cuts = list(accumulate(heights, initial=5))
        for y, found in run_chain(arena, words, cuts, random.Random(1)):
            np.testing.assert_array_equal(
                found, expected[np.arange(y, y + len(found)) % len(words)]
            )

    def test_the_centre_stays_where_nothing_fits(self, engine: LifeEngine[Any]) -> None:
        case = Case([], 7)
        words = some_states(7, 100, 9)
        universe = engine.universe(words, LifeShape(100, 9, True, 3), case.rule)
        universe.step(5)
        assert_holds(universe, words)
        assert CELLS[CENTRE] == (0, 0)
