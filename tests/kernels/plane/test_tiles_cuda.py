"""Tiles on CUDA devices: the contract of the unbounded plane, emulated and on a GPU."""

from __future__ import annotations

from typing import Any, cast

import pytest

from kernels.plane.tiles.cuda.engine import CudaTilesEngine, Launch
from kernels.plane.tiles.cuda.memory import COUNTS
from kernels.targets.cuda.device import Device
from tests.emulation import EmulatedDevice
from tests.plane_tiles_contract import TilesContract

ONE_BLOCK = Launch(warps=2, blocks=1, rounds=1, room=16)  # which has nobody to wait for
APART = Launch(warps=1, blocks=3, together=False, rounds=1, room=16)


def emulated(order: str, launch: Launch) -> CudaTilesEngine:
    """Return the engine on an emulated device."""
    return CudaTilesEngine(cast(Device, EmulatedDevice(order=order)), launch)


@pytest.fixture(
    scope="module",
    params=["emulated_together", "emulated_apart", pytest.param("gpu", marks=pytest.mark.gpu)],
)
def engine(request: pytest.FixtureRequest) -> CudaTilesEngine:
    """Return the engine, emulated in two ways, and of a GPU."""
    if request.param == "emulated_together":
        return emulated("shuffled:1", ONE_BLOCK)
    if request.param == "emulated_apart":
        return emulated("reverse", APART)
    from kernels.targets.cuda.pycuda import CudaTarget

    return CudaTilesEngine.of(CudaTarget())


class TestTiles(TilesContract):
    """Tiles on a device beside a set of cells."""

    @staticmethod
    def settled(universe: Any) -> bool:
        number = universe._time.number
        return bool(number > universe._whole and not universe._tiles.state()[COUNTS + number % 3])
