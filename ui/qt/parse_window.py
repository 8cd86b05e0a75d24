"""The window for parsing: a grammar, sentences in bulk, and of one its chart and its trees.

Three threads work for it: for the grammar, for all sentences, for the one that is looked at.
What they find lands in three methods here, on the main thread.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable

from PySide6.QtCore import QByteArray, QEvent, QSettings, Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QGuiApplication, QResizeEvent
from PySide6.QtWidgets import (
    QComboBox,
    QLabel,
    QMainWindow,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from ckyparse.grammar import GrammarError
from kernels.backend import BackendUnavailableError
from ui.parse_files import FileError
from ui.parse_launch import ParseLaunch
from ui.parsing import Found, Language, Latest, Look, Way, exact_count, look, read, tree
from ui.qt.actions import Action, Registry
from ui.qt.background import Background
from ui.qt.banner import Banner
from ui.qt.palette import CommandPalette
from ui.qt.parse_chart import ChartPane
from ui.qt.parse_files import Files
from ui.qt.parse_grammar import GrammarEditor
from ui.qt.parse_pane import Pane
from ui.qt.parse_sentences import SentenceLine, SentenceModel, SentenceTable
from ui.qt.parse_trees import TreePanel
from ui.sentences import Findings, Lines, TextError

_TYPING = 150  # milliseconds without a key until a grammar is read
_SHOWING = 60  # milliseconds between two pictures of findings
_LONG = 20_000  # characters of a sentence that is not for a line
_WAYS: tuple[tuple[str, Way | None], ...] = (
    ("Tokens: as the grammar suggests", None), ("Tokens: words", "space"),
    ("Tokens: characters", "chars"),
)  # fmt: skip


class ParseWindow(QMainWindow):
    """settings: what is remembered. backend: who computes, as CKYParser takes it."""

    _read_landed = Signal(int, object)
    _judged = Signal(int, object)
    _looked = Signal(int, object)

    def __init__(self, settings: QSettings, backend: str = "auto") -> None:
        super().__init__()
        self.settings, self.backend = settings, backend
        self.setAcceptDrops(True)
        self.lines = Lines()
        self.language: Language | None = None
        self.sentence = ""
        self._range = 0, 0  # of rows in view: the worker counts them first
        self._findings: Findings | None = None
        self._agreed = False

        self.editor = GrammarEditor()
        self.grammar_note = _label("What is wrong with the grammar")
        self.line, self.table_model = SentenceLine(), SentenceModel(self)
        self.table = SentenceTable(self.table_model)
        self.ways = QComboBox()
        self.verdict = _label("Verdict on the sentence")
        self.chart, self.cell_note = ChartPane(), _label("What spans what")
        self.trees = TreePanel()
        self.banner = Banner()
        self.summary = _label("Summary of all sentences")
        self.facts = _label("The grammar in numbers")
        self._lay_out()
        self.background = Background()
        self.files = Files(self)
        self.registry = Registry(self, self.table, self.report)
        self.registry.add(*self.files.actions(), *self._actions())
        self.registry.fill(self.menuBar())

        self._typing = QTimer(self, singleShot=True, interval=_TYPING)
        self._showing = QTimer(self, singleShot=True, interval=_SHOWING)
        self._reader = Latest("grammar", self._read_landed.emit)
        self._judge = Latest("sentences", self._judged.emit)
        self._watcher = Latest("sentence", self._looked.emit)
        self._connect()
        self._restore()
        self.files.retitle()
        self._hint()

    def _lay_out(self) -> None:
        self.line.setPlaceholderText("Type a sentence; Return adds it to the list")
        self.line.setClearButtonEnabled(True)
        self.ways.setAccessibleName("What the tokens of a sentence are")
        for title, way in _WAYS:
            self.ways.addItem(title, way)
        for label in (self.grammar_note, self.cell_note, self.verdict):
            label.setContentsMargins(6, 2, 6, 2)
        self.grammar_note.setWordWrap(True)
        self.grammar_note.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.verdict.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.facts.setProperty("dim", True)
        self.cell_note.setProperty("dim", True)
        typed = _column(self.line, self.table)
        self.splits = [QSplitter(Qt.Orientation.Vertical) for _ in range(2)]
        left, right = self.splits
        left.addWidget(_column(self.editor, self.grammar_note))
        left.addWidget(_column(self.ways, typed))
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
        bar.addPermanentWidget(self.facts)

    def _connect(self) -> None:
        queued = Qt.ConnectionType.QueuedConnection
        self._read_landed.connect(self._land_language, queued)
        self._judged.connect(self._land_findings, queued)
        self._looked.connect(self._land_look, queued)
        self._typing.timeout.connect(self.read_grammar)
        self._showing.timeout.connect(self._show_findings)
        self.table.verticalScrollBar().valueChanged.connect(self._watch_rows)
        self.editor.textChanged.connect(self._typing.start)
        self.editor.document().modificationChanged.connect(self.setWindowModified)
        self.ways.currentIndexChanged.connect(self._parse)
        self.line.textEdited.connect(self._line_typed)
        self.line.returnPressed.connect(self.add_line)
        self.line.pasted.connect(self._guarded(self.add_text))
        self.table.pasted.connect(self._guarded(self.add_text))
        self.table.selectionModel().currentRowChanged.connect(self._row_changed)
        self.table_model.edited.connect(self._line_edited)
        self.chart.pointed.connect(lambda span: self._span_changed())
        self.chart.picked.connect(lambda span: self._span_changed())
        self.trees.pane.pointed.connect(self.chart.point)
        self.trees.wanted.connect(self._want_tree)
        self.trees.drawn.connect(self.chart.mark)

    def _actions(self) -> list[Action]:
        trees = self.trees
        return [
            Action(
                "edit.paste", "&Paste sentences", "&Edit", self.paste, ("Ctrl+Shift+V",),
                tip="Add the lines of the clipboard",
            ),
            Action(
                "edit.copy", "&Copy with verdicts", "&Edit", self.copy, ("Ctrl+Shift+C",),
                enabled=lambda: self.table.selectionModel().hasSelection(),
                tip="The sentences that are selected, as a table",
            ),
            Action(
                "edit.remove", "&Remove selected sentences", "&Edit", self.remove, ("Del",),
                section=1, local=True,
                enabled=lambda: self.table.selectionModel().hasSelection(),
            ),
            Action(
                "edit.clear", "Remove &all sentences", "&Edit", self.clear, section=1,
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
                "view.error", "Go to the &error", "&View", self._to_error, ("F8",), section=2,
                enabled=lambda: self.editor.error is not None,
            ),
            Action(
                "help.palette", "&Command palette…", "&Help",
                lambda: CommandPalette(self.registry, self).show(), ("Ctrl+Shift+P",),
            ),
        ]  # fmt: skip

    def begin(self, launch: ParseLaunch, text: str, lines: Lines) -> None:
        """With what a command was given."""
        self.ways.setCurrentIndex([way for _, way in _WAYS].index(launch.way))
        if launch.grammar is not None:
            self.files.show(text, launch.grammar)
        self.show_lines(lines, select=True)

    # --- the grammar -----------------------------------------------------------

    def show_grammar(self, text: str) -> None:
        """In place of what is there, as it was read from a file."""
        self.editor.setPlainText(text)
        self.editor.document().setModified(False)
        self._typing.stop()
        self.read_grammar()

    def read_grammar(self) -> None:
        text, backend = self.editor.toPlainText(), self.backend
        if not text.strip():
            self._reader.ask(None)
            self._no_language()
            return
        self._reader.ask(lambda: [read(text, backend)])

    def _no_language(self) -> None:
        self.language = None
        self.editor.show_error(None)
        self._say_of_grammar("", False)
        self._parse()

    def _land_language(self, serial: int, found: object) -> None:
        if serial != self._reader.serial:
            return
        if isinstance(found, Language):
            self.language = found
            self.editor.show_error(None)
            empty = "The language is empty: no sentence will be accepted."
            self._say_of_grammar(empty if found.is_empty else "", False)
            grammar = found.grammar
            self.facts.setText(
                f"{_many(len(grammar.nonterminals), 'nonterminal')}, "
                f"{_many(len(grammar.productions), 'production')}"
            )
            self._parse()
        elif isinstance(found, GrammarError):
            self.editor.show_error(found)
            where = f"Line {found.line}, column {found.column}: " if found.line else ""
            self._say_of_grammar(f"{where}{found.message}", True)
        elif isinstance(found, Exception):
            self.editor.show_error(None)
            self._say_of_grammar(_message(found), True)
        self.registry.refresh()

    def _say_of_grammar(self, text: str, wrong: bool) -> None:
        kept = "\nWhat is shown is of the last grammar without errors."
        self.grammar_note.setText(text + (kept if wrong and self.language else ""))
        self.grammar_note.setProperty("error", wrong)
        self.grammar_note.style().unpolish(self.grammar_note)
        self.grammar_note.style().polish(self.grammar_note)
        self.grammar_note.setVisible(bool(text))

    def _to_error(self) -> None:
        if self.editor.error is not None:
            self.editor.go_to(self.editor.error.line, self.editor.error.column)

    @property
    def way(self) -> Way:
        chosen = self.ways.currentData()
        if chosen is not None:
            return "chars" if chosen == "chars" else "space"
        return self.language.likely_tokens if self.language else "space"

    # --- sentences -------------------------------------------------------------

    def show_lines(self, lines: Lines, select: bool = False) -> None:
        """In place of those that are there. select: look at the first."""
        self.lines = lines
        self.table_model.show_lines(lines)
        if select and len(lines):
            self.table.go_to(0)
        self._judge_all()
        self.registry.refresh()

    def add_line(self) -> None:
        text = self.line.text()
        self._change(self.lines.plus(Lines.of(text + "\n")))
        self.table.go_to(len(self.lines) - 1)
        self.line.selectAll()

    def add_text(self, text: str) -> None:
        """Lines, as of the clipboard."""
        if not text:
            raise TextError("the clipboard has no text")
        first = len(self.lines)
        self._change(self.lines.plus(Lines.of(text)))
        self.table.go_to(first)

    def paste(self) -> None:
        self.add_text(QGuiApplication.clipboard().text())

    def copy(self) -> None:
        rows, show = self.table.chosen()[:100_000].tolist(), self.table_model.text
        cells = ("\t".join((show(row, 1), show(row, 2), show(row, 0))) for row in rows)
        QGuiApplication.clipboard().setText("\n".join(cells))
        self.note(f"Copied {len(rows):,} sentences")

    def remove(self) -> None:
        rows = self.table.chosen()
        self._change(self.lines.without(rows))
        if len(self.lines):
            self.table.go_to(min(int(rows[0]), len(self.lines) - 1))

    def clear(self) -> None:
        self._change(Lines())

    def _line_edited(self, row: int, text: str) -> None:
        self._change(self.lines.replaced(row, text))
        self.table.go_to(row)

    def _change(self, lines: Lines) -> None:
        self.show_lines(lines)
        self.files.sentences_changed = True

    def _row_changed(self, index: object) -> None:
        row = self.table.currentIndex().row()
        if 0 <= row < len(self.lines):
            text = self.lines[row]
            self.line.setText(text if len(text) <= _LONG else "")
            self.line.setCursorPosition(0)
            self.look_at(text)
        self.registry.refresh()

    def _line_typed(self, text: str) -> None:
        self.table.selectionModel().clear()  # it is none of the list
        self.look_at(text)

    def _judge_all(self) -> None:
        self._findings = None
        if self.language is None or not len(self.lines):
            self._judge.ask(None)
            self.table_model.show_findings(None)
            self._summarise(None)
            return
        findings = Findings(self.language, self.way, self.lines)
        self._summarise(findings)
        self._judge.ask(lambda: findings.judge(lambda: self._range))

    def _land_findings(self, serial: int, found: object) -> None:
        if serial != self._judge.serial:
            return
        if isinstance(found, Findings):
            self._findings = found
            if not self._showing.isActive():
                self._showing.start()
        elif isinstance(found, Exception):
            self.report(found)

    def _show_findings(self) -> None:
        if self._findings is not None:
            self._watch_rows()
            self.table_model.show_findings(self._findings)
            self._summarise(self._findings)

    def _watch_rows(self) -> None:
        self._range = self.table.in_view()

    def _summarise(self, findings: Findings | None) -> None:
        if findings is not None:
            self.summary.setText(findings.summary())
        else:
            n = len(self.lines)
            what = f"{_many(n, 'sentence')}, no grammar" if n else "no sentences"
            self.summary.setText(what)

    # --- one sentence ----------------------------------------------------------

    def look_at(self, sentence: str) -> None:
        self.sentence = sentence
        self._look()

    def _parse(self) -> None:
        self._judge_all()
        self._look()

    def _look(self) -> None:
        language, way, sentence = self.language, self.way, self.sentence
        if language is None or (not sentence and not len(self.lines)):
            self._watcher.ask(None)
            self._hint()
            return
        self._watcher.ask(lambda: look(language, way, sentence))

    def _hint(self) -> None:
        what = (
            "Type a sentence, or open some, to see its chart here"
            if self.language
            else "Type a grammar, open one, or take an example from the File menu"
        )
        self.verdict.setText("")
        self.chart.show_look(None, what)
        self.trees.show_look(None, "")
        if self.language is None:
            self.facts.setText("")
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

    def _guarded(self, act: Callable[[str], None]) -> Callable[[str], None]:
        def run(text: str) -> None:
            try:
                act(text)
            except Exception as error:
                self.report(error)

        return run

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
        if any(url.isLocalFile() for url in event.mimeData().urls()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """A grammar by its name; anything else is sentences."""
        paths = [url.toLocalFile() for url in event.mimeData().urls() if url.isLocalFile()]
        event.acceptProposedAction()
        # The other program waits for the end of this.
        QTimer.singleShot(0, lambda: self.open_paths(paths))

    def open_paths(self, paths: list[str]) -> None:
        for path in paths:
            try:
                if path.endswith((".cfg", ".pcfg")):
                    self.files.open_path(path)
                else:
                    self.files.read_sentences(path)
            except FileError as error:
                self.report(error)

    def closeEvent(self, event: QCloseEvent) -> None:
        self._agreed = False
        self.files.confirm(self._agree)
        if not self._agreed:
            event.ignore()
            return
        self._keep()
        for thread in (self._reader, self._judge, self._watcher):
            thread.close()
        self.background.close()
        self._forget()
        event.accept()

    def _forget(self) -> None:
        """Let go of what is large: Qt may keep a window that is closed."""
        self.language = self._findings = None
        self.table_model.show_lines(Lines())
        self.chart.show_look(None)
        self.trees.show_look(None)

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
