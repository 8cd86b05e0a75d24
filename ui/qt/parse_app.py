"""`ckyparse view`: the window for parsing without the other one."""

from __future__ import annotations

import sys

from PySide6.QtCore import QSettings

from ui.parse_launch import ParseLaunch
from ui.qt import theme
from ui.qt.app import _application, _reporter, _signals
from ui.qt.parse_window import ParseWindow
from ui.sentences import Lines


def run(launch: ParseLaunch, text: str, lines: Lines) -> int:
    """Show a window with a grammar's text and sentences until it is closed; the exit code."""
    app = _application()
    settings = QSettings("bulkbits", "lifesim")
    chosen = launch.theme or str(settings.value("view/theme"))
    theme.apply(app, chosen if chosen in theme.THEMES else theme.system_theme())
    window = ParseWindow(settings, launch.backend)
    sys.excepthook = _reporter(window)  # type: ignore[arg-type]
    window.begin(launch, text, lines)
    window.show()
    with _signals(window):  # type: ignore[arg-type]
        app.exec()
    return 0
