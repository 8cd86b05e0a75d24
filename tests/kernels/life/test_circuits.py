"""Circuits of rules of nine cells: what is found for a table, and that passes carry it out."""

from __future__ import annotations

import importlib
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.life import ref
from kernels.life.circuits import Circuit, Op, circuit_of, synthesis
from kernels.life.circuits.__main__ import header
from kernels.life.circuits.circuit import INPUTS
from kernels.life.circuits.diagram import diagram
from kernels.life.circuits.known import KNOWN
from kernels.life.contract import LifeShape
from kernels.life.cpu import engine as cpu_engine
from kernels.life.rules import LifeRule, MapRule
from kernels.targets import cpu
from kernels.targets.cpu import CpuTarget
from tests.life_cells_contract import assert_holds
from tests.life_contract import pack, rule_of, soup, table_of
from tests.quick import examples

ROOT = Path(__file__).parents[3]
LEVELS = cpu.levels()
needs_extension = pytest.mark.skipif(not LEVELS, reason="the extension is not built")

tables = st.one_of(st.integers(0, 2**512 - 1), st.randoms().map(lambda r: r.getrandbits(512)))


def turned(square: int) -> int:
    """Return nine cells turned to the left."""
    cells = [square >> 8 - i & 1 for i in range(9)]
    return sum(cells[3 * (i % 3) + 2 - i // 3] << 8 - i for i in range(9))


def mirrored(square: int) -> int:
    """Return nine cells as a mirror at their side shows them."""
    cells = [square >> 8 - i & 1 for i in range(9)]
    return sum(cells[i // 3 * 3 + 2 - i % 3] << 8 - i for i in range(9))


def isotropic(draw: random.Random) -> int:
    """Return a table that does not change where squares are turned or mirrored."""
    table, seen = 0, set[int]()
    for square in range(512):
        same = {square, mirrored(square)}
        for _ in range(3):
            same |= {turned(one) for one in same}
        if not same & seen and draw.getrandbits(1):
            table |= sum(1 << one for one in same)
        seen |= same
    return table


def of_some(cells: Sequence[int], draw: random.Random) -> int:
    """Return a random function of some of the nine cells."""
    values = [draw.getrandbits(1) for _ in range(1 << len(cells))]
    return table_of(lambda nine: values[sum(nine[c] << i for i, c in enumerate(cells))])


def count_of(cells: Sequence[int], birth: set[int], survival: set[int]) -> int:
    """Return a rule by how many of some of the nine cells live."""
    return table_of(lambda nine: sum(nine[c] for c in cells) in (survival if nine[4] else birth))


VON_NEUMANN, HEXAGONAL = (1, 3, 5, 7), (0, 1, 3, 5, 7, 8)
# The most operations that each may take.
SIZES = {
    "B3/S23": (LifeRule(*rule_of("B3/S23")).table, 8),
    "HighLife": (LifeRule(*rule_of("B36/S23")).table, 10),
    "Day & Night": (LifeRule(*rule_of("B3678/S34678")).table, 11),
    "any of five cells": (of_some((4, *VON_NEUMANN), random.Random(1)), 8),
    "any of seven cells": (of_some((4, *HEXAGONAL), random.Random(1)), 26),
    "counts of four": (count_of(VON_NEUMANN, {1, 3}, {0, 2, 3}), 7),
    "counts of six": (count_of(HEXAGONAL, {2}, {3, 4}), 15),
    "isotropic": (isotropic(random.Random(1)), 75),
    "anything": (random.Random(1).getrandbits(512), 85),
}


@needs_extension
@pytest.mark.sample(6)
@pytest.mark.parametrize("name", SIZES)
def test_circuits_are_small(name: str) -> None:
    table, most = SIZES[name]
    circuit = circuit_of(MapRule(table))
    assert circuit.table == table
    assert len(circuit.ops) <= most


def test_circuits_that_are_kept() -> None:
    """They compute their rules, take fewer operations than StaticRule, and are compiled in."""
    assert LifeRule(*rule_of("B36/S23")) in KNOWN
    for rule, circuit in KNOWN.items():
        assert circuit.table == rule.table
        assert len(circuit.ops) <= 10
        assert not circuit.needs(0, "lcr")
        assert circuit_of(rule) is circuit
    assert (ROOT / "kernels/life/known.hpp").read_text() == header()


@needs_extension
@settings(max_examples=examples(4), deadline=None)
@given(st.integers(0, 511), st.integers(0, 511))
def test_circuits_of_life_like_rules(birth: int, survival: int) -> None:
    rule = LifeRule(birth, survival)
    circuit = circuit_of(rule)
    assert circuit.table == rule.table
    assert not circuit.needs(0, "lcr")
    assert len(circuit.ops) <= 20


@needs_extension
@settings(max_examples=examples(4), deadline=None)
@given(tables, st.integers(0, 30))
def test_what_is_found_computes_the_table(table: int, moves: int) -> None:
    """It does so after any number of moves; without any it is what the search starts from."""
    extension: Any = importlib.import_module("kernels._cpu")
    for one in (table, isotropic(random.Random(table))):
        found = extension.circuit_search(one.to_bytes(64, "little"), 0xFFFF, moves, table % 7)
        assert Circuit(tuple(Op(*op) for op in found)).table == one
        assert found == extension.circuit_search(
            one.to_bytes(64, "little"), 0xFFFF, moves, table % 7
        )


@pytest.mark.parametrize("cell", range(9))
def test_functions_of_one_cell_and_of_none(cell: int) -> None:
    copies = table_of(lambda nine: nine[cell])
    for table in (copies, copies ^ (1 << 512) - 1, 0, (1 << 512) - 1):
        assert Circuit(diagram(table)).table == table
        assert len(circuit_of(MapRule(table)).ops) == 1 or not LEVELS


@settings(max_examples=examples(50), deadline=None)
@given(tables)
def test_decision_diagrams(table: int) -> None:
    assert Circuit(diagram(table)).table == table


def test_a_diagram_takes_the_place_of_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(synthesis, "_cpu", None)
    table = random.Random(5).getrandbits(512)
    assert circuit_of.__wrapped__(MapRule(table)).ops == diagram(table)


def test_a_wrong_circuit_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(synthesis, "_cpu", None)
    monkeypatch.setattr(synthesis, "diagram", lambda table: diagram(table ^ 1 << 77))
    with pytest.raises(AssertionError, match="another rule"):
        circuit_of.__wrapped__(MapRule(random.Random(6).getrandbits(512)))


@pytest.mark.parametrize(
    "ops", [(), (Op(256, 1, 2, 3),), (Op(1, 16, 1, 2),), (Op(1, -1, 1, 2),), (Op(-1, 1, 1, 2),)]
)
def test_operations_that_are_refused(ops: tuple[Op, ...]) -> None:
    with pytest.raises(ValueError, match="circuit"):
        Circuit(ops)
    if LEVELS:
        extension: Any = importlib.import_module("kernels._cpu")
        with pytest.raises((ValueError, TypeError)):
            extension.LifeCircuit(list(ops), True)


def test_what_is_needed_of_rows() -> None:
    circuit = Circuit((Op(0x96, 1, 9, 12), Op(0xE8, 16, 10, 0)))
    needed = [{part for part in "lcrxm" if circuit.needs(row, part)} for row in range(3)]
    assert needed == [{"l"}, {"x", "m"}, {"c"}]
    assert circuit.needs(2, "lc")
    assert not circuit.needs(2, "lrxm")


# --- passes ----------------------------------------------------------------------------


@st.composite
def circuits(draw: st.DrawFn) -> Circuit:
    """Draw any circuit: constants, copies, equal operands and unused operations are in some."""
    count = draw(st.integers(1, 12))
    return Circuit(
        tuple(
            Op(
                draw(st.one_of(st.integers(0, 255), st.sampled_from((0, 255, 0xF0, 0xCC, 0x3C)))),
                *(draw(st.integers(0, INPUTS + i - 1)) for _ in range(3)),
            )
            for i in range(count)
        )
    )


def check_passes(
    monkeypatch: pytest.MonkeyPatch, level: str, circuit: Circuit, *, native: bool
) -> None:
    """Hold passes by strips, and straight on rows, against the table."""
    extension: Any = importlib.import_module("kernels._cpu")
    compiled = extension.LifeCircuit(list(circuit.ops), native)
    monkeypatch.setattr(cpu_engine, "compiled_circuit", lambda rule: compiled)
    rule = MapRule(circuit.table)
    for (width, height), torus in (((131, 7), False), ((520, 9), True), ((4200, 3), True)):
        cells, shape = soup(width, height), LifeShape(width, height, torus)
        engine = cpu_engine.CpuLifeEngine(CpuTarget(1, level))
        universe = engine.universe(pack(cells), shape, rule)
        for steps in (1, 9):
            universe.step(steps)
            cells = ref.run_by_rule(cells, rule, torus, steps)
            assert_holds(universe, pack(cells), (level, native, circuit))


@pytest.mark.sample(2)
@pytest.mark.parametrize("native", [False, True], ids=["interpreted", "native"])
@pytest.mark.parametrize("level", LEVELS)
def test_any_circuit(level: str, native: bool) -> None:
    @settings(max_examples=examples(12), deadline=None)
    @given(circuits())
    def check(circuit: Circuit) -> None:
        with pytest.MonkeyPatch.context() as patch:
            check_passes(patch, level, circuit, native=native)

    check()


@needs_extension
@pytest.mark.parametrize("kept", [12, 29, 60])
def test_more_results_than_registers(kept: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Results that are needed at once fill the registers; where they do not fit there is no
    native code, and the same cells come of it."""
    draw = random.Random(kept)
    ops = [Op(draw.randrange(1, 255), *draw.sample(range(1, INPUTS), 3)) for _ in range(kept)]
    ops.append(Op(0x96, INPUTS, INPUTS + 1, 5))
    for i in range(2, kept):
        ops.append(Op(0x96 if i % 2 else 0xE8, INPUTS + len(ops) - 1, INPUTS + i, 1 + i % 15))
    extension: Any = importlib.import_module("kernels._cpu")
    if kept == 60:
        assert not extension.LifeCircuit(ops, True).native()
    check_passes(monkeypatch, LEVELS[-1], Circuit(tuple(ops)), native=True)


@needs_extension
def test_a_circuit_that_keeps_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    extension: Any = importlib.import_module("kernels._cpu")
    ops = [Op(0x96, 1, 2, 3)] * 300
    ops += [Op(0x96, INPUTS + i, INPUTS + len(ops) - 1, 0) for i in range(299)]
    with pytest.raises(ValueError, match="needed at once"):
        extension.LifeCircuit(ops, True)
