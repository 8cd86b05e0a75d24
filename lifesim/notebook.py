"""The methods of Life for notebooks: its picture, its line of facts, films and a widget."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lifesim import pictured
from lifesim.colours import state_colours
from lifesim.pictured import MOST_CELLS, sketch_scale
from lifesim.topology import described

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from lifesim.animation import Animation
    from lifesim.engine import Life
    from lifesim.grid import Box


def represented(self: Life) -> str:
    """Return the repr() of a Life."""
    width, height = (length or "endless" for length in self.bounds)
    size = f"{width}x{height}" if any(self.bounds) else "no bounds"
    return f"<Life {self.rule}, {described(self.topology)}, {size}, {self.where()}>"


def facts(self: Life) -> str:
    """Return a line of facts, as Pictured has it."""
    frame = self.frame()
    live = "" if _is_huge(self, frame) else f" · population {self.population():,}"
    size = f"{frame.width:,} × {frame.height:,}"
    return f"generation {self.generation:,}{live} · {size} · {self.rule}"


def sketch(self: Life) -> npt.NDArray[np.uint8] | None:
    """Return a small picture, as Pictured has it."""
    frame = self.frame()
    if _is_huge(self, frame):
        return None
    picture = self.levels if state_colours(self.rule) is None else self.pixels
    return picture(frame, sketch_scale(frame))


def _is_huge(life: Life, frame: Box) -> bool:
    """Tell whether a rectangle would have to be read that takes more than a moment."""
    return frame.width * frame.height > MOST_CELLS and life.engine == "dense"


def animate(
    self: Life,
    generations: int,
    every: int = 1,
    *,
    region: Box | None = None,
    scale: int | None = None,
    palette: str = "dark",
    frame_ms: int = 100,
) -> Animation:
    """Move on by `generations`, and return a film of it, which a notebook shows.

    every: generations between two frames. region: the cells that are shown, by default all; of
    a plane without bounds all that live in any frame. scale: the binary logarithm of cells a
    pixel, by default what makes frames of a quarter of a megapixel at most. frame_ms: how long
    a frame is shown. Raises RenderError, and ValueError for more than 10,000 frames.
    """
    from lifesim.animation import animate

    return animate(
        self,
        generations,
        every,
        region=region,
        scale=scale,
        palette=palette,
        frame_ms=frame_ms,
    )


def show(self: Life, *, draws: bool = True, height: int = 420) -> Any:
    """Return a widget for a notebook that pans, zooms, plays, steps and draws this universe.

    draws: whether it may change cells. height: in pixels. Needs anywidget: pip install
    'bulkbits[notebook]'.
    """
    return pictured.show(self, draws=draws, height=height)
