"""A universe in memory, written to a file or a directory."""

from __future__ import annotations

from dataclasses import dataclass, replace

from lifesim import patterns
from lifesim.grid import BitGrid, Box
from lifesim.outputs import is_directory_name, open_output
from lifesim.pattern_of import pattern_of
from lifesim.render import Levels, density_levels
from lifesim.rule import Rule
from lifesim.topology import Topology
from lifesim.view import PictureView


@dataclass(frozen=True, slots=True)
class Whole:
    """A universe, all of it, at one generation, as lifesim.outputs asks for it.

    cells: what is held. at: coordinates of its top-left cell. grows: along which axes, columns
    and rows, there are no bounds: what is saved then begins and ends where cells live.
    """

    cells: BitGrid
    rule: Rule
    topology: Topology
    generation: int
    at: tuple[int, int] = (0, 0)
    grows: tuple[bool, bool] = (False, False)

    @property
    def width(self) -> int:
        """Return how many columns are held."""
        return self.cells.width

    @property
    def height(self) -> int:
        """Return how many rows are held."""
        return self.cells.height

    @property
    def bounds(self) -> tuple[int, int]:
        """Return width and height of the universe, 0 along an axis without bounds."""
        across, down = self.grows
        return 0 if across else self.cells.width, 0 if down else self.cells.height

    @property
    def box(self) -> Box:
        """Return the cells that are held."""
        return Box(*self.at, self.cells.width, self.cells.height)

    def frame(self) -> Box:
        """Return the box that grid() is of, as lifesim.engine.Life does: bounds begin at 0."""
        if not any(self.grows):
            return Box(0, 0, *self.bounds)
        inner = self._inner()
        return inner._replace(x=inner.x + self.at[0], y=inner.y + self.at[1])

    def grid(self) -> BitGrid:
        """Return the cells of frame()."""
        return self.cells.crop(self._inner()) if any(self.grows) else self.cells

    def _inner(self) -> Box:
        """Return the frame, counted from the first cell that is held."""
        live = self.cells.bounding_box() or Box(0, 0, 1, 1)
        x, width = (live.x, live.width) if self.grows[0] else (0, self.width)
        y, height = (live.y, live.height) if self.grows[1] else (0, self.height)
        return Box(x, y, width, height)

    def population(self) -> int:
        """Count the live cells."""
        return self.cells.population()

    def levels(self, box: Box, scale_log2: int) -> Levels:
        """Return how densely blocks of 2^scale_log2 cells a side live in a box within frame()."""
        frame = self.frame()
        inner = box._replace(x=box.x - frame.x, y=box.y - frame.y)
        return density_levels(self.grid(), inner, scale_log2)


def write(whole: Whole, path: str, name: str = "", comments: tuple[str, ...] = ()) -> None:
    """Write a universe to a pattern file, or, where path has no extension, a universe directory.

    name, comments: of the pattern, for formats that have a place for them. Raises
    LifesimError; there is nothing half-written then.
    """
    if not is_directory_name(path):
        patterns.write(replace(pattern_of(whole), name=name, comments=comments), path)
        return
    output = open_output(path, None, PictureView())
    try:
        output.check(*whole.bounds)
        output.close(whole)
    finally:
        output.abort()
