"""Several GPUs of one host, as if they were one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from kernels.targets.contract import Target

if TYPE_CHECKING:
    from kernels.targets.cuda.device import Device
    from kernels.targets.cuda.target import CudaTarget


class SeveralDevices(Target):
    """CUDA devices of one host, among which an engine shares its work out.

    backends: a target for each device.
    """

    name = "cuda"

    def __init__(self, backends: Sequence[CudaTarget]) -> None:
        self.backends = tuple(backends)

    @property
    def devices(self) -> Sequence[Device]:
        """The device of each of the targets."""
        return tuple(backend.device for backend in self.backends)

    @property
    def members(self) -> Sequence[Target]:
        """The targets, one for each device."""
        return self.backends

    def describe(self) -> str:
        """Return the names of the devices, like ones counted."""
        names = [backend.describe() for backend in self.backends]
        return " + ".join(
            name if names.count(name) == 1 else f"{names.count(name)} × {name}"
            for name in dict.fromkeys(names)
        )

    def free_device_memory(self) -> int | None:
        """Return the bytes as if every device had as little as the one that has least."""
        return len(self.backends) * min(device.free_memory() for device in self.devices)

    def staging(self, nbytes: int) -> npt.NDArray[np.uint8]:
        """Return page-locked host memory, for all devices."""
        return self.backends[0].device.pinned(nbytes)
