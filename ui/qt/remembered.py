"""What a window remembers from one time to the next. What makes no sense is passed over."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray

from lifesim.render import PALETTES
from ui.model import Tool, View
from ui.qt import theme

if TYPE_CHECKING:
    from ui.qt.window import Window


def restore(window: Window) -> None:
    """Before a universe is shown."""
    kept = window.settings
    name, palette = str(kept.value("view/theme")), str(kept.value("view/palette"))
    name = name if name in theme.THEMES else theme.system_theme()
    palette = palette if palette in PALETTES else name
    view = View(
        viewport=window.view.viewport,
        palette=palette,
        grid=_flag(kept.value("view/grid"), True),
        any_cell=_flag(kept.value("view/any_cell"), False),
        ages=_flag(kept.value("view/ages"), False),
    )
    window.canvas.show_view(view)
    window.theme = name
    window.dress(name)
    tool = str(kept.value("view/tool"))
    window.edits.take(Tool(tool) if tool in [known.value for known in Tool] else Tool.DRAW)
    window.resize(1200, 800)
    geometry, state = kept.value("window/geometry"), kept.value("window/state")
    if isinstance(geometry, QByteArray):
        window.restoreGeometry(geometry)
    if isinstance(state, QByteArray):
        window.restoreState(state)


def keep(window: Window) -> None:
    """When it is closed."""
    for key, value in (
        ("window/geometry", window.saveGeometry()),
        ("window/state", window.saveState()),
        ("view/theme", window.theme),
        ("view/palette", window.view.palette),
        ("view/grid", window.view.grid),
        ("view/any_cell", window.view.any_cell),
        ("view/ages", window.view.ages),
        ("view/tool", window.view.tool.value),
    ):
        window.settings.setValue(key, value)
    for menu in window.menus:
        menu.keep()
    window.settings.sync()


def _flag(value: object, otherwise: bool) -> bool:
    return otherwise if value is None else str(value).lower() == "true"
