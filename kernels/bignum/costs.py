"""Costs of big numbers, measured on one machine (anew: `python -m benchmarks.costs gpu`)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LayoutCosts:
    """Sizes up to which a thread for each number is quicker than a warp, in words of 32 bits.

    padding: times the words that there are, that slabs may take.
    short: of the numbers that a thread does as well, however few there are.
    tiny: of those for which padding never matters.
    threads: for each multiprocessor: enough numbers to give each a thread.
    """

    padding: float
    short: int
    tiny: int
    threads: int


# Of an H200, which adds 0.1 ms to any operation of a warp for each number.
LAYOUT_COSTS = LayoutCosts(padding=2.5, short=128, tiny=16, threads=128)


@dataclass(frozen=True, slots=True)
class LongCosts:
    """Sizes from which on a computation is not left to one warp, in words of 32 bits.

    sum: of the longer operand: many warps add it.
    product: of the shorter operand: transforms are quicker.
    division: of the shorter operand: the host is, if no more than host_count are so long.
    """

    sum: int
    product: int
    division: int
    host_count: int


# Of an H200: where the two ways cross by `python -m benchmarks.mixed --long`.
LONG_COSTS = LongCosts(sum=1 << 20, product=1 << 11, division=1 << 11, host_count=64)


@dataclass(frozen=True, slots=True)
class PoolTuning:
    """Blocks for each multiprocessor with which the pool is quickest.

    sums: where there are sums only, which need many lanes in flight. products: with products, but
    no divisions. all: with any.
    """

    sums: int
    products: int
    all: int


POOL_TUNING = PoolTuning(sums=24, products=11, all=6)  # of an H200
