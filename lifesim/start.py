"""What a run starts from: a pattern placed in a universe, or a random soup."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from lifesim.errors import LifesimError
from lifesim.grid import BitGrid, GridError, check_size
from lifesim.patterns import Pattern
from lifesim.rule import LIFE, Rule
from lifesim.soup import random_grid
from lifesim.topology import Topology

SOUP_SIZE = (1024, 1024)
WIDEST_UNBOUNDED = 8192  # cells; a wider universe for a pattern must be asked for


@dataclass(frozen=True, slots=True)
class Start:
    """A universe before its first generation. note: what the person should know of it."""

    grid: BitGrid
    rule: Rule
    topology: Topology
    generation: int = 0
    note: str = ""


def soup(
    size: tuple[int, int] | None,
    density: Fraction | float,
    seed: int,
    rule: Rule | None = None,
    topology: Topology | None = None,
) -> Start:
    """A random soup, SOUP_SIZE unless told. Raises GridError and SoupError."""
    width, height = size or SOUP_SIZE
    check_size(width, height, copies=3)
    return Start(
        random_grid(width, height, density, seed), rule or LIFE, topology or Topology.TORUS
    )


def place(
    pattern: Pattern,
    steps: int,
    size: tuple[int, int] | None = None,
    at: tuple[int, int] | None = None,
    rule: Rule | None = None,
    topology: Topology | None = None,
) -> Start:
    """A pattern in a universe.

    The rule and the bounds are the arguments', else the file's, else Life and:
    with a size alone a torus; with neither a plane so large that nothing reaches its
    edge in `steps` generations, up to WIDEST_UNBOUNDED cells a side.
    at: where the file's top-left cell goes; else as a bounded file says, else the centre.
    Raises GridError where live cells do not fit.
    """
    rule = rule or pattern.rule or LIFE
    note = ""
    bounded = pattern.size is not None and min(pattern.size) > 0
    if size is None and bounded:
        size = pattern.size
    if topology is None:
        unbounded = size is None or (pattern.size is not None and not bounded)
        topology = pattern.topology or (Topology.PLANE if unbounded else Topology.TORUS)
    grid = pattern.grid
    if size is None:
        reach = [length + 2 * steps + 2 for length in (grid.width, grid.height)]
        width, height = (
            max(length, min(far, WIDEST_UNBOUNDED))
            for length, far in zip((grid.width, grid.height), reach, strict=True)
        )
        size = width, height
        if [width, height] != reach:
            note = (
                f"the universe is {width}x{height} cells, edges are dead: what the pattern sends "
                f"further than that is lost (--size says otherwise)"
            )
    check_size(*size, copies=3)
    universe = BitGrid(*size)
    if at is None and bounded and pattern.size == size:
        at = pattern.x + size[0] // 2, pattern.y + size[1] // 2
    if at is None:
        at = (size[0] - grid.width) // 2, (size[1] - grid.height) // 2
        if min(at) < 0:
            raise GridError(
                f"the pattern is {grid.width}x{grid.height} cells, "
                f"the universe {size[0]}x{size[1]}"
            )
    wrap = topology is Topology.TORUS
    if wrap and (grid.width > size[0] or grid.height > size[1]):
        raise LifesimError(
            f"the pattern is {grid.width}x{grid.height} cells, the torus {size[0]}x{size[1]}"
        )
    universe.paste(grid, *at, wrap=wrap)
    return Start(universe, rule, topology, pattern.generation, note)
