"""What the mouse does on the canvas: pan, draw, select, and put down what is pasted."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QImage

from lifesim.grid import BitGrid, Box
from lifesim.render import density_levels
from ui.picture.request import clipped
from ui.qt.canvas import Canvas

_MOST_PIXELS = 1 << 22  # of a ghost; beyond, its outline must do

LEFT, RIGHT = Qt.MouseButton.LeftButton, Qt.MouseButton.RightButton


class PanTool:
    cursor = Qt.CursorShape.OpenHandCursor

    def __init__(self, canvas: Canvas) -> None:
        self._canvas = canvas
        self._last = 0, 0

    def press(self, x: int, y: int, button: Qt.MouseButton) -> None:
        self._last = x, y
        self._canvas.setCursor(Qt.CursorShape.ClosedHandCursor)

    def drag(self, x: int, y: int) -> None:
        last, self._last = self._last, (x, y)
        self._canvas.pan(last[0] - x, last[1] - y)

    def hover(self, x: int, y: int) -> None:
        pass

    def release(self) -> None:
        self._canvas.setCursor(self.cursor)


class DrawTool:
    """A stroke that begins on a dead cell draws, on a live one erases; with the right button
    it erases. `is_live` and `stroke` are told cells; a stroke is points and its number."""

    cursor = Qt.CursorShape.CrossCursor

    def __init__(
        self,
        canvas: Canvas,
        is_live: Callable[[int, int], bool | None],
        stroke: Callable[[tuple[tuple[int, int], ...], bool, int], None],
    ) -> None:
        """is_live: None where nothing can be drawn."""
        self._canvas, self._is_live, self._stroke = canvas, is_live, stroke
        self._last: tuple[int, int] | None = None
        self._alive = True
        self._number = 0

    def press(self, x: int, y: int, button: Qt.MouseButton) -> None:
        cell = self._cell(x, y)
        live = self._is_live(*cell)
        if live is None:
            return
        self._alive = button is not RIGHT and not live
        self._number += 1
        self._last = cell
        self._stroke((cell,), self._alive, self._number)

    def drag(self, x: int, y: int) -> None:
        cell = self._cell(x, y)
        if self._last is not None and cell != self._last:
            last, self._last = self._last, cell
            self._stroke((last, cell), self._alive, self._number)

    def hover(self, x: int, y: int) -> None:
        pass

    def release(self) -> None:
        self._last = None

    def _cell(self, x: int, y: int) -> tuple[int, int]:
        cells = self._canvas.view.viewport.cells_at(x, y)
        return cells.x, cells.y


class SelectTool:
    """A rectangle; a click without a drag selects nothing."""

    cursor = Qt.CursorShape.CrossCursor

    def __init__(self, canvas: Canvas, select: Callable[[Box | None], None]) -> None:
        self._canvas, self._select = canvas, select
        self._first: Box | None = None
        self._at = 0, 0

    def press(self, x: int, y: int, button: Qt.MouseButton) -> None:
        self._first = self._canvas.view.viewport.cells_at(x, y)
        self._at = x, y
        self._select(None)

    def drag(self, x: int, y: int) -> None:
        if self._first is None or (x, y) == self._at:
            return
        a, b = self._first, self._canvas.view.viewport.cells_at(x, y)
        left, top = min(a.x, b.x), min(a.y, b.y)
        right, bottom = max(a.x + a.width, b.x + b.width), max(a.y + a.height, b.y + b.height)
        universe = self._canvas.universe
        box = Box(left, top, right - left, bottom - top)
        self._select(clipped(box, universe.width, universe.height))

    def hover(self, x: int, y: int) -> None:
        pass

    def release(self) -> None:
        self._first = None


class PasteGhost:
    """Cells that follow the pointer, held at their middle."""

    def __init__(self, cells: BitGrid, x: int, y: int) -> None:
        self.cells = cells
        self.x, self.y = x, y
        self._made: tuple[int, int, QImage] | None = None
        self._levels: object = None

    @property
    def box(self) -> Box:
        return Box(self.x, self.y, self.cells.width, self.cells.height)

    def centre_on(self, x: int, y: int) -> None:
        self.x, self.y = x - self.cells.width // 2, y - self.cells.height // 2

    def replace(self, cells: BitGrid) -> None:
        """With the same middle."""
        x, y = self.x + self.cells.width // 2, self.y + self.cells.height // 2
        self.cells, self._made = cells, None
        self.centre_on(x, y)

    def image(self, scale: int, colour: QColor) -> QImage | None:
        if self._made is not None and self._made[:2] == (scale, colour.rgb()):
            return self._made[2]
        pixels = (-(-self.cells.width >> scale)) * (-(-self.cells.height >> scale))
        if pixels > _MOST_PIXELS:
            return None
        levels = density_levels(self.cells, None, scale)
        height, width = levels.shape
        image = QImage(levels.data, width, height, width, QImage.Format.Format_Indexed8)
        image.setColorTable(
            [0] + [colour.rgb() & 0xFFFFFF | (90 + 165 * k // 255) << 24 for k in range(1, 256)]
        )
        self._levels = levels  # the image has no memory of its own
        self._made = scale, colour.rgb(), image
        return image


class PasteTool:
    """Put the ghost where the left button is pressed; the right one gives up."""

    cursor = Qt.CursorShape.CrossCursor

    def __init__(
        self,
        canvas: Canvas,
        ghost: PasteGhost,
        place: Callable[[], None],
        give_up: Callable[[], None],
    ) -> None:
        self._canvas, self.ghost = canvas, ghost
        self._place, self._give_up = place, give_up

    def press(self, x: int, y: int, button: Qt.MouseButton) -> None:
        if button is RIGHT:
            self._give_up()
            return
        self.hover(x, y)
        self._place()

    def drag(self, x: int, y: int) -> None:
        pass

    def hover(self, x: int, y: int) -> None:
        cells = self._canvas.view.viewport.cells_at(x, y)
        self.ghost.centre_on(cells.x, cells.y)
        self._canvas.update()

    def release(self) -> None:
        pass
