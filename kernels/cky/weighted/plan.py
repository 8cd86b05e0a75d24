"""Choose how weighted parsing is cut up: pure functions of sizes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


def longest_fitting(nbytes: Any, memory: int) -> int:
    """Return the greatest length whose nbytes(length), which grows, fits in memory; at least 1."""
    low, high = 1, 2
    while nbytes(high) <= memory:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if nbytes(middle) <= memory else (low, middle)
    return low


@dataclass(frozen=True, slots=True)
class LaunchShape:
    """Says how a launch is made. threads: of a block. blocks: each with a slot of memory."""

    threads: int
    blocks: int


def choose(
    items: int, strings: int, slot_bytes: int, memory: int, multiprocessors: int
) -> LaunchShape:
    """Return the shape of a launch.

    items: that the threads of a block share, at most, between two barriers.
    """
    threads, most = 32, 128 if items < 4096 else 512
    while threads < most and 2 * threads < items:
        threads *= 2
    blocks = multiprocessors * (1024 // threads)
    return LaunchShape(threads, max(1, min(blocks, strings, memory // slot_bytes)))
