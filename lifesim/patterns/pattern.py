"""Pattern: what a pattern file says, whatever its format."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lifesim.errors import LifesimError
from lifesim.grid import BitGrid
from lifesim.rule import Rule
from lifesim.topology import Edges

if TYPE_CHECKING:
    from kernels.plane.hashlife.listing import SquareList


class PatternError(LifesimError):
    """A pattern file cannot be read. The text is FILE:LINE:COLUMN: what (places count from 1)."""

    def __init__(
        self, what: str, name: str = "", line: int | None = None, column: int | None = None
    ) -> None:
        self.what, self.name, self.line, self.column = what, name, line, column
        place = ":".join(str(part) for part in (name, line, column) if part not in ("", None))
        super().__init__(f"{place}: {what}" if place else what)


@dataclass(frozen=True, slots=True)
class Pattern:
    """Cells and what their file says about them.

    grid: the cells; in as many bit planes as the rule has.
    x, y: coordinates of the grid's top-left cell in the file's own system (y grows
    downwards); any integers.
    rule: None where the file names none.
    topology, size: of a bounded universe, both None otherwise. size is (width, height),
    0 for a direction without bounds; its top-left cell is (-(width // 2), -(height // 2)).
    generation: how old the pattern is; never negative.
    name: one line. comments: one line each.
    notes: what was odd in the file that it was read from, though it could be read; one line each.
    squares: the cells as a macrocell file has them, in place of the grid, which is 1x1 and dead
    then (lifesim.tree reads them), by coordinates of their own; only where read() was asked for
    them.
    """

    grid: BitGrid
    x: int = 0
    y: int = 0
    rule: Rule | None = None
    topology: Edges | None = None
    size: tuple[int, int] | None = None
    generation: int = 0
    name: str = ""
    comments: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    squares: SquareList | None = None

    def __post_init__(self) -> None:
        if self.generation < 0:
            raise ValueError(f"a generation is at least 0, not {self.generation}")
        if self.size is not None and min(self.size) < 0:
            raise ValueError(f"a bounded universe has no negative size: {self.size}")

    def trimmed(self) -> Pattern:
        """Return the same cells in the smallest grid that holds them; 1x1 where none lives."""
        box = self.grid.bounding_box()
        if box is None:
            return replace(self, grid=BitGrid(1, 1))
        if box == (0, 0, self.grid.width, self.grid.height):
            return self
        return replace(self, grid=self.grid.crop(box), x=self.x + box.x, y=self.y + box.y)
