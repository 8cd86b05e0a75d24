"""The start of a run: a pattern placed in a universe, or a random soup."""

from __future__ import annotations

import os
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from lifesim import patterns
from lifesim.engines import cells_for
from lifesim.grid import BitGrid, GridError, check_size
from lifesim.growing import COPIES, check_space
from lifesim.patterns import Pattern
from lifesim.rule import LIFE, Rule
from lifesim.soup import Soup
from lifesim.topology import Edges, Topology, TopologyError, described, topology_of

if TYPE_CHECKING:
    from kernels.plane.hashlife.listing import SquareList

SOUP_SIZE = (1024, 1024)


@dataclass(frozen=True, slots=True)
class Placement:
    """The place of a pattern: its top-left cell is at `at` in a universe of `size`.

    Along an axis without bounds size is 0, and at is by the pattern's own coordinates.
    """

    size: tuple[int, int]
    at: tuple[int, int]
    rule: Rule
    topology: Edges

    @property
    def is_bounded(self) -> bool:
        """Tell whether the universe has bounds both ways."""
        return all(self.size)


@dataclass(frozen=True, slots=True)
class Start:
    """A universe before its first generation.

    bounds: its width and height, 0 along an axis without; None: those of the grid. at:
    coordinates of the grid's top-left cell, 0 along an axis with bounds, of which the grid
    is all. squares: cells that are to be taken in place of the grid's (Pattern.squares).
    """

    grid: BitGrid
    rule: Rule
    topology: Edges
    generation: int = 0
    bounds: tuple[int, int] | None = None
    at: tuple[int, int] = (0, 0)
    squares: SquareList | None = None


def soup_placement(
    size: tuple[int, int] | None, rule: Rule | None = None, topology: Edges | str | None = None
) -> Placement:
    """Return where a soup goes: everywhere in a universe of SOUP_SIZE unless told.

    Raises TopologyError, also for a universe without bounds.
    """
    edges, bounds = topology_of(topology or Topology.TORUS, size, SOUP_SIZE)
    if not all(bounds):
        raise TopologyError(f"a soup fills a universe that has bounds both ways: not {topology}")
    return Placement(bounds, (0, 0), rule or LIFE, edges)


def held_size(source: Pattern | Soup, where: Placement) -> tuple[int, int]:
    """Return the width and height of what is held at the start, in memory or on disk."""
    if isinstance(source, Soup):
        return where.size
    width, height = where.size
    return width or source.grid.width, height or source.grid.height


def start_of(source: Pattern | Soup, where: Placement) -> Start:
    """Make the universe in memory. Raises GridError where it does not fit."""
    size = held_size(source, where)
    planes = where.rule.planes
    check_size(*size, copies=COPIES * planes)
    universe = BitGrid(*size, planes=planes)
    if isinstance(source, Soup):
        source.fill_grid(universe, where.rule.states)
        corner = 0, 0
    else:
        x, y = (at if bound else 0 for at, bound in zip(where.at, where.size, strict=True))
        cells = cells_for(where.rule, source.grid)
        universe.paste(cells, x, y, wrap=where.topology is Topology.TORUS)
        corner = where.at[0] - x, where.at[1] - y
    squares = source.squares if isinstance(source, Pattern) else None
    age = source.generation
    return Start(universe, where.rule, where.topology, age, where.size, corner, squares)


def soup(
    size: tuple[int, int] | None,
    density: Fraction | float,
    seed: int,
    rule: Rule | None = None,
    topology: Edges | str | None = None,
) -> Start:
    """Make a random soup, SOUP_SIZE unless told. Raises GridError and SoupError."""
    return start_of(Soup(density, seed), soup_placement(size, rule, topology))


def place(
    pattern: Pattern,
    size: tuple[int, int] | None = None,
    at: tuple[int, int] | None = None,
    rule: Rule | None = None,
    topology: Edges | str | None = None,
    *,
    centre: bool = False,
) -> Start:
    """Put a pattern into a universe, as placement() says."""
    return start_of(pattern, placement(pattern, size, at, rule, topology, centre=centre))


def start_of_pattern(
    pattern: Pattern | str | os.PathLike[str],
    margin: int | None,
    size: tuple[int, int] | None,
    at: tuple[int, int] | None,
    rule: Rule | str | None,
    topology: Edges | str | None,
    *,
    wide: bool,
) -> Start:
    """Make the universe of a pattern, or of a pattern file, as Life.from_pattern() does.

    wide: whether what is too wide for a grid is taken as squares, which only HashLife holds.
    """
    if isinstance(pattern, (str, os.PathLike)):
        plain = margin is None and size is None and at is None and topology is None
        pattern = patterns.read(pattern, as_squares=None if wide and plain else False)
    if margin is not None:
        if size is not None or margin < 0:
            raise ValueError("a margin is at least 0, and stands in place of a size")
        size = pattern.grid.width + 2 * margin, pattern.grid.height + 2 * margin
    return place(
        pattern,
        size,
        at,
        Rule.parse(rule) if isinstance(rule, str) else rule,
        topology,
        centre=margin is not None and at is None,
    )


def placement(
    pattern: Pattern,
    size: tuple[int, int] | None = None,
    at: tuple[int, int] | None = None,
    rule: Rule | None = None,
    topology: Edges | str | None = None,
    *,
    centre: bool = False,
    steps: int | None = 0,
) -> Placement:
    """Find where a pattern goes, and in what.

    Rule, size and topology are the arguments', else the file's, else Life on a plane, without
    bounds where neither says a size. topology: as of lifesim.engine.Life. at: where the file's
    top-left cell goes; else where the file has it, in bounds of another size in the middle, as
    also with centre=True (without bounds: around 0). steps: how many generations will be made,
    None where nobody knows; by rules of B0 not every number can be made without bounds
    (lifesim.growing.check_space). Raises GridError for these, and where live cells do not fit, and
    TopologyError.
    """
    rule = rule or pattern.rule or LIFE
    cells = pattern.grid.width, pattern.grid.height
    bounds = pattern.size or (0, 0)  # 0: none
    if topology is None and any(bounds):
        topology = pattern.topology
    edges, size = topology_of(topology or Topology.PLANE, size, bounds)
    if edges is Topology.TORUS and not any(size):
        raise GridError("a torus has a size: --size says which")
    check_space(rule, size, steps, torus=edges is Topology.TORUS)
    if at is None:
        own = not centre and all(
            bound in (0, side) for bound, side in zip(bounds, size, strict=True)
        )
        x, y = (
            _place(corner, side, bound if own else 0, length, centre)
            for corner, side, bound, length in zip(
                (pattern.x, pattern.y), size, bounds, cells, strict=True
            )
        )
        at = x, y
    too_long = any(side and length > side for length, side in zip(cells, size, strict=True))
    if too_long and pattern.grid.bounding_box():
        where = "universe" if edges is Topology.PLANE else described(edges)
        raise GridError(
            f"the pattern is {cells[0]}x{cells[1]} cells, the {where} {size[0]}x{size[1]}"
        )
    return Placement(size, at, rule, edges)


def _place(corner: int, side: int, bound: int, length: int, centre: bool) -> int:
    """Find where a pattern `length` cells long goes along an axis. bound: the file's own, 0
    where it does not count."""
    if not side:
        return -(length // 2) if centre else corner
    return corner + side // 2 if bound else (side - length) // 2
