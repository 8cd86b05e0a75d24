"""`ckyparse view`: the window for parsing without the other one."""

from __future__ import annotations

import sys

from PySide6.QtCore import QSettings

from ui.parsing.launch import ParseLaunch
from ui.parsing.sentences import SentenceLines
from ui.qt import theme
from ui.qt.app import application, report, signals
from ui.qt.parsing.window import ParseWindow


def run(launch: ParseLaunch, text: str, lines: SentenceLines) -> int:
    """Show a window with a grammar's text and sentences until it is closed; the exit code."""
    app = application("ckyparse")
    settings = QSettings("bulkbits", "lifesim")
    if launch.theme:
        settings.setValue("view/theme", launch.theme)
    chosen = str(settings.value("view/theme"))
    theme.apply(app, chosen if chosen in theme.THEMES else theme.system_theme())
    window = ParseWindow(settings, launch.backend)
    sys.excepthook = report
    window.begin(launch, text, lines)
    window.show()
    with signals() as arrived:
        app.exec()
    return 130 if arrived else 0
