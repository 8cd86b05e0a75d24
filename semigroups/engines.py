"""Choose the engines that enumerate."""

from __future__ import annotations

from dataclasses import dataclass

from kernels.targets.choose import pick
from kernels.targets.contract import BackendUnavailableError
from kernels.transformations import EnumerationProblem, Enumerator, SemigroupEngine, engine_for
from kernels.transformations.cpu.small import enumerate_small


@dataclass(frozen=True)
class EngineChoice:
    """Chooses the engines that a backend's name stands for.

    "auto" is the CPU for what takes less time than a GPU needs to begin, then a GPU if there is
    one.

    device, threads: as pick() takes them.
    """

    backend: str = "auto"
    device: int = 0
    threads: int | None = None

    def first(self) -> SemigroupEngine:
        """Return the engine to begin with. Raises BackendUnavailableError."""
        if self.backend == "auto":
            try:
                return engine_for(pick("cpu", threads=self.threads))
            except BackendUnavailableError:
                pass  # not compiled: a GPU, or else the reference
        return engine_for(pick(self.backend, device=self.device, threads=self.threads))

    def at_once(self, problem: EnumerationProblem) -> Enumerator | None:
        """Enumerate all on the CPU, in one call, if it is small; return None where it is not."""
        return enumerate_small(problem) if self.backend in ("auto", "cpu") else None

    def larger(self) -> SemigroupEngine | None:
        """Return the engine for what turns out to be large; None where there is no other."""
        if self.backend != "auto":
            return None
        try:
            return engine_for(pick("cuda", device=self.device))
        except BackendUnavailableError:
            return None
