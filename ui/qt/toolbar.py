"""The toolbar: buttons of actions, the speed, and on the right what universe is shown."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSizePolicy, QToolBar, QToolButton, QWidget

from ui.qt.actions import Registry
from ui.qt.icons import icon
from ui.qt.speed_slider import SpeedSlider
from ui.qt.state_chooser import StateChooser
from ui.qt.theme import Colours
from ui.session import Session

_TOOLBAR = (
    "file.open", "file.save", "",
    "control.run", "control.step", "control.reset", "time.record", "",
    "edit.pan", "edit.draw", "edit.select", "",
    "edit.undo", "edit.redo", "",
    "view.zoom-in", "view.zoom-out", "view.fit",
)  # fmt: skip

_BEFORE_STATES, _BEFORE_SPEED = "edit.select", "time.record"
_OF_UNIVERSE = ("control.rule", "control.size")


class UniverseToolbar(QToolBar):
    """Shows buttons for some actions of a registry.

    states: the choice of a state to draw in. speed: how fast a run is to go. rule_button,
    size_button: say the rule with the edges, and the size, and let a person change them.
    """

    def __init__(self, registry: Registry) -> None:
        """Make the buttons; the registry has the actions already."""
        super().__init__("Toolbar")
        self.setObjectName("toolbar")
        self.setMovable(False)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        self.states, self.speed = StateChooser(), SpeedSlider()
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
            if id == _BEFORE_SPEED:
                self.addWidget(self.speed)
        space = QWidget()
        space.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.addWidget(space)
        self.rule_button, self.size_button = QToolButton(), QToolButton()
        for id, button in zip(_OF_UNIVERSE, (self.rule_button, self.size_button), strict=True):
            action = registry.made(id)
            button.setObjectName("universe")
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            button.clicked.connect(action.trigger)
            button.setToolTip(action.toolTip())
            self.addWidget(button)
            action.enabledChanged.connect(button.setEnabled)
            button.setEnabled(action.isEnabled())
        # Qt's own, which shows what a narrow window has no room for.
        more = self.findChild(QToolButton, "qt_toolbar_ext_button")
        assert more is not None
        self._more = more
        self._more.setAccessibleName("More of the toolbar")
        self._more.setToolTip("More of the toolbar")

    def show_chooser(self, shown: bool) -> None:
        """Show the choice of a state, or hide it, where there is none."""
        self._chooser.setVisible(shown)

    def show_universe(self, session: Session | None) -> None:
        """Say what universe is shown; None is none."""
        rule = "" if session is None else f"{session.rule}   {session.topology}"
        size = "" if session is None else _size_of(session)
        for button, text, what in (
            (self.rule_button, rule, "Rule and edges"), (self.size_button, size, "Size"),
        ):  # fmt: skip
            button.setText(text)
            button.setAccessibleName(f"{what}: {text or 'no universe is open'}")
        for widget in (self.speed, self.states):
            widget.setEnabled(session is not None)

    def dress(self, shades: Colours) -> None:
        """Draw Qt's own button in the colours of a theme."""
        self._more.setIcon(icon("more", shades.icon, shades.faint))


def _size_of(session: Session) -> str:
    """Say how large a universe is."""
    if session.is_bounded:
        return f"{session.width:,} × {session.height:,}"
    return f"without bounds   {session.engine}" if session.is_endless else "without bounds"
