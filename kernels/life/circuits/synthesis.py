"""Finding the circuit of a rule."""

from __future__ import annotations

from functools import lru_cache

from kernels.life.circuits.circuit import INPUTS, Circuit, Op
from kernels.life.circuits.diagram import diagram
from kernels.life.circuits.known import KNOWN, NO_TOP_CELLS
from kernels.life.rules import LifeRule, NineCellRule

try:
    from kernels import _cpu
except ImportError:
    _cpu = None  # type: ignore[assignment]

# What the search takes, and how long: a Life-like rule has a small circuit soon, others after
# some tenths of a second.
ALL_INPUTS, MOVES = (1 << INPUTS) - 1, 2500
LIFE_LIKE_MOVES = 800


@lru_cache(maxsize=64)
def circuit_of(rule: NineCellRule) -> Circuit:
    """Return a circuit of few operations for a rule: the same one each time.

    Those of well-known rules are kept. Others are searched for, in a fraction of a second; where
    the compiled search is missing they are decision diagrams, of about twice as many operations.
    Whatever is found is held against the rule's table.
    """
    if isinstance(rule, LifeRule) and rule in KNOWN:
        circuit = KNOWN[rule]
    elif _cpu is None:
        circuit = Circuit(diagram(rule.table))
    else:
        table = rule.table.to_bytes(64, "little")
        if isinstance(rule, LifeRule):
            found = _cpu.circuit_search(table, NO_TOP_CELLS, LIFE_LIKE_MOVES, 0)
        else:
            found = _cpu.circuit_search(table, ALL_INPUTS, MOVES, 0)
        circuit = Circuit(tuple(Op(*op) for op in found))
    if circuit.table != rule.table:
        raise AssertionError("a circuit was found that computes another rule")
    return circuit
