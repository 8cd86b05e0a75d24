"""Small pictures for lists: asked for by path, drawn off the main thread."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QImage

from lifesim.render import Levels
from ui.qt.theme import colour_table
from ui.start.kept import ThumbnailCache, cache_folder
from ui.start.painter import ThumbnailPainter
from ui.start.thumbnails import FileGoneError, Thumbnail, ThumbnailError

_MOST_HELD = 300  # a thumbnail takes up to 192 KB


class Thumbs(QObject):
    """The thumbnails that lists show. arrived: what is known of a path is something else now."""

    arrived = Signal(str)
    _landed = Signal(str, object)

    def __init__(self) -> None:
        super().__init__()
        self._held: OrderedDict[str, Thumbnail | ThumbnailError] = OrderedDict()
        self._doubted: set[str] = set()
        self._painter = ThumbnailPainter(ThumbnailCache(cache_folder()), self._landed.emit)
        self._landed.connect(self._land, Qt.ConnectionType.QueuedConnection)

    def of(self, path: str) -> Thumbnail | ThumbnailError | None:
        """Return the thumbnail of a path, or why there is none; None where it is not known yet: it
        is asked for then."""
        found, is_doubted = self._held.get(path), path in self._doubted
        if found is None or is_doubted:
            self._doubted.discard(path)
            self._painter.want(path, again=is_doubted)
        if found is not None:
            self._held.move_to_end(path)
        return found

    def is_gone(self, path: str) -> bool:
        """Tell whether a file is known not to be there any more."""
        return isinstance(self._held.get(path), FileGoneError)

    def doubt(self, paths: Iterable[str] | None = None) -> None:
        """Look again at these paths, or all, when they are shown next: the files may have changed.
        Until it is told, what was known stays."""
        self._doubted.update(self._held if paths is None else paths)

    def close(self) -> None:
        """Ask for nothing more."""
        self._painter.close()

    def _land(self, path: str, found: Thumbnail | ThumbnailError) -> None:
        self._held[path] = found
        self._held.move_to_end(path)
        while len(self._held) > _MOST_HELD:
            self._doubted.discard(self._held.popitem(last=False)[0])
        self.arrived.emit(path)


def image_of(pixels: Levels, theme: str) -> QImage:
    """Return pixels of a thumbnail in the colours of a theme. The image has no memory of its own:
    it lives no longer than they do."""
    height, width = pixels.shape[:2]
    form = QImage.Format.Format_Indexed8 if pixels.ndim == 2 else QImage.Format.Format_RGB888
    image = QImage(pixels.data, width, height, pixels.strides[0], form)
    if pixels.ndim == 2:
        image.setColorTable(colour_table(theme))
    return image
