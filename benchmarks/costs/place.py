"""Say where costs are measured, and how thoroughly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernels.targets.contract import Target


@dataclass(frozen=True)
class Place:
    """A machine, and how thoroughly it is measured.

    gpu: a target with a CUDA device; None where there is none. folder: on the disk that is
    measured. seconds: for each piece of work. cases: sizes of a kind that are looked at.
    scale: what sizes are divided by: 1, or more where only the code is to be tried.
    """

    gpu: Target | None
    folder: Path
    seconds: float = 0.05
    cases: int = 3
    scale: int = 1

    @property
    def device(self) -> Any:
        """The CUDA device; only where there is one."""
        assert self.gpu is not None
        return self.gpu.devices[0]

    @property
    def finish(self) -> Callable[[], object]:
        """Return the call that waits for the device."""
        wait: Callable[[], object] = self.device.synchronize
        return wait
