"""What can be done in the window for parsing, but for its files."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from bulkbits.plurals import many
from ui.parsing.order import Key
from ui.qt import theme
from ui.qt.actions import Action
from ui.qt.palette import CommandPalette
from ui.qt.parsing.pane import MOUSE, Pane
from ui.qt.shortcuts import ShortcutsPage

if TYPE_CHECKING:
    from ui.qt.parsing.window import ParseWindow


def actions_of(window: ParseWindow) -> list[Action]:
    """Return the actions that are not of files."""
    batch, grammar, trees = window.batch, window.grammar, window.trees

    def copy() -> None:
        window.note(f"Copied {many(batch.copy(), 'sentence')}")

    def pane() -> Pane:
        tree = trees.pane
        return tree if tree.hasFocus() or tree.underMouse() else window.chart

    def fit() -> None:
        window.chart.fit()
        trees.pane.fit()

    return [
        Action(
            "edit.paste", "&Paste sentences", "&Edit", batch.paste, ("Ctrl+Shift+V",),
            tip="Add the lines of the clipboard",
        ),
        Action(
            "edit.copy", "&Copy with verdicts", "&Edit", copy, ("Ctrl+Shift+C",),
            enabled=lambda: batch.has_selection,
            tip="The sentences that are selected, as a table",
        ),
        Action(
            "edit.remove", "&Remove selected sentences", "&Edit", batch.remove, ("Del",),
            section=1, local=True,
            enabled=lambda: batch.has_selection,
        ),
        Action(
            "edit.clear", "Remove &all sentences", "&Edit", batch.clear, section=1,
            enabled=lambda: len(window.lines) > 0,
        ),
        Action(
            "view.next", "&Next tree", "&View", trees.next, ("Alt+Right",),
            enabled=lambda: trees.has_next,
        ),
        Action(
            "view.previous", "&Previous tree", "&View", trees.previous, ("Alt+Left",),
            enabled=lambda: trees.has_previous,
        ),
        Action("view.zoom-in", "Zoom &in", "&View", lambda: pane().zoom(1),
               ("Ctrl++", "Ctrl+="), section=1),
        Action("view.zoom-out", "Zoom &out", "&View", lambda: pane().zoom(-1),
               ("Ctrl+-",), section=1),
        Action("view.fit", "&Fit chart and tree", "&View", fit, ("Ctrl+0",), section=1),
        *_sorting(window),
        *_theming(window),
        Action(
            "view.error", "Go to the &error", "&View", grammar.go_to_error, ("F8",),
            section=2, enabled=lambda: window.editor.error is not None,
        ),
        Action(
            "help.palette", "&Command palette…", "&Help",
            lambda: CommandPalette(window.registry, window).show(), ("Ctrl+Shift+P",),
        ),
        Action(
            "help.shortcuts", "&Shortcuts…", "&Help",
            lambda: ShortcutsPage(window.registry, MOUSE, window).show(), ("F1",),
        ),
    ]  # fmt: skip


_ORDERS: tuple[tuple[str, str, Key | None], ...] = (
    ("verdict", "By &verdict", "verdict"), ("parses", "By number of &parses", "parses"),
    ("probability", "By pro&bability", "probability"), ("none", "&As they are listed", None),
)  # fmt: skip


def _sorting(window: ParseWindow) -> list[Action]:
    """Return the actions that sort sentences."""
    batch = window.batch

    def is_sorted(key: Key | None) -> bool:
        return batch.arrangement.key == key

    def is_possible(key: Key | None) -> bool:
        return key != "probability" or (
            batch.language is not None and batch.language.grammar.is_probabilistic
        )

    return [
        Action(
            f"view.sort-{name}", title, "&View > &Sort sentences", partial(batch.sort_by, key),
            section=2, enabled=partial(is_possible, key),
            checked=partial(is_sorted, key),
            tip="Again, the other way round" if key else "",
        )
        for name, title, key in _ORDERS
    ]  # fmt: skip


def _theming(window: ParseWindow) -> list[Action]:
    """Return the actions that choose a theme."""

    def switch() -> None:
        window.dress("light" if theme.current() == "dark" else "dark")

    def is_theme(name: str) -> bool:
        return theme.current() == name

    return [
        *(
            Action(
                f"view.theme-{name}", f"&{name.capitalize()}", "&View > &Theme",
                partial(window.dress, name), section=3, checked=partial(is_theme, name),
            )
            for name in theme.THEMES
        ),
        Action("view.theme", "S&witch the theme", "&View > &Theme", switch, ("Ctrl+T",), section=3),
    ]  # fmt: skip
