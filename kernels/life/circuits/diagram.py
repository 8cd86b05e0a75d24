"""Circuits by decision diagrams: in Python alone, and not small."""

from __future__ import annotations

from kernels.life.circuits.circuit import INPUTS, Op

# The signal of each cell, from the top left on.
_CELLS = (1, 2, 3, 6, 7, 8, 11, 12, 13)


def diagram(table: int) -> tuple[Op, ...]:
    """Return the operations of a decision diagram for the table of a MapRule.

    It decides by the cells in their order. Functions of the last three cells are one operation,
    and functions that occur several times, or as the opposite of each other, are made once.
    """
    ops: list[Op] = []
    made: dict[tuple[int, int], int] = {}  # signals, by cells that are left and table

    def build(part: int, left: int) -> int:
        """Return the signal of a function of the last `left` cells with the table `part`."""
        if (part, left) in made:
            return made[part, left]
        if left == 3:
            op = Op(part, *_CELLS[6:])
        else:
            half = 1 << left - 1
            low, high = part & (1 << half) - 1, part >> half
            if low == high:
                made[part, left] = build(low, left - 1)
                return made[part, left]
            every = (1 << half) - 1
            if low ^ high == every and (low, left - 1) not in made:
                signal = build(high, left - 1)
                op = Op(0xC3, _CELLS[9 - left], signal, 0)  # as the cell, so the function
            else:
                high_signal = build(high, left - 1)
                op = Op(0xCA, _CELLS[9 - left], high_signal, build(low, left - 1))
        ops.append(op)
        made[part, left] = INPUTS + len(ops) - 1
        return made[part, left]

    last = build(table, 9)
    if last != INPUTS + len(ops) - 1:
        ops.append(Op(0xF0, last, 0, 0))
    return tuple(ops)
