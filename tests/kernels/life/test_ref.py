"""The reference backend, and the definition that it rests on."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels.life import ref
from kernels.life.rules import LifeRule, MapRule
from kernels.targets.contract import Target
from kernels.targets.reference import ReferenceTarget
from tests.life_chain_contract import ChainContract
from tests.life_contract import soup


class TestReference(ChainContract):
    @pytest.fixture
    def backend(self) -> Target:
        return ReferenceTarget()


def next_state(cells: set[tuple[int, int]], x: int, y: int, birth: int, survival: int) -> bool:
    """Return the next state of a cell, by counting, on an unbounded plane."""
    near = sum((x + dx, y + dy) in cells for dx in (-1, 0, 1) for dy in (-1, 0, 1) if dx or dy)
    return bool((survival if (x, y) in cells else birth) >> near & 1)


@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 99), st.data())
def test_definition_on_a_plane(width: int, height: int, seed: int, data: st.DataObject) -> None:
    birth, survival = data.draw(st.integers(0, 511)), data.draw(st.integers(0, 511))
    cells = soup(width, height, seed)
    alive = {(int(x), int(y)) for y, x in np.argwhere(cells)}
    found = ref.step(cells, birth, survival, torus=False)
    for y in range(height):
        for x in range(width):
            assert found[y, x] == next_state(alive, x, y, birth, survival)


@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 99), st.data())
def test_definition_on_a_torus(width: int, height: int, seed: int, data: st.DataObject) -> None:
    """A torus is the plane filled with copies: nine of them are enough for one step."""
    birth, survival = data.draw(st.integers(0, 511)), data.draw(st.integers(0, 511))
    cells = soup(width, height, seed)
    tiled = ref.step(np.tile(cells, (3, 3)), birth, survival, torus=False)
    middle = tiled[height : 2 * height, width : 2 * width]
    np.testing.assert_array_equal(ref.step(cells, birth, survival, torus=True), middle)


@given(
    st.integers(1, 9),
    st.integers(1, 9),
    st.integers(0, 99),
    st.integers(0, 2**512 - 1),
    st.booleans(),
)
def test_definition_of_a_table(width: int, height: int, seed: int, table: int, torus: bool) -> None:
    """The nine cells are the binary digits of a place in the table, the first the highest."""
    cells = soup(width, height, seed)
    found = ref.step_by_table(cells, table, torus)
    for y in range(height):
        for x in range(width):
            digits = ""
            for near_y in (y - 1, y, y + 1):
                for near_x in (x - 1, x, x + 1):
                    inside = 0 <= near_y < height and 0 <= near_x < width
                    lives = (torus or inside) and cells[near_y % height, near_x % width]
                    digits += "1" if lives else "0"
            assert found[y, x] == bool(table >> int(digits, 2) & 1)


@given(st.integers(0, 511), st.integers(0, 511), st.booleans())
def test_a_life_like_rule_as_a_table(birth: int, survival: int, torus: bool) -> None:
    rule, cells = LifeRule(birth, survival), soup(37, 29)
    by_count = ref.step_by_rule(cells, rule, torus)
    by_table = ref.step_by_rule(cells, MapRule(rule.table), torus)
    np.testing.assert_array_equal(by_table, by_count)


def test_a_table_of_many_rows_at_once() -> None:
    """Rows are looked up in bands: their seams are seen in a universe of many."""
    cells, rule = soup(700, 50), LifeRule(8, 12)
    by_count = ref.run_by_rule(cells, rule, True, 3)
    np.testing.assert_array_equal(ref.run_by_rule(cells, MapRule(rule.table), True, 3), by_count)


def test_describes_itself() -> None:
    assert ReferenceTarget().describe() == "numpy reference, one thread"
    assert ReferenceTarget.name == "reference"
