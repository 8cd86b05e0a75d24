"""What a window shows and how, without a window: values, changed by making new ones."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum

from lifesim.grid import Box
from lifesim.render import PALETTES
from ui.picture.request import FARTHEST_AGES, FrameRequest
from ui.picture.viewport import NEAREST, Viewport

GRID_LINES_FROM = -3  # lines between cells are drawn from 8 pixels a cell on


class ToolName(Enum):
    """Names what the left mouse button does."""

    PAN = "pan"
    DRAW = "draw"
    SELECT = "select"


@dataclass(frozen=True, slots=True)
class CanvasView:
    """The part of a universe that is seen, and how it is shown.

    palette: of lifesim.render, for cells that have no colours. any_cell, ages: see FrameRequest.
    grid: lines between cells, where they are near. auto_fit: after every picture, show all live
    cells. follow: keep the middle of the live cells, or of the selection, in the middle. selection:
    in cells, within the universe.
    """

    viewport: Viewport = field(default_factory=lambda: Viewport(0, 0, 0, 1, 1))
    palette: str = "dark"
    any_cell: bool = False
    ages: bool = False
    grid: bool = True
    auto_fit: bool = False
    follow: bool = False
    tool: ToolName = ToolName.DRAW
    selection: Box | None = None

    def __post_init__(self) -> None:
        if self.palette not in PALETTES:
            raise ValueError(f"unknown palette {self.palette!r}")

    @property
    def shows_lines(self) -> bool:
        """Tell whether lines are drawn between cells."""
        return self.grid and NEAREST <= self.viewport.scale <= GRID_LINES_FROM

    @property
    def can_show_ages(self) -> bool:
        """Tell whether cells are near enough for ages."""
        return self.viewport.scale <= FARTHEST_AGES

    def request(self, serial: int) -> FrameRequest:
        """Return the request for a picture of this view. serial: its number."""
        return FrameRequest(self.viewport, self.any_cell, serial, self.ages)

    def at(self, viewport: Viewport) -> CanvasView:
        """Return the view moved by hand to a viewport: it follows nothing any more."""
        return replace(self, viewport=viewport, auto_fit=False, follow=False)
