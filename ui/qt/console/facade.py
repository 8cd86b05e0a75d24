"""What scripts may do with the window: every action, and a few calls that take arguments."""

from __future__ import annotations

import keyword
import os
import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import TYPE_CHECKING

from lifesim.grid import Box
from ui.picture.viewport import Viewport
from ui.qt.actions import Registry
from ui.qt.console.carrier import Carrier
from ui.script.stopping import pause
from ui.session import Session, SessionError

if TYPE_CHECKING:
    from ui.qt.window import LifeWindow


class _ActionGroup(SimpleNamespace):
    """The actions of one menu, as functions; its repr lists them."""

    def __init__(self, name: str, doers: dict[str, Callable[[], None]]) -> None:
        super().__init__(**doers)
        self._name = name

    def __repr__(self) -> str:
        doers = {name: do for name, do in vars(self).items() if not name.startswith("_")}
        width = max(len(name) for name in doers)
        return "\n".join(
            f"actions.{self._name}.{name + '()':{width + 2}}  {do.__doc__}"
            for name, do in doers.items()
        )


class ScriptActions(SimpleNamespace):
    """Offers all that menus have as functions: `actions.view.fit()` does what "view.fit" of the
    registry does. They wait until it is done, and raise LifesimError where it cannot be done now.

    `print(actions)` lists them. One that asks by a dialog waits for the answer.
    """

    def __init__(self, registry: Registry, carrier: Carrier) -> None:
        groups: dict[str, dict[str, Callable[[], None]]] = {}
        for action in registry:
            place, _, name = action.id.partition(".")
            groups.setdefault(python_name(place), {})[python_name(name)] = _doer(
                registry, carrier, action.id
            )
        super().__init__(**{name: _ActionGroup(name, doers) for name, doers in groups.items()})

    def __repr__(self) -> str:
        return "\n".join(map(repr, vars(self).values()))


def python_name(name: str) -> str:
    """Return a part of an action's id as a name of Python: "flip-across" is flip_across."""
    plain = re.sub(r"\W", "_", name)
    return f"{plain}_" if keyword.iskeyword(plain) or plain[:1].isdigit() else plain


def _doer(registry: Registry, carrier: Carrier, id: str) -> Callable[[], None]:
    def do() -> None:
        carrier.call(lambda: registry.do(id))

    action = registry[id]
    do.__name__ = python_name(id.partition(".")[2])
    do.__doc__ = action.tip or action.name.removesuffix("…")
    return do


class ScriptWindow:
    """The window, as far as scripts go beyond its actions. Any thread may call it."""

    def __init__(self, window: LifeWindow, carrier: Carrier) -> None:
        self._window, self._carrier = window, carrier

    def __repr__(self) -> str:
        return "<window: fit(), look_at(), note(), open(), scale, seen, select(), show()>"

    @property
    def seen(self) -> Box:
        """Return the box of the cells that are seen, as far as the window goes."""
        return self._viewport.box

    @property
    def scale(self) -> int:
        """Return the scale: at s a pixel is 2^s cells a side, at -s a cell is 2^s pixels."""
        return self._viewport.scale

    @property
    def _viewport(self) -> Viewport:
        return self._carrier.call(lambda: self._window.view.viewport)

    def fit(self) -> None:
        """Show all live cells, as near as they fit."""
        self._carrier.call(self._window.fit)

    def show(self, box: Box | tuple[int, int, int, int]) -> None:
        """Show a box of cells, as near as it fits."""
        self._carrier.call(lambda: self._window.show_box(Box(*box)))

    def look_at(self, x: int, y: int, scale: int | None = None) -> None:
        """Have a cell in the middle. scale: as of `scale`; None leaves it."""

        def look() -> None:
            window = self._window
            if scale is not None:
                window.canvas.zoom_to(scale)
            window.aim(None)
            window.set_view(window.view.at(window.view.viewport.centred(x, y)))

        self._carrier.call(look)

    def select(self, box: Box | tuple[int, int, int, int] | None) -> None:
        """Select a box of cells, or nothing."""
        self._carrier.call(lambda: self._window.edits.select(None if box is None else Box(*box)))

    def note(self, text: str) -> None:
        """Say something in a line over the cells."""
        self._carrier.call(lambda: self._window.banner.note(str(text)))

    def open(self, path: str | os.PathLike[str]) -> None:
        """Open a file or a universe directory in place of what is shown, and wait. Raises
        LifesimError where it is not opened."""
        name = os.fspath(path)

        def begin() -> Session:
            self._window.banner.dismiss()  # what it says is not of this
            before = self._window.session
            self._window.files.open_path(name)
            return before

        before = self._carrier.call(begin)
        # What is open may be saved first.
        while self._carrier.call(lambda: self._window.background.is_busy):
            pause()
        now, said = self._carrier.call(lambda: (self._window.session, self._window.banner.text))
        if now is before:
            raise SessionError(said or f"{name} was not opened")
