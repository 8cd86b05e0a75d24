"""Script: the Python console, and scripts."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, QTimer

from lifesim.errors import LifesimError
from ui.qt import file_dialogs
from ui.qt.actions import Action
from ui.qt.console.carrier import Carrier
from ui.qt.console.dock import ConsoleDock
from ui.qt.console.facade import ScriptActions, ScriptWindow
from ui.qt.console.runner import ScriptRunner
from ui.qt.focus import focus_on
from ui.qt.menus.base import Menu
from ui.qt.remembered import strings
from ui.script.life import ShownLife
from ui.script.names import ScriptNames
from ui.script.source import read_script

if TYPE_CHECKING:
    from ui.qt.window import LifeWindow

_HEIGHT = 260  # pixels, of the console when it is first shown


class ScriptMenu(Menu):
    """Adds the console, and actions that run and stop scripts."""

    prefix, place = "script", "&Script"

    def __init__(self, window: LifeWindow) -> None:
        super().__init__(window)
        self.carrier = Carrier(window)
        self.runner = ScriptRunner(window)
        self._life = ShownLife(lambda: window.session)
        self._window = ScriptWindow(window, self.carrier)
        self._folder = str(window.settings.value("script/folder") or "")
        self.console = ConsoleDock(self.runner, self._names, window)
        self.console.entry.history = strings(window.settings, "script/history")
        self.console.entry.keep("")
        self.console.asked.connect(lambda: window.registry.run("script.run"))
        window.addDockWidget(Qt.DockWidgetArea.BottomDockWidgetArea, self.console)
        self.console.hide()

    def actions(self) -> list[Action]:
        """Return the actions of the menu."""
        self.runner.changed.connect(lambda: self.window.registry.refresh())
        self.console.visibilityChanged.connect(self._seen)
        act = self.act
        return [
            act("console", "Python &console", self.toggle, "F9",
                checked=lambda: not self.console.isHidden(),
                tip="Type Python that works with the universe"),
            act("run", "&Run script…", self.choose, "Shift+F9", section=1,
                enabled=lambda: not self.runner.is_running, tip="Run a file of Python source"),
            act("stop", "S&top the script", self.runner.stop, "Ctrl+F9", section=1,
                enabled=lambda: self.runner.is_running),
        ]  # fmt: skip

    def _names(self, name: str) -> dict[str, Any]:
        window = self.window
        others = {"window": self._window, "actions": ScriptActions(window.registry, self.carrier)}
        return ScriptNames(self._life, lambda: window.view.selection, others, name)

    # --- the console -----------------------------------------------------------

    def toggle(self) -> None:
        """Show the console and type there, or hide it."""
        if self.console.isHidden():
            self.show()
            focus_on(self.console.entry)
        else:
            self.console.hide()

    def show(self) -> None:
        """Show the console."""
        self.show_sized(self.console, Qt.Orientation.Vertical, _HEIGHT)
        self.console.raise_()

    def _seen(self) -> None:
        if self.console.isHidden() and self.window.isVisible():
            self.window.canvas.setFocus()  # which may have been in the console
        self.window.registry.refresh()

    # --- scripts ---------------------------------------------------------------

    def choose(self) -> None:
        """Ask for a script, and run it."""
        path = self.ask_script()
        if path:
            self._folder = os.path.dirname(path)
            self.run_path(path)

    def ask_script(self) -> str:
        """Ask for a script; '' is: not after all."""
        where = self._folder or os.getcwd()
        filters = "Python (*.py);;All files (*)"
        return file_dialogs.open_file(self.window, "Run a script", where, filters)

    def run_path(self, path: str) -> None:
        """Run a script. Raises ScriptError for a file that is none."""
        source = read_script(path)
        self.show()
        self.console.run_script(os.path.abspath(path), source)

    def run_when_opened(self, path: str) -> None:
        """Run a script once another universe has been opened."""
        once = Qt.ConnectionType.SingleShotConnection

        def run() -> None:
            try:
                self.run_path(path)
            except LifesimError as error:
                self.window.report(error)

        # The window is not done yet with what it has opened.
        self.window.opened.connect(lambda: QTimer.singleShot(0, self.window, run), once)

    # --- the end ---------------------------------------------------------------

    def remembered(self) -> dict[str, object]:
        """Return what was typed, and where scripts are, by the keys of settings."""
        return {"script/history": self.console.entry.history, "script/folder": self._folder}

    def close(self) -> None:
        """Stop what runs."""
        self.carrier.close()
        self.runner.close()
