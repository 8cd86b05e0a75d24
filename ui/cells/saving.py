"""A universe in memory, written to a file or a directory."""

from __future__ import annotations

from dataclasses import dataclass, replace

from lifesim import patterns
from lifesim.grid import BitGrid, Box
from lifesim.outputs import View, is_directory_name, open_output, pattern_of
from lifesim.render import Levels, density_levels
from lifesim.rule import Rule
from lifesim.topology import Topology


@dataclass(frozen=True, slots=True)
class Whole:
    """All of a universe at one generation, as lifesim.outputs asks for it."""

    cells: BitGrid
    rule: Rule
    topology: Topology
    generation: int

    @property
    def width(self) -> int:
        return self.cells.width

    @property
    def height(self) -> int:
        return self.cells.height

    def grid(self) -> BitGrid:
        return self.cells

    def population(self) -> int:
        return self.cells.population()

    def levels(self, box: Box, scale_log2: int) -> Levels:
        return density_levels(self.cells, box, scale_log2)


def write(whole: Whole, path: str, name: str = "", comments: tuple[str, ...] = ()) -> None:
    """To a pattern file, or, where path has no extension, a universe directory.

    name, comments: of the pattern, for formats that have a place for them. Raises
    LifesimError; there is nothing half-written then.
    """
    if not is_directory_name(path):
        patterns.write(replace(pattern_of(whole), name=name, comments=comments), path)
        return
    output = open_output(path, None, View())
    try:
        output.check(whole.width, whole.height)
        output.close(whole)
    finally:
        output.abort()
