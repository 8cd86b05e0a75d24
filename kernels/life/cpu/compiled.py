"""A rule of nine cells as compiled code takes it that moves squares of 64 x 64 cells on."""

from __future__ import annotations

from kernels.life.cpu.engine import compiled_circuit
from kernels.life.rules import LifeRule, NineCellRule, counts_of

try:
    from kernels import _cpu
except ImportError:
    _cpu = None  # type: ignore[assignment]


def compiled_rule(rule: NineCellRule) -> tuple[LifeRule, _cpu.LifeCircuit | None]:
    """Return a rule as counts of live neighbours, and the circuit that takes their place where the
    rule minds where neighbours are."""
    if isinstance(rule, LifeRule):
        return rule, None
    counts = counts_of(rule.table)
    return (LifeRule(*counts), None) if counts else (LifeRule(0, 0), compiled_circuit(rule))
