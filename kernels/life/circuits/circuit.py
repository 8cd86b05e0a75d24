"""Circuits as data: what they compute, and how they read in C++."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

INPUTS = 16  # signals that are there before any operation
_ALL = (1 << 512) - 1  # the table of what is always one


class Op(NamedTuple):
    """A three-input operation on signals: bit 4 a + 2 b + c of `lut` is its value."""

    lut: int
    a: int
    b: int
    c: int


@dataclass(frozen=True, slots=True)
class Circuit:
    """Three-input operations, each on signals before it; the last one is the next state of a cell.

    Signal 0 is zero. Signals 1 to 5 are of the row above the cell: the cell at its left, in its
    middle and at its right, the parity of the three, and whether two or three of them live.
    Signals 6 to 10 are those of the cell's own row, 11 to 15 of the row below. Signal 16 + i is
    operation i. Raises ValueError for anything else.
    """

    ops: tuple[Op, ...]

    def __post_init__(self) -> None:
        if not self.ops:
            raise ValueError("a circuit has at least one operation")
        for i, op in enumerate(self.ops):
            if not 0 <= op.lut < 256 or not all(0 <= s < INPUTS + i for s in op[1:]):
                raise ValueError(f"operation {i} of a circuit cannot be {tuple(op)}")

    @property
    def table(self) -> int:
        """Return the function that it computes, as the table of a MapRule."""
        values = list(_inputs())
        for op in self.ops:
            values.append(_apply(op.lut, values[op.a], values[op.b], values[op.c]))
        return values[-1]

    @property
    def source(self) -> str:
        """Return the statements of a C++ function of three rows, `top`, `mid` and `low`
        (kernels/life/circuit.hpp), that ends with the next state; without a line break.
        """
        lines = []
        for i, op in enumerate(self.ops):
            operands = ", ".join(_name(s) for s in op[1:])
            lines.append(f"const W t{i} = lut3<{op.lut}>({operands});")
        return " ".join([*lines, f"return t{len(self.ops) - 1};"])

    def needs(self, row: int, parts: str) -> bool:
        """Tell whether it reads one of the given parts of a row.

        row: 0 above, 1 the cell's own, 2 below. parts: some of the letters l, c, r, x, m.
        """
        wanted = {1 + 5 * row + _PARTS.index(part) for part in parts}
        return any(wanted & set(op[1:]) for op in self.ops)


_PARTS = "lcrxm"
_ROWS = ("top", "mid", "low")


def _name(signal: int) -> str:
    if signal == 0:
        return "(mid.c ^ mid.c)"
    if signal < INPUTS:
        row, part = divmod(signal - 1, 5)
        return f"{_ROWS[row]}.{_PARTS[part]}"
    return f"t{signal - INPUTS}"


@cache
def _inputs() -> tuple[int, ...]:
    """Return the tables of the signals that are there before any operation."""
    tables = [0] * INPUTS
    for square in range(512):
        for row in range(3):
            cells = square >> (6 - 3 * row) & 7
            left, middle, right = cells >> 2, cells >> 1 & 1, cells & 1
            total = left + middle + right
            for part, value in enumerate((left, middle, right, total & 1, total >> 1)):
                tables[1 + 5 * row + part] |= value << square
    return tuple(tables)


def _apply(lut: int, a: int, b: int, c: int) -> int:
    """Return what an operation makes of tables."""
    result = 0
    for case in range(8):
        if lut >> case & 1:
            part = a if case & 4 else a ^ _ALL
            part &= b if case & 2 else b ^ _ALL
            result |= part & (c if case & 1 else c ^ _ALL)
    return result
