"""What Life's passes cost by their plans, and the limits of the machine: for benchmarks/life.py."""

from __future__ import annotations

from dataclasses import dataclass

from kernels.life.plan import CpuPlan, CudaPlan
from lifesim.rule import LIFE, Rule
from lifesim.topology import Topology

# Lane-operations per second of the pipe that LOP3 and funnel shifts share, measured on
# an H200; another device counts by its multiprocessors, as if it had the same clock.
LOP3_RATE, LOP3_MULTIPROCESSORS = 16.3e12, 132
CONWAY_OPERATIONS, TABLE_OPERATIONS = 8, 14  # per word: circuit.hpp's Conway, StaticRule
MOVES = 2  # of a row's end words to the neighbouring lanes, per lane


@dataclass(frozen=True, slots=True)
class SoupCase:
    width: int
    height: int
    topology: Topology = Topology.TORUS
    rule: Rule = LIFE

    def __str__(self) -> str:
        return f"{self.topology} {self.width}×{self.height} {self.rule}"


@dataclass(frozen=True, slots=True)
class PassCost:
    """The cost of one pass by its plan.

    useful: share of the computed cells that are not thrown away; traffic: bytes read
    and written, as if no cache held them from one pass to the next.
    """

    steps: int
    useful: float
    traffic: int


def cpu_cost(plan: CpuPlan, width: int, height: int, vector_bits: int) -> PassCost:
    bands = -(-height // plan.band_rows)
    line = plan.columns * vector_bits or plan.useful
    # A band begins with rows that serve only the next ones: half of them wait in vain.
    rows = height + bands * (1.5 * plan.steps if plan.columns else 0)
    read = plan.panels * (height + bands * 2 * plan.steps) * line // 8
    useful = width * height / (plan.panels * line * rows)
    return PassCost(plan.steps, useful, read + height * (-(-width // 64) * 8))


def cuda_cost(plan: CudaPlan, width: int, height: int) -> PassCost:
    layout, steps = plan.layout, plan.steps
    segments = -(-height // plan.segment)
    # Stage t starts 2 t rows late, when it has what it needs, or at once and in vain.
    rows = plan.segment + steps + 1
    line = layout.panels * 32 * layout.row_words
    read = segments * (plan.segment + 2 * steps) * line // 8
    return PassCost(steps, width * height / (line * segments * rows), read + height * line // 8)


def cuda_limit(multiprocessors: int, words: int, rule: Rule) -> float:
    """Cell updates per second if the pipe of LOP3 did nothing else and nothing waited.

    words: that a lane holds side by side; 0 for plots, which shift none.
    """
    operations = CONWAY_OPERATIONS if rule == LIFE else TABLE_OPERATIONS
    rate = LOP3_RATE * multiprocessors / LOP3_MULTIPROCESSORS
    return rate * 32 / (operations + (MOVES / words if words else 0))
