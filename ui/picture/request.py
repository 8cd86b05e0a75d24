"""What is asked of whoever draws, and what comes back: both are values, and know no Qt."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lifesim.colours import Colours
from ui.picture.viewport import Viewport

Levels = npt.NDArray[np.uint8]

FARTHEST_AGES = 2  # the scale up to which ages are told: farther cells are not looked at


@dataclass(frozen=True, slots=True)
class FrameRequest:
    """A view to be drawn.

    any_cell: pixels of many cells are full where any cell lives, instead of as bright as cells
        are dense. serial: grows from request to request; of what waits, only the last is drawn.
    ages: what is near enough is as bright as it is old, see ui.picture.ages.
    """

    viewport: Viewport
    any_cell: bool = False
    serial: int = 0
    ages: bool = False

    @property
    def shows_ages(self) -> bool:
        """Tell whether ages are asked for, and cells near enough for them."""
        return self.ages and self.viewport.scale <= FARTHEST_AGES


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """A view, drawn.

    pixels: uint8 (height, width) of the viewport: 0 where no cell lives, 255 where all do; or
        ages. Of cells that have colours their states, at 1:1 and nearer; else, and where some of
        these have not been read yet, (height, width, 3), colours.
    colours: of the states, of cells that have them.
    inside: the pixels of the window that the universe covers: left, top, right, bottom, where
        left = right or top = bottom if there are none; outside of it pixels are 0.
    aged_since: the generation since which ages are counted, where pixels are ages; else None.
    """

    request: FrameRequest
    pixels: Levels
    inside: tuple[int, int, int, int]
    generation: int
    colours: Colours | None = None
    aged_since: int | None = None
