"""A change of theme, held against widgets that never had another one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from PySide6.QtGui import QColor, QImage, QPalette
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QCheckBox,
    QComboBox,
    QDialog,
    QDockWidget,
    QGridLayout,
    QGroupBox,
    QLabel,
    QLineEdit,
    QListWidget,
    QPlainTextEdit,
    QProgressBar,
    QPushButton,
    QRadioButton,
    QScrollBar,
    QSlider,
    QSpinBox,
    QTableWidget,
    QTabWidget,
    QTextBrowser,
    QToolButton,
    QTreeWidget,
    QWidget,
)

from lifesim.render import PALETTES, palette_table
from tests.windows import close, make_window, until
from ui.picture.age_colours import age_table
from ui.qt import theme
from ui.qt.history import HistoryDock
from ui.qt.window import LifeWindow

_KINDS = (
    QCheckBox, QComboBox, QGroupBox, QLabel, QLineEdit, QListWidget, QPlainTextEdit, QProgressBar,
    QPushButton, QRadioButton, QScrollBar, QSlider, QSpinBox, QTableWidget, QTabWidget,
    QTextBrowser, QToolButton, QTreeWidget,
)  # fmt: skip


@pytest.fixture
def dark(app: QApplication) -> Iterator[QApplication]:
    """The application, which is dark before and after."""
    theme.apply(app, "dark")
    yield app
    theme.apply(app, "dark")


def _one_of_each() -> QDialog:
    """A dialog with a widget of each kind, as they are and disabled."""
    made = QDialog()
    layout = QGridLayout(made)
    for row, enabled in enumerate((True, False)):
        for column, kind in enumerate(_KINDS):
            widget: QWidget = kind()
            for name in ("setText", "setTitle", "setPlainText", "addItem"):
                if hasattr(widget, name):
                    getattr(widget, name)("Words")
            widget.setEnabled(enabled)
            layout.addWidget(widget, 2 * (column % 6) + row, column // 6)
    made.show()
    QApplication.processEvents()
    return made


def _picture(widget: QWidget) -> QImage:
    QApplication.processEvents()
    return widget.grab().toImage()


def test_widgets_are_as_if_they_had_been_made_in_that_theme(dark: QApplication) -> None:
    changed = _one_of_each()
    before = _picture(changed)
    theme.apply(dark, "light")
    fresh = _one_of_each()
    assert _picture(changed) == _picture(fresh)
    assert _picture(changed) != before
    theme.apply(dark, "dark")
    assert _picture(changed) == before
    for dialog in (changed, fresh):
        dialog.close()
        dialog.deleteLater()


def _window(folder: Path) -> LifeWindow:
    folder.mkdir()
    made = make_window(folder)
    for dock in made.findChildren(QDockWidget):
        if isinstance(dock, HistoryDock) or dock.objectName() == "console":
            dock.show()
    until(lambda: made.findChild(HistoryDock).isVisible())
    return made


def test_a_window_is_as_if_it_had_been_made_in_that_theme(dark: Any, tmp_path: Path) -> None:
    pictures = []
    for number, names in enumerate((("dark", "light"), ("light",))):
        window = _window(tmp_path / str(number))
        for name in names:
            window.dress(name)
        until(lambda window=window: window.canvas.frame.request.serial == window._serial)
        for part in (window.toolbar, window.menuBar(), window.statusBar()):
            pictures.append(_picture(part))
        pictures += [
            _picture(dock) for dock in window.findChildren(QDockWidget) if dock.isVisible()
        ]
        close(window)
    half = len(pictures) // 2
    assert half >= 5
    assert pictures[:half] == pictures[half:]


def _luminance(colour: QColor) -> float:
    """Return how bright a colour is to the eye, 0 to 1, as WCAG has it."""
    parts = (colour.redF(), colour.greenF(), colour.blueF())
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("name", theme.THEMES)
def test_buttons_of_docks_can_be_seen(dark: Any, tmp_path: Path, name: str) -> None:
    """They can, also after a dock was a window of its own, and the theme another one."""
    window = _window(tmp_path / name)
    window.dress("light" if name == "dark" else "dark")
    window.dress(name)
    dock = window.findChild(HistoryDock)
    for _ in range(2):
        QApplication.processEvents()
        for which in ("close", "float"):
            button = dock.findChild(QAbstractButton, f"qt_dockwidget_{which}button")
            assert button.toolTip()
            image = dock.grab(button.geometry()).toImage()
            shades = [
                _luminance(image.pixelColor(x, y)) + 0.05
                for x in range(image.width())
                for y in range(image.height())
            ]
            assert max(shades) / min(shades) > 4.5
        for is_floating in (True, False):
            dock.setFloating(is_floating)
            QApplication.processEvents()
    close(window)


def test_lines_of_the_toolbar_are_thin_in_narrow_windows(dark: Any, tmp_path: Path) -> None:
    """Qt widens what separates buttons where not all of them have room."""
    window = make_window(tmp_path)
    for width in (640, 1200):
        window.resize(width, 400)
        QApplication.processEvents()
        parts = [
            part
            for part in window.toolbar.findChildren(QWidget)
            if part.metaObject().className() == "QToolBarSeparator" and part.isVisible()
        ]
        assert parts
        for part in parts:
            image, row = _picture(part), part.height() // 2
            colours = [image.pixelColor(x, row).name() for x in range(image.width())]
            line = theme.palette_of("dark").color(QPalette.ColorRole.Mid).name()
            assert colours.count(line) == 1, colours
    close(window)


def test_tables_of_colours_are_those_of_the_palettes() -> None:
    for palette in PALETTES:
        for table, colours in (
            (palette_table(palette), theme.colour_table(palette)),
            (age_table(palette), theme.age_colours(palette)),
        ):
            assert [[c >> 16 & 255, c >> 8 & 255, c & 255] for c in colours] == table.tolist()


def test_a_desktops_own_colours_of_menus_are_not_kept(dark: QApplication) -> None:
    odd, ours = QPalette("red"), theme.palette_of("dark")
    dark.setPalette(odd, "QMenu")  # type: ignore[arg-type]
    theme.take_for_all_classes(dark, ours)
    assert QApplication.palette("QMenu") == ours  # type: ignore[call-overload]
