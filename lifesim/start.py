"""What a run starts from: a pattern placed in a universe, or a random soup."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from lifesim.grid import BitGrid, GridError, check_size
from lifesim.patterns import Pattern
from lifesim.rule import LIFE, Rule
from lifesim.soup import Soup
from lifesim.topology import Topology

SOUP_SIZE = (1024, 1024)
WIDEST_UNBOUNDED = 8192  # cells; a wider universe for a pattern must be asked for
COPIES = 4  # of a universe, that a run holds at most: two to step, two to write the result


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a pattern goes: its top-left cell at `at` in a universe of `size`."""

    size: tuple[int, int]
    at: tuple[int, int]
    rule: Rule
    topology: Topology
    note: str = ""


@dataclass(frozen=True, slots=True)
class Start:
    """A universe before its first generation. note: what the person should know of it."""

    grid: BitGrid
    rule: Rule
    topology: Topology
    generation: int = 0
    note: str = ""


def soup_placement(
    size: tuple[int, int] | None, rule: Rule | None = None, topology: Topology | None = None
) -> Placement:
    """Where a soup goes: everywhere in a universe of SOUP_SIZE unless told."""
    return Placement(size or SOUP_SIZE, (0, 0), rule or LIFE, topology or Topology.TORUS)


def start_of(source: Pattern | Soup, where: Placement) -> Start:
    """The universe in memory. Raises GridError where it does not fit."""
    check_size(*where.size, copies=COPIES)
    universe = BitGrid(*where.size)
    if isinstance(source, Soup):
        source.fill_grid(universe)
    else:
        universe.paste(source.grid, *where.at, wrap=where.topology is Topology.TORUS)
    return Start(universe, where.rule, where.topology, source.generation, where.note)


def soup(
    size: tuple[int, int] | None,
    density: Fraction | float,
    seed: int,
    rule: Rule | None = None,
    topology: Topology | None = None,
) -> Start:
    """A random soup, SOUP_SIZE unless told. Raises GridError and SoupError."""
    return start_of(Soup(density, seed), soup_placement(size, rule, topology))


def place(
    pattern: Pattern,
    steps: int,
    size: tuple[int, int] | None = None,
    at: tuple[int, int] | None = None,
    rule: Rule | None = None,
    topology: Topology | None = None,
    *,
    centre: bool = False,
) -> Start:
    """A pattern in a universe, as placement() says."""
    return start_of(pattern, placement(pattern, steps, size, at, rule, topology, centre=centre))


def placement(
    pattern: Pattern,
    steps: int,
    size: tuple[int, int] | None = None,
    at: tuple[int, int] | None = None,
    rule: Rule | None = None,
    topology: Topology | None = None,
    *,
    centre: bool = False,
) -> Placement:
    """Where a pattern goes, and in what.

    Rule, size and topology are the arguments', else the file's, else Life and:
    with a size alone a torus; with neither a plane so large that nothing reaches its
    edge in `steps` generations, up to WIDEST_UNBOUNDED cells a side. So is a side that
    the file leaves without bounds.
    at: where the file's top-left cell goes; else as a bounded file says, else the
    centre, as also with centre=True.
    Raises GridError where live cells do not fit.
    """
    rule = rule or pattern.rule or LIFE
    cells = pattern.grid.width, pattern.grid.height
    bounds = pattern.size or (0, 0)  # 0: none
    if topology is None and any(bounds):
        topology = pattern.topology
    if topology is None:
        topology = Topology.PLANE if size is None else Topology.TORUS
    note = ""
    if size is None:
        # Without steps nothing moves, and a picture of the cells needs no margin.
        reach = [length + (2 * steps + 2 if steps else 0) for length in cells]
        width, height = (
            bound or max(length, min(far, WIDEST_UNBOUNDED))
            for bound, length, far in zip(bounds, cells, reach, strict=True)
        )
        size = width, height
        if any(
            not bound and side < far for bound, side, far in zip(bounds, size, reach, strict=True)
        ):
            note = (
                f"the universe is {width}x{height} cells: what the pattern sends further "
                f"than that meets its edges (--size says otherwise)"
            )
        elif rule.birth & 1 and steps and not all(bounds):
            note = (
                f"{rule} fills empty space, which here ends at the edges of {width}x{height} cells"
            )
    if at is None:
        if centre or any(bound not in (0, side) for bound, side in zip(bounds, size, strict=True)):
            bounds = 0, 0
        x, y = (
            corner + side // 2 if bound else (side - length) // 2
            for corner, side, bound, length in zip(
                (pattern.x, pattern.y), size, bounds, cells, strict=True
            )
        )
        at = x, y
    wrap = topology is Topology.TORUS
    if (cells[0] > size[0] or cells[1] > size[1]) and pattern.grid.bounding_box():
        where = "torus" if wrap else "universe"
        raise GridError(
            f"the pattern is {cells[0]}x{cells[1]} cells, the {where} {size[0]}x{size[1]}"
        )
    return Placement(size, at, rule, topology, note)
