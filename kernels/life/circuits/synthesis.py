"""Finding the circuit of a rule."""

from __future__ import annotations

from functools import lru_cache

from kernels.life.circuits.circuit import Circuit, Op
from kernels.life.circuits.diagram import diagram

try:
    from kernels import _cpu
except ImportError:
    _cpu = None  # type: ignore[assignment]

MOVES = 2000  # of the search: 40 to 250 milliseconds


@lru_cache(maxsize=64)
def circuit_of(table: int) -> Circuit:
    """Return a circuit of few operations for the table of a MapRule: the same one each time.

    It is searched for, in a fraction of a second; where the compiled search is missing it is
    a decision diagram, of about twice as many operations. Either is held against the table.
    """
    if _cpu is None:
        ops = diagram(table)
    else:
        found = _cpu.circuit_search(table.to_bytes(64, "little"), MOVES)
        ops = tuple(Op(*op) for op in found)
    circuit = Circuit(ops)
    if circuit.table != table:
        raise AssertionError("a circuit was found that computes another rule")
    return circuit
