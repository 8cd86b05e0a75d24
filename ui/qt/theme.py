"""Colours of the window and of the universe, dark and light."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication, QToolTip

from lifesim.render import palette_table
from ui.picture.age_colours import age_table

THEMES = ("dark", "light")
_DRESSED = "lifesim-theme"  # of the application: the theme that it has
_THEMED = (  # classes that a desktop may give colours of their own
    "QToolButton", "QAbstractButton", "QCheckBox", "QRadioButton", "QHeaderView",
    "QAbstractItemView", "QMessageBoxLabel", "QTabBar", "QLabel", "QGroupBox", "QMenu", "QMenuBar",
    "QTextEdit", "QTextControl", "QLineEdit", "QComboBox", "QTipLabel",
)  # fmt: skip
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


@cache
def colour_table(palette: str) -> tuple[int, ...]:
    """Return 256 colours for QImage.setColorTable."""
    return tuple(colour_list(palette_table(palette)))


@cache
def age_colours(palette: str) -> tuple[int, ...]:
    """Return the colours of ages (ui.picture.age_colours) for QImage.setColorTable."""
    return tuple(colour_list(age_table(palette)))


def colour_list(table: npt.NDArray[np.uint8]) -> list[int]:
    """Return red, green and blue, uint8 (n, 3), for QImage.setColorTable."""
    return [0xFF000000 | r << 16 | g << 8 | b for r, g, b in table.tolist()]


def system_theme() -> str:
    """Return the theme that the desktop uses, dark if it does not say."""
    scheme = QGuiApplication.styleHints().colorScheme().name
    return "light" if scheme == "Light" else "dark"


def current() -> str:
    """Return the theme that the application has."""
    app = QApplication.instance()
    return str(app.property(_DRESSED)) if app is not None else system_theme()


def apply(app: QApplication, theme: str) -> None:
    """Dress the application and all its widgets, unless it has that theme."""
    if app.property(_DRESSED) == theme:
        return
    is_first = not app.property(_DRESSED)
    if is_first:
        app.setStyle("Fusion")
    app.setProperty(_DRESSED, theme)
    palette = palette_of(theme)
    app.setPalette(palette)
    take_for_all_classes(app, palette)
    QToolTip.setPalette(palette)
    if is_first:
        app.setStyleSheet(_SHEET)
    else:
        _polish_all(app)


def take_for_all_classes(app: QApplication, palette: QPalette) -> None:
    """Let a palette take the place of those that the desktop has for classes of widgets."""
    for kind in _THEMED:  # names are str, though PySide's types say bytes
        if QApplication.palette(kind) != palette:  # type: ignore[call-overload]
            app.setPalette(palette, kind)  # type: ignore[arg-type]


def palette_of(theme: str) -> QPalette:
    """Return the colours of a theme by their roles."""
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
    return palette


def _polish_all(app: QApplication) -> None:
    """Let all widgets take the colours of the palette that there is now.

    What a style sheet says of a widget is remembered with the colours that the palette had.
    To set another style sheet for the application would style each widget once for each of
    its parents, and have all sizes computed anew, in three to five times the time."""
    for widget in app.allWidgets():
        if widget.testAttribute(Qt.WidgetAttribute.WA_WState_Polished):
            style = widget.style()
            style.unpolish(widget)
            style.polish(widget)
            widget.update()


# All colours are those of the palette, or the same in all themes: the sheet is set only once.
_SHEET = """
QMainWindow, QDialog { background: palette(window); }
QMenuBar { background: palette(window); padding: 2px 4px; }
QMenuBar::item { padding: 4px 9px; border-radius: 4px; background: transparent; }
QMenuBar::item:selected { background: palette(alternate-base); }
QMenu { background: palette(window); border: 1px solid palette(mid); padding: 4px; }
QMenu::item { padding: 4px 22px 4px 22px; border-radius: 4px; }
QMenu::item:selected { background: palette(highlight); color: white; }
QMenu::item:disabled { color: palette(placeholder-text); background: transparent; }
QMenu::separator { height: 1px; background: palette(mid); margin: 4px 8px; }
QToolBar { background: palette(window); border: 0; border-bottom: 1px solid palette(mid);
    spacing: 2px; padding: 4px 8px; }
QToolBar::separator { width: 0; border-left: 1px solid palette(mid); margin: 5px 6px; }
QToolButton { border: 0; border-radius: 6px; padding: 5px; background: transparent; }
QToolButton:hover { background: palette(alternate-base); }
QToolButton#universe { color: palette(placeholder-text); }
QToolButton#universe:hover:enabled { color: palette(text); }
QToolButton:checked { background: palette(mid); }
QToolButton:focus { border: 1px solid palette(highlight); padding: 4px; }
QToolButton:pressed { background: palette(mid); }
QToolButton#qt_toolbar_ext_button { padding: 0; }
QStatusBar { background: palette(window); border-top: 1px solid palette(mid); }
QStatusBar::item { border: 0; }
QStatusBar QLabel { padding: 2px 7px; }
QLabel[dim="true"] { color: palette(placeholder-text); }
QLabel[error="true"] { color: #e5484d; }
QFrame#banner { background: palette(alternate-base); border: 1px solid palette(mid);
    border-radius: 7px; }
QFrame#banner[kind="error"] { background: #8c2f33; border-color: #b5474c; }
QFrame#banner[kind="error"] QLabel, QFrame#banner[kind="error"] QToolButton { color: white; }
QFrame#overlay { background: palette(alternate-base); border: 1px solid palette(mid);
    border-radius: 6px; }
QLabel#past { background: PAST; color: #1d1400; border-radius: 6px; padding: 5px 10px;
    font-weight: bold; }
QFrame#palette { background: palette(window); border: 1px solid palette(mid); border-radius: 8px; }
QLineEdit, QSpinBox { background: palette(base); border: 1px solid palette(mid);
    border-radius: 5px; padding: 4px 6px; selection-background-color: palette(highlight); }
QLineEdit:focus, QSpinBox:focus { border-color: palette(highlight); }
QDialogButtonBox { dialogbuttonbox-buttons-have-icons: 0; }
QPushButton { background: palette(alternate-base); border: 1px solid palette(mid);
    border-radius: 5px;
    padding: 5px 16px; min-width: 56px; }
QPushButton:hover { background: palette(mid); }
QPushButton:default { background: palette(highlight); border-color: palette(highlight);
    color: white; }
QPushButton:focus { border-color: palette(text); }
QPushButton:disabled { background: palette(alternate-base); border-color: palette(mid);
    color: palette(placeholder-text); }
QPushButton#start { text-align: left; padding: 6px 12px; }
QListView, QTableWidget, QTreeWidget { background: palette(base); border: 1px solid palette(mid);
    border-radius: 5px; outline: 0; }
QScrollBar:vertical { background: transparent; width: 10px; margin: 2px; }
QScrollBar::handle:vertical { background: palette(mid); border-radius: 3px; min-height: 28px; }
QScrollBar:horizontal { background: transparent; height: 10px; margin: 2px; }
QScrollBar::handle:horizontal { background: palette(mid); border-radius: 3px; min-width: 28px; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QToolTip { background: palette(alternate-base); color: palette(text);
    border: 1px solid palette(mid); padding: 4px; }
QSlider::groove:horizontal { height: 4px; border-radius: 2px; background: palette(mid); }
QSlider::sub-page:horizontal:enabled { background: palette(highlight); border-radius: 2px; }
QSlider::handle:horizontal { width: 12px; margin: -5px 0; border-radius: 6px;
    background: palette(placeholder-text); }
QSlider::handle:horizontal:enabled { background: palette(text); }
QSlider::handle:horizontal:focus { border: 2px solid palette(highlight); }
QProgressBar { background: palette(base); border: 1px solid palette(mid); border-radius: 5px;
    text-align: center; }
QProgressBar::chunk { background: palette(highlight); border-radius: 4px; }
QDockWidget::close-button, QDockWidget::float-button { border: 0; border-radius: 4px;
    background: transparent; }
QDockWidget::close-button:hover, QDockWidget::float-button:hover { background: palette(mid); }
QDockWidget::title { background: palette(alternate-base); padding: 4px 8px; }
""".replace("PAST", PAST)
