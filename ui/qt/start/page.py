"""The start page: what can be opened, shown while no universe is."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QAction, QColor, QKeySequence, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QLabel,
    QMenu,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from ui.qt.actions import Registry
from ui.qt.banner import Banner
from ui.qt.icons import icon
from ui.qt.start.browser import PatternBrowser
from ui.qt.start.cards import CardList
from ui.qt.start.thumbs import Thumbs
from ui.qt.theme import Colours
from ui.start.cards import Card, card_of_file

_NARROW = 720  # pixels: below that all is in one column
_SIDE, _WIDEST = 320, 1240
_BUTTONS = (
    ("file.soup", "soup"), ("file.new", "new"), ("file.open", "open"), ("file.directory", "disk"),
)  # fmt: skip


class StartPage(QScrollArea):
    """Offers new universes, recent files and patterns, and gives three hints.

    opened: a recent file is to be opened. removed: one is to leave the list.
    """

    opened = Signal(str)
    removed = Signal(str)

    def __init__(self, registry: Registry, thumbs: Thumbs) -> None:
        super().__init__()
        self.setObjectName("start")
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName("Start page")
        self._registry, self._thumbs = registry, thumbs
        self._is_target = False
        self._theme = ""  # that it has
        self.buttons = [self._button(id) for id, _ in _BUTTONS]
        self.recent = CardList("Recent files", thumbs, rows=True)
        self.recent.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.recent.customContextMenuRequested.connect(self._show_menu)
        self.recent.chosen.connect(lambda card: self.opened.emit(card.path))
        self.recent.removed.connect(lambda card: self.removed.emit(card.path))
        self.nothing = _text("What you open is kept here.", dim=True)
        self.browser = PatternBrowser(thumbs)
        self._banner_place = QVBoxLayout()
        self._columns = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._place = self._laid_out()
        self.setWidget(self._place)
        self._place.setAutoFillBackground(False)  # which would hide the frame of show_target()

    def _button(self, id: str) -> QPushButton:
        action = self._registry[id]
        keys = self._registry.made(id).shortcut().toString(_NATIVE)
        button = QPushButton(f" {action.name}")
        button.setObjectName("start")
        button.setAccessibleName(action.name)
        button.setAccessibleDescription(keys)
        button.setToolTip(f"{action.tip or action.name.removesuffix('…')} ({keys})")
        button.clicked.connect(lambda: self._registry.run(id))
        return button

    def _laid_out(self) -> QWidget:
        self._side = QWidget()
        side = QVBoxLayout(self._side)
        side.setContentsMargins(0, 0, 0, 0)
        for button in self.buttons:
            side.addWidget(button)
        side.addSpacing(10)
        side.addWidget(_text("Recent files", heading=True))
        side.addWidget(self.nothing)
        side.addWidget(self.recent, 1000)
        side.addSpacing(10)
        for hint in self._hints():
            side.addWidget(_text(hint, dim=True))
        side.addStretch(1)
        self._patterns = QWidget()
        patterns = QVBoxLayout(self._patterns)
        patterns.setContentsMargins(0, 0, 0, 0)
        patterns.addWidget(_text("Patterns", heading=True))
        patterns.addWidget(self.browser, 1)
        self._columns.setSpacing(24)
        self._columns.addWidget(self._side)
        self._columns.addWidget(self._patterns, 1)
        place = QWidget()
        place.setMaximumWidth(_WIDEST)
        column = QVBoxLayout(place)
        column.setContentsMargins(20, 14, 20, 14)
        column.addLayout(self._banner_place)
        column.addWidget(_text("lifesim", title=True))
        column.addSpacing(4)
        column.addLayout(self._columns, 1)
        return place

    def _hints(self) -> list[str]:
        palette, keys = (
            self._registry.made(id).shortcut().toString(_NATIVE)
            for id in ("help.palette", "help.shortcuts")
        )
        return [
            "Drop a pattern file or a universe directory anywhere here to open it.",
            "Of a universe: Return runs it, Space moves it on, the wheel zooms.",
            f"{palette} finds whatever can be done by a few letters; {keys} lists all keys.",
        ]

    # --- what is shown ---------------------------------------------------------

    def show_recent(self, paths: list[str]) -> None:
        """Show these files, the latest first."""
        self.nothing.setVisible(not paths)
        self.recent.setVisible(bool(paths))
        self.recent.show_cards([card_of_file(path) for path in paths])
        self._fit_recent()

    def hold(self, banner: Banner) -> None:
        """Show messages at the top of the page."""
        self._banner_place.addWidget(banner)

    def first(self) -> QWidget:
        """Return what has the focus first: the recent files, or the buttons where there are
        none."""
        return self.recent if self.recent.cards.cards else self.buttons[0]

    def dress(self, theme: str, shades: Colours) -> None:
        """Take the colours of a theme."""
        if theme == self._theme:
            return
        self._theme = theme
        for button, (_, name) in zip(self.buttons, _BUTTONS, strict=True):
            button.setIcon(icon(name, shades.icon, shades.faint))
        self.recent.dress(theme)
        self.browser.dress(theme)

    def show_target(self, is_target: bool) -> None:
        """Show whether what is dragged may be dropped here."""
        self._is_target = is_target
        self.viewport().update()

    # --- events ----------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lay out one column or two."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        narrow = self.viewport().width() < _NARROW
        ways = QBoxLayout.Direction
        self._columns.setDirection(ways.TopToBottom if narrow else ways.LeftToRight)
        self._side.setMaximumWidth(16777215 if narrow else _SIDE)
        self._side.setMinimumWidth(0 if narrow else _SIDE)
        self._patterns.setMinimumHeight(460 if narrow else 360)
        left = max(0, (self.viewport().width() - _WIDEST) // 2)
        self._place.setContentsMargins(left, 0, 0, 0)
        self._place.setMaximumWidth(_WIDEST + left)
        self._fit_recent()

    def _fit_recent(self) -> None:
        """Show all recent files in one column; leave them what room there is in two."""
        narrow = self.viewport().width() < _NARROW
        count = len(self.recent.cards.cards)
        row = self.recent.sizeHintForRow(0) if count else 0
        high = count * row + 2 * self.recent.frameWidth() + 2
        self.recent.setMinimumHeight(high if narrow else min(high, 2 * row))
        self.recent.setMaximumHeight(max(high, 0))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw a frame while something may be dropped."""
        super().paintEvent(event)
        if self._is_target:
            painter = QPainter(self.viewport())
            colour = QColor(self.palette().highlight().color())
            painter.setPen(QPen(colour, 3, Qt.PenStyle.DashLine))
            painter.drawRoundedRect(self.viewport().rect().adjusted(4, 4, -5, -5), 9, 9)
            painter.end()

    def _show_menu(self, at: QPoint) -> None:
        index = self.recent.indexAt(at)
        card = self.recent.card() if index.isValid() else None
        if card is not None:
            menu = self._menu_of(card)
            menu.popup(self.recent.viewport().mapToGlobal(at))

    def _menu_of(self, card: Card) -> QMenu:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for title, signal in (("&Open", self.opened), ("&Remove from this list", self.removed)):
            action = QAction(title, menu)
            action.triggered.connect(lambda _=False, signal=signal: signal.emit(card.path))
            menu.addAction(action)
        return menu


def _text(text: str, *, dim: bool = False, heading: bool = False, title: bool = False) -> QLabel:
    label = QLabel(text)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    label.setProperty("dim", dim)
    if heading or title:
        font = label.font()
        font.setBold(True)
        font.setPointSizeF(font.pointSizeF() * (1.9 if title else 1.15))
        label.setFont(font)
    policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Maximum)
    policy.setHeightForWidth(True)  # of its lines, which follow from the width
    label.setSizePolicy(policy)
    return label


_NATIVE = QKeySequence.SequenceFormat.NativeText
