"""Colours of the window and of the universe, dark and light."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PySide6.QtGui import QColor, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication

from lifesim.render import palette_table

THEMES = ("dark", "light")
_STYLED = "lifesim-styled"
_LIGHT = 128  # lightness, 0 to 255, of cells on which lines are dark


@dataclass(frozen=True, slots=True)
class Colours:
    """The colours of what is drawn around and over the cells."""

    outside: QColor
    border: QColor
    line: QColor
    bold_line: QColor
    selection: QColor
    ghost: QColor
    icon: QColor
    faint: QColor
    past: QColor


PAST = "#d98a00"  # around what is seen of the past, in all themes
_WINDOW = {
    # window, base, raised, text, dim text, accent, text on accent, line
    "dark": (
        "#1d2029", "#15171e", "#282c37", "#dfe3ec", "#8b93a5", "#4c8dff", "#ffffff", "#343947",
    ),
    "light": (
        "#f3f4f7", "#ffffff", "#e6e8ee", "#1d212b", "#636b7d", "#1f63d8", "#ffffff", "#cfd3dd",
    ),
}  # fmt: skip


def colours(theme: str, palette: str, dead: QColor | None = None) -> Colours:
    """Return the colours for a theme of the window and a palette of the cells. dead: the colour of
    dead cells, where it is not the palette's."""
    dark_cells = palette != "light" if dead is None else dead.lightness() < _LIGHT
    line = QColor(255, 255, 255, 26) if dark_cells else QColor(0, 0, 0, 26)
    bold = QColor(255, 255, 255, 58) if dark_cells else QColor(0, 0, 0, 60)
    accent = QColor("#ffb000" if dark_cells else "#1f63d8")
    return Colours(
        outside=QColor("#262a35" if theme == "dark" else "#dfe2ea"),
        border=QColor("#4a5163" if theme == "dark" else "#a9b0c0"),
        line=line,
        bold_line=bold,
        selection=accent,
        ghost=QColor("#2fd6a8" if dark_cells else "#c2410c"),
        icon=QColor(_WINDOW[theme][3]),
        faint=QColor("#4b5262" if theme == "dark" else "#b4bac8"),
        past=QColor(PAST),
    )


def colour_table(palette: str) -> list[int]:
    """Return 256 colours for QImage.setColorTable."""
    return colour_list(palette_table(palette))


def colour_list(table: npt.NDArray[np.uint8]) -> list[int]:
    """Return red, green and blue, uint8 (n, 3), for QImage.setColorTable."""
    return [0xFF000000 | r << 16 | g << 8 | b for r, g, b in table.tolist()]


def system_theme() -> str:
    """Return the theme that the desktop uses, dark if it does not say."""
    scheme = QGuiApplication.styleHints().colorScheme().name
    return "light" if scheme == "Light" else "dark"


def apply(app: QApplication, theme: str) -> None:
    """Dress the application."""
    window, base, raised, text, dim, accent, on_accent, line = _WINDOW[theme]
    palette = QPalette()
    role, group = QPalette.ColorRole, QPalette.ColorGroup
    for where, colour in (
        (role.Window, window), (role.Base, base), (role.AlternateBase, raised),
        (role.Button, raised), (role.Text, text), (role.WindowText, text),
        (role.ButtonText, text), (role.ToolTipBase, raised), (role.ToolTipText, text),
        (role.PlaceholderText, dim), (role.Highlight, accent), (role.HighlightedText, on_accent),
        (role.Link, accent), (role.Mid, line), (role.Dark, line), (role.Accent, accent),
    ):  # fmt: skip
        palette.setColor(where, QColor(colour))
    for where in (role.Text, role.WindowText, role.ButtonText):
        palette.setColor(group.Disabled, where, QColor(dim))
    if not app.property(_STYLED):  # to set it again would dress all widgets once more
        app.setStyle("Fusion")
        app.setProperty(_STYLED, True)
    app.setPalette(palette)
    app.setStyleSheet(
        _SHEET.format(
            window=window,
            base=base,
            raised=raised,
            text=text,
            dim=dim,
            accent=accent,
            line=line,
            past=PAST,
        )
    )


_SHEET = """
QMainWindow, QDialog {{ background: {window}; }}
QMenuBar {{ background: {window}; padding: 2px 4px; }}
QMenuBar::item {{ padding: 4px 9px; border-radius: 4px; background: transparent; }}
QMenuBar::item:selected {{ background: {raised}; }}
QMenu {{ background: {window}; border: 1px solid {line}; padding: 4px; }}
QMenu::item {{ padding: 4px 22px 4px 22px; border-radius: 4px; }}
QMenu::item:selected {{ background: {accent}; color: white; }}
QMenu::item:disabled {{ color: {dim}; background: transparent; }}
QMenu::separator {{ height: 1px; background: {line}; margin: 4px 8px; }}
QToolBar {{ background: {window}; border: 0; border-bottom: 1px solid {line};
    spacing: 2px; padding: 4px 8px; }}
QToolBar::separator {{ width: 1px; background: {line}; margin: 5px 6px; }}
QToolButton {{ border: 0; border-radius: 6px; padding: 5px; background: transparent; }}
QToolButton:hover {{ background: {raised}; }}
QToolButton#universe {{ color: {dim}; }}
QToolButton#universe:hover:enabled {{ color: {text}; }}
QToolButton:checked {{ background: {line}; }}
QToolButton:focus {{ border: 1px solid {accent}; padding: 4px; }}
QToolButton:pressed {{ background: {line}; }}
QToolButton#qt_toolbar_ext_button {{ padding: 0; }}
QStatusBar {{ background: {window}; border-top: 1px solid {line}; }}
QStatusBar::item {{ border: 0; }}
QStatusBar QLabel {{ padding: 2px 7px; }}
QLabel[dim="true"] {{ color: {dim}; }}
QLabel[error="true"] {{ color: #e5484d; }}
QFrame#banner {{ background: {raised}; border: 1px solid {line}; border-radius: 7px; }}
QFrame#banner[kind="error"] {{ background: #8c2f33; border-color: #b5474c; }}
QFrame#banner[kind="error"] QLabel, QFrame#banner[kind="error"] QToolButton {{ color: white; }}
QFrame#overlay {{ background: {raised}; border: 1px solid {line}; border-radius: 6px; }}
QLabel#past {{ background: {past}; color: #1d1400; border-radius: 6px; padding: 5px 10px;
    font-weight: bold; }}
QFrame#palette {{ background: {window}; border: 1px solid {line}; border-radius: 8px; }}
QLineEdit, QSpinBox {{ background: {base}; border: 1px solid {line};
    border-radius: 5px; padding: 4px 6px; selection-background-color: {accent}; }}
QLineEdit:focus, QSpinBox:focus {{ border-color: {accent}; }}
QDialogButtonBox {{ dialogbuttonbox-buttons-have-icons: 0; }}
QPushButton {{ background: {raised}; border: 1px solid {line}; border-radius: 5px;
    padding: 5px 16px; min-width: 56px; }}
QPushButton:hover {{ background: {line}; }}
QPushButton:default {{ background: {accent}; border-color: {accent}; color: white; }}
QPushButton:focus {{ border-color: {text}; }}
QPushButton:disabled {{ background: {raised}; border-color: {line}; color: {dim}; }}
QPushButton#start {{ text-align: left; padding: 6px 12px; }}
QListView, QTableWidget, QTreeWidget {{ background: {base}; border: 1px solid {line};
    border-radius: 5px; outline: 0; }}
QScrollBar:vertical {{ background: transparent; width: 10px; margin: 2px; }}
QScrollBar::handle:vertical {{ background: {line}; border-radius: 3px; min-height: 28px; }}
QScrollBar:horizontal {{ background: transparent; height: 10px; margin: 2px; }}
QScrollBar::handle:horizontal {{ background: {line}; border-radius: 3px; min-width: 28px; }}
QScrollBar::add-line, QScrollBar::sub-line {{ width: 0; height: 0; }}
QToolTip {{ background: {raised}; color: {text}; border: 1px solid {line}; padding: 4px; }}
QSlider::groove:horizontal {{ height: 4px; border-radius: 2px; background: {line}; }}
QSlider::sub-page:horizontal:enabled {{ background: {accent}; border-radius: 2px; }}
QSlider::handle:horizontal {{ width: 12px; margin: -5px 0; border-radius: 6px; background: {dim}; }}
QSlider::handle:horizontal:enabled {{ background: {text}; }}
QSlider::handle:horizontal:focus {{ border: 2px solid {accent}; }}
QProgressBar {{ background: {base}; border: 1px solid {line}; border-radius: 5px;
    text-align: center; }}
QProgressBar::chunk {{ background: {accent}; border-radius: 4px; }}
QDockWidget::title {{ background: {raised}; padding: 4px 8px; }}
"""
