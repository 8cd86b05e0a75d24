"""Life: a universe, its rule and topology, moved on by a backend."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kernels.backend import Backend
from kernels.choose import pick
from lifesim.digest import digest
from lifesim.grid import BitGrid, Box, check_size
from lifesim.render import density_levels
from lifesim.rule import LIFE, Rule
from lifesim.topology import Topology

_CHUNK_SECONDS = 0.2  # between two calls of a progress function
_REFERENCE_COPIES = 40  # a byte a cell, in five arrays


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run has come.

    generation: of the universe; done, total: generations of this run; seconds: spent
    on it so far; rate: cell updates per second over all of it.
    """

    generation: int
    done: int
    total: int
    seconds: float
    rate: float


class Life:
    """A universe that evolves.

    >>> life = Life(grid, rule="B36/S23", topology="torus")
    >>> life.run(1000)
    >>> life.generation, life.grid().population()
    """

    def __init__(
        self,
        grid: BitGrid,
        *,
        rule: Rule | str = LIFE,
        topology: Topology | str = Topology.TORUS,
        generation: int = 0,
        backend: Backend | str = "auto",
        device: int | Sequence[int] = 0,
        threads: int | None = None,
    ) -> None:
        """Takes a copy of grid, which is of that generation.

        backend: "auto", "cuda", "cpu", "reference" or an object of kernels.backend.
        device: a GPU's number, or those of several, each of which takes a part of the rows.
        Raises RuleError, ValueError for an unknown topology or backend name,
        BackendUnavailableError, and GridError or MemoryError for too large a universe.
        """
        self.rule = rule if isinstance(rule, Rule) else Rule.parse(rule)
        self.topology = Topology(topology)
        self.width, self.height = grid.width, grid.height
        if isinstance(backend, str):
            backend = pick(backend, device=device, threads=threads)
        if backend.name == "reference":
            check_size(grid.width, grid.height, _REFERENCE_COPIES)
        self.backend = backend
        self._first = generation
        self._universe = backend.life(
            grid.words,
            grid.width,
            grid.height,
            torus=self.topology is Topology.TORUS,
            birth=self.rule.birth,
            survival=self.rule.survival,
        )
        self.seconds = 0.0  # spent in the backend's steps

    @property
    def generation(self) -> int:
        return self._first + self._universe.generation

    def where(self) -> str:
        return f"at generation {self.generation}"

    @property
    def rate(self) -> float:
        """Cell updates per second over all steps so far; 0 before the first."""
        cells = self.width * self.height * self._universe.generation
        return cells / self.seconds if self.seconds > 0 else 0.0

    def run(
        self,
        generations: int,
        *,
        every: int | None = None,
        progress: Callable[[Progress], None] | None = None,
        on_snapshot: Callable[[Life], None] | None = None,
    ) -> None:
        """Move on by `generations`, calling on_snapshot after every `every` of them.

        progress is called a few times a second. KeyboardInterrupt, also one that a
        callback raises, leaves the universe at a whole generation, from which it can
        go on.
        """
        if generations < 0:
            raise ValueError(f"a universe cannot go back {-generations} generations")
        if every is not None and every < 1:
            raise ValueError(f"snapshots come every 1 or more generations, not {every}")
        start, began = self._universe.generation, self.seconds
        for stop in _stops(generations, every if on_snapshot else None):
            while (done := self._universe.generation - start) < stop:
                self._advance(min(stop - done, self._chunk()))
                if progress:
                    done = self._universe.generation - start
                    seconds = self.seconds - began
                    cells = self.width * self.height * done
                    progress(
                        Progress(
                            self.generation,
                            done,
                            generations,
                            seconds,
                            cells / seconds if seconds else 0.0,
                        )
                    )
            if on_snapshot and every and stop and stop % every == 0:
                on_snapshot(self)

    def grid(self) -> BitGrid:
        """A copy of the cells as they are now."""
        return BitGrid(self.width, self.height, self._universe.words())

    def population(self) -> int:
        """The number of live cells."""
        return self.grid().population()

    def digest(self) -> str:
        """The content digest of the cells (lifesim.digest)."""
        return digest(self.grid())

    def levels(self, box: Box, scale_log2: int) -> npt.NDArray[np.uint8]:
        """How densely the cells of a region live (lifesim.render.density_levels)."""
        return density_levels(self.grid(), box, scale_log2)

    def _advance(self, generations: int) -> None:
        began = time.perf_counter()
        try:
            self._universe.step(generations)
        finally:
            self.seconds += time.perf_counter() - began

    def _chunk(self) -> int:
        """Generations to ask for at once: whole strides, some tenths of a second."""
        stride = self._universe.stride
        if not self._universe.generation or not self.seconds:
            return stride
        wanted = _CHUNK_SECONDS * self._universe.generation / self.seconds
        return max(1, int(wanted / stride)) * stride


def _stops(generations: int, every: int | None) -> Iterator[int]:
    """Where a run pauses: every `every` generations, and at its end."""
    if every is not None:
        yield from range(every, generations, every)
    yield generations
