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
    QShowEvent,
)
from PySide6.QtWidgets import QApplication, QMainWindow, QWidget

from bulkbits.plurals import many
from ckyparse.grammar import GrammarError
from kernels.targets.contract import BackendUnavailableError
from ui.parsing.files import FileError
from ui.parsing.launch import ParseLaunch
from ui.parsing.model import FoundTree, Latest, SentenceLook, exact_count, look, tree
from ui.parsing.sentences import SentenceLines, TextError
from ui.qt import theme
from ui.qt.actions import Registry
from ui.qt.background import Background
from ui.qt.banner import Banner
from ui.qt.dropped import files_of, lead_files
from ui.qt.parsing.actions import actions_of
from ui.qt.parsing.batch import BatchPanel
from ui.qt.parsing.chart import ChartPane
from ui.qt.parsing.export import Exports
from ui.qt.parsing.files import Files
from ui.qt.parsing.language import GrammarPanel
from ui.qt.parsing.panels import Panels, fill_status_bar, plain_label
from ui.qt.parsing.trees import PATIENCE, TreePanel
from ui.qt.remembered import SettingsMemory, fit_screen
from ui.qt.shy import ShyLabel
from ui.qt.status import BusyLine
from ui.qt.window_keys import WindowKeys


class ParseWindow(QMainWindow):
    """The window for parsing.

    settings: what is remembered. backend: who computes, as CKYParser takes it.
    """

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
        self.verdict = ShyLabel("Verdict on the sentence")
        self.chart, self.cell_note = ChartPane(), ShyLabel("What spans what")
        self.trees = TreePanel()
        self.banner = Banner()
        self.summary = ShyLabel("Summary of all sentences")
        self.busy, self.facts = BusyLine(), plain_label("The grammar in numbers")
        self.panels = Panels(self)
        self.setCentralWidget(self.panels)
        fill_status_bar(self)
        lead_files(self)
        self.background = Background()
        self.files = Files(self)
        self.registry = Registry(self, self.batch.table, self.report)
        self.exports = Exports(self)
        self.registry.add(*self.files.actions(), *self.exports.actions(), *actions_of(self))
        self.registry.fill(self.menuBar())
        WindowKeys(self.registry, self.editor, self.batch.line)

        self._watcher = Latest("sentence", self._looked.emit)
        self._is_looking = False  # at another sentence than the one that is shown
        self._patience = QTimer(self, singleShot=True, interval=PATIENCE)
        self._connect()
        self._memory = SettingsMemory(settings, self._remembered)
        self._restore()
        self._memory.begin()
        self.files.retitle()
        self._hint()

    def _connect(self) -> None:
        queued = Qt.ConnectionType.QueuedConnection
        self._looked.connect(self._land_look, queued)
        self._patience.timeout.connect(lambda: self.verdict.setText("Parsing…"))
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
        self.chart.menu_wanted.connect(lambda at: self.exports.menu("chart").popup(at))
        self.trees.pane.menu_wanted.connect(lambda at: self.exports.menu("tree").popup(at))
        self.trees.wanted.connect(self._want_tree)
        self.trees.drawn.connect(self.chart.mark)

    def begin(self, launch: ParseLaunch, text: str, lines: SentenceLines) -> None:
        """Show what a command was given."""
        self.batch.set_way(launch.way)
        if launch.grammar is not None:
            self.files.show(text, launch.grammar)
        self.batch.show_lines(lines, select=True)

    # --- grammar and sentences -------------------------------------------------

    @property
    def lines(self) -> SentenceLines:
        """Return all sentences."""
        return self.batch.lines

    def _language_changed(self) -> None:
        language = self.batch.language = self.grammar.language
        if language is None:
            self.facts.setText("")
        else:
            grammar = language.grammar
            self.facts.setText(
                f"{many(len(grammar.nonterminals), 'nonterminal')}, "
                f"{many(len(grammar.productions), 'production')}"
            )
        self._parse()

    def _parse(self) -> None:
        self.batch.judge_all()
        self._look()

    # --- one sentence ----------------------------------------------------------

    def look_at(self, sentence: str) -> None:
        """Show chart and trees of a sentence."""
        self.sentence = sentence
        self._look()

    def _look(self) -> None:
        language, way, sentence = self.grammar.language, self.batch.way, self.sentence
        if language is None or (not sentence and not len(self.lines)):
            self._watcher.ask(None)
            self._hint()
            return
        self._patience.start()
        self._is_looking = True
        self._watcher.ask(lambda: look(language, way, sentence))

    def _hint(self) -> None:
        what = (
            "Type a sentence, or open some, to see its chart here"
            if self.grammar.language
            else "Type a grammar, open one, or take an example from the File menu"
        )
        self._patience.stop()
        self._is_looking = False
        self.verdict.setText("")
        self.chart.show_look(None, what)
        self.trees.show_look(None, "")
        self._span_changed()

    def _land_look(self, serial: int, found: object) -> None:
        if serial != self._watcher.serial:
            return
        self._patience.stop()
        self._is_looking = False
        if isinstance(found, SentenceLook):
            self.verdict.setText(found.verdict[:1].upper() + found.verdict[1:])
            if found.accepted:
                self.verdict.setToolTip(exact_count(found.count))
            self.chart.show_look(found)
            self.trees.show_look(found)
        elif isinstance(found, Exception):
            self.report(found)
        elif isinstance(found, FoundTree):
            self.trees.show_tree(found)
        self.registry.refresh()

    def _want_tree(self, index: int) -> None:
        shown = self.trees.look
        if shown is not None and not self._is_looking:  # else another sentence's are to come
            self._watcher.ask(lambda: tree(shown, index))

    def _span_changed(self) -> None:
        span = self.chart.under or self.chart.pick
        self.trees.pane.mark(span)
        self.cell_note.setText(self.chart.describe(span) if span else "")

    # --- messages --------------------------------------------------------------

    def _show_busy(self, what: str, can_cancel: bool) -> None:
        self.busy.show_busy(what, can_cancel)
        self.registry.refresh()

    def note(self, text: str) -> None:
        """Show a note."""
        self.banner.note(text)
        self.panels.place(self.banner)

    def report(self, error: BaseException) -> None:
        """Say what went wrong. What nobody foresaw is also written to standard error."""
        known = FileError, TextError, GrammarError, BackendUnavailableError, OSError, MemoryError
        if not isinstance(error, known):
            traceback.print_exception(error, file=sys.stderr)
        self.banner.error(_message(error))
        self.panels.place(self.banner)

    # --- events ----------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the banner in the middle."""
        super().resizeEvent(event)
        self.panels.place(self.banner)

    def changeEvent(self, event: QEvent) -> None:
        """Follow a change of colours."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "exports"):
            self.editor.recolour()
            self.registry.refresh()

    def dress(self, name: str) -> None:
        """Take a theme for all of the application, and remember it."""
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        for other in app.topLevelWidgets():
            if hasattr(other, "dress") and not isinstance(other, ParseWindow):
                other.dress(name)  # the window for universes has icons of its own
        theme.apply(app, name)
        self.settings.setValue("view/theme", name)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Accept files."""
        files_of(event)

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        """Accept files."""
        files_of(event)

    def dropEvent(self, event: QDropEvent) -> None:
        """Open files: a grammar by its name; all else are sentences."""
        paths = files_of(event)
        # The other program waits for the end of this.
        QTimer.singleShot(0, lambda: self.open_paths(paths))

    def open_paths(self, paths: list[str]) -> None:
        """Open files: one grammar, told by its name, and all else as sentences."""
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
        """Close when changes are saved, or may be lost."""
        self._agreed = False
        self.files.confirm(self._agree)
        if not self._agreed:
            event.ignore()
            return
        self._memory.write()
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
        fit_screen(self, 1280, 840)
        for key, restore in (
            ("parsing/geometry", self.restoreGeometry),
            *(
                (f"parsing/split{i}", split.restoreState)
                for i, split in enumerate(self.panels.splits)
            ),
        ):
            kept = self.settings.value(key)
            if isinstance(kept, QByteArray):
                restore(kept)

    def _remembered(self) -> dict[str, object]:
        splits = {
            f"parsing/split{i}": split.saveState() for i, split in enumerate(self.panels.splits)
        }
        return {"parsing/geometry": self.saveGeometry(), **splits}

    def showEvent(self, event: QShowEvent) -> None:
        """Begin to remember the geometry once the window has been laid out."""
        super().showEvent(event)
        if not event.spontaneous():
            # Once it has been laid out, it is as it was remembered.
            QTimer.singleShot(0, self, lambda: self._memory.begin("parsing/"))


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
