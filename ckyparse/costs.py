"""Costs of batches, measured on one machine (anew: `python -m benchmarks.costs parsing gpu`)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CoreCosts:
    """Costs of parsing on one core, in seconds.

    clear: a symbol of a cell. pair: a pair of symbols at a split point. Both for a word of strings.
    strings: of a word, which a core parses at once.
    narrow: of so few strings as a narrow word has, the part that all costs.
    split, rule: with weights, a split point of a string, and each rule there.
    """

    clear: float
    pair: float
    strings: int
    narrow: float
    split: float
    rule: float


# Near those seen on 16 cores with AVX-512 (benchmarks/RESULTS.md).
CORE_COSTS = CoreCosts(clear=12e-9, pair=0.5e-9, strings=512, narrow=0.25, split=5e-9, rule=0.14e-9)


@dataclass(frozen=True, slots=True)
class GpuCosts:
    """Costs of parsing on a GPU that has begun, in seconds.

    cell: a cell in a block, whose threads wait for each other. pair: a pair of symbols at a split
    point. copy: a string on its way there.
    launch: anything, with weights. cores: as quick as a GPU, with weights.
    """

    cell: float
    pair: float
    copy: float
    launch: float
    cores: float


# Near those seen on an H200 (benchmarks/RESULTS.md).
GPU_COSTS = GpuCosts(cell=3e-6, pair=0.35e-9, copy=20e-9, launch=1e-3, cores=100.0)
