"""Circuits on squares of 64 x 64 cells, in tiles and in a tree, at every level of the CPU."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("kernels._cpu")

from kernels import _cpu
from kernels.life.circuits import Circuit, Op
from kernels.life.circuits.circuit import INPUTS
from kernels.life.cpu import compiled
from kernels.life.rules import LifeRule, MapRule
from kernels.plane.hashlife.cpu.engine import HashPlaneEngine
from kernels.plane.ref import ReferencePlaneEngine
from kernels.plane.tiles.cpu.engine import CpuTilesEngine
from kernels.targets.cpu import CpuTarget, levels
from tests.kernels.life.test_circuits import circuits
from tests.plane_contract import MEMORY, assert_same_cells, opened, soup
from tests.quick import examples

NOT_FIRST = 0x0F  # the table of an operation: whatever its first operand is not


def without_b0(circuit: Circuit) -> Circuit:
    """Return a circuit, or its opposite, by which empty space stays empty."""
    if not circuit.table & 1:
        return circuit
    return Circuit((*circuit.ops, Op(NOT_FIRST, INPUTS + len(circuit.ops) - 1, 0, 0)))


def check(level: str, native: bool, circuit: Circuit) -> None:
    """Hold some generations of a circuit against its table."""
    rule, cells = MapRule(circuit.table), {(x - 10, y + 35) for x, y in soup(20)}
    reference = opened(ReferencePlaneEngine(), cells, rule)
    with pytest.MonkeyPatch.context() as patch:
        code = _cpu.LifeCircuit(list(circuit.ops), native)
        patch.setattr(compiled, "compiled_circuit", lambda rule: code)
        patch.setattr(compiled, "counts_of", lambda table: None)  # Life-like ones go the same way
        target = CpuTarget(1, level)
        planes = [opened(kind(target), cells, rule) for kind in (HashPlaneEngine, CpuTilesEngine)]
    for generations in (1, 7, 16):
        reference.step(generations)
        for plane in planes:
            plane.step(generations)
            assert_same_cells(plane, reference)


@pytest.mark.parametrize("native", [False, True], ids=["interpreted", "native"])
@pytest.mark.parametrize("level", levels())
def test_any_circuit(level: str, native: bool) -> None:
    @settings(max_examples=examples(6), deadline=None)
    @given(circuits().map(without_b0))
    def each(circuit: Circuit) -> None:
        check(level, native, circuit)

    each()


@pytest.mark.parametrize("level", levels())
def test_more_results_than_registers(level: str) -> None:
    """There is no native code for such a circuit."""
    kept = range(1, INPUTS)
    ops = [Op(0x96, a, b, (a * b) % INPUTS) for a in kept for b in (3, 7, 12)]
    first = len(ops)
    ops.append(Op(0x96, INPUTS, INPUTS + 1, 7))
    for i in range(2, first):
        ops.append(Op(0x96 if i % 2 else 0xE8, INPUTS + len(ops) - 1, INPUTS + i, 1 + i % 15))
    circuit = without_b0(Circuit(tuple(ops)))
    assert not _cpu.LifeCircuit(list(circuit.ops), True).native()
    check(level, True, circuit)


def test_rules_of_b0_are_refused() -> None:
    always = _cpu.LifeCircuit([(0xFF, 0, 0, 0)], True)
    kinds: tuple[Any, ...] = (_cpu.HashTree, _cpu.TilesPlane)
    for kind in kinds:
        with pytest.raises(ValueError, match="no rule of an unbounded plane"):
            kind(levels()[-1], 8, 12, MEMORY, 1, always)


def test_a_plane_keeps_its_circuit() -> None:
    circuit = _cpu.LifeCircuit([(0x96, 1, 7, 13)], True)
    kinds: tuple[Any, ...] = (_cpu.HashTree, _cpu.TilesPlane)
    for kind in kinds:
        before = sys.getrefcount(circuit)
        plane = kind(levels()[-1], 0, 0, MEMORY, 1, circuit)
        assert sys.getrefcount(circuit) == before + 1
        del plane
        assert sys.getrefcount(circuit) == before


@given(st.integers(0, 511), st.integers(0, 511))
def test_counts_need_no_circuit(birth: int, survival: int) -> None:
    rule = LifeRule(birth, survival)
    assert compiled.compiled_rule(rule) == (rule, None)
    assert compiled.compiled_rule(MapRule(rule.table)) == (rule, None)
