"""Edit, where cells have more than two states: the state that is drawn in."""

from __future__ import annotations

from lifesim.rule import Rule
from ui.picture.coloured import window_colours
from ui.qt import theme
from ui.qt.actions import Action
from ui.qt.menus.base import Menu
from ui.session import EditableSession


class StateMenu(Menu):
    """Adds actions that choose a state, and keeps the chooser of the toolbar true."""

    prefix, place = "state", "&Edit"
    _shown: tuple[Rule, str] | None = None

    def actions(self) -> list[Action]:
        """Return the actions of the menu."""
        act = self.act
        self.window.changed.connect(self._changed)
        return [
            act("next", "Draw in the ne&xt state", lambda: self._by(1), ".", section=5,
                enabled=self._has_choice),
            act("before", "Draw in the state be&fore", lambda: self._by(-1), ",", section=5,
                enabled=self._has_choice),
            act("pick", "Draw in the state under the p&ointer", self.pick, "K", section=5,
                enabled=self._has_choice),
            act("erase", "&Erase", lambda: self.choose(0), "E", section=5,
                enabled=self._has_choice, tip="Draw in state 0; the right button does so always"),
        ]  # fmt: skip

    def choose(self, state: int) -> None:
        """Draw in a state of the rule from now on."""
        self.window.edits.pen.state = state
        self.window.toolbar.states.show_chosen(state)

    def pick(self) -> None:
        """Draw in the state of the cell under the pointer, or in the middle of the window."""
        window = self.window
        cell = window.edits.pointed_at()
        state = window.canvas.state_at(cell.x, cell.y)
        if state is None:
            window.banner.note("No single cell is seen there: zoom in to take its state.")
        else:
            self.choose(state)

    def _states(self) -> int:
        session = self.window.session
        return session.rule.states if isinstance(session, EditableSession) else 2

    def _has_choice(self) -> bool:
        return self._states() > 2

    def _by(self, steps: int) -> None:
        self.choose((self.window.edits.pen.state + steps) % self._states())

    def _changed(self) -> None:
        """Offer the states of the rule, in its colours."""
        window, pen = self.window, self.window.edits.pen
        if pen.state >= self._states() or not self._has_choice():
            pen.state = 1
        shown = window.session.rule, window.theme
        if self._has_choice() and shown != self._shown:
            self._shown = shown
            frame = theme.colours(window.theme, window.view.palette).faint
            window.toolbar.states.show_states(window_colours(shown[0]), frame)
        window.toolbar.show_chooser(self._has_choice())
        window.toolbar.states.show_chosen(pen.state)
