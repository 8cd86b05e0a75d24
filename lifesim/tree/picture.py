"""Cells that are kept to be drawn later, of any size."""

from __future__ import annotations

from kernels.plane.hashlife.listing import SquareList
from lifesim.colours import Colours, Pixels, pixels_of
from lifesim.grid import BitGrid, Box
from lifesim.render import Levels, density_levels
from lifesim.tree.densities import levels
from lifesim.tree.quadtree import Quadtree


class TreePicture:
    """The cells of a list of squares."""

    def __init__(self, squares: SquareList) -> None:
        self._tree = Quadtree(squares)

    def frame(self) -> Box:
        """Return the smallest rectangle that holds all that lives; one cell where nothing does."""
        return self._tree.box() or Box(0, 0, 1, 1)

    def levels(self, box: Box, scale_log2: int) -> Levels:
        """Tell how densely the cells of a region live (lifesim.render.density_levels)."""
        return levels(self._tree, box, scale_log2)


class GridPicture:
    """The cells of a grid, wherever it lies. frame: the rectangle that it has."""

    def __init__(self, grid: BitGrid, frame: Box) -> None:
        self._grid, self._frame = grid, frame

    def frame(self) -> Box:
        """Return the rectangle that holds them."""
        return self._frame

    def levels(self, box: Box, scale_log2: int) -> Levels:
        """Tell how densely the cells of a region live (lifesim.render.density_levels)."""
        return density_levels(self._grid, self._inner(box), scale_log2)

    def pixels(self, box: Box, scale_log2: int, colours: Colours) -> Pixels:
        """Return a region in colours (lifesim.colours.pixels_of)."""
        return pixels_of(self._grid, self._inner(box), scale_log2, colours)

    def _inner(self, box: Box) -> Box:
        return Box(box.x - self._frame.x, box.y - self._frame.y, box.width, box.height)
