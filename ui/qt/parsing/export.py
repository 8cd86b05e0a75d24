"""Export of the chart and the tree that a window shows: to files, and to the clipboard."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu

from ui.parsing.export import CHART_FORMS, TREE_FORMS, ExportForm, drawn, export, form_of
from ui.qt.actions import Action

if TYPE_CHECKING:
    from nltk.tree import Tree

    from ckyparse.chart import Chart
    from ui.qt.parsing.window import ParseWindow


class Exports:
    """Exports what a window shows."""

    def __init__(self, window: ParseWindow) -> None:
        self.window = window

    def actions(self) -> list[Action]:
        """Return the actions of exporting."""
        made = [
            Action(
                "file.export-tree", "Export &tree…", "&File", self.export_tree, ("Ctrl+E",),
                section=2, enabled=self._has_tree, tip="As SVG, LaTeX or text",
            ),
            Action(
                "file.export-chart", "Export &chart…", "&File", self.export_chart,
                ("Ctrl+Shift+E",), section=2, enabled=self._has_chart,
                tip="As SVG, LaTeX or text",
            ),
        ]  # fmt: skip
        for what, forms, copy, enabled in (
            ("tree", TREE_FORMS, self.copy_tree, self._has_tree),
            ("chart", CHART_FORMS, self.copy_chart, self._has_chart),
        ):
            made += [
                Action(
                    f"edit.copy-{what}-{form.name}", form.title, f"&Edit > Copy {what} &as",
                    partial(copy, form), section=2, enabled=enabled,
                )
                for form in forms
            ]  # fmt: skip
        return made

    def menu(self, what: str) -> QMenu:
        """Return a menu of all that can be done with the tree, or with the chart: by its name."""
        menu, registry = QMenu(self.window), self.window.registry
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(registry.made(f"file.export-{what}"))
        copies = menu.addMenu("Copy &as")
        for form in TREE_FORMS if what == "tree" else CHART_FORMS:
            copies.addAction(registry.made(f"edit.copy-{what}-{form.name}"))
        menu.addSeparator()
        for each in ("view.fit", "view.zoom-in", "view.zoom-out"):
            menu.addAction(registry.made(each))
        return menu

    def export_tree(self) -> None:
        """Ask for a file, and write the tree that is shown there."""
        self._export(self.window.trees.tree, "tree", TREE_FORMS)

    def export_chart(self) -> None:
        """Ask for a file, and write the chart that is shown there."""
        self._export(self._chart, "chart", CHART_FORMS)

    def copy_tree(self, form: ExportForm) -> None:
        """Copy the tree that is shown."""
        self._copy(self.window.trees.tree, "tree", form)

    def copy_chart(self, form: ExportForm) -> None:
        """Copy the chart that is shown."""
        self._copy(self._chart, "chart", form)

    @property
    def _chart(self) -> Chart | None:
        look = self.window.chart.look
        return look.chart if look is not None and look.tokens else None

    def _has_tree(self) -> bool:
        return self.window.trees.tree is not None

    def _has_chart(self) -> bool:
        return self._chart is not None

    def _export(self, what: Chart | Tree | None, name: str, forms: tuple[ExportForm, ...]) -> None:
        window = self.window
        if what is None:
            return
        start = os.path.join(window.files.folder(), f"{name}.svg")
        answer = window.files.dialogs.export(f"Export the {name}", start, forms)
        if answer is None:
            return
        path, form = form_of(*answer, forms)
        shown = os.path.basename(path)
        window.background.do(
            f"Exporting {shown}…",
            lambda: export(what, path, form.name),
            lambda _: window.note(f"Exported the {name} to {shown}"),
            window.report,
            lasting=True,
        )

    def _copy(self, what: Chart | Tree | None, name: str, form: ExportForm) -> None:
        window = self.window
        if what is None:
            return

        def landed(text: str) -> None:
            QGuiApplication.clipboard().setText(text)
            window.note(f"Copied the {name} as {form.title}")

        window.background.do(
            f"Copying the {name}…", lambda: drawn(what, form.name), landed, window.report
        )
