"""Which engines enumerate."""

from __future__ import annotations

from dataclasses import dataclass

from kernels.backend import BackendUnavailableError
from kernels.choose import pick
from kernels.transf import Transf, transf_for


@dataclass(frozen=True)
class Engines:
    """Those that the name of a backend stands for. "auto" is the CPU for what takes less time
    than a GPU needs to begin, then a GPU if there is one.

    device, threads: as pick() takes them.
    """

    backend: str = "auto"
    device: int = 0
    threads: int | None = None

    def first(self) -> Transf:
        """Raises BackendUnavailableError."""
        if self.backend == "auto":
            try:
                return transf_for(pick("cpu", threads=self.threads))
            except BackendUnavailableError:
                pass  # not compiled: a GPU, or else the reference
        return transf_for(pick(self.backend, device=self.device, threads=self.threads))

    def larger(self) -> Transf | None:
        """For what turns out to be large; None where there is no other."""
        if self.backend != "auto":
            return None
        try:
            return transf_for(pick("cuda", device=self.device))
        except BackendUnavailableError:
            return None
