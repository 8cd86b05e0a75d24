"""Von Neumann's automaton and its relatives: what is known of them, and what bgolly computes."""

from __future__ import annotations

import io
import shutil
import subprocess
from itertools import product
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.tables.diagram import levels_of
from kernels.tables.rules import CELLS
from lifesim import patterns
from lifesim.colours import state_colours
from lifesim.engine import Life
from lifesim.grid import BitGrid
from lifesim.patterns import Pattern
from lifesim.rule import Rule
from lifesim.rules.jvn import NAMES
from lifesim.rules.jvn.automata import AUTOMATA, Automaton
from lifesim.rules.jvn.states import SIDES
from tests.quick import examples

States = npt.NDArray[np.uint8]

BGOLLY = shutil.which("bgolly")
JVN29, NOBILI32, _ = AUTOMATA
RIGHT, UP, LEFT, DOWN = 9, 10, 11, 12  # ordinary arrows; 4 more is excited, 8 more is special

needs_bgolly = pytest.mark.skipif(BGOLLY is None, reason="bgolly is not installed")


def run(name: str, cells: list[list[int]] | States, generations: int) -> States:
    grid = BitGrid.from_states(np.array(cells, np.uint8), 5)
    life = Life(grid, rule=Rule.parse(name), topology="plane", backend="reference")
    life.run(generations)
    return life.grid().states()


@pytest.mark.parametrize("name", NAMES)
def test_names_are_read_in_any_case_of_letters(name: str) -> None:
    rule = Rule.parse(name.lower())
    assert str(rule) == name
    assert rule.states == int(name[-2:])
    assert rule.stays_empty
    colours = state_colours(rule)
    assert colours is not None
    assert len(np.unique(colours, axis=0)) == rule.states
    assert colours[18].tolist() == [255, 56, 56]


@settings(max_examples=examples(200))
@given(st.sampled_from(AUTOMATA), st.data())
def test_the_table_is_the_function(automaton, data) -> None:
    nine = data.draw(st.lists(st.integers(0, automaton.states - 1), min_size=9, max_size=9))
    state = dict(zip(CELLS, nine, strict=True))
    node = 0
    for level, one in zip(levels_of(Rule.parse(automaton.name).cells), nine, strict=True):
        node = int(level[node, one])
    near = (state[-1, 0], state[0, 1], state[1, 0], state[0, -1])
    assert node == automaton.next_state(state[0, 0], *near)


@pytest.mark.parametrize("automaton", [JVN29, NOBILI32], ids=lambda one: one.name)
@pytest.mark.parametrize("writer", [RIGHT, RIGHT + 8], ids=["ordinary", "special"])
@pytest.mark.parametrize(
    ("bits", "built"),
    [
        ("10000", RIGHT), ("10001", UP), ("1001", LEFT), ("1010", DOWN), ("1011", RIGHT + 8),
        ("1100", UP + 8), ("1101", LEFT + 8), ("1110", DOWN + 8), ("1111", 25),
    ],
)  # fmt: skip
def test_pulses_build_nine_kinds_of_cells(automaton, writer: int, bits: str, built: int) -> None:
    cell = 0
    for bit in bits:
        cell = automaton.next_state(cell, 0, 0, 0, writer + 4 * int(bit))
    assert cell == built


@pytest.mark.parametrize("automaton", AUTOMATA, ids=lambda one: one.name)
def test_arrows_pass_pulses_on_and_destroy_the_other_kind(automaton) -> None:
    step = automaton.next_state
    assert step(RIGHT, 0, 0, 0, RIGHT + 4) == RIGHT + 4
    assert step(RIGHT, 0, LEFT + 4, 0, 0) == RIGHT  # not from the cell that it points at
    assert step(RIGHT + 4, 0, 25, 0, 0) == RIGHT
    assert step(RIGHT, 0, 0, UP + 12, 0) == 0
    assert step(RIGHT + 8, 0, 0, UP + 4, 0) == 0
    assert step(25, 0, 0, UP + 12, 0) == 0
    assert step(25, 0, 0, UP + 4, 0) == 26  # ordinary pulses do not destroy confluent cells


@pytest.mark.parametrize("automaton", AUTOMATA, ids=lambda one: one.name)
def test_confluent_cells_wait_for_all_lines_that_lead_in(automaton) -> None:
    step = automaton.next_state
    out = RIGHT
    assert [step(25, DOWN + 4 * a, out, 0, RIGHT + 4 * b) for a in (0, 1) for b in (0, 1)] == [
        25, 25, 25, 26,
    ]  # fmt: skip
    assert step(26, DOWN, out, 0, RIGHT) == 27
    assert step(27, DOWN, out, 0, RIGHT) == 25
    assert step(RIGHT + 8, 0, 0, 0, 27) == RIGHT + 12  # special lines take their pulses as well
    assert step(LEFT, 0, 0, 0, 27) == LEFT  # what leads in takes none


def test_pulses_cross_in_nobilis_automaton_only() -> None:
    down = [[0] * 3 + [DOWN] + [0] * 3 for _ in range(7)]
    down[3] = [RIGHT, RIGHT, RIGHT + 4, 25, RIGHT, RIGHT, RIGHT]
    crossed = run("Nobili32", down, 3)
    assert crossed[3].tolist() == [RIGHT, RIGHT, RIGHT, 25, RIGHT, RIGHT + 4, RIGHT]
    assert crossed[:, 3].tolist() == [DOWN] * 3 + [25] + [DOWN] * 3
    down[2][3] = DOWN + 4
    assert run("Nobili32", down, 1)[3, 3] == 31
    both = run("Nobili32", down, 3)
    assert (both[3, 5], both[5, 3]) == (RIGHT + 4, DOWN + 4)
    assert run("JvN29", down, 1)[3, 3] == 26


def test_a_confluent_cell_without_outlets_keeps_its_pulse_in_nobilis_automaton() -> None:
    kept = run("Nobili32", [[RIGHT + 4, 25]], 20)
    assert kept.tolist() == [[RIGHT, 26]]
    kept = np.pad(kept, ((0, 0), (0, 1)))
    kept[0, 2] = RIGHT
    assert run("Nobili32", kept, 2).tolist() == [[RIGHT, 25, RIGHT + 4]]
    assert run("JvN29", [[RIGHT + 4, 25]], 20).tolist() == [[RIGHT, 25]]


@pytest.mark.parametrize(
    ("bits", "end", "beyond"),
    [
        ("100000", RIGHT, RIGHT), ("100010", RIGHT, UP), ("10100", RIGHT, DOWN),
        ("100001", 0, RIGHT), ("100011", 0, UP), ("10011", 0, LEFT), ("10101", 0, DOWN),
        ("101101", 0, RIGHT + 8), ("110001", 0, UP + 8), ("110101", 0, LEFT + 8),
        ("111001", 0, DOWN + 8), ("1111", 0, 25), ("101111", 0, 0),
    ],
)  # fmt: skip
def test_a_line_builds_and_draws_back_as_hutton_says(bits: str, end: int, beyond: int) -> None:
    """The description in Golly's pattern Hutton-replicator lists these messages."""
    message = [RIGHT + 4 * int(bit) for bit in reversed(bits)]
    row = [RIGHT] * 4 + message + [0] * 4
    last = 3 + len(bits)
    cells = run("Hutton32", [[0] * len(row), row, [0] * len(row)], 20)
    assert cells[1].tolist() == [RIGHT] * last + [end, beyond, 0, 0, 0]
    assert not cells[[0, 2]].any()


def by_bgolly(name: str, cells: States, folder: Path) -> States:
    """Return the cells after a generation of bgolly, but those at the outermost edge."""
    framed = np.pad(cells, 4)
    framed[0, 0] = framed[-1, -1] = 25  # which stay, so that it is known where cells lie
    source, target = folder / "ours.rle", folder / "theirs.rle"
    with source.open("wb") as file:
        pattern = Pattern(BitGrid.from_states(framed, 5), rule=Rule.parse(name))
        patterns.write(pattern, file, format="rle")
    command = [str(BGOLLY), "-a", "JvN", "-m", "1", "-q", "-q", "-o", str(target), str(source)]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    return patterns.read(io.BytesIO(target.read_bytes())).grid.states()[4:-4, 4:-4]


def every_case(automaton: Automaton, seed: int) -> npt.NDArray[np.intp]:
    """Return a cell and its neighbours to the east, north, west and south for all that cells of
    each state may hear, (cases, 5); of neighbours that sound alike a random one."""
    draw = np.random.default_rng(seed)
    cases = []
    for cell in range(automaton.states):
        choices = []
        for side in SIDES:
            heard = [automaton.heard(cell, side, one) for one in range(automaton.states)]
            choices.append([[s for s, h in enumerate(heard) if h == one] for one in set(heard)])
        for kinds in product(*choices):
            cases.append([cell, *(int(draw.choice(kind)) for kind in kinds)])
    return np.array(cases)


@pytest.mark.slow
@needs_bgolly
@pytest.mark.parametrize("automaton", AUTOMATA, ids=lambda one: one.name)
def test_all_that_a_cell_may_hear_is_decided_as_in_bgolly(automaton, tmp_path: Path) -> None:
    cases = every_case(automaton, 1)
    across = 400
    number = np.arange(len(cases))
    y, x = 4 * (number // across) + 1, 4 * (number % across) + 1  # no two share a cell
    cells = np.zeros((4 * (len(cases) // across + 1), 4 * across), np.uint8)
    for column, (down, right) in enumerate(((0, 0), (0, 1), (-1, 0), (0, -1), (1, 0))):
        cells[y + down, x + right] = cases[:, column]
    decided = [
        automaton.next_state(cell, north, east, south, west)
        for cell, east, north, west, south in cases.tolist()
    ]
    theirs = by_bgolly(automaton.name, cells, tmp_path)[y, x]
    np.testing.assert_array_equal(np.array(decided), theirs)


@needs_bgolly
@pytest.mark.parametrize(
    "side", [200, pytest.param(1000, marks=pytest.mark.slow)], ids=["small", "large"]
)
@pytest.mark.parametrize("name", NAMES)
def test_soups_of_all_states_become_what_bgolly_makes_of_them(
    name: str, side: int, tmp_path: Path
) -> None:
    rule = Rule.parse(name)
    for weight in (1, 4):  # of arrows, of which most transitions are
        shares = np.ones(rule.states)
        shares[9:25] = weight
        draw = np.random.default_rng([side, weight])
        cells = draw.choice(rule.states, (side, side), p=shares / shares.sum()).astype(np.uint8)
        life = Life(BitGrid.from_states(cells, 5), rule=rule, topology="plane", backend="reference")
        life.run(1)
        theirs = by_bgolly(name, cells, tmp_path)
        np.testing.assert_array_equal(life.grid().states(), theirs)
