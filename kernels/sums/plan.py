"""How sums are cut into threads, and what their operands must be."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .slicing import WORD, Words

MAX_GRID = 2**31 - 1


@dataclass(frozen=True, slots=True)
class SumLaunch:
    """A launch of one thread for each unit of work."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]


def choose(threads: int, multiprocessors: int) -> SumLaunch:
    """Return blocks of 256 threads, smaller while there are too few for every multiprocessor."""
    if threads < 1:
        raise ValueError("nothing to launch")
    block = 256
    while block > 32 and -(-threads // block) < 2 * multiprocessors:
        block //= 2
    blocks = -(-threads // block)
    if blocks > MAX_GRID:
        raise ValueError(f"{threads} threads are too many for one launch")
    return SumLaunch((blocks, 1, 1), (block, 1, 1))


def sum_bits(k: int) -> int:
    """Return how many planes the sum of k-bit numbers has, which is taken modulo 2^32."""
    return min(k + 1, WORD)


def check_pair(a: Words, b: Words, dimensions: int) -> None:
    """Raise ValueError where two operands do not fit each other, or are not uint32."""
    if a.shape != b.shape or a.ndim != dimensions:
        raise ValueError(f"shapes {a.shape} and {b.shape}")
    if a.dtype != np.uint32 or b.dtype != np.uint32:
        raise ValueError(f"uint32 wanted, not {a.dtype} and {b.dtype}")
