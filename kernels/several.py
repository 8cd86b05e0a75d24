"""Several GPUs of one host, as if they were one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from kernels.backend import Backend, ChainShape, LifeArena, LifeChain, Shape
from kernels.life.strips import StripsArena, strips_bytes

if TYPE_CHECKING:
    from kernels.cuda import CudaBackend


class SeveralDevices(Backend):
    """Universes in strips of rows, one for each device.

    A chain, whose blocks come one after the other, is the first device's: whoever moves a
    universe in blocks gives each of `backends` blocks of its own.
    """

    name = "cuda"

    def __init__(self, backends: Sequence[CudaBackend]) -> None:
        self.backends = tuple(backends)
        self._devices = [backend.device for backend in self.backends]
        self._multiprocessors = tuple(device.info.multiprocessors for device in self._devices)

    def describe(self) -> str:
        names = [backend.describe() for backend in self.backends]
        return " + ".join(
            name if names.count(name) == 1 else f"{names.count(name)} × {name}"
            for name in dict.fromkeys(names)
        )

    def life_arena(
        self,
        shapes: Sequence[Shape],
        slots: int,
        *,
        birth: int,
        survival: int,
        chain: ChainShape | None = None,
    ) -> LifeArena:
        if chain is not None:
            return self.backends[0].life_arena(
                shapes, slots, birth=birth, survival=survival, chain=chain
            )
        return StripsArena(self._devices, shapes, slots, birth, survival)

    def arena_bytes(
        self, shapes: Sequence[Shape], slots: int, chain: ChainShape | None = None
    ) -> tuple[int, int]:
        """As if every device took as much as the one that takes most."""
        if chain is not None:
            most = self.backends[0].arena_bytes(shapes, slots, chain)[1]
        else:
            most = strips_bytes(shapes, slots, self._multiprocessors)
        return 0, len(self.backends) * most

    def life_chain(self, chain: ChainShape) -> LifeChain:
        return self.backends[0].life_chain(chain)

    def free_device_memory(self) -> int | None:
        """As if every device had as little as the one that has least."""
        return len(self._devices) * min(device.free_memory() for device in self._devices)

    def staging(self, nbytes: int) -> npt.NDArray[np.uint8]:
        return self._devices[0].pinned(nbytes)
