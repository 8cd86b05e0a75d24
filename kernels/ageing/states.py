"""Checks of cells and rules that engines of ageing cells have in common."""

from __future__ import annotations

import numpy as np

from kernels.life.bytewise import check_most
from kernels.life.contract import Words
from kernels.life.rules import AgeingRule, counts_of


def check_rule(rule: AgeingRule, planes: int) -> None:
    """Raise ValueError for a rule of another number of bit planes."""
    if rule.planes != planes:
        raise ValueError(f"a rule of {rule.states} states for cells in {planes} bit planes")


def check_counting(rule: AgeingRule) -> tuple[int, int]:
    """Return (birth, survival) of a rule that counts neighbours. Raises ValueError for others."""
    counts = counts_of(rule.table)
    if counts is None:
        raise ValueError(
            "ageing cells that mind where their neighbours are: only the reference computes them"
        )
    return counts


def check_states(words: Words, states: int) -> None:
    """Raise ValueError for cells, (rows, planes, words), in states that the rule does not have."""
    planes = words.shape[1]
    if states == 1 << planes:
        return
    last = states - 1
    # Where the digits so far, from the highest on, are those of the last state.
    same = np.full((words.shape[0], words.shape[2]), 2**64 - 1, np.uint64)
    above = np.zeros_like(same)
    for plane in reversed(range(planes)):
        digit = words[:, plane]
        if last >> plane & 1:
            same &= digit
        else:
            above |= same & digit
            same &= ~digit
    if above.any():
        y, x = (int(i[0]) for i in np.nonzero(above))
        bit = (int(above[y, x]) & -int(above[y, x])).bit_length() - 1
        check_most(sum((int(d) >> bit & 1) << i for i, d in enumerate(words[y, :, x])), states)
