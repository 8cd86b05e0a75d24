"""Pictures and films of a universe, as files: PNG, GIF, MP4.

A film is made of a copy, or of what was recorded: the universe in the window stays where it is.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from lifesim import gif, render
from lifesim.colours import GifColours, Pixels, pixels_of, state_colours
from lifesim.grid import Box
from lifesim.mp4 import Mp4Writer
from lifesim.render import Levels
from ui.film.films import ExportError, Film, Progress
from ui.film.stills import AfarSource
from ui.picture.age_colours import age_table
from ui.picture.ages import Ages
from ui.picture.coloured import StatesSource
from ui.picture.draw import draw, painted
from ui.picture.request import FARTHEST_AGES, Frame, FrameRequest
from ui.picture.sources import MemorySource, PictureSource, corner
from ui.picture.viewport import MOST_PIXELS, Viewport

MOST_RATE = 50  # pictures a second of a GIF: many programs show faster ones slowly
MOST_MP4_RATE = 240
NO_AGES = "what was recorded from afar has no ages"
_TRIES = 3
_BAND = 1 << 20  # pixels that are asked for at once
_PATIENCE = 30.0  # seconds that nothing may be read in


class ExportCancelledError(Exception):
    """Raised where somebody has asked that an export be given up. There is no file then."""


def unheard(_: float) -> None:
    """Do nothing with a progress that nobody asks for."""
    pass


@dataclass(frozen=True, slots=True)
class ExportLook:
    """The region that is shown, and how.

    region: cells, of which some may be outside of the universe. scale: cells per pixel, a binary
    logarithm. any_cell, ages: see FrameRequest; not both.
    """

    region: Box
    scale: int = 0
    palette: str = "dark"
    any_cell: bool = False
    ages: bool = False

    def check(self, width: int, height: int) -> tuple[int, int]:
        """Do as check_box() does, for a universe whose cells are counted from 0."""
        return self.check_box(Box(0, 0, width, height))

    def check_box(self, box: Box) -> tuple[int, int]:
        """Return pixels across and down of a picture of a universe. Raises RenderError for too
        large a picture, an unknown palette, and ExportError for a region that lies outside of
        the universe, or is drawn too far for ages."""
        render.palette_table(self.palette)
        if self.ages and self.scale > FARTHEST_AGES:
            raise ExportError(f"ages are told at {render.format_scale(FARTHEST_AGES)} and nearer")
        if self.region.common(box) is None:
            raise ExportError(f"the region lies outside of the {box.width}x{box.height} universe")
        far = max(self.scale, 0)  # whoever draws single blocks says how large they may be
        size = -(-self.region.width >> far), -(-self.region.height >> far)
        return render.image_size(*size, self.scale - far)

    def levels(self, source: MemorySource | AfarSource, ages: Ages) -> Levels | Pixels:
        """Draw the region from a source: of cells that have colours in these, uint8 (rows, columns,
        3), else levels, uint8 (rows, columns).

        ages: of the pictures before; they go on to this one. Raises RenderError for a scale that is
        nearer than what was recorded from afar, and ExportError for ages of that.
        """
        if isinstance(source, StatesSource):
            colours = state_colours(source.rule, self.palette)
            assert colours is not None
            return pixels_of(source.cells, self._inner(source), self.scale, colours)
        if self.ages:
            return self._aged(source, ages)
        if isinstance(source, AfarSource):
            levels = source.picture(self.region, self.scale)
        else:
            levels = render.density_levels(source.grid, self._inner(source), self.scale)
        return np.where(levels > 0, np.uint8(255), np.uint8(0)) if self.any_cell else levels

    def painted(self, levels: Levels | Pixels) -> Pixels:
        """Return what levels() has drawn in colours."""
        return levels if levels.ndim == 3 else self.table[levels]

    @property
    def table(self) -> Levels:
        """Return the colours of levels, uint8 (256, 3): of ages those of ui.picture.age_colours."""
        return age_table(self.palette) if self.ages else render.palette_table(self.palette)

    def _inner(self, source: PictureSource) -> Box:
        """Return the region as a source counts its cells."""
        x, y = corner(source)
        return self.region._replace(x=self.region.x - x, y=self.region.y - y)

    def _aged(self, source: MemorySource | AfarSource, ages: Ages) -> Levels:
        if isinstance(source, AfarSource):
            raise ExportError(NO_AGES)
        levels = ages.levels(source, self._inner(source), max(self.scale, 0))
        side = 1 << max(-self.scale, 0)
        return levels.repeat(side, axis=0).repeat(side, axis=1) if side > 1 else levels


# --- pictures ------------------------------------------------------------------


def save_png(
    path: str,
    source: MemorySource | AfarSource,
    look: ExportLook,
    progress: Progress = unheard,
    ages: Ages | None = None,
) -> None:
    """Write a picture of a universe in memory.

    ages: what is known of them; where nothing is, all cells are young. Raises LifesimError, and
    whatever progress raises; there is nothing half-written then.
    """
    look.check_box(Box(*corner(source), source.width, source.height))
    progress(0.0)
    levels = look.levels(source, ages or Ages())
    progress(0.5)
    render.save_png(path, look.painted(levels) if look.ages else levels, look.palette)


def save_png_of_source(
    path: str,
    ask: Callable[[FrameRequest], PictureSource],
    look: ExportLook,
    progress: Progress = unheard,
    ages: Ages | None = None,
) -> None:
    """Write a picture of a universe that is not in memory; blocks of cells start at multiples of
    their size then, and the picture shows all of those that the region touches.

    ask: Session.source. ages: as for save_png(). Raises LifesimError, for a picture of more
    than MOST_PIXELS a side too, and whatever progress raises; there is nothing half-written then.
    """
    region, side = look.region, 1 << max(look.scale, 0)
    left, top = region.x // side, region.y // side
    across = -(-(region.x + region.width) // side) - left
    down = -(-(region.y + region.height) // side) - top
    if look.scale < 0:
        left, top, across, down = (n << -look.scale for n in (left, top, across, down))
    if max(across, down) > MOST_PIXELS:
        raise ExportError(
            f"a picture of {across}x{down} pixels is too large (at most {MOST_PIXELS:,} a side): "
            f"choose a coarser scale or a smaller region"
        )
    view = Viewport(left, top, look.scale, across, down)
    for _ in range(_TRIES):
        pixels = _still(ask, view, look, progress, ages or Ages())
        if pixels is not None:
            render.save_png(path, look.painted(pixels) if look.ages else pixels, look.palette)
            return
    raise ExportError(f"cannot make {path}: the universe goes on too fast")


def _still(
    ask: Callable[[FrameRequest], PictureSource],
    view: Viewport,
    look: ExportLook,
    progress: Progress,
    ages: Ages,
) -> Levels | Pixels | None:
    """Draw a picture, a band at a time; None where the universe has gone on meanwhile."""
    render.image_size(view.width, view.height, 0)
    pixels: Levels | Pixels | None = None
    step = max(1, _BAND // view.width)
    generation = None
    for row in range(0, view.height, step):
        band = replace(view, top=view.top + row, height=min(step, view.height - row))
        request = FrameRequest(band, look.any_cell, ages=look.ages)
        frame = _whole_frame(request, ask, look, progress, ages)
        if generation not in (None, frame.generation):
            return None
        generation = frame.generation
        part = painted(frame)
        if pixels is None:
            pixels = np.empty((view.height, *part.shape[1:]), np.uint8)
        pixels[row : row + band.height] = part
        progress(row / view.height)
    return pixels


def _whole_frame(
    request: FrameRequest,
    ask: Callable[[FrameRequest], PictureSource],
    look: ExportLook,
    progress: Progress,
    ages: Ages,
) -> Frame:
    """Return the frame, drawn when all that it shows has been read."""
    least, since = None, time.monotonic()
    while True:
        source = ask(request)
        look.check_box(Box(*corner(source), source.width, source.height))
        frame = draw(request, ages.copy().seen(request, source))
        missing = getattr(source, "missing", 0)  # parts that have not been read yet, if it counts
        if not missing:
            return frame
        progress(0.0)
        if least is None or missing < least:
            least, since = missing, time.monotonic()
        if time.monotonic() - since > _PATIENCE:
            raise ExportError("the universe cannot be read, or not fast enough")


# --- films ---------------------------------------------------------------------


def save_gif(
    path: str, film: Film, look: ExportLook, rate: float, progress: Progress = unheard
) -> None:
    """Write an animated GIF.

    rate: pictures a second, to the nearest hundredth of a second between two. Raises LifesimError,
    and whatever progress raises; there is nothing half-written then.
    """
    check_rate(rate, MOST_RATE)
    gif.check_size(*look.check_box(film.box))
    colours = (state_colours(rule, look.palette) for rule in film.rules)
    states = next((table for table in colours if table is not None), None)
    known = None if states is None else GifColours(states)
    table = look.table if known is None else known.table
    with gif.GifWriter(path, table, frame_ms=max(10, round(1000 / rate))) as writer:
        for levels in _levels(film, look, progress):
            writer.append(levels if known is None else known.indices(look.painted(levels)))


def save_mp4(
    path: str, film: Film, look: ExportLook, rate: float, progress: Progress = unheard
) -> None:
    """Write an MP4 with the ffmpeg program. Raises as save_gif does."""
    check_rate(rate, MOST_MP4_RATE)
    across, down = look.check_box(film.box)
    done = 0.0

    def tell(share: float) -> None:
        nonlocal done
        done = share
        progress(share)

    with Mp4Writer(path, across, down, rate, lambda: progress(done)) as writer:
        for levels in _levels(film, look, tell):
            writer.append(look.painted(levels))


def _levels(film: Film, look: ExportLook, progress: Progress) -> Iterator[Levels | Pixels]:
    ages = Ages()  # as far as the film itself tells
    for number, source in enumerate(film.sources(progress)):
        progress(number / film.count)
        yield look.levels(source, ages)
    progress(1.0)


def check_rate(rate: float, most: int) -> None:
    """Raise ExportError for a number of pictures a second below 0.1 or above the most."""
    if not 0.1 <= rate <= most:
        raise ExportError(f"a film has 0.1 to {most} pictures a second, not {rate:g}")


def check_path(path: str, end: str) -> None:
    """Raise LifesimError for a name that no such file can be made under."""
    if not path.strip():
        raise ExportError("choose a file")
    if not path.lower().endswith(end):
        raise ExportError(f"the name must end in {end}")
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise ExportError(f"there is no folder {folder}")
    if os.path.isdir(path):
        raise ExportError(f"{path} is a folder")
    if not os.access(folder, os.W_OK):
        raise ExportError(f"the folder {folder} cannot be written to")
