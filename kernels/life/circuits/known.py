"""Circuits of well-known Life-like rules, found by a longer search than there is time for in a run.

`python -m kernels.life.circuits` makes the C++ header of them, and searches for them anew.
"""

from __future__ import annotations

from kernels.life.circuits.circuit import Circuit, Op
from kernels.life.rules import LifeRule

# Operations (lut, a, b, c) by birth and survival.
FOUND: dict[tuple[str, str], tuple[tuple[int, int, int, int], ...]] = {
    ("36", "23"): (
        (54, 9, 7, 14),
        (232, 4, 9, 14),
        (150, 15, 5, 10),
        (178, 10, 18, 5),
        (8, 17, 19, 18),
        (150, 4, 9, 14),
        (20, 16, 20, 21),
        (104, 21, 17, 18),
        (66, 22, 19, 23),
    ),
    ("3678", "34678"): (
        (150, 4, 9, 14),
        (212, 14, 4, 16),
        (232, 10, 15, 5),
        (150, 10, 15, 5),
        (200, 17, 18, 19),
        (195, 19, 17, 14),
        (92, 16, 20, 21),
        (174, 22, 19, 18),
        (200, 16, 23, 21),
        (216, 22, 24, 7),
    ),
    ("2", ""): (
        (150, 9, 14, 4),
        (168, 5, 10, 15),
        (1, 17, 4, 9),
        (33, 5, 15, 10),
        (70, 5, 18, 19),
        (2, 16, 7, 20),
    ),
    ("1357", "1357"): (
        (150, 9, 14, 4),
        (102, 6, 7, 16),
    ),
    ("3", "012345678"): (
        (22, 10, 15, 5),
        (8, 0, 14, 9),
        (52, 16, 17, 15),
        (150, 9, 14, 4),
        (248, 7, 18, 19),
    ),
    ("3", "12345"): (
        (150, 4, 14, 9),
        (178, 9, 16, 4),
        (150, 10, 15, 5),
        (40, 17, 18, 16),
        (232, 10, 15, 5),
        (19, 18, 19, 17),
        (167, 20, 16, 21),
        (168, 7, 19, 22),
    ),
    ("36", "125"): (
        (232, 9, 4, 14),
        (150, 5, 10, 15),
        (150, 9, 14, 4),
        (232, 10, 16, 15),
        (94, 18, 7, 19),
        (40, 16, 17, 20),
    ),
    ("35678", "5678"): (
        (232, 4, 14, 9),
        (102, 8, 16, 10),
        (212, 15, 5, 17),
        (150, 14, 4, 9),
        (224, 18, 10, 17),
        (220, 19, 20, 7),
        (168, 18, 17, 21),
    ),
    ("368", "245"): (
        (150, 9, 14, 4),
        (212, 4, 14, 16),
        (150, 10, 5, 15),
        (142, 18, 10, 5),
        (102, 5, 16, 19),
        (164, 17, 7, 20),
        (144, 17, 7, 16),
        (132, 21, 20, 22),
        (228, 23, 21, 18),
    ),
    ("4678", "35678"): (
        (150, 9, 14, 4),
        (212, 4, 14, 16),
        (73, 17, 16, 15),
        (212, 5, 10, 18),
        (236, 17, 19, 15),
        (168, 17, 18, 19),
        (176, 20, 16, 21),
    ),
    ("34", "34"): (
        (60, 14, 8, 4),
        (5, 16, 4, 14),
        (178, 4, 16, 6),
        (43, 17, 18, 15),
        (105, 17, 15, 5),
        (24, 19, 18, 20),
    ),
}

# The cells of the row above are not used: on a GPU they would take registers.
NO_TOP_CELLS = 0xFFF1


def rule_of(birth: str, survival: str) -> LifeRule:
    """Return the rule of two lists of digits."""
    return LifeRule(*(sum(1 << int(digit) for digit in digits) for digits in (birth, survival)))


KNOWN: dict[LifeRule, Circuit] = {
    rule_of(*counts): Circuit(tuple(Op(*op) for op in ops)) for counts, ops in FOUND.items()
}
