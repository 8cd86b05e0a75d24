"""The browser of patterns: those that come with the program, or those of any folder."""

from __future__ import annotations

from html import escape

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QShowEvent
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from lifesim.errors import LifesimError
from lifesim.library import PatternEntry, PatternLibrary
from ui.qt.rows import RowsLayout
from ui.qt.start.cards import CardList
from ui.qt.start.thumbs import Thumbs
from ui.start.cards import Card, short_path
from ui.start.facts import facts_of
from ui.start.finder import Finder, FoundPatterns, Wanted

_WIDTH, _WIDEST_CHOICE = 330, 150  # pixels
_LONGEST_PIECE = 24  # letters
_ANOTHER = "another folder"
_OURS = "Pattern library"


class PatternBrowser(QWidget):
    """Shows the patterns of a library, and what is known of the one chosen.

    opened: a pattern is to be opened. inserted: one is to be put into the universe shown. folder:
    another folder is wanted. current: another pattern, or none, is chosen.
    """

    opened = Signal(object)
    inserted = Signal(object)
    folder = Signal()
    current = Signal()
    _landed = Signal(object)

    def __init__(self, thumbs: Thumbs) -> None:
        super().__init__()
        self._thumbs = thumbs
        self._library: PatternLibrary | None = None
        self._entries: dict[str, PatternEntry] = {}
        self._finder = Finder(self._landed.emit)
        self._landed.connect(self._land, Qt.ConnectionType.QueuedConnection)
        self.line = QLineEdit()
        self.line.setPlaceholderText("Search: gun, p30, c/2, Gosper…")
        self.line.setAccessibleName("Search patterns")
        self.line.setClearButtonEnabled(True)
        for button in self.line.findChildren(QToolButton):
            button.setAccessibleName("Clear the search")
        self.line.setAcceptDrops(False)  # what is dropped is opened
        self.line.setMinimumWidth(150)
        self.kinds = _choice("Kind of pattern", "All kinds")
        self.rules = _choice("Rule of patterns", "All rules")
        self.sources = _choice("Where patterns are from", _OURS)
        self.sources.addItem("Another folder…", _ANOTHER)
        self.list = CardList("Patterns", thumbs, rows=False)
        self.count = QLabel()
        self.count.setProperty("dim", True)
        self.count.setTextFormat(Qt.TextFormat.PlainText)
        self.facts = QLabel()
        self.facts.setTextFormat(Qt.TextFormat.RichText)
        self.facts.setWordWrap(True)
        self.facts.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.facts.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.open_button = QPushButton("Open")
        self.insert_button = QPushButton("Insert")
        self.open_button.setAccessibleName("Open the pattern")
        self.insert_button.setAccessibleName("Insert the pattern")
        self.insert_button.setToolTip("Take it to the universe shown, and put it down by a click")
        self.insert_button.hide()
        self._lay_out()
        self._connect()
        self._show_facts()

    def _lay_out(self) -> None:
        filters = RowsLayout()
        for widget in (self.line, self.kinds, self.rules, self.sources):
            filters.addWidget(widget)
        buttons = QVBoxLayout()
        for button in (self.open_button, self.insert_button):
            buttons.addWidget(button)
        buttons.addStretch(1)
        below = QHBoxLayout()
        below.addWidget(self.facts, 1)
        below.addLayout(buttons)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addLayout(filters)
        layout.addWidget(self.list, 1)
        layout.addWidget(self.count)
        layout.addLayout(below)

    def _connect(self) -> None:
        self.line.textChanged.connect(self._look)
        self.line.installEventFilter(self)
        self.kinds.currentIndexChanged.connect(self._look)
        self.rules.currentIndexChanged.connect(self._look)
        self.sources.activated.connect(self._choose_source)
        self.list.current.connect(self._show_facts)
        self.list.chosen.connect(lambda card: self._emit(self.opened, card))
        self.open_button.clicked.connect(lambda: self._emit(self.opened, self.list.card()))
        self.insert_button.clicked.connect(lambda: self._emit(self.inserted, self.list.card()))

    def showEvent(self, event: QShowEvent) -> None:
        """Look for patterns as soon as somebody looks at them."""
        super().showEvent(event)
        if self._library is None:
            self.browse("")

    def sizeHint(self) -> QSize:
        """Return the size of a dock at the side."""
        return QSize(_WIDTH, _WIDTH)

    def dress(self, theme: str) -> None:
        """Draw pictures in the colours of a theme."""
        self.list.dress(theme)

    def close_finder(self) -> None:
        """Look for nothing more."""
        self._finder.close()

    @property
    def library(self) -> PatternLibrary:
        """Return the library that is browsed."""
        return self._library or PatternLibrary.of_ours()

    @property
    def source(self) -> str:
        """Return the folder that is browsed, '' for the patterns that come with the program."""
        library = self.library
        return "" if library is PatternLibrary.of_ours() else library.folder

    def browse(self, folder: str) -> None:
        """Show the patterns of a folder, '' for those that come with the program. Raises
        LifesimError for what is no folder."""
        library = PatternLibrary.of_folder(folder) if folder else PatternLibrary.of_ours()
        self._library = library
        self._thumbs.doubt()
        for box in (self.kinds, self.rules):
            box.blockSignals(True)
            box.setCurrentIndex(0)
            box.blockSignals(False)
        self._look()

    def show_sources(self, folders: list[str]) -> None:
        """Offer these folders, too."""
        box, source = self.sources, self.source
        box.clear()
        box.addItem(_OURS, "")
        for folder in dict.fromkeys([*folders, *([source] if source else [])]):
            box.addItem(short_path(folder, 30), folder)
            box.setItemData(box.count() - 1, folder, Qt.ItemDataRole.ToolTipRole)
        box.addItem("Another folder…", _ANOTHER)
        box.setCurrentIndex(max(box.findData(source), 0))

    def entry(self) -> PatternEntry | None:
        """Return the pattern that is chosen."""
        card = self.list.card()
        return None if card is None else self._entries.get(card.path)

    def show_insert(self, offered: bool, can: bool) -> None:
        """Offer to insert patterns, if there is a universe that they can be put into."""
        self.insert_button.setVisible(offered)
        self.insert_button.setEnabled(can and self.entry() is not None)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Let keys lead from the line into the list, and Return open the first pattern found."""
        if isinstance(event, QKeyEvent) and event.type() is QEvent.Type.KeyPress:
            if event.key() in (Qt.Key.Key_Down, Qt.Key.Key_PageDown):
                self.list.focus_first()
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.list.cards.cards:
                self._emit(self.opened, self.list.card() or self.list.cards.cards[0])
                return True
        return super().eventFilter(watched, event)

    def _emit(self, signal: object, card: Card | None) -> None:
        entry = None if card is None else self._entries.get(card.path)
        if entry is not None:
            signal.emit(entry)  # type: ignore[attr-defined]

    def _choose_source(self) -> None:
        data = self.sources.currentData()
        if data == _ANOTHER:
            self.sources.setCurrentIndex(max(self.sources.findData(self.source), 0))
            self.folder.emit()
            return
        try:
            self.browse(data)
        except LifesimError as error:
            self.count.setText(str(error))
            self.sources.setCurrentIndex(max(self.sources.findData(self.source), 0))

    def _look(self) -> None:
        if self._library is not None:
            kind, rule = self.kinds.currentData(), self.rules.currentData()
            self._finder.look(Wanted(self._library, self.line.text(), kind, rule))

    def _land(self, found: FoundPatterns) -> None:
        if found.wanted.library is not self._library:
            return
        self._entries = {entry.path: entry for entry in found.entries}
        _offer(self.kinds, found.kinds)
        _offer(self.rules, found.rules)
        self.list.show_cards(list(found.cards))
        self.count.setText(found.summary)
        self.count.setToolTip("\n".join(found.notes[:20]))
        self._show_facts()

    def _show_facts(self, *_: object) -> None:
        entry = self.entry()
        self.open_button.setEnabled(entry is not None)
        if entry is None:
            self.facts.setText("Choose a pattern to see what is known of it.")
        else:
            facts = " · ".join(
                f"{escape(label)}&nbsp;<b>{escape(_in_one_piece(value))}</b>"
                for label, value in facts_of(entry, is_ours=not self.source)
            )
            about = f"{escape(entry.about)}<br>" if entry.about else ""
            self.facts.setText(f"<b>{escape(entry.title)}</b><br>{about}{facts}")
        self.current.emit()


def _in_one_piece(text: str) -> str:
    """Return a short text such that no line ends within it."""
    return text.replace(" ", "\N{NO-BREAK SPACE}") if len(text) <= _LONGEST_PIECE else text


def _choice(name: str, first: str) -> QComboBox:
    box = QComboBox()
    box.setAccessibleName(name)
    box.setToolTip(name)
    box.addItem(first, None)
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
    box.setMaximumWidth(_WIDEST_CHOICE)
    return box


def _offer(box: QComboBox, items: tuple[str, ...]) -> None:
    """Offer other items below the first one, which is for any; what is chosen stays so."""
    if [box.itemData(row) for row in range(1, box.count())] == list(items):
        return
    chosen = box.currentData()
    box.blockSignals(True)
    while box.count() > 1:
        box.removeItem(1)
    for item in items:
        box.addItem(item[:1].upper() + item[1:], item)
    box.setCurrentIndex(max(box.findData(chosen), 0) if chosen else 0)
    box.blockSignals(False)
