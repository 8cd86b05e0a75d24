"""Choices how a universe is cut into plots that stay on a GPU's multiprocessors: pure functions.

kernels/life/cuda/plots.cu says what a plot is and how plots exchange what is near their sides.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from kernels.life.contract import LifeShape
from kernels.life.costs import PLOT_COSTS, PlotCosts
from kernels.life.plan import reads_top_cells, rule_defines
from kernels.life.rules import NineCellRule

MOST_HALO = 30  # rows that are published, with those to spare, are bits of a word
SPARE = 2  # rows by which plots may overlap more than their halos
_MOST_WORDS, _MOST_WARPS = 6, 8  # with more words the compiler runs out of registers
_LEAST_SIDE = 8  # cells: universes that are lower or narrower have no plots
# Words a thread keeps in registers: by Conway's rule, by others, and by those that take cells of
# the row above. With more of them the loop no longer fits the cache of instructions, or registers
# are spilled.
_HELD_WORDS = (96, 72, 48)


@dataclass(frozen=True, slots=True)
class PlotPlan:
    """The cut of a universe into plots: `down` rows of `across`, one a multiprocessor at most.

    A plot has 32 * rows rows and 32 * warps * words columns, of which the outer `halo` are its
    neighbours'. clocks: what a generation takes, by the model.
    """

    width: int
    height: int
    across: int
    down: int
    words: int
    rows: int
    warps: int
    halo: int
    clocks: float

    @property
    def plots(self) -> int:
        """The number of plots."""
        return self.across * self.down

    @property
    def threads(self) -> int:
        """The threads of a block."""
        return 32 * self.warps

    @property
    def cell_bytes(self) -> int:
        """The bytes of all plots, in global memory."""
        return 4 * self.plots * self.rows * self.words * self.threads

    @property
    def row_bytes(self) -> int:
        """The bytes of the rows that plots publish."""
        return 4 * 4 * self.down * self.width

    @property
    def column_bytes(self) -> int:
        """The bytes of the columns that plots publish."""
        return 4 * 4 * self.plots * self.rows * self.halo

    @property
    def nbytes(self) -> int:
        """The bytes of device memory that plots take."""
        return self.cell_bytes + self.row_bytes + self.column_bytes + self.flag_bytes + 8

    @property
    def flag_bytes(self) -> int:
        """The bytes of the plots' flags."""
        return 128 * self.plots

    def held(self, rule: NineCellRule) -> int:
        """Return how many rows of a plot are kept in registers."""
        return min(self.rows, max(1, held_words(rule) // self.words))

    def shared_bytes(self, held: int) -> int:
        """Return the bytes of shared memory that a plot takes, with so many rows in registers."""
        sides = (4 * self.warps + 1) * self.rows if self.warps > 1 else 0
        return 4 * ((self.rows - held) * self.words * self.threads + sides)

    def defines(self, rule: NineCellRule, torus: bool) -> dict[str, int | str]:
        """Return the macros that plots.cu is compiled with."""
        macros: dict[str, int | str] = {
            "WORDS": self.words,
            "ROWS": self.rows,
            "HELD": self.held(rule),
            "WARPS": self.warps,
            "HALO": self.halo,
        }
        if not torus:
            last = self.width - (self.across - 1) * self.width // self.across
            lowest = self.height - (self.down - 1) * self.height // self.down
            macros |= {"PLANE": 1, "BEFORE_X": self.halo - 1, "BEFORE_Y": self.halo - 1}
            macros |= {"AFTER_X": self.halo + last, "AFTER_Y": self.halo + lowest}
        macros |= {name: value for name, value in rule_defines(rule).items() if name != "TOP_CELLS"}
        return macros


def held_words(rule: NineCellRule) -> int:
    """Return how many words a thread keeps in registers, beside those that a rule needs."""
    conway, other, top_cells = _HELD_WORDS
    if reads_top_cells(rule):
        return top_cells
    return conway if rule_defines(rule).get("CONWAY") else other


def plots_of(
    shape: LifeShape, multiprocessors: int, shared: int, costs: PlotCosts = PLOT_COSTS
) -> PlotPlan | None:
    """Return the plots of a universe of one bit plane; None where it does not fit or none pay."""
    if shape.planes != 1 or min(shape.width, shape.height) < _LEAST_SIDE:
        return None
    return choose_plots(shape.width, shape.height, multiprocessors, shared, costs)


@lru_cache(maxsize=64)
def choose_plots(
    width: int, height: int, multiprocessors: int, shared: int, costs: PlotCosts = PLOT_COSTS
) -> PlotPlan | None:
    """Return the plots that should be quickest, by a model; None where the universe does not fit.

    shared: bytes of shared memory that a block may have.
    """
    room = multiprocessors * 32 * (shared // 4 + _MOST_WARPS * 32 * _HELD_WORDS[2])
    if width * height > room:
        return None
    best: PlotPlan | None = None
    for across in range(1, min(multiprocessors, width) + 1):
        for down in range(1, min(multiprocessors // across, height) + 1):
            for plan in _cuts(width, height, across, down, costs):
                if best is not None and plan.clocks >= best.clocks:
                    continue
                held = min(plan.rows, _HELD_WORDS[2] // plan.words)  # the least of any rule
                if plan.shared_bytes(held) <= shared:
                    best = plan
    return best


def _cuts(width: int, height: int, across: int, down: int, costs: PlotCosts) -> list[PlotPlan]:
    """Return plans with so many plots."""
    widest, tallest = -(-width // across), -(-height // down)
    plans = []
    least = -(-(tallest + 2) // 32)
    for rows in (least, least + 1):
        halo = min((32 * rows - tallest) // 2, MOST_HALO)
        if 32 * rows - 2 * halo - height // down > SPARE:
            continue
        if halo > min(width // across, height // down):
            continue
        for warps in range(1, _MOST_WARPS + 1):
            words = -(-(widest + 2 * halo) // (32 * warps))
            if words <= _MOST_WORDS:
                clocks = costs.generation(words, rows, warps) + costs.exchange(words, rows) / halo
                plans.append(
                    PlotPlan(width, height, across, down, words, rows, warps, halo, clocks)
                )
    return plans


def shared_bytes_of(capability: tuple[int, int]) -> int:
    """Return the bytes of shared memory that a block may have, by compute capability."""
    major, minor = capability
    kibibytes = 227 if major in (9, 10, 11) else 163 if (major, minor) in ((8, 0), (8, 7)) else 99
    return (64 if major < 8 else kibibytes) << 10
