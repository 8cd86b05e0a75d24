"""Launches of the kernels of graph.cu."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from kernels.device import Buffer, Module, Slice

from .memory import Vector

GRAPH = Path(__file__).with_name("graph.cu")
THREADS = 256
TILE = 8 * THREADS  # items
MAX_ITEMS = 1 << 30  # of a launch

Argument: TypeAlias = Vector | Buffer | Slice | np.integer[Any] | int
Grid: TypeAlias = tuple[int, int, int]


def blocks(items: int, each: int = THREADS) -> Grid:
    return -(-items // each), 1, 1


def launch(module: Module, kernel: str, grid: Grid, *args: Argument) -> None:
    """Nothing if the grid is empty. Python's integers are parameters of 32 bits."""
    if grid[0]:
        module.launch(kernel, grid, (THREADS, 1, 1), *arguments(args))


def arguments(args: tuple[Argument, ...]) -> list[Any]:
    """As Module.launch() takes them."""
    return [
        a.buffer if isinstance(a, Vector) else np.uint32(a) if isinstance(a, int) else a
        for a in args
    ]


def clear(module: Module, words: Vector | Buffer, count: int) -> None:
    """So many words of 32 bits become ones."""
    launch(module, "transf_clear", blocks(count), np.uint64(count), words)


def at(vector: Vector, entry: int, each: int) -> Slice:
    """From an entry of `each` bytes on."""
    return Slice(vector.buffer, entry * each)
