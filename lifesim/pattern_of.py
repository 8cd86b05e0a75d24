"""The pattern of a universe, as its file will hold it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from lifesim import patterns
from lifesim.engine import Life
from lifesim.grid import BitGrid, Box
from lifesim.patterns import Pattern
from lifesim.rule import Rule
from lifesim.topology import Edges

if TYPE_CHECKING:
    from kernels.plane.hashlife.listing import SquareList


class Holder(Protocol):
    """A universe of some generation, whose cells can be had.

    bounds: its width and height, 0 along an axis without. frame: what grid() is of.
    """

    @property
    def generation(self) -> int:
        """Return the generation."""

    @property
    def bounds(self) -> tuple[int, int]:
        """Return width and height, 0 along an axis without."""

    @property
    def rule(self) -> Rule:
        """Return the rule."""

    @property
    def topology(self) -> Edges:
        """Return how the edges meet."""

    def frame(self) -> Box:
        """Return the rectangle that grid() holds."""

    def grid(self) -> BitGrid:
        """Return the cells of frame()."""


def is_macrocell(path: str) -> bool:
    """Tell whether a pattern written there is a macrocell file."""
    return path.lower().removesuffix(".gz").endswith(patterns.macrocell.EXTENSIONS)


def pattern_of(life: Holder) -> Pattern:
    """Make a pattern of a universe, whose file puts each cell back where it was; without
    bounds where it has none. Cells too far apart for a grid are its squares."""
    far = life.far_squares() if isinstance(life, Life) else None
    if far is not None:
        return _of_squares(life, far)
    frame, bounds = life.frame(), life.bounds
    x, y = (
        start - side // 2 if side else start for start, side in zip(frame[:2], bounds, strict=True)
    )
    whole = Pattern(
        life.grid(),
        x=x,
        y=y,
        rule=life.rule,
        topology=life.topology if any(bounds) else None,
        size=bounds if any(bounds) else None,
        generation=life.generation,
    )
    return whole.trimmed()


def squares_of(life: Life) -> Pattern | None:
    """Make a pattern whose cells are a list of squares; None where the universe has none
    (Life.squares)."""
    squares = life.squares()
    if squares is None:
        return None
    return _of_squares(life, squares)


def _of_squares(life: Holder, squares: SquareList) -> Pattern:
    return Pattern(BitGrid(1, 1), rule=life.rule, generation=life.generation, squares=squares)
