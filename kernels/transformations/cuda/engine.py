"""Begin enumerations on a CUDA device."""

from __future__ import annotations

from kernels.targets.contract import Target
from kernels.targets.cuda.device import Device
from kernels.targets.cuda.target import CudaTarget

from ..contract import CayleyTables, EnumerationProblem, SemigroupEngine
from .enumerator import CudaEnumerator


class CudaSemigroupEngine(SemigroupEngine):
    """Enumerates on a CUDA device."""

    name = "cuda"

    def __init__(self, device: Device) -> None:
        self.device = device

    @classmethod
    def of(cls, target: Target) -> CudaSemigroupEngine:
        """Return the engine of a CUDA device. Raises TypeError for any other target."""
        if not isinstance(target, CudaTarget):
            raise TypeError(f"this is no CUDA device: {target.describe()}")
        return cls(target.device)

    def start(
        self, problem: EnumerationProblem, tables: CayleyTables | None = None
    ) -> CudaEnumerator:
        """Begin an enumeration, or go on from tables, see SemigroupEngine.start()."""
        return CudaEnumerator(self.device, problem, tables)

    @property
    def memory(self) -> int:
        """Bytes that an enumeration may take by default: 85 % of what the device has free."""
        return self.device.free_memory() * 85 // 100
