"""What a window begins with: the command's arguments, without Qt."""

from __future__ import annotations

import os
from dataclasses import dataclass

from kernels.backend import Backend, BackendUnavailableError
from kernels.choose import pick
from lifesim import patterns
from lifesim.rule import LIFE, Rule
from lifesim.start import place
from lifesim.topology import Topology
from ui import opening
from ui.cells.session import MemorySession
from ui.session import Session, SessionError


@dataclass(frozen=True, slots=True)
class Launch:
    """path: a pattern file, a universe directory, or None for an empty universe. theme: "dark",
    "light" or None for the last one. The rest are as of `lifesim run`."""

    path: str | None = None
    rule: Rule | None = None
    topology: Topology | None = None
    size: tuple[int, int] | None = None
    backend: str = "auto"
    device: int = 0
    threads: int | None = None
    theme: str | None = None

    def pick(self) -> Backend:
        """What computes. Raises BackendUnavailableError."""
        return pick(self.backend, device=self.device, threads=self.threads)

    def check(self) -> None:
        """Raises SessionError where arguments contradict each other."""
        if self.path and os.path.isdir(self.path) and (self.rule or self.topology or self.size):
            raise SessionError(
                f"{self.path} is a directory: a universe has its size, rule and topology"
            )

    def empty(self, backend: Backend) -> Session:
        """A new universe. Raises LifesimError."""
        size = self.size or (opening.SIDE, opening.SIDE)
        rule, topology = self.rule or LIFE, self.topology or Topology.TORUS
        return opening.new(*size, rule, topology, backend=backend)

    def session(self, backend: Backend) -> Session:
        """The universe of path. Raises LifesimError."""
        if self.path is None:
            return self.empty(backend)
        if not (self.rule or self.topology or self.size):
            return opening.open(self.path, backend=backend)
        self.check()
        opening.check_source(self.path)
        pattern = patterns.read(self.path)
        bounds = pattern.size or (0, 0)
        cells = pattern.grid.width, pattern.grid.height
        width, height = self.size or (
            bound or opening.roomy(length) for bound, length in zip(bounds, cells, strict=True)
        )
        start = place(pattern, 0, (width, height), None, self.rule, self.topology)
        try:
            return MemorySession(
                start.grid,
                rule=start.rule,
                topology=start.topology,
                generation=start.generation,
                backend=backend,
                path=os.path.abspath(self.path),
                notes=(pattern.name, pattern.comments),
            )
        except (BackendUnavailableError, MemoryError) as error:
            raise SessionError(str(error) or "out of memory") from None
