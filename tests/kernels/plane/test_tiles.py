"""Tiles on the CPU: the contract of the unbounded plane at every level."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("kernels._cpu")

from kernels.plane.tiles.cpu.engine import CpuTilesEngine
from kernels.targets.cpu import CpuTarget, levels
from tests.plane_tiles_contract import TilesContract


@pytest.fixture(
    scope="module",
    params=[*((level, 1) for level in levels()), (levels()[-1], 3)],
    ids=lambda p: f"{p[0]}x{p[1]}",
)
def engine(request: pytest.FixtureRequest) -> CpuTilesEngine:
    """Return the engine at each level that this CPU has, and with several threads."""
    level, threads = request.param
    return CpuTilesEngine(CpuTarget(threads, level))


class TestTiles(TilesContract):
    """Tiles beside a set of cells."""

    @staticmethod
    def settled(universe: Any) -> bool:
        return bool(universe._plane.settled())
