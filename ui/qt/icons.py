"""Icons, drawn in the colour of the text."""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtCore import QByteArray, QRectF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

# On a field of 24 x 24. What begins with "f" is filled, with "r" filled in red; the rest are
# strokes, with "b" bold ones, for what is drawn small.
_PATHS = {
    "open": "M3 19V6h6l2 2h8v3 M3 19l3-8h16l-3 8z",
    "new": "M6 3h8l4 4v14H6z M14 3v4h4 M12 11v6 M9 14h6",
    "soup": "fM4 4h4v4H4z M12 4h4v4h-4z M16 8h4v4h-4z M8 10h4v4H8z M4 16h4v4H4z M12 16h4v4h-4z "
    "M16 14h4v2h-4z",
    "disk": "M4 6.5C4 2.8 20 2.8 20 6.5S4 10.2 4 6.5z M4 6.5v11c0 3.7 16 3.7 16 0v-11 "
    "M4 12c0 3.7 16 3.7 16 0",
    "save": "M4 4h13l3 3v13H4z M8 4v5h7V4 M8 20v-6h8v6",
    "start": "fM7 4.5l12 7.5-12 7.5z",
    "stop": "fM7 5h3.6v14H7z M13.4 5H17v14h-3.6z",
    "step": "fM5 5l10 7-10 7z M16.5 5H19v14h-2.5z",
    "record": "rM12 5.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13z",
    "stop-record": "rM6 6h12v12H6z",
    "reset": "M5 12a7.5 7.5 0 1 0 2.4-5.5 M7.6 2.6v4.2h4.2",
    "slower": "M5 12h14",
    "faster": "M5 12h14 M12 5v14",
    "fit": "M4 9V4h5 M15 4h5v5 M20 15v5h-5 M9 20H4v-5 M10 10h4v4h-4z",
    "zoom-in": "M10.5 4a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13z M15.4 15.4L21 21 M7.5 10.5h6 "
    "M10.5 7.5v6",
    "zoom-out": "M10.5 4a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13z M15.4 15.4L21 21 M7.5 10.5h6",
    "pan": "M12 3v18 M3 12h18 M9.5 5.5L12 3l2.5 2.5 M9.5 18.5L12 21l2.5-2.5 "
    "M5.5 9.5L3 12l2.5 2.5 M18.5 9.5L21 12l-2.5 2.5",
    "draw": "M4 20l1-4.5L16 4.5l3.5 3.5L8.5 19z M13.5 7l3.5 3.5",
    "select": "M4 8V4h4 M11 4h3 M17 4h3v3 M20 10v4 M20 17v3h-3 M14 20h-3 M8 20H4v-3 M4 14v-3",
    "undo": "M4 9h10a5.5 5.5 0 0 1 0 11H8 M8 4.5L3.5 9 8 13.5",
    "redo": "M20 9H10a5.5 5.5 0 0 0 0 11h6 M16 4.5L20.5 9 16 13.5",
    "lifesim": "fM10 3h5v5h-5z M16 9h5v5h-5z M3 15h5v5H3z M10 15h5v5h-5z M16 15h5v5h-5z",
    "more": "M6 6l6 6-6 6 M13 6l6 6-6 6",
    "close": "bM5 5l14 14 M19 5L5 19",
    "float": "bM10 4h10v10H10z M4 10v10h10",
}
_RED = "#e5484d"  # for all themes
NAMES = tuple(_PATHS)


def icon(name: str, colour: QColor, off: QColor | None = None) -> QIcon:
    """Draw an icon. off: its colour where it is disabled."""
    return _drawn(name, colour.rgb(), (off or colour).rgb())


@lru_cache(maxsize=256)
def _drawn(name: str, normal: int, disabled: int) -> QIcon:
    """Draw an icon in two colours, which take time to be drawn: those of both themes are kept."""
    result = QIcon()
    for mode, rgb in ((QIcon.Mode.Normal, normal), (QIcon.Mode.Disabled, disabled)):
        shade = QColor(rgb)
        for side in (20, 40, 64):
            is_off = mode is QIcon.Mode.Disabled
            result.addPixmap(_pixmap(name, shade, side, is_off), mode)
    return result


def _pixmap(name: str, colour: QColor, side: int, is_off: bool) -> QPixmap:
    path, shade = _PATHS[name], colour.name()
    filled, width = path[0] in "fr", 3.4 if path[0] == "b" else 1.7
    if path[0] == "r" and not is_off:
        shade = _RED
    style = f'fill="{shade}"' if filled else (
        f'fill="none" stroke="{shade}" stroke-width="{width}" stroke-linecap="round" '
        f'stroke-linejoin="round"'
    )  # fmt: skip
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24">'
        f'<path {style} d="{path.lstrip("bfr")}"/></svg>'
    )
    pixmap = QPixmap(side, side)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    QSvgRenderer(QByteArray(svg.encode())).render(painter, QRectF(0, 0, side, side))
    painter.end()
    return pixmap
