"""The toolbar: buttons of actions, and on the right what universe is shown."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QSizePolicy, QToolBar, QToolButton, QWidget

from ui.qt.actions import Registry
from ui.qt.icons import icon
from ui.qt.state_chooser import StateChooser
from ui.qt.theme import Colours

_TOOLBAR = (
    "file.open", "file.save", "",
    "control.run", "control.step", "control.reset", "control.slower", "control.faster", "",
    "edit.pan", "edit.draw", "edit.select", "",
    "edit.undo", "edit.redo", "",
    "view.zoom-in", "view.zoom-out", "view.fit",
)  # fmt: skip

_BEFORE_STATES = "edit.select"


class UniverseToolbar(QToolBar):
    """Shows buttons for some actions of a registry.

    states: the choice of a state to draw in. universe_label: rule, edges and size of the universe.
    """

    def __init__(self, registry: Registry) -> None:
        """Make the buttons; the registry has the actions already."""
        super().__init__("Toolbar")
        self.setObjectName("toolbar")
        self.setMovable(False)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        self.states = StateChooser()
        for id in _TOOLBAR:
            if id:
                action = registry.made(id)
                self.addAction(action)
                button = self.widgetForAction(action)
                button.setAccessibleName(registry[id].name)
                button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            else:
                self.addSeparator()
            if id == _BEFORE_STATES:
                self._chooser = self.addWidget(self.states)
        space = QWidget()
        space.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.addWidget(space)
        self.universe_label = QLabel()
        self.universe_label.setProperty("dim", True)
        self.universe_label.setAccessibleDescription("Rule, edges and size of the universe")
        self.addWidget(self.universe_label)
        # Qt's own, which shows what a narrow window has no room for.
        more = self.findChild(QToolButton, "qt_toolbar_ext_button")
        assert more is not None
        self._more = more
        self._more.setAccessibleName("More of the toolbar")
        self._more.setToolTip("More of the toolbar")

    def show_chooser(self, shown: bool) -> None:
        """Show the choice of a state, or hide it, where there is none."""
        self._chooser.setVisible(shown)

    def dress(self, shades: Colours) -> None:
        """Draw Qt's own button in the colours of a theme."""
        self._more.setIcon(icon("more", shades.icon, shades.faint))
