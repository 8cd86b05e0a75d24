"""Fujita's ladder of Game of Life implementations (2017, chapter 6), for comparison.

Each rung is a small kernel in ladder.cu, or a function in cpu.cpp, that does what
one column of his Tables 6.1 and 6.2 does. `python -m benchmarks.ladder` measures
them all and prints both tables beside his figures.
"""

from .cpu import CPU_RUNGS, CpuLadder
from .rungs import RUNGS, Rung, Simulation, Variant, run, rung_named, variants

__all__ = [
    "CPU_RUNGS",
    "RUNGS",
    "CpuLadder",
    "Rung",
    "Simulation",
    "Variant",
    "run",
    "rung_named",
    "variants",
]
