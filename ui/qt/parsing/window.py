"""The window for parsing: a grammar, sentences in bulk, and of one its chart and its trees.

Three threads work for it: for the grammar, for all sentences, for the one that is looked at.
What each finds lands in one method, on the main thread: of the last in _land_look().
"""

from __future__ import annotations

import sys
import traceback
from functools import partial

from PySide6.QtCore import QByteArray, QEvent, QSettings, Qt, QTimer, Signal
from PySide6.QtGui import (
    QCloseEvent,
    QDragEnterEvent,
    QDragMoveEvent,
    QDropEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QLabel,
    QMainWindow,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from ckyparse.grammar import GrammarError
from kernels.backend import BackendUnavailableError
from ui.parsing.files import FileError
from ui.parsing.launch import ParseLaunch
from ui.parsing.model import Found, Latest, Look, exact_count, look, tree
from ui.parsing.sentences import Lines, TextError
from ui.qt.actions import Action, Registry
from ui.qt.background import Background
from ui.qt.banner import Banner
from ui.qt.dropped import files_of
from ui.qt.palette import CommandPalette
from ui.qt.parsing.batch import BatchPanel
from ui.qt.parsing.chart import ChartPane
from ui.qt.parsing.files import Files
from ui.qt.parsing.language import GrammarPanel
from ui.qt.parsing.pane import MOUSE, Pane
from ui.qt.parsing.trees import TreePanel
from ui.qt.shortcuts import ShortcutsPage
from ui.qt.status import BusyLine


class ParseWindow(QMainWindow):
    """settings: what is remembered. backend: who computes, as CKYParser takes it."""

    _looked = Signal(int, object)

    def __init__(self, settings: QSettings, backend: str = "auto") -> None:
        super().__init__()
        self.settings, self.backend = settings, backend
        self.setAcceptDrops(True)
        self.sentence = ""
        self._agreed = False

        self.grammar = GrammarPanel(backend)
        self.editor = self.grammar.editor
        self.batch = BatchPanel(self.report)
        self.verdict = _label("Verdict on the sentence")
        self.chart, self.cell_note = ChartPane(), _label("What spans what")
        self.trees = TreePanel()
        self.banner = Banner()
        self.summary = _label("Summary of all sentences")
        self.busy, self.facts = BusyLine(), _label("The grammar in numbers")
        self._lay_out()
        self.background = Background()
        self.files = Files(self)
        self.registry = Registry(self, self.batch.table, self.report)
        self.registry.add(*self.files.actions(), *self._actions())
        self.registry.fill(self.menuBar())

        self._watcher = Latest("sentence", self._looked.emit)
        self._connect()
        self._restore()
        self.files.retitle()
        self._hint()

    def _lay_out(self) -> None:
        for label in (self.cell_note, self.verdict):
            label.setContentsMargins(6, 2, 6, 2)
        self.verdict.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.facts.setProperty("dim", True)
        self.cell_note.setProperty("dim", True)
        self.splits = [QSplitter(Qt.Orientation.Vertical) for _ in range(2)]
        left, right = self.splits
        left.addWidget(self.grammar)
        left.addWidget(self.batch)
        right.addWidget(_column(self.verdict, self.chart, self.cell_note))
        right.addWidget(self.trees)
        across = QSplitter(Qt.Orientation.Horizontal)
        across.addWidget(left)
        across.addWidget(right)
        across.setSizes([540, 740])
        across.setStretchFactor(1, 1)
        right.setSizes([400, 400])
        self.splits.append(across)
        for split in self.splits:
            split.setChildrenCollapsible(False)
        self._middle = QWidget()
        box = QVBoxLayout(self._middle)
        box.setContentsMargins(8, 6, 8, 4)
        box.addWidget(across)
        self.setCentralWidget(self._middle)
        self.banner.setParent(self._middle)
        bar = self.statusBar()
        bar.setSizeGripEnabled(False)
        bar.addWidget(self.summary, 1)
        bar.addPermanentWidget(self.busy)
        bar.addPermanentWidget(self.facts)

    def _connect(self) -> None:
        queued = Qt.ConnectionType.QueuedConnection
        self._looked.connect(self._land_look, queued)
        self.background.busy.connect(self._show_busy)
        self.busy.cancelled.connect(self.files.cancel)
        self.grammar.changed.connect(self._language_changed)
        self.grammar.checked.connect(self.registry.refresh)
        self.editor.document().modificationChanged.connect(self.setWindowModified)
        self.batch.ways.currentIndexChanged.connect(self._parse)
        self.batch.looked.connect(self.look_at)
        self.batch.counted.connect(self.summary.setText)
        self.batch.changed.connect(self.registry.refresh)
        self.chart.pointed.connect(lambda span: self._span_changed())
        self.chart.picked.connect(lambda span: self._span_changed())
        self.trees.pane.pointed.connect(self.chart.point)
        self.trees.wanted.connect(self._want_tree)
        self.trees.drawn.connect(self.chart.mark)

    def _actions(self) -> list[Action]:
        trees = self.trees
        return [
            Action(
                "edit.paste", "&Paste sentences", "&Edit", self.batch.paste, ("Ctrl+Shift+V",),
                tip="Add the lines of the clipboard",
            ),
            Action(
                "edit.copy", "&Copy with verdicts", "&Edit", self._copy, ("Ctrl+Shift+C",),
                enabled=lambda: self.batch.has_selection,
                tip="The sentences that are selected, as a table",
            ),
            Action(
                "edit.remove", "&Remove selected sentences", "&Edit", self.batch.remove, ("Del",),
                section=1, local=True,
                enabled=lambda: self.batch.has_selection,
            ),
            Action(
                "edit.clear", "Remove &all sentences", "&Edit", self.batch.clear, section=1,
                enabled=lambda: len(self.lines) > 0,
            ),
            Action(
                "view.next", "&Next tree", "&View", trees.next, ("Alt+Right",),
                enabled=lambda: trees.has_next,
            ),
            Action(
                "view.previous", "&Previous tree", "&View", trees.previous, ("Alt+Left",),
                enabled=lambda: trees.has_previous,
            ),
            Action("view.zoom-in", "Zoom &in", "&View", lambda: self._pane().zoom(1),
                   ("Ctrl++", "Ctrl+="), section=1),
            Action("view.zoom-out", "Zoom &out", "&View", lambda: self._pane().zoom(-1),
                   ("Ctrl+-",), section=1),
            Action("view.fit", "&Fit chart and tree", "&View", self._fit, ("Ctrl+0",), section=1),
            Action(
                "view.error", "Go to the &error", "&View", self.grammar.go_to_error, ("F8",),
                section=2, enabled=lambda: self.editor.error is not None,
            ),
            Action(
                "help.palette", "&Command palette…", "&Help",
                lambda: CommandPalette(self.registry, self).show(), ("Ctrl+Shift+P",),
            ),
            Action(
                "help.shortcuts", "&Shortcuts…", "&Help",
                lambda: ShortcutsPage(self.registry, MOUSE, self).show(), ("F1",),
            ),
        ]  # fmt: skip

    def begin(self, launch: ParseLaunch, text: str, lines: Lines) -> None:
        """With what a command was given."""
        self.batch.set_way(launch.way)
        if launch.grammar is not None:
            self.files.show(text, launch.grammar)
        self.batch.show_lines(lines, select=True)

    # --- grammar and sentences -------------------------------------------------

    @property
    def lines(self) -> Lines:
        return self.batch.lines

    def _language_changed(self) -> None:
        language = self.batch.language = self.grammar.language
        if language is None:
            self.facts.setText("")
        else:
            grammar = language.grammar
            self.facts.setText(
                f"{_many(len(grammar.nonterminals), 'nonterminal')}, "
                f"{_many(len(grammar.productions), 'production')}"
            )
        self._parse()

    def _parse(self) -> None:
        self.batch.judge_all()
        self._look()

    def _copy(self) -> None:
        self.note(f"Copied {_many(self.batch.copy(), 'sentence')}")

    # --- one sentence ----------------------------------------------------------

    def look_at(self, sentence: str) -> None:
        self.sentence = sentence
        self._look()

    def _look(self) -> None:
        language, way, sentence = self.grammar.language, self.batch.way, self.sentence
        if language is None or (not sentence and not len(self.lines)):
            self._watcher.ask(None)
            self._hint()
            return
        self._watcher.ask(lambda: look(language, way, sentence))

    def _hint(self) -> None:
        what = (
            "Type a sentence, or open some, to see its chart here"
            if self.grammar.language
            else "Type a grammar, open one, or take an example from the File menu"
        )
        self.verdict.setText("")
        self.chart.show_look(None, what)
        self.trees.show_look(None, "")
        self._span_changed()

    def _land_look(self, serial: int, found: object) -> None:
        if serial != self._watcher.serial:
            return
        if isinstance(found, Look):
            self.verdict.setText(found.verdict[:1].upper() + found.verdict[1:])
            self.verdict.setToolTip(exact_count(found.count) if found.accepted else "")
            self.chart.show_look(found)
            self.trees.show_look(found)
        elif isinstance(found, Exception):
            self.report(found)
        elif isinstance(found, Found):
            self.trees.show_tree(found)
        self.registry.refresh()

    def _want_tree(self, index: int) -> None:
        shown = self.trees.look
        if shown is not None:
            self._watcher.ask(lambda: tree(shown, index))

    def _span_changed(self) -> None:
        span = self.chart.under or self.chart.pick
        self.trees.pane.mark(span)
        self.cell_note.setText(self.chart.describe(span) if span else "")

    def _pane(self) -> Pane:
        tree = self.trees.pane
        return tree if tree.hasFocus() or tree.underMouse() else self.chart

    def _fit(self) -> None:
        self.chart.fit()
        self.trees.pane.fit()

    # --- messages --------------------------------------------------------------

    def _show_busy(self, what: str, can_cancel: bool) -> None:
        self.busy.show_busy(what, can_cancel)
        self.registry.refresh()

    def note(self, text: str) -> None:
        self.banner.note(text)
        self._place_banner()

    def report(self, error: BaseException) -> None:
        """Say what went wrong. What nobody foresaw is also written to standard error."""
        known = FileError, TextError, GrammarError, BackendUnavailableError, OSError, MemoryError
        if not isinstance(error, known):
            traceback.print_exception(error, file=sys.stderr)
        self.banner.error(_message(error))
        self._place_banner()

    def _place_banner(self) -> None:
        parent = self._middle
        self.banner.setFixedWidth(min(720, parent.width() - 40))
        self.banner.adjustSize()
        self.banner.move((parent.width() - self.banner.width()) // 2, 12)
        self.banner.raise_()

    # --- events ----------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_banner()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "editor"):
            self.editor.recolour()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        files_of(event)

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        files_of(event)

    def dropEvent(self, event: QDropEvent) -> None:
        """A grammar by its name; all else are sentences."""
        paths = files_of(event)
        # The other program waits for the end of this.
        QTimer.singleShot(0, lambda: self.open_paths(paths))

    def open_paths(self, paths: list[str]) -> None:
        grammars = [path for path in paths if path.endswith((".cfg", ".pcfg"))]
        sentences = [path for path in paths if path not in grammars]
        if len(grammars) > 1:
            self.note(f"One grammar at a time: of {len(grammars)} the first is opened.")
        opening = [partial(self.files.open_path, path) for path in grammars[:1]]
        if sentences:
            opening.append(partial(self.files.read_sentences, sentences))
        for begin in opening:
            try:
                begin()
            except FileError as error:
                self.report(error)

    def closeEvent(self, event: QCloseEvent) -> None:
        self._agreed = False
        self.files.confirm(self._agree)
        if not self._agreed:
            event.ignore()
            return
        self._keep()
        self._watcher.close()
        self.background.close()
        # Let go of what is large: Qt may keep a window that is closed.
        self.grammar.close_down()
        self.batch.close_down()
        self.chart.show_look(None)
        self.trees.show_look(None)
        event.accept()

    def _agree(self) -> None:
        self._agreed = True

    def _restore(self) -> None:
        self.resize(1280, 840)
        for key, restore in (
            ("parsing/geometry", self.restoreGeometry),
            *((f"parsing/split{i}", split.restoreState) for i, split in enumerate(self.splits)),
        ):
            kept = self.settings.value(key)
            if isinstance(kept, QByteArray):
                restore(kept)

    def _keep(self) -> None:
        self.settings.setValue("parsing/geometry", self.saveGeometry())
        for i, split in enumerate(self.splits):
            self.settings.setValue(f"parsing/split{i}", split.saveState())
        self.settings.sync()


_open: list[ParseWindow] = []


def open_parse_window(parent: QWidget | None = None) -> QMainWindow:
    """Show the window for parsing, the one that is open if there is one.

    parent: the window that asks, whose settings it takes. It is a window of its own: it stays
    when that one is closed.
    """
    if not _open:
        settings = getattr(parent, "settings", None)
        if not isinstance(settings, QSettings):
            settings = QSettings("bulkbits", "lifesim")
        window = ParseWindow(settings)
        if parent is not None:
            window.setWindowIcon(parent.windowIcon())
        window.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        _open.append(window)
        window.destroyed.connect(_open.clear)
    _open[0].show()
    _open[0].raise_()
    _open[0].activateWindow()
    return _open[0]


def _message(error: BaseException) -> str:
    text = " ".join(str(error).split())
    if isinstance(error, MemoryError):
        return f"Out of memory: {text}" if text else "Out of memory"
    if isinstance(error, (ValueError, OSError, BackendUnavailableError)):
        return text
    return f"Unexpected {type(error).__name__}: {text}"


def _many(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def _label(name: str) -> QLabel:
    label = QLabel()
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setAccessibleName(name)
    return label


def _column(*widgets: QWidget) -> QWidget:
    column = QWidget()
    box = QVBoxLayout(column)
    box.setContentsMargins(0, 0, 0, 0)
    box.setSpacing(5)
    for widget in widgets:
        box.addWidget(widget)
    return column
