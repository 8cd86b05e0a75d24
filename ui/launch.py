"""What a window begins with: the command's arguments, without Qt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kernels.targets.choose import pick
from kernels.targets.contract import Target
from lifesim.planes import plane_target
from lifesim.rule import LIFE, Rule
from lifesim.topology import Topology, topology_of, torus_or_plane
from ui import opening
from ui.reading import Progress, in_silence
from ui.script.source import read_script
from ui.session import Session


@dataclass(frozen=True, slots=True)
class ViewLaunch:
    """The arguments of a command that opens a window for universes.

    path: a pattern file, a universe directory, or None for an empty universe. theme: "dark",
    "light" or None for the last one. script: a file of Python source to run. The
    rest are as of `lifesim run`.
    """

    path: str | None = None
    rule: Rule | None = None
    topology: Topology | str | None = None
    size: tuple[int, int] | None = None
    engine: str | None = None
    backend: str = "auto"
    device: int = 0
    threads: int | None = None
    theme: str | None = None
    script: str | None = None

    @property
    def is_bare(self) -> bool:
        """Tell whether nothing is asked for: then the start page is shown."""
        return not (self.path or self.rule or self.topology or self.size or self.engine)

    def pick(self) -> Target:
        """Return what computes. Raises BackendUnavailableError, and LifesimError where the engine
        does not run there."""
        if self.engine in ("tiles", "hashlife") and self.backend != "auto":
            plane_target(self.engine, self.backend, self.threads)
        return pick(self.backend, device=self.device, threads=self.threads)

    def check(self) -> None:
        """Raise LifesimError for a path, a script or a topology that no window is needed to
        refuse."""
        self._bounds()
        if self.script is not None:
            read_script(self.script)
        if self.path is not None:
            as_it_is = not (self.rule or self.topology or self.size)
            opening.check_source(self.path, as_it_is=as_it_is)

    def empty(self, backend: Target) -> Session:
        """Make a new universe. Raises LifesimError."""
        topology, size = self._bounds()
        rule = self.rule or LIFE
        if self.engine not in (None, "dense"):
            asked = None if self.topology in (None, "unbounded") else Topology(topology)
            return opening.empty_plane(rule, self.engine, self.size, asked, backend=backend)
        return opening.new(*size, rule, topology, backend=backend)

    def _bounds(self) -> tuple[Topology | str, tuple[int, int]]:
        """Return the topology and the size of an empty universe. Raises TopologyError."""
        standard = opening.SIDE, opening.SIDE
        edges, size = topology_of(self.topology or Topology.TORUS, self.size, standard)
        shown = torus_or_plane(edges, "what the window shows")
        return ("unbounded", standard) if size == (0, 0) else (shown, size)

    def session(
        self,
        backend: Target,
        is_cancelled: Callable[[], bool] = lambda: False,
        progress: Progress = in_silence,
    ) -> Session:
        """Open the universe of path. Raises as opening.open() does."""
        if self.path is None:
            return self.empty(backend)
        return opening.open(
            self.path,
            rule=self.rule,
            topology=self.topology,
            size=self.size,
            engine=self.engine,
            backend=backend,
            is_cancelled=is_cancelled,
            progress=progress,
        )
