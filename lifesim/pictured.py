"""Grids and universes as a notebook shows them: a small picture, and a line of facts."""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from lifesim.errors import LifesimError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from lifesim.grid import Box

PIXELS = 1 << 16
_SIDE = 1 << 10  # pixels of a picture, at most
_LARGEST = 8  # pixels a side of a cell, at most
MOST_CELLS = 1 << 32  # that are read for a picture of what has no pyramid


class Pictured(ABC):
    """Makes a notebook show a picture and a line of facts, of a bounded size."""

    __slots__ = ()

    @abstractmethod
    def _facts(self) -> str:
        """Return a line of facts."""

    @abstractmethod
    def _sketch(self) -> npt.NDArray[np.uint8] | None:
        """Return a small picture: levels, or colours; None where it would take too long. May raise
        LifesimError."""

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """Return what IPython shows: a PNG, HTML that has it and the facts, and plain text."""
        import base64
        import html
        import io

        from lifesim.render import to_image

        try:
            sketch = self._sketch()
        except (LifesimError, MemoryError):
            sketch = None
        facts = html.escape(self._facts())
        if sketch is None:
            return {"text/plain": repr(self), "text/html": f"<div>{facts}</div>"}
        file = io.BytesIO()
        to_image(sketch).save(file, "PNG", optimize=True)
        png = base64.b64encode(file.getvalue()).decode()
        picture = (
            f'<img src="data:image/png;base64,{png}" alt="{facts}" '
            'style="image-rendering: pixelated; border: 1px solid #8888"/>'
        )
        return {
            "text/plain": repr(self),
            "text/html": f"<div>{picture}<div>{facts}</div></div>",
            "image/png": png,
        }


def sketch_scale(box: Box) -> int:
    """Return the finest scale at which a box has at most PIXELS pixels, and no side too many."""
    from lifesim.render import choose_scale

    scale = choose_scale(box.width, box.height, PIXELS, largest=_LARGEST)
    while max(box.width, box.height) >> max(scale, 0) << max(-scale, 0) > _SIDE:
        scale += 1
    return scale


def show(universe: Any, **options: Any) -> Any:
    """Return a widget for a notebook, as ui.web.widget.show() does. That is made of this package,
    so it is found by its name only."""
    from bulkbits.ownership import check

    check("ui")
    return importlib.import_module("ui.web.widget").show(universe, **options)
