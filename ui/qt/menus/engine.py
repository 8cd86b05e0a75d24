"""Control > Engine: what keeps the cells of a plane without bounds."""

from __future__ import annotations

from collections.abc import Callable

from lifesim.unbounded import ENGINES
from ui import opening
from ui.cells.edited import EditedSession
from ui.qt.actions import Action
from ui.qt.background import Opening
from ui.qt.menus.base import Menu

_UNDER = "&Engine"
_SHOWN = {
    "auto": ("&Auto", "Choose by what is seen of the pattern"),
    "dense": ("&Dense", "A rectangle that grows"),
    "tiles": ("&Tiles", "Tiles that are computed where something changes"),
    "hashlife": ("&HashLife", "A tree that shares what is equal, and leaps over generations"),
}


class EngineMenu(Menu):
    """Adds actions that move the cells to another engine, at the same generation."""

    prefix, place = "engine", "&Control"

    def actions(self) -> list[Action]:
        """Return the actions of the menu: one for each engine that there is."""
        made = []
        for name in ENGINES:
            title, tip = _SHOWN.get(name, (name, ""))
            made.append(
                self.act(
                    name, title, self._mover(name), under=_UNDER, section=3, tip=tip,
                    enabled=self._can_move, checked=self._is(name),
                )
            )  # fmt: skip
        return made

    def _can_move(self) -> bool:
        window = self.window
        return isinstance(window.session, EditedSession) and not window.background.is_busy

    def _is(self, name: str) -> Callable[[], bool]:
        return lambda: self.window.session.engine == name

    def _mover(self, name: str) -> Callable[[], None]:
        def run() -> None:
            window, session = self.window, self.window.session
            if not isinstance(session, EditedSession) or session.engine == name:
                return
            session.stop()
            forgets = bool(session.can_undo)

            def job(_: Opening) -> tuple[EditedSession, int]:
                made = opening.moved(session, name, window.backend)
                return made, session.edited

            def drop(moved: tuple[EditedSession, int]) -> None:
                moved[0].close()

            def done(moved: tuple[EditedSession, int]) -> None:
                made, edited = moved
                now = session.status().generation, session.edited
                if window.session is not session or now != (made.status().generation, edited):
                    window.background.do("", made.close, lambda _: None, window.report)
                    window.banner.note("The cells have changed meanwhile: choose once more.")
                    return
                window.adopt(made, stay=True)
                if forgets:
                    window.banner.note("What was done before cannot be undone any more.")

            title = "Moving to another engine…"
            window.background.open(title, job, done, window.report, drop)

        return run
