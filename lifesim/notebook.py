"""A Life as a notebook shows it, and what it offers there: films and a widget."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from lifesim.colours import state_colours
from lifesim.grid import Box
from lifesim.pictured import MOST_CELLS, Pictured, show, sketch_scale
from lifesim.topology import described

if TYPE_CHECKING:
    from lifesim.animation import Animation
    from lifesim.engine import Life


class NotebookLife(Pictured):
    """The part of a Life that is for notebooks."""

    @property
    def _life(self) -> Life:
        return cast("Life", self)

    def __repr__(self) -> str:
        life = self._life
        width, height = life.bounds
        size = f"{width or 'endless'}x{height or 'endless'}"
        size = size if width or height else "no bounds"
        return f"<Life {life.rule}, {described(life.topology)}, {size}, {life.where()}>"

    def _facts(self) -> str:
        life = self._life
        frame = life.frame()
        live = "" if self._is_huge(frame) else f" · population {life.population():,}"
        size = f"{frame.width:,} × {frame.height:,}"
        return f"generation {life.generation:,}{live} · {size} · {life.rule}"

    def _sketch(self) -> npt.NDArray[np.uint8] | None:
        life = self._life
        frame = life.frame()
        if self._is_huge(frame):
            return None
        if state_colours(life.rule) is None:
            return life.levels(frame, sketch_scale(frame))
        return life.pixels(frame, sketch_scale(frame))

    def _is_huge(self, frame: Box) -> bool:
        """Tell whether a rectangle would have to be read that takes more than a moment."""
        return frame.width * frame.height > MOST_CELLS and self._life.engine == "dense"

    def animate(
        self,
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
            self._life,
            generations,
            every,
            region=region,
            scale=scale,
            palette=palette,
            frame_ms=frame_ms,
        )

    def show(self, *, draws: bool = True, height: int = 420) -> Any:
        """Return a widget for a notebook that pans, zooms, plays, steps and draws this universe.

        draws: whether it may change cells. height: in pixels. Needs anywidget: pip install
        'bulkbits[notebook]'.
        """
        return show(self, draws=draws, height=height)
