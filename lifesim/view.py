"""The part of a universe that pictures show, and how."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from lifesim import render
from lifesim.colours import Colours, Pixels, state_colours
from lifesim.grid import Box
from lifesim.rule import Rule

if TYPE_CHECKING:
    from lifesim.tree.picture import GridPicture

PICTURE_PIXELS = 1 << 20


class DensitySource(Protocol):
    """A universe of which pictures can be made."""

    def frame(self) -> Box:
        """Return the rectangle that holds its cells."""

    def levels(self, box: Box, scale_log2: int) -> render.Levels:
        """Return how densely the cells of a region live (lifesim.render.density_levels)."""


@runtime_checkable
class ColourSource(DensitySource, Protocol):
    """A universe of which pictures in colours can be made, if its rule has any."""

    def pixels(self, box: Box, scale_log2: int, palette: str) -> Pixels:
        """Return a region in colours (lifesim.colours.pixels_of)."""


class PictureView:
    """The choice of which cells pictures show, and how. Raises RenderError for an unknown
    palette."""

    def __init__(
        self,
        region: Box | None = None,
        scale: int | None = None,
        palette: str = "dark",
        *,
        pixels: int = PICTURE_PIXELS,
    ) -> None:
        """Choose a region, by default all cells, and a scale, by default the finest at which there
        are so many pixels at most."""
        render.palette_table(palette)
        self._most = pixels
        self.region, self.scale, self.palette = region, scale, palette

    def image_size(self, width: int, height: int) -> tuple[int, int]:
        """Return the pixels of a picture of a width x height universe; 0: it has no bounds.

        Raises RenderError for a region outside it and for too large a picture. Where neither the
        universe has bounds nor the view a region, this is of the smallest picture.
        """
        box, scale = self._frame(Box(0, 0, width or 1, height or 1))
        self.check_meets(Box(0, 0, width, height))
        return render.image_size(box.width, box.height, scale, far=not (width and height))

    def check_meets(self, frame: Box) -> None:
        """Raise RenderError for a region that shows nothing of the frame; 0: of any length."""
        if (box := self.region) is None:
            return
        for start, length, first, side in zip(box[:2], box[2:], frame[:2], frame[2:], strict=True):
            if side and not first - length < start < first + side:
                raise render.RenderError(
                    f"region {box.x},{box.y},{box.width}x{box.height} lies outside "
                    f"the {frame.width}x{frame.height} universe"
                )

    def levels(self, life: DensitySource) -> render.Levels:
        """Return the densities of the cells that the view shows."""
        return life.levels(*self._frame(life.frame()))

    def colours(self, rule: Rule) -> Colours | None:
        """Return the colours of a rule's states; None where pictures show densities."""
        return state_colours(rule, self.palette)

    def pixels(self, life: ColourSource) -> Pixels:
        """Return the cells that the view shows in colours."""
        return life.pixels(*self._frame(life.frame()), self.palette)

    def shot(self, kept: GridPicture, colours: Colours) -> Pixels:
        """Return kept cells that the view shows in colours."""
        return kept.pixels(*self._frame(kept.frame()), colours)

    def of(self, frame: Box) -> PictureView:
        """Return this view of a frame, which it shows unless it has a region of its own."""
        view = PictureView(*self._frame(frame), self.palette, pixels=self._most)
        view.image_size(0, 0)
        return view

    def _frame(self, frame: Box) -> tuple[Box, int]:
        box = self.region or frame
        if self.scale is not None:
            return box, self.scale
        return box, render.choose_scale(box.width, box.height, self._most)
