"""View: where one looks from, and how it looks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import Qt

from lifesim.render import PALETTES
from ui.picture.coloured import in_colours
from ui.picture.live import Aim
from ui.qt import theme
from ui.qt.actions import Action
from ui.qt.menus.base import Menu

_STEP = 64  # pixels, of an arrow key
_ARROWS = (("left", -1, 0), ("right", 1, 0), ("up", 0, -1), ("down", 0, 1))
_SHOWN = {
    "dark": "&White on black", "light": "&Black on white", "viridis": "&Viridis, for all eyes",
}  # fmt: skip


class ViewMenu(Menu):
    """Adds actions that change what is seen, and how."""

    prefix, place = "view", "&View"

    def actions(self) -> list[Action]:
        """Return the actions of the menu: a table, however long."""
        window, canvas, act = self.window, self.window.canvas, self.act
        actions = [
            act("fit", "&Fit all live cells", window.fit, "F", icon="fit"),
            act(
                "fit-selection", "Fit the &selection", self._fit_selection, "Shift+F",
                enabled=lambda: window.view.selection is not None,
            ),
            act("fit-universe", "Fit the &universe", self._fit_universe, "Ctrl+F"),
            act("zoom-in", "Zoom &in", lambda: canvas.zoom(1), "]", section=1, icon="zoom-in"),
            act("zoom-out", "Zoom &out", lambda: canvas.zoom(-1), "[", section=1, icon="zoom-out"),
            act("scale-1", "&1:1", lambda: canvas.zoom_to(0), "1", section=1,
                tip="A pixel for each cell"),
            act("middle", "&Middle of the universe", self._middle, "M", section=1),
        ]  # fmt: skip
        for name, right, down in _ARROWS:
            key = name.capitalize()
            actions += [
                act(
                    name, f"{key}", self._mover(right, down, None), key, under="Mo&ve",
                    section=1, local=True,
                ),
                act(
                    f"far-{name}", f"{key} by a window", self._mover(right, down, 0.9),
                    f"Shift+{key}", under="Mo&ve", section=1, local=True,
                ),
            ]  # fmt: skip
        actions += [
            act(
                "auto-fit", "&Auto-fit", self._auto_fit, "T", section=2,
                checked=lambda: window.view.auto_fit, tip="Keep all live cells in view",
            ),
            act(
                "follow", "Fo&llow", self._follow, "Shift+T", section=2,
                checked=lambda: window.view.follow,
                tip="Keep the cells of the selection, else all, in the middle",
            ),
            act(
                "grid", "&Grid lines", self._grid, "L", section=3,
                checked=lambda: window.view.grid,
            ),
            act(
                "any-cell", "Any &cell is bright", self._any_cell, "B", section=3,
                enabled=self._tells_densities, checked=lambda: window.view.any_cell,
                tip="From afar, show where any cell lives instead of how densely they do",
            ),
            act(
                "ages", "Colour by &age", self._ages, "A", section=3,
                enabled=lambda: window.view.can_show_ages and self._tells_densities(),
                checked=lambda: window.view.ages,
                tip="At 1:4 and nearer: the longer cells have lived, as far as pictures show, the "
                "brighter they are; of a block of cells, the youngest",
            ),
        ]  # fmt: skip
        for name in theme.THEMES:
            actions.append(
                act(
                    f"theme-{name}", f"&{name.capitalize()}", self._themer(name), section=4,
                    under="&Theme", checked=self._is_theme(name), at_start=True,
                )
            )  # fmt: skip
        actions.append(act("theme", "S&witch the theme", self._switch, "Ctrl+T", section=4,
                           under="&Theme", at_start=True))  # fmt: skip
        for palette in PALETTES:
            actions.append(
                act(
                    f"palette-{palette}", _SHOWN.get(palette, palette), self._painter(palette),
                    section=4, under="&Colours of cells", enabled=self._tells_densities,
                    checked=self._is_palette(palette),
                )
            )  # fmt: skip
        actions += [
            act("full", "F&ull screen", self._full, "F11", section=5, checked=window.isFullScreen,
                at_start=True),
            act("toolbar", "Tool&bar", self._toolbar, section=5, at_start=True,
                checked=lambda: not window.toolbar.isHidden()),
            act("pane", "&Next pane", self._next_pane, "F6", section=5, at_start=True,
                tip="Move the focus on from the canvas"),
            act("parsing", "&Parsing window…", self._parsing, section=6, at_start=True,
                tip="Grammars, sentences, their charts and trees"),
        ]  # fmt: skip
        return actions

    def _parsing(self) -> None:
        from ui.qt.parsing.window import open_parse_window  # which loads ckyparse

        open_parse_window(self.window)

    # --- where -----------------------------------------------------------------

    def _fit_selection(self) -> None:
        if self.window.view.selection is not None:
            self.window.show_box(self.window.view.selection)

    def _fit_universe(self) -> None:
        self.window.show_box(self.window.session.box)

    def _middle(self) -> None:
        view, box = self.window.view, self.window.session.box
        middle = view.viewport.centred(box.x + box.width // 2, box.y + box.height // 2)
        self.window.aim(None)
        self.window.set_view(view.at(middle))

    def _mover(self, right: int, down: int, share: float | None) -> Callable[[], None]:
        canvas = self.window.canvas

        def run() -> None:
            if share is None:
                step = round(_STEP * canvas.ratio)
                canvas.pan(right * step, down * step)
            else:
                view = canvas.view.viewport
                canvas.pan(round(right * share * view.width), round(down * share * view.height))

        return run

    def _auto_fit(self) -> None:
        on = not self.window.view.auto_fit
        self.window.canvas.show_view(replace(self.window.view, auto_fit=on, follow=False))
        self.window.aim(Aim(fit=True, loose=True) if on else None)

    def _follow(self) -> None:
        view = self.window.view
        on = not view.follow
        self.window.canvas.show_view(replace(view, follow=on, auto_fit=False))
        generation = self.window.session.status().generation
        self.window.aim(Aim(box=view.selection, generation=generation) if on else None)

    # --- how -------------------------------------------------------------------

    def _tells_densities(self) -> bool:
        """Tell whether brightness says something: colours of states say all that there is."""
        return not in_colours(self.window.session.rule)

    def _grid(self) -> None:
        self.window.set_view(replace(self.window.view, grid=not self.window.view.grid))

    def _any_cell(self) -> None:
        self.window.set_view(replace(self.window.view, any_cell=not self.window.view.any_cell))

    def _ages(self) -> None:
        self.window.set_view(replace(self.window.view, ages=not self.window.view.ages))

    def _is_theme(self, name: str) -> Callable[[], bool]:
        return lambda: self.window.theme == name

    def _is_palette(self, palette: str) -> Callable[[], bool]:
        return lambda: self.window.view.palette == palette

    def _themer(self, name: str) -> Callable[[], None]:
        return lambda: self.window.dress(name)

    def _switch(self) -> None:
        self.window.dress("light" if self.window.theme == "dark" else "dark")

    def _painter(self, palette: str) -> Callable[[], None]:
        return lambda: self.window.set_view(replace(self.window.view, palette=palette))

    def _full(self) -> None:
        self.window.setWindowState(self.window.windowState() ^ Qt.WindowState.WindowFullScreen)

    def _toolbar(self) -> None:
        self.window.toolbar.setVisible(self.window.toolbar.isHidden())

    def _next_pane(self) -> None:
        self.window.focusNextChild()
