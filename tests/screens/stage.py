"""What screens are made of: windows with universes, in a home of their own; and what saves them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from PIL import Image
from PySide6.QtCore import QSettings
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QWidget

from kernels.targets.choose import pick
from tests.windows import close, settle, until
from ui import opening
from ui.cells.edited import EditedSession
from ui.qt import theme
from ui.qt.parsing.window import ParseWindow
from ui.qt.start.cards import CardList
from ui.qt.window import LifeWindow
from ui.session import Session

ROOT = Path(__file__).parents[2]
_COLOURS = 256
PATTERNS = ROOT / "data" / "patterns"


@dataclass
class Stage:
    """The place where a screen is made. home: a folder with files; theme, size: of windows."""

    home: Path
    theme: str
    size: tuple[int, int]
    windows: list[LifeWindow | ParseWindow] = field(default_factory=list)

    @property
    def settings(self) -> QSettings:
        """Return the settings that windows begin with."""
        made = QSettings(str(self.home / ".settings.ini"), QSettings.Format.IniFormat)
        made.setValue("view/theme", self.theme)
        made.setValue("view/palette", self.theme)
        return made

    def open(self, session: Session) -> LifeWindow:
        """Open a window on a universe, and wait until it is drawn."""
        backend = pick("auto", threads=1)
        window = LifeWindow(session, backend, self.settings)  # type: ignore[arg-type]
        self._show(window)
        until(lambda: window.canvas.frame is not None and window._aim is None)
        return window

    def open_pattern(self, name: str) -> LifeWindow:
        """Open a window on a pattern of the library."""
        path = self.home / f"{name}.rle"
        shutil.copy(PATTERNS / path.name, path)
        return self.open(opening.open(str(path), backend=pick("auto", threads=1)))

    def parse(self) -> ParseWindow:
        """Open a window for parsing."""
        window = ParseWindow(self.settings, backend="auto")
        self._show(window)
        return window

    def _show(self, window: LifeWindow | ParseWindow) -> None:
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        theme.apply(app, self.theme)
        self.windows.append(window)
        window.resize(*self.size)
        window.show()
        QApplication.processEvents()

    def leave(self) -> None:
        """Close what was opened."""
        from tests.ui.parse_windows import close_parse_window

        for window in self.windows:
            close(window) if isinstance(window, LifeWindow) else close_parse_window(window)
        self.windows.clear()


Making = Callable[[Stage], QWidget | QImage]


@dataclass(frozen=True)
class Screen:
    """A screen: what makes it, in which colours and how large, unless it is asked to be otherwise.
    make: returns what is to be seen."""

    name: str
    make: Making
    theme: str
    size: tuple[int, int]


SCREENS: dict[str, Screen] = {}


def screen(
    name: str, width: int = 1000, height: int = 640, *, theme: str = "dark"
) -> Callable[[Making], Making]:
    """Keep a function under the name of the screen that it makes."""

    def keep(make: Making) -> Making:
        SCREENS[name] = Screen(name, make, theme, (width, height))
        return make

    return keep


def rested(window: LifeWindow) -> LifeWindow:
    """Wait until a window shows what there is now, and all of its small pictures."""
    session = window.session
    assert isinstance(session, EditedSession)
    settle(window)
    until(lambda: window._aim is None and session.status().counted == session.status().generation)
    settle(window)
    window.refresh()
    seen(window)
    return window


def seen(widget: QWidget) -> None:
    """Wait until all that is asked for is drawn, small pictures too."""
    QApplication.processEvents()
    lists = [cards for cards in widget.window().findChildren(CardList) if cards.isVisible()]
    until(lambda: not any(_lacks(cards) for cards in lists))
    QApplication.processEvents()


def _lacks(cards: CardList) -> bool:
    """Tell whether a card that is in view has no picture yet."""
    rows = range(cards.cards.rowCount())
    view = cards.viewport().rect()
    shown = [row for row in rows if cards.visualRect(cards.cards.index(row)).intersects(view)]
    return any(cards.cards.thumbs.of(cards.cards.cards[row].path) is None for row in shown)


def save(shown: QWidget | QImage, path: Path) -> None:
    """Write what is seen as a PNG of few colours, which nobody can tell from all of them."""
    if isinstance(shown, QWidget):
        seen(shown)
        shown = shown.grab().toImage()
    path.parent.mkdir(parents=True, exist_ok=True)
    assert shown.save(str(path), "PNG")
    with Image.open(path) as image:
        few = image.convert("RGB").quantize(
            _COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE
        )
    few.save(path, optimize=True)
