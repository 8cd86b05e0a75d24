"""What windows remember from one time to the next. What makes no sense is passed over."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QLockFile, QSettings
from PySide6.QtWidgets import QWidget

from lifesim.render import PALETTES
from ui.model import CanvasView, ToolName
from ui.qt import theme

if TYPE_CHECKING:
    from ui.qt.window import LifeWindow

_WAITING = 200  # milliseconds, for another window to have written its recent files
_FRAME = 40  # pixels that a window's title takes, of a screen that is hardly larger

Values = Mapping[str, object]


class SettingsMemory:
    """Writes what has changed since begin(), and what was never written: other windows, of other
    processes too, have changed other things meanwhile."""

    def __init__(self, settings: QSettings, now: Callable[[], Values]) -> None:
        """Write nothing yet. now: returns all that is remembered, by the keys of settings."""
        self._settings, self._now = settings, now
        self._before: dict[str, object] = {}

    def begin(self, under: str = "") -> None:
        """Take what is now for what was remembered; only what has keys that begin so."""
        now = self._now()
        self._before |= {key: value for key, value in now.items() if key.startswith(under)}

    def write(self) -> None:
        """Have the settings hold it."""
        self._settings.sync()
        for key, value in self._now().items():
            if value != self._before[key] or not self._settings.contains(key):
                self._settings.setValue(key, value)
        self._settings.sync()


def strings(settings: QSettings, key: str) -> list[str]:
    """Read a list of strings."""
    kept = settings.value(key)
    some = [kept] if isinstance(kept, str) else kept if isinstance(kept, list) else []
    return [str(one) for one in some]


def change_strings(
    settings: QSettings, key: str, change: Callable[[list[str]], list[str]]
) -> list[str]:
    """Change a list of strings that other windows change too, and return it."""
    lock = QLockFile(f"{settings.fileName()}.{key}.lock")
    locked = lock.tryLock(_WAITING)  # without it, one of two changes at a time is lost
    try:
        settings.sync()
        changed = change(strings(settings, key))
        settings.setValue(key, changed)
        settings.sync()
    finally:
        if locked:
            lock.unlock()
    return changed


def fit_screen(window: QWidget, width: int, height: int) -> None:
    """Give a window its first size, which is no more than its screen has."""
    room = window.screen().availableGeometry()
    window.resize(min(width, room.width()), min(height, room.height() - _FRAME))


def restore(window: LifeWindow) -> None:
    """Let it be as it was left, before a universe is shown."""
    kept = window.settings
    name, palette = str(kept.value("view/theme")), str(kept.value("view/palette"))
    name = name if name in theme.THEMES else theme.system_theme()
    palette = palette if palette in PALETTES else name
    view = CanvasView(
        viewport=window.view.viewport,
        palette=palette,
        grid=_flag(kept.value("view/grid"), True),
        any_cell=_flag(kept.value("view/any_cell"), False),
    )
    window.canvas.show_view(view)
    window.theme = name
    window.dress(name)
    tool = str(kept.value("view/tool"))
    window.edits.take(
        ToolName(tool) if tool in [known.value for known in ToolName] else ToolName.DRAW
    )
    fit_screen(window, 1200, 800)
    geometry, state = kept.value("window/geometry"), kept.value("window/state")
    if isinstance(geometry, QByteArray):
        window.restoreGeometry(geometry)
    if isinstance(state, QByteArray):
        window.restoreState(state)


def of_window(window: LifeWindow) -> dict[str, object]:
    """Return what is remembered of the window for universes."""
    values: dict[str, object] = {
        "window/geometry": window.saveGeometry(),
        "window/state": window.saveState(),
        "view/theme": window.theme,
        "view/palette": window.view.palette,
        "view/grid": window.view.grid,
        "view/any_cell": window.view.any_cell,
        "view/tool": window.view.tool.value,
    }
    for menu in window.menus:
        values |= menu.remembered()
    return values


def _flag(value: object, otherwise: bool) -> bool:
    return otherwise if value is None else str(value).lower() == "true"
