"""Universes without bounds: what each way to keep one offers, and how one is opened."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

from kernels.targets.choose import pick
from kernels.targets.contract import BackendUnavailableError, Target
from lifesim.grid import BitGrid, Box, GridError
from lifesim.growing import GrowingUniverse, never
from lifesim.rule import Rule
from lifesim.topology import Edges, Topology

if TYPE_CHECKING:
    from kernels.plane.contract import Places, Words
    from kernels.plane.hashlife.listing import SquareList
    from kernels.targets.cpu import CpuTarget

ENGINES = ("auto", "dense", "tiles", "hashlife")


class UnboundedUniverse(Protocol):
    """A universe that has no bounds along one axis or both.

    engine: the name of the way in which it is kept just now, one of ENGINES but auto.
    generation: how many it has been moved on. stride: a number of generations that is best made at
    once. sets_pace: whether stride follows from how long steps take. target: up to which generation
    it will be moved on, as far as that is known. work: updates of cells so far.
    """

    sets_pace: bool
    target: int

    @property
    def engine(self) -> str:
        """Return the name of the way in which it is kept."""

    @property
    def made(self) -> dict[str, int]:
        """Return how many generations each engine has made, of those that made any."""

    @property
    def generation(self) -> int:
        """Return how many generations it has been moved on."""

    @property
    def stride(self) -> int:
        """Return how many generations are best made at once."""

    @property
    def work(self) -> int:
        """Return the number of updates of cells so far."""

    def step(self, generations: int, stopped: Callable[[], bool] = never) -> None:
        """Move on by generations, or by fewer where stopped(), which is asked again and again, says
        so. Interrupted or out of memory (OutgrownError) it stands at a whole generation."""

    def box(self) -> Box | None:
        """Return the smallest rectangle that holds every live cell, None where none lives."""

    def part(self, box: Box) -> BitGrid:
        """Return the cells of any rectangle. Raises GridError for one too large for memory."""

    def population(self) -> int:
        """Return the number of live cells."""

    def digest(self, frame: Box) -> str:
        """Return the digest of a rectangle that holds all that lives (lifesim.digests)."""

    def all_squares(self) -> Iterator[tuple[Places, Words]]:
        """Yield all squares with live cells (kernels.plane.contract). Raises OverflowError where
        some are too far from the origin for that."""

    def take(self, squares: SquareList) -> None:
        """Replace all cells by those of a macrocell file. Raises GridError where it cannot."""

    def squares(self) -> SquareList | None:
        """Return the cells as macrocell files have them, None where it has none or cannot."""


def target_of(
    engine: str,
    backend: Target | str,
    device: int | Sequence[int],
    threads: int | None,
    cells: int,
) -> Target:
    """Return what computes. Raises BackendUnavailableError, and LifesimError where the engine does
    not run there."""
    if not isinstance(backend, str):
        return backend
    if engine in ("auto", "dense"):
        return pick(backend, device=device, threads=threads)
    from lifesim.planes import plane_target

    return plane_target(engine, backend, threads, device, cells)


def open_unbounded(
    engine: str,
    backend: Target,
    grid: BitGrid,
    at: tuple[int, int],
    bounds: tuple[int, int],
    rule: Rule,
    topology: Edges,
    memory: int | None,
    *,
    alone: bool = False,
) -> UnboundedUniverse:
    """Open a universe without bounds. The arguments, of which there are as many, are those of Life.

    alone: whether nothing but the backend may compute, also where the CPU would be quicker.
    Raises GridError for what the engine cannot do, and OutgrownError or MemoryError.
    """
    is_plane = not any(bounds) and topology is Topology.PLANE
    if engine == "auto" and rule.nine_cells is None:
        engine = "dense"
    if engine == "auto" and is_plane and not backend.is_reference and rule.stays_empty:
        planes = None if alone else _plane_target(backend)
        if planes or len(backend.devices) == 1:
            from lifesim.changing import ChangingUniverse

            return ChangingUniverse(backend, planes, grid, at, rule, memory)
    if engine in ("auto", "dense"):
        torus = topology is Topology.TORUS
        return GrowingUniverse(backend, grid, at, bounds, rule, torus=torus, memory=memory)
    from lifesim.planes import HashedUniverse, TiledUniverse, check_target

    if not is_plane:
        raise GridError(f"the engine {engine} is for planes without bounds")
    if rule.nine_cells is None:
        raise GridError(
            f"the engine {engine} computes rules of two states and nine cells, as B3/S23, "
            f"not {rule}"
        )
    kind = HashedUniverse if engine == "hashlife" else TiledUniverse
    return kind(check_target(backend), grid, at, rule, memory)


def _plane_target(backend: Target) -> CpuTarget | None:
    """Return what computes tiles and trees beside a backend, None where there is nothing to."""
    from kernels.targets.cpu import CpuTarget

    if isinstance(backend, CpuTarget):
        return backend
    try:
        return CpuTarget()
    except BackendUnavailableError:
        return None
