"""The reference of ageing cells, and the definition that it rests on."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels.ageing import ref
from kernels.life.bytewise import States
from kernels.life.rules import AgeingRule
from kernels.targets.contract import Target
from kernels.targets.reference import ReferenceTarget
from tests.ageing_contract import BRIANS_BRAIN, RULES, AgeingContract, some_states


class Reference(AgeingContract):
    sizes = ((1, 1), (2, 2), (1, 65), (65, 1), (63, 20), (131, 37), (513, 3))
    times = (1, 2, 3, 8)
    examples = 20

    @pytest.fixture
    def backend(self) -> Target:
        return ReferenceTarget()


class TestThreeStates(Reference):
    states = 3


class TestFourStates(Reference):
    states = 4


@pytest.mark.slow
class TestFiveStates(Reference):
    states = 5


@pytest.mark.slow
class TestTwentyFiveStates(Reference):
    states = 25


class TestAllStates(Reference):
    states = 256


def next_state(cells: States, y: int, x: int, rule: AgeingRule, torus: bool) -> int:
    """Return the next state of one cell, word for word as AgeingRule has it."""
    height, width = cells.shape
    number = 0
    for v in (y - 1, y, y + 1):
        for u in (x - 1, x, x + 1):
            inside = torus or (0 <= v < height and 0 <= u < width)
            number = 2 * number + int(inside and cells[v % height, u % width] == 1)
    state, live = int(cells[y, x]), rule.table >> number & 1
    if state == 0:
        return live
    if state == 1:
        return 1 if live else 2
    return (state + 1) % rule.states


@given(
    st.integers(0, 2**512 - 1),
    st.sampled_from(sorted(RULES)),
    st.integers(1, 9),
    st.integers(1, 9),
    st.integers(0, 99),
    st.booleans(),
)
def test_definition(
    table: int, states: int, width: int, height: int, seed: int, torus: bool
) -> None:
    """Any table of nine cells is looked up as MapRule says: the first row's cells come first."""
    rule, cells = AgeingRule(table, states), some_states(states, width, height, seed)
    found = ref.step(cells, rule, torus)
    for y in range(height):
        for x in range(width):
            assert found[y, x] == next_state(cells, y, x, rule, torus), (y, x)


def test_bands_of_a_wide_universe() -> None:
    """Bands are looked up as all rows at once would be."""
    rule = AgeingRule(int.from_bytes(np.random.default_rng(1).bytes(64), "little"), 5)
    cells = some_states(5, 9000, 7)
    found = ref.step(cells, rule, True)
    for x in (0, 4500, 8999):
        for y in range(7):
            assert found[y, x] == next_state(cells, y, x, rule, True)


def test_a_spaceship_of_brians_brain() -> None:
    """Two live cells in front of two dying ones move a cell a generation."""
    cells = np.zeros((6, 70), np.uint8)
    cells[2:4, 66], cells[2:4, 65] = 1, 2
    moved = cells
    for t in range(1, 71):
        moved = ref.step(moved, BRIANS_BRAIN, True)
        np.testing.assert_array_equal(moved, np.roll(cells, t, axis=1))


def test_examples_are_of_all_states() -> None:
    for states in RULES:
        assert len(np.unique(some_states(states, 131, 37))) == states
