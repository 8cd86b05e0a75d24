"""Which part of a universe a window shows, in whole pixels.

A scale is the binary logarithm of cells per pixel, as in lifesim.render: at scale 3 a pixel is
8 x 8 cells, at scale -2 a cell is 4 x 4 pixels. Pixels are counted from the corner of the
universe, so that at every scale they lie on the blocks that pyramids hold, and a view is four
integers, however large the universe.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from lifesim.grid import Box

NEAREST = -5  # 32 pixels a cell
FAR, FARTHEST = 40, 256  # cells a side of a pixel: of what has a size, and of any plane
MOST_PIXELS = 1 << 15  # a side


@dataclass(frozen=True, slots=True)
class Viewport:
    """The pixels that a window shows of a universe at a scale.

    left, top: the pixel of the universe in the window's top-left corner; width, height: of the
    window, in pixels, 1 to MOST_PIXELS. Raises ValueError for a scale or size out of range.
    """

    left: int
    top: int
    scale: int
    width: int
    height: int

    def __post_init__(self) -> None:
        if not NEAREST <= self.scale <= FARTHEST:
            raise ValueError(f"scale 2^{self.scale} is outside 2^{NEAREST} to 2^{FARTHEST}")
        if not (1 <= self.width <= MOST_PIXELS and 1 <= self.height <= MOST_PIXELS):
            raise ValueError(f"a window of {self.width}x{self.height} pixels")

    @classmethod
    def fitting(cls, box: Box, width: int, height: int, *, nearest: int = -4) -> Viewport:
        """Return the nearest view, but no nearer than `nearest`, that shows all of box, centred."""
        scale = max(nearest, NEAREST)
        while scale < FARTHEST and not (
            _pixels(box.width, scale) <= width and _pixels(box.height, scale) <= height
        ):
            scale += 1
        middle = _pixel(2 * box.x + box.width, scale + 1), _pixel(2 * box.y + box.height, scale + 1)
        return cls(middle[0] - width // 2, middle[1] - height // 2, scale, width, height)

    def seen_from(self, x: int, y: int) -> Viewport:
        """Return the same view where cell x, y is called 0, 0: exactly where these are multiples
        of what a pixel shows, else less than a pixel beside it."""
        left, top = self.left - _pixel(x, self.scale), self.top - _pixel(y, self.scale)
        return replace(self, left=left, top=top)

    def moved(self, right: int, down: int) -> Viewport:
        """Return the view moved by so many pixels."""
        return replace(self, left=self.left + right, top=self.top + down)

    def zoomed(self, steps: int, x: int, y: int) -> Viewport:
        """Return the view from nearer by `steps` powers of two (farther where negative), as far as
        scales go. The cell in the middle of what pixel x, y of the window shows stays under that
        pixel."""
        scale = min(max(self.scale - steps, NEAREST), FARTHEST)
        return replace(
            self,
            left=_rescaled(self.left + x, self.scale, scale) - x,
            top=_rescaled(self.top + y, self.scale, scale) - y,
            scale=scale,
        )

    def resized(self, width: int, height: int) -> Viewport:
        """Return the view of another size of window, with the same middle."""
        return replace(
            self,
            left=self.left + self.width // 2 - width // 2,
            top=self.top + self.height // 2 - height // 2,
            width=width,
            height=height,
        )

    def centred(self, x: int, y: int) -> Viewport:
        """Return the view at the same scale with a cell in the middle."""
        left = _pixel(2 * x + 1, self.scale + 1) - self.width // 2
        top = _pixel(2 * y + 1, self.scale + 1) - self.height // 2
        return replace(self, left=left, top=top)

    def cells_at(self, x: int, y: int) -> Box:
        """Return the cells under a pixel of the window: one, or a block of 2^scale a side."""
        side = 1 << max(0, self.scale)
        return Box(_cell(self.left + x, self.scale), _cell(self.top + y, self.scale), side, side)

    @property
    def box(self) -> Box:
        """Return all cells that are seen, if only in part; it may leave the universe."""
        first, last = self.cells_at(0, 0), self.cells_at(self.width - 1, self.height - 1)
        width, height = last.x + last.width - first.x, last.y + last.height - first.y
        return Box(first.x, first.y, width, height)

    def shown_in(
        self, other: Viewport, edges: tuple[int, int, int, int]
    ) -> tuple[float, float, float, float] | None:
        """Return where another view, perhaps at another scale, shows some pixels of this one.

        edges: left, top, right and bottom pixels, of this window; they come back in pixels of the
        other, exactly, however far both are from cell 0, 0. None where nothing of them is seen.
        """
        nearer = self.scale - other.scale
        moved: list[float] = []
        starts = (self.left, self.top) * 2
        for edge, start, begin in zip(edges, starts, (other.left, other.top) * 2, strict=True):
            if nearer >= 0:
                at, unit = ((start + edge) << nearer) - begin, 1
            else:
                at, unit = start + edge - (begin << -nearer), 1 << -nearer
            # Further out than a window is wide, it is no matter where.
            most = 4 * MOST_PIXELS * unit
            moved.append(min(max(at, -most), most) / unit)
        left, top, right, bottom = moved
        inside = left < other.width and top < other.height and right > 0 and bottom > 0
        return (left, top, right, bottom) if inside else None

    def rectangle(self, box: Box) -> tuple[int, int, int, int]:
        """Return left, top, right and bottom, in pixels of the window, of the pixels that box
        touches."""
        left, top = _pixel(box.x, self.scale), _pixel(box.y, self.scale)
        right = -_pixel(-(box.x + box.width), self.scale)
        bottom = -_pixel(-(box.y + box.height), self.scale)
        return left - self.left, top - self.top, right - self.left, bottom - self.top


def _pixel(cell: int, scale: int) -> int:
    """Return the pixel that the corner of a cell lies in."""
    return cell >> scale if scale >= 0 else cell << -scale


def _cell(pixel: int, scale: int) -> int:
    return pixel << scale if scale >= 0 else pixel >> -scale


def _pixels(cells: int, scale: int) -> int:
    return -_pixel(-cells, scale)


def _rescaled(pixel: int, scale: int, to: int) -> int:
    """Return the pixel of another scale in which the middle of this one lies."""
    if to >= scale:
        return pixel >> (to - scale)
    return (2 * pixel + 1) << (scale - to) >> 1
