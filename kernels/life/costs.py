"""Costs of Life, measured on one machine (anew: `python -m benchmarks.costs life gpu`)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CpuCosts:
    """Costs of passes on the CPU, in units of one vector of cells moved on by one generation.

    Of a pair the first is fixed, the second is for each bit of a vector.

    row: a row of a panel, to vectors and back, where strips are 32-bit words: cheapest by far,
        so that few generations are best made of such even where most of them is halo.
    narrow_row, ragged_row: the same where strips are at most half a word, and of other widths.
    direct_row, direct_vector: a row, and each vector of it, of a generation straight on the rows.
    column: a column's extra work per row: seam, first rows.
    task, whole_pass: what each of them costs beside its rows.
    """

    row: tuple[float, float]
    narrow_row: tuple[float, float]
    ragged_row: tuple[float, float]
    direct_row: float
    direct_vector: tuple[float, float]
    column: float
    task: float
    whole_pass: float


# Fitted to measurements on a Sapphire Rapids core, where the unit is about 4 cycles with
# AVX-512; only ratios matter.
CPU_COSTS = CpuCosts(
    row=(60.0, 0.40),
    narrow_row=(90.0, 0.62),
    ragged_row=(160.0, 0.94),
    direct_row=33.0,
    direct_vector=(1.05, 0.0040),
    column=0.35,
    task=2000.0,
    whole_pass=7500.0,
)


@dataclass(frozen=True, slots=True)
class FoldCosts:
    """Sizes from which on folded universes (kernels/life/folds.py) are cut into pieces.

    rows_each: that a piece has at least. halo: rows that pieces have of each other. several: the
    generations of a run for which it pays to begin with threads. looked_up: cells of a universe up
    to which it is quicker to look a rule up in it than to make passes by native code.
    """

    rows_each: int
    halo: int
    several: int
    looked_up: int


# Found by measurement on a Zen 5 core (benchmarks/RESULTS.md).
FOLD_COSTS = FoldCosts(rows_each=512, halo=24, several=256, looked_up=1 << 20)


@dataclass(frozen=True, slots=True)
class CudaTuning:
    """Sizes at which life.cu runs fastest on a device.

    aligned, ragged: words a lane and generations of the longest passes, for widths that are a
        multiple of four and for others. resident: warps a multiprocessor.
    fill: rows that a segment costs beside its own and those of its generations. uneven: what a
        launch costs beside its rounds, as a part of a segment: teams of one round do not end
        together. parts: the bits of a cell in memory.
    """

    aligned: tuple[int, int]
    ragged: tuple[int, int]
    resident: int
    fill: float
    uneven: float
    parts: int = 1


# Found by measurement on an H200 (benchmarks/RESULTS.md): four words a lane and seven
# stages fill the registers of two warps a scheduler. Where the width is no multiple of
# four, three words a lane and their halo word by word do better.
CUDA_TUNING = CudaTuning(aligned=(4, 7), ragged=(3, 9), resident=8, fill=8.0, uneven=0.04)


@dataclass(frozen=True, slots=True)
class StripCosts:
    """Costs of strips, in cell updates that a multiprocessor could make meanwhile.

    exchange: devices exchange rows. queuing: the host queues a pass on one of them.
    """

    exchange: float
    queuing: float


STRIP_COSTS = StripCosts(exchange=4e7, queuing=6e6)  # of an H200 (benchmarks/RESULTS.md)


@dataclass(frozen=True, slots=True)
class PlotCosts:
    """Costs of plots, in clocks of a multiprocessor.

    word: a word and generation. row: what a row of a warp costs beside its words, where it has a
    scheduler alone, and where it shares one. least_row: a row at least. whole: what a generation
    costs beside. meeting: of an exchange, and passed: for each word of a thread. frequency: clocks
    a second. least: generations below which a universe is moved on by passes; plots of large ones
    take long to be made, and more are asked for: one for each `cells` of them.
    """

    word: float
    row: tuple[float, float]
    least_row: float
    whole: float
    meeting: float
    passed: float
    frequency: float
    least: int
    cells: int

    def worth(self, cells: int) -> int:
        """Return from how many generations on plots pay for a universe of so many cells."""
        return max(self.least, cells // self.cells)

    def generation(self, words: int, rows: int, warps: int) -> float:
        """Return what a generation of a plot costs, without the exchange."""
        share = -(-warps // 4)
        row = share * (self.word * words + self.row[share > 1])
        return rows * max(row, self.least_row) + self.whole

    def exchange(self, words: int, rows: int) -> float:
        """Return what an exchange costs."""
        return self.meeting + self.passed * words * rows


# Fitted to measurements on an H200 (benchmarks/RESULTS.md).
PLOT_COSTS = PlotCosts(
    word=16.0,
    row=(20.0, 12.0),
    least_row=40.0,
    whole=80.0,
    meeting=4000.0,
    passed=30.0,
    frequency=1.9e9,
    least=256,
    cells=125_000,
)
