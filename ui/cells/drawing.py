"""A stroke while it is being drawn, of a universe that is changed at its end."""

from __future__ import annotations

from lifesim.grid import BitGrid, Box
from lifesim.pasting import overwrite
from ui.cells.edits import Stroke


class DrawnStroke:
    """Collects the points of a stroke, and the cells on the lines through them.

    box: around the cells, as far as they lie in the universe; None while there are none. cells: a
    grid of that box in which they live, whatever state they are drawn in; None once they are too
    many.

    Each piece is drawn onto what there is: a stroke takes as many steps as it has cells.
    """

    def __init__(self, state: int, number: int, limits: Box, most: int) -> None:
        """Begin a stroke, as Stroke has it. limits: where cells may be put. most: cells of the
        box."""
        self._state, self._number = state, number
        self._limits, self._most = limits, most
        self._points: list[tuple[int, int]] = []
        self.box: Box | None = None
        self.cells: BitGrid | None = None

    def add(self, points: tuple[tuple[int, int], ...]) -> None:
        """Draw a line through points on from the last one, which is the first of them."""
        piece = Stroke(points)
        self._points += points[bool(self._points) :]
        x, y, width, height = self._limits
        box = piece.box(width, height, x, y)
        if box is None:
            return
        before, self.box = self.box, self.box.joined(box) if self.box else box
        if self.box.width * self.box.height > self._most:
            self.cells = None
            return
        if self.box != before:
            cells = BitGrid(self.box.width, self.box.height)
            if before is not None and self.cells is not None:
                overwrite(cells, self.cells, before.x - self.box.x, before.y - self.box.y)
            self.cells = cells
        if self.cells is not None:
            self.cells = piece.apply(self.cells, self.box)

    def stroke(self) -> Stroke:
        """Return what has been drawn by now."""
        return Stroke(tuple(self._points), self._state, self._number)
