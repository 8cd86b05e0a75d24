"""Control: running, its speed, travelling in time, the rule."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from ui.cells.edited import EditedSession
from ui.qt import theme
from ui.qt.actions import Action
from ui.qt.icons import icon
from ui.qt.menus.base import Menu
from ui.speed import BASES, RATES, RunSpeed

if TYPE_CHECKING:
    from ui.qt.window import LifeWindow


class ControlMenu(Menu):
    """Adds actions that run a universe, step it, and change its rule and size."""

    prefix, place = "control", "&Control"

    def __init__(self, window: LifeWindow) -> None:
        super().__init__(window)
        base, rate = str(window.settings.value("speed/base")), window.settings.value("speed/rate")
        self.speed = RunSpeed(int(base) if base in map(str, BASES) else 2)
        known = {_named(rate): rate for rate in RATES}
        self.rate = known.get(str(rate), 30.0)
        self._shown: tuple[bool, str] | None = None

    def remembered(self) -> dict[str, object]:
        """Return the speed, by the keys of settings."""
        return {"speed/base": self.speed.base, "speed/rate": _named(self.rate)}

    def actions(self) -> list[Action]:
        """Return the actions of the menu."""
        window = self.window
        window.opened.connect(self._apply)
        window.changed.connect(self._changed)
        act = self.act

        actions = [
            act("run", "&Start", self.toggle, "Return", "Enter", local=True, icon="start"),
            act(
                "step", "S&tep", self.step, "Space", local=True, icon="step",
                tip="Stop, or move on by one step",
            ),
            act("next", "&Next generation", lambda: self.by(1), "Tab", local=True),
            act(
                "slower", "S&lower", lambda: self.change(-1), "-", section=1, icon="slower",
                enabled=lambda: self.speed.exponent > 0, tip="Fewer generations a step",
            ),
            act(
                "faster", "&Faster", lambda: self.change(1), "+", "=", section=1, icon="faster",
                enabled=lambda: not self.speed.is_fastest, tip="More generations a step",
            ),
            act(
                "one", "&One generation a step", lambda: self.change(-999), "Ctrl+1", section=1,
                enabled=lambda: self.speed.exponent > 0,
            ),
        ]  # fmt: skip
        for base in BASES:
            actions.append(
                act(
                    f"base-{base}", f"Powers of &{base}", self._base_setter(base), section=1,
                    under="&Base of steps", checked=self._is_base(base),
                )
            )  # fmt: skip
        for rate in RATES:
            title = "As &fast as it goes" if rate is None else f"At most {rate:g} a second"
            keys = ("Ctrl+0",) if rate is None else ()
            actions.append(
                act(
                    f"rate-{_named(rate)}", title, self._rate_setter(rate), *keys, section=1,
                    under="&Pictures", checked=self._is_rate(rate),
                )
            )  # fmt: skip
        return [
            *actions,
            act("go", "&Go to generation…", self.go, "Ctrl+G", section=2),
            act("until", "Run &until…", self.until, "Ctrl+U", section=2,
                tip="Until it is stable, empty or repeats itself, so many cells live, or a "
                "generation"),
            act("reset", "&Reset", self.reset, "Ctrl+R", section=2, icon="reset",
                enabled=self._can_edit, tip="Back to the start"),
            act("rule", "R&ule and topology…", self.rule, "Ctrl+L", section=3,
                enabled=self._can_edit),
            act("size", "Si&ze of the universe…", self.size, section=3, enabled=self._has_size,
                tip="Not where the engine knows no size"),
        ]  # fmt: skip

    # --- running ---------------------------------------------------------------

    @property
    def is_running(self) -> bool:
        """Tell whether generations are being computed."""
        return self.window.session.status().running

    def toggle(self) -> None:
        """Start a run, or stop the one under way."""
        if self.is_running:
            self.window.session.stop()
        else:
            self.window.banner.dismiss()
            self.window.session.start()

    def step(self) -> None:
        """Stop a run; where none is, move on by the generations of a picture."""
        if self.is_running:
            self.window.session.stop()
        else:
            self.by(self.speed.generations)

    def by(self, generations: int) -> None:
        """Move on by so many generations."""
        self.window.session.step(generations)

    def reset(self) -> None:
        """Go back to where a run first began."""
        self.window.session.reset()

    def go(self) -> None:
        """Ask for a generation, and go there."""
        session = self.window.session
        to = self.window.dialogs.generation(session.status().generation, session.most_generation)
        if to is not None:
            session.go_to(to)

    def until(self) -> None:
        """Ask for the end of a run, and begin it."""
        session = self.window.session
        now, most = session.status().generation, session.most_generation
        asked = self.window.dialogs.until(now, most, session.looks)
        if asked is None:
            return
        self.window.banner.dismiss()
        if asked.condition is not None:
            session.run_until(asked.condition, asked.most, asked.looks)
        elif asked.generation is not None:
            session.go_to(asked.generation)

    def _changed(self) -> None:
        """Let the button say what it would do."""
        shown = self.is_running, self.window.theme
        if shown != self._shown:
            self._shown = shown
            title, name = ("&Stop", "stop") if shown[0] else ("&Start", "start")
            shades = theme.colours(self.window.theme, self.window.view.palette)
            image = icon(name, shades.icon, shades.faint)
            self.window.registry.retitle("control.run", title, image)

    # --- speed -----------------------------------------------------------------

    def change(self, steps: int) -> None:
        """Run faster by so many powers; slower where negative."""
        self.speed = self.speed.changed(steps)
        self._apply()

    def set_exponent(self, exponent: int) -> None:
        """Run with so many powers of generations between two pictures."""
        self.change(exponent - self.speed.exponent)
        self.window.registry.refresh()

    def _is_base(self, base: int) -> Callable[[], bool]:
        return lambda: self.speed.base == base

    def _is_rate(self, rate: float | None) -> Callable[[], bool]:
        return lambda: self.rate == rate

    def _base_setter(self, base: int) -> Callable[[], None]:
        def run() -> None:
            self.speed = self.speed.with_base(base)
            self._apply()

        return run

    def _rate_setter(self, rate: float | None) -> Callable[[], None]:
        def run() -> None:
            self.rate = rate
            self._apply()

        return run

    def _apply(self) -> None:
        self.speed = self.speed.within(self.window.session.most_speed)
        self.window.session.set_speed(self.speed.generations, self.rate)
        self.window.status_line.show_speed(self.speed, self.rate)
        self.window.toolbar.speed.show_speed(self.speed, self.rate)

    # --- the universe ----------------------------------------------------------

    def _can_edit(self) -> bool:
        return isinstance(self.window.session, EditedSession)

    def _has_size(self) -> bool:
        return self._can_edit() and not self.window.session.is_endless

    def rule(self) -> None:
        """Ask for a rule and edges, and change them."""
        session = self.window.session
        assert isinstance(session, EditedSession)
        asked = self.window.dialogs.rule(session.rule, session.topology)
        if asked is not None:
            if asked[0] != session.rule:
                session.set_rule(asked[0])
            if asked[1] != session.topology:
                session.set_topology(asked[1])

    def size(self) -> None:
        """Ask for a size, and change it."""
        session = self.window.session
        assert isinstance(session, EditedSession)
        asked = self.window.dialogs.size((session.width, session.height))
        if asked is None:
            return
        if asked != (session.width, session.height) or not session.is_bounded:
            session.resize(*asked)
            self.window.set_view(replace(self.window.view, selection=None))


def _named(rate: float | None) -> str:
    return "all" if rate is None else f"{rate:g}"
