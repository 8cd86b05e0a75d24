"""Universes without bounds: what each way to keep one offers, and how one is opened."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from kernels.targets.contract import Target
from lifesim.grid import BitGrid, Box, GridError
from lifesim.growing import GrowingUniverse
from lifesim.rule import Rule
from lifesim.topology import Edges, Topology

if TYPE_CHECKING:
    from kernels.plane.hashlife.listing import SquareList

ENGINES = ("dense", "tiles", "hashlife")


class UnboundedUniverse(Protocol):
    """A universe that has no bounds along one axis or both.

    generation: how many it has been moved on. stride: a number of generations that is best made at
    once. sets_pace: whether stride follows from how long steps take. target: up to which generation
    it will be moved on, as far as that is known. work: updates of cells so far.
    """

    sets_pace: bool
    target: int

    @property
    def generation(self) -> int:
        """Return how many generations it has been moved on."""

    @property
    def stride(self) -> int:
        """Return how many generations are best made at once."""

    @property
    def work(self) -> int:
        """Return the number of updates of cells so far."""

    def step(self, generations: int) -> None:
        """Move on. Interrupted or out of memory (OutgrownError) it stands at a whole generation."""

    def box(self) -> Box | None:
        """Return the smallest rectangle that holds every live cell, None where none lives."""

    def part(self, box: Box) -> BitGrid:
        """Return the cells of any rectangle. Raises GridError for one too large for memory."""

    def population(self) -> int:
        """Return the number of live cells."""

    def digest(self, frame: Box) -> str:
        """Return the digest of a rectangle that holds all that lives (lifesim.digest)."""

    def take(self, squares: SquareList) -> None:
        """Replace all cells by those of a macrocell file. Raises GridError where it cannot."""

    def squares(self) -> SquareList | None:
        """Return the cells as macrocell files have them, None where it has none or cannot."""


def open_unbounded(
    engine: str,
    backend: Target,
    grid: BitGrid,
    at: tuple[int, int],
    bounds: tuple[int, int],
    rule: Rule,
    topology: Edges,
    memory: int | None,
) -> UnboundedUniverse:
    """Open a universe without bounds. The arguments, of which there are as many, are those of Life.

    Raises GridError for what the engine cannot do, and OutgrownError or MemoryError.
    """
    if engine == "dense":
        torus = topology is Topology.TORUS
        return GrowingUniverse(backend, grid, at, bounds, rule, torus=torus, memory=memory)
    from lifesim.planes import HashedUniverse, TiledUniverse, check_target

    if any(bounds) or topology is not Topology.PLANE:
        raise GridError(f"the engine {engine} is for planes without bounds")
    kind = HashedUniverse if engine == "hashlife" else TiledUniverse
    return kind(check_target(backend), grid, at, rule, memory)
