"""Launch the kernels of graph.cu."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from kernels.targets.cuda.device import Buffer, Module, Slice

from .memory import GrowingArray

GRAPH = Path(__file__).with_name("graph.cu")
THREADS = 256
TILE = 8 * THREADS  # items
MAX_ITEMS = 1 << 30  # of a launch

Argument: TypeAlias = GrowingArray | Buffer | Slice | np.integer[Any] | int
Grid: TypeAlias = tuple[int, int, int]


def blocks(items: int, each: int = THREADS) -> Grid:
    """Return the grid for so many items, `each` to a block."""
    return -(-items // each), 1, 1


def launch(module: Module, kernel: str, grid: Grid, *args: Argument) -> None:
    """Launch a kernel, unless the grid is empty. Python's integers are parameters of 32 bits."""
    if grid[0]:
        module.launch(kernel, grid, (THREADS, 1, 1), *arguments(args))


def arguments(args: tuple[Argument, ...]) -> list[Any]:
    """Return arguments as Module.launch() takes them."""
    return [
        a.buffer if isinstance(a, GrowingArray) else np.uint32(a) if isinstance(a, int) else a
        for a in args
    ]


def clear(module: Module, words: GrowingArray | Buffer, count: int) -> None:
    """Set so many words of 32 bits to ones."""
    launch(module, "semigroup_clear", blocks(count), np.uint64(count), words)


def at(vector: GrowingArray, entry: int, each: int) -> Slice:
    """Return the part of an array from an entry on; an entry has `each` bytes."""
    return Slice(vector.buffer, entry * each)
