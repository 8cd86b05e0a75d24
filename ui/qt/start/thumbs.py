"""Small pictures for lists: asked for by path, drawn off the main thread."""

from __future__ import annotations

from collections import OrderedDict

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QImage

from ui.qt.theme import colour_table
from ui.start.kept import ThumbnailCache, cache_folder
from ui.start.painter import ThumbnailPainter
from ui.start.thumbnails import GoneError, Thumbnail, ThumbnailError

_MOST_HELD = 600  # a thumbnail takes up to 200 KB


class Thumbs(QObject):
    """The thumbnails that lists show. arrived: what is known of a path is something else now."""

    arrived = Signal(str)
    _landed = Signal(str, object)

    def __init__(self) -> None:
        super().__init__()
        self._held: OrderedDict[str, Thumbnail | ThumbnailError] = OrderedDict()
        self._painter = ThumbnailPainter(ThumbnailCache(cache_folder()), self._landed.emit)
        self._landed.connect(self._land, Qt.ConnectionType.QueuedConnection)

    def of(self, path: str) -> Thumbnail | ThumbnailError | None:
        """Return the thumbnail of a path, or why there is none; None where it is not known yet: it
        is asked for then."""
        found = self._held.get(path)
        if found is None:
            self._painter.want(path)
        else:
            self._held.move_to_end(path)
        return found

    def is_gone(self, path: str) -> bool:
        """Tell whether a file is known not to be there any more."""
        return isinstance(self._held.get(path), GoneError)

    def look_again(self, paths: list[str]) -> None:
        """Ask anew for what is known of these paths, as the files may have changed; until it is
        told, what was known stays."""
        for path in reversed(paths):
            self._painter.want(path)

    def close(self) -> None:
        """Ask for nothing more."""
        self._painter.close()

    def _land(self, path: str, found: Thumbnail | ThumbnailError) -> None:
        self._held[path] = found
        self._held.move_to_end(path)
        while len(self._held) > _MOST_HELD:
            self._held.popitem(last=False)
        self.arrived.emit(path)


def image_of(thumbnail: Thumbnail, theme: str) -> QImage:
    """Return a thumbnail in the colours of a theme. The image has no memory of its own: it lives no
    longer than the thumbnail."""
    pixels = thumbnail.pixels
    height, width = pixels.shape[:2]
    form = QImage.Format.Format_Indexed8 if pixels.ndim == 2 else QImage.Format.Format_RGB888
    image = QImage(pixels.data, width, height, pixels.strides[0], form)
    if pixels.ndim == 2:
        image.setColorTable(colour_table(theme))
    return image
