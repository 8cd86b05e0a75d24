"""Help: the command palette, the page of shortcuts, a guide, what this is."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox

from bulkbits.version import version
from ui.qt.actions import Action
from ui.qt.guide import MOUSE, GuidePage
from ui.qt.menus.base import Menu
from ui.qt.palette import CommandPalette
from ui.qt.shortcuts import ShortcutsPage


class HelpMenu(Menu):
    """Adds the command palette, the pages of help and what this program is."""

    prefix, place, at_start = "help", "&Help", True

    def actions(self) -> list[Action]:
        """Return the actions of the menu."""
        return [
            self.act("palette", "&Command palette…", self.palette, "Ctrl+Shift+P"),
            self.act("shortcuts", "&Shortcuts…", self.shortcuts, "F1", "?"),
            self.act(
                "guide",
                "&Mouse, tools and words…",
                self.guide,
                "Shift+F1",
                tip="What the mouse and the tools do, and a short glossary",
            ),
            self.act("about", "&About lifesim", self.about, section=1),
        ]

    def palette(self) -> None:
        """Show the command palette."""
        CommandPalette(self.window.registry, self.window).show()

    def shortcuts(self) -> None:
        """Show the page of shortcuts."""
        ShortcutsPage(self.window.registry, MOUSE, self.window).show()

    def guide(self) -> None:
        """Show what the mouse and the tools do, and a glossary."""
        page = GuidePage(self.window.registry, self.window)
        page.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        page.show()

    def about(self) -> None:
        """Say which version this is, and what computes."""
        box = QMessageBox(self.window)
        box.setWindowTitle("About lifesim")
        box.setText(f"lifesim, of bulkbits {version()}")
        box.setInformativeText(
            "Conway's Game of Life and its relatives, bigger and longer.\n"
            f"Computed by {self.window.session.where}."
        )
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.setIconPixmap(self.window.windowIcon().pixmap(48))
        box.open()
