"""Runs of live cells of a grid."""

from __future__ import annotations

from collections.abc import Iterator

from kernels.runs import ref
from kernels.runs.ref import Ints, Runs
from lifesim.grid import BitGrid

__all__ = ["Ints", "Runs", "live_runs"]


def live_runs(grid: BitGrid) -> Iterator[Runs]:
    """Yield all maximal runs of live cells, ordered by row, then column, in pieces."""
    return ref.live_runs(grid.words)
