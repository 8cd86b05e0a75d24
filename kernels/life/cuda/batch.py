"""Many small universes at once on a CUDA-like device, each in the registers of a block."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kernels.life.contract import LifeShape, Words
from kernels.life.costs import PLOT_COSTS
from kernels.life.plan import rule_defines
from kernels.life.plots import held_words
from kernels.life.rules import NineCellRule
from kernels.targets.cuda.device import Device

SOURCE = Path(__file__).with_name("batch.cu")
LAUNCH_SECONDS = 0.05  # of a launch, about; then the host can be interrupted
UPLOADED = 1 << 28  # bytes of universes on the device at once
_MOST_WORDS, _MOST_WARPS = 8, 8


@dataclass(frozen=True, slots=True)
class BatchPlan:
    """The plot of a universe: 32 * rows rows, and 32 * warps * words columns."""

    shape: LifeShape
    words: int
    rows: int
    warps: int

    @property
    def shared_bytes(self) -> int:
        """The bytes of shared memory of a block."""
        sides = (4 * self.warps + 1) * self.rows if self.warps > 1 else 0
        cells = max(
            self.rows * self.words * self.warps * 32, self.shape.height * self.shape.row_words * 2
        )
        return 4 * (sides + cells)

    def defines(self, rule: NineCellRule) -> dict[str, int | str]:
        """Return the macros that batch.cu is compiled with."""
        macros: dict[str, int | str] = {"WORDS": self.words, "ROWS": self.rows, "WARPS": self.warps}
        if not self.shape.torus:
            # What is beyond one edge is, round the plot, beyond the other.
            macros |= {"PLANE": 1, "AFTER_X": self.shape.width, "AFTER_Y": self.shape.height}
            macros["BEFORE_X"] = 32 * self.warps * self.words - 1
            macros["BEFORE_Y"] = 32 * self.rows - 1
        macros |= {name: value for name, value in rule_defines(rule).items() if name != "TOP_CELLS"}
        return macros

    def clocks(self, multiprocessors: int) -> float:
        """Return what a generation of a universe takes, about, where many are made at once."""
        return PLOT_COSTS.word * self.rows * self.words * self.warps / 4 / multiprocessors


def batch_plan(shape: LifeShape, rule: NineCellRule) -> BatchPlan | None:
    """Return the plot of universes of a shape; None where they fit none.

    The sides of a torus are to be multiples of 32 cells.
    """
    if shape.planes != 1 or (shape.torus and (shape.width % 32 or shape.height % 32)):
        return None
    beyond = 0 if shape.torus else 1
    rows, columns = -(-(shape.height + beyond) // 32), -(-(shape.width + beyond) // 32)
    for warps in range(1, _MOST_WARPS + 1):
        words = -(-columns // warps)
        if shape.torus and words * warps != columns:
            continue
        if words <= _MOST_WORDS and rows * words <= held_words(rule):
            return BatchPlan(shape, words, rows, warps)
    return None


def run_batch(
    device: Device, plan: BatchPlan, words: Words, rule: NineCellRule, generations: int
) -> Words:
    """Return universes moved on by generations.

    words: uint64 (universes, height, ceil(width / 64)), at least one universe, C-contiguous,
    padding bits zero.
    """
    module = device.module(SOURCE, plan.defines(rule))
    made = np.empty_like(words)
    one = words[0].nbytes
    at_once = max(1, UPLOADED // one)
    buffer = device.alloc(one * min(at_once, len(words)))
    sizes = (plan.shape.width, plan.shape.height, 2 * plan.shape.row_words)
    for first in range(0, len(words), at_once):
        part = words[first : first + at_once]
        device.upload(buffer, part)
        for some in _launches(plan, len(part), generations, device.info.multiprocessors):
            module.launch(
                "batch",
                (len(part), 1, 1),
                (32 * plan.warps, 1, 1),
                buffer,
                buffer,
                *(np.int32(value) for value in (*sizes, some)),
                shared=plan.shared_bytes,
            )
            device.synchronize()
        device.download(made[first : first + at_once], buffer)
    return made


def _launches(plan: BatchPlan, count: int, generations: int, multiprocessors: int) -> Iterator[int]:
    """Yield the generations of each launch for so many universes."""
    clocks = plan.clocks(multiprocessors) * count
    most = max(1, int(LAUNCH_SECONDS * PLOT_COSTS.frequency / clocks))
    while generations:
        some = min(most, generations)
        yield some
        generations -= some
