"""The console as a dock: what was run and what it printed, above what is being typed."""

from __future__ import annotations

import platform
from collections.abc import Callable
from functools import cached_property, partial
from typing import Any

from PySide6.QtCore import QEvent, Qt, QTimer, Signal
from PySide6.QtGui import (
    QColor,
    QFontDatabase,
    QKeyEvent,
    QKeySequence,
    QPalette,
    QTextBlock,
    QTextCharFormat,
    QTextCursor,
)
from PySide6.QtWidgets import (
    QDockWidget,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from ui.qt.console.entry import ConsoleEntry
from ui.qt.console.runner import ScriptRunner
from ui.qt.focus import focus_on
from ui.script.source import completions, run_script, run_source

_LINES = 5000  # that are kept
_PIECE = 1 << 12  # characters that are shown at once
_DRESSED = 250  # lines that take other colours at once
_BETWEEN = 30  # milliseconds between two pieces
_MOST_OFFERED = 60  # names
_HELLO = (
    f"Python {platform.python_version()}. At hand: life, grid, selection, actions, window.\n"
    "Try life.population() or print(actions). Scripts may do whatever you may on this computer: "
    "run those that you trust.\n"
)
_COLOURS = {
    # command, error and note, on a dark window and on a light one
    True: {"command": "#7fb0ff", "error": "#ff8a8f", "note": "#8b93a5"},
    False: {"command": "#1f63d8", "error": "#b4232a", "note": "#636b7d"},
}


class ConsoleDock(QDockWidget):
    """Runs Python that is typed, and scripts, and shows what they print.

    names: the globals of what is typed. asked: a script is to be chosen.
    """

    asked = Signal()

    def __init__(
        self,
        runner: ScriptRunner,
        names: Callable[[str], dict[str, Any]],
        parent: QWidget | None = None,
    ) -> None:
        """Run nothing yet. names: makes the globals of a module of some name."""
        super().__init__("Python console", parent)
        self.setObjectName("console")
        self._runner, self._make_names = runner, names
        self._count = 0
        self.view = _Printed(runner.stop)
        self.entry = ConsoleEntry(lambda line: completions(line, self.names))
        self.entry.entered.connect(self.enter)
        self.entry.stopped.connect(runner.stop)
        self.entry.offered.connect(self._offer)
        self.stop_button = self._button("Stop", "Stop the script", runner.stop)
        self.script_button = self._button("Run script…", "Run a script", self.asked.emit)
        self.clear_button = self._button("Clear", "Clear what was printed", self.view.clear)
        self.stop_button.setToolTip("Stop the script (Ctrl+C in the console)")
        self._lay_out()
        self.setFocusProxy(self.entry)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._print_some)
        queued = Qt.ConnectionType.QueuedConnection
        runner.printed.connect(self._printed, queued)
        runner.said.connect(self.say)
        runner.changed.connect(self._changed)
        for button in (self.clear_button, self.stop_button):
            button.clicked.connect(partial(focus_on, self.entry))
        self.view.put(_HELLO, "note")
        self._changed()

    def _button(self, title: str, name: str, act: Callable[[], object]) -> QPushButton:
        button = QPushButton(title)
        button.setAccessibleName(name)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.clicked.connect(lambda: act())
        return button

    def _lay_out(self) -> None:
        body = QWidget()
        column = QVBoxLayout(body)
        column.setContentsMargins(8, 6, 8, 6)
        column.addWidget(self.view, 1)
        row = QHBoxLayout()
        prompt = QLabel(">>>")
        prompt.setFont(self.entry.font())
        prompt.setProperty("dim", True)
        row.addWidget(prompt, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self.entry, 1)
        column.addLayout(row)
        row = QHBoxLayout()
        row.addWidget(self.stop_button)
        row.addWidget(self.script_button)
        row.addStretch(1)
        row.addWidget(self.clear_button)
        column.addLayout(row)
        self.setWidget(body)

    @cached_property
    def names(self) -> dict[str, Any]:
        """Return the globals of what is typed."""
        return self._make_names("__console__")

    # --- running ---------------------------------------------------------------

    def enter(self, source: str) -> None:
        """Run source that was typed; where something runs, it stays where it is."""
        if self._runner.is_running:
            self.say("Something is running: stop it first (Ctrl+C).\n", "error")
            return
        self.entry.keep(source)
        self.entry.clear()
        self._count += 1
        lines = source.rstrip().split("\n")
        self.say("".join(f"{'...' if k else '>>>'} {line}\n" for k, line in enumerate(lines)),
                 "command")  # fmt: skip
        name, output = f"<input {self._count}>", self._runner.output
        self._runner.start(lambda: run_source(source, name, self.names, output.write))

    def run_script(self, path: str, source: str) -> None:
        """Run a script, which has names of its own."""
        self.say(f"Running {path}\n", "command")
        names = self._make_names("__main__")
        names["__file__"] = path
        self._runner.start(lambda: run_script(path, source, names))

    def _changed(self) -> None:
        running = self._runner.is_running
        self.stop_button.setEnabled(running)
        self.script_button.setEnabled(not running)

    # --- printing --------------------------------------------------------------

    def say(self, text: str, style: str) -> None:
        """Show text after all that has been printed."""
        for piece in self._runner.output.take(1 << 30):
            self.view.put(*piece)
        self.view.start_line()
        self.view.put(text, style)

    def _printed(self) -> None:
        if not self._timer.isActive():
            self._timer.start(_BETWEEN)

    def _print_some(self) -> None:
        for piece in self._runner.output.take(_PIECE):
            self.view.put(*piece)

    def _offer(self, names: list[str]) -> None:
        more = f"  and {len(names) - _MOST_OFFERED} more" if len(names) > _MOST_OFFERED else ""
        self.say("  ".join(names[:_MOST_OFFERED]) + more + "\n", "note")


class _Printed(QPlainTextEdit):
    """Shows what has been printed, the end of it in view unless somebody has scrolled away."""

    def __init__(self, stop: Callable[[], None]) -> None:
        super().__init__()
        self._stop = stop
        self.setReadOnly(True)
        self.setUndoRedoEnabled(False)
        self.setMaximumBlockCount(_LINES)
        self.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.setAccessibleName("Python output")
        self.setMinimumHeight(60)
        self._undressed = QTextCursor(self.document())
        self._dressing = QTimer(self)
        self._dressing.timeout.connect(self._dress_some)

    def put(self, text: str, style: str) -> None:
        """Add text at the end."""
        bar = self.verticalScrollBar()
        at_end = bar.value() >= bar.maximum() - 2
        cursor = QTextCursor(self.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        form = QTextCharFormat()
        form.setProperty(_STYLE, style)
        form.setForeground(self._colour(style))
        cursor.insertText(text, form)
        if at_end:
            bar.setValue(bar.maximum())

    def start_line(self) -> None:
        """Begin a line, if one has been begun."""
        if self.document().lastBlock().length() > 1:
            self.put("\n", "output")

    def _colour(self, style: str) -> QColor:
        palette = self.palette()
        dark = palette.color(QPalette.ColorRole.Base).lightness() < 128
        own = _COLOURS[dark].get(style)
        return QColor(own) if own else palette.color(QPalette.ColorRole.Text)

    def changeEvent(self, event: QEvent) -> None:
        """Take other colours with another theme."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange:
            self._dress()

    def _dress(self) -> None:
        """Begin to take other colours: the last lines first, some in each turn of Qt's loop."""
        self._undressed = QTextCursor(self.document())  # which stays where it is in the text
        self._undressed.movePosition(QTextCursor.MoveOperation.End)
        self._dressing.start(0)

    def _dress_some(self) -> None:
        block = self._undressed.block()
        for _ in range(_DRESSED):
            self._dress_block(block)
            block = block.previous()
            if not block.isValid():
                self._dressing.stop()
                return
        self._undressed.setPosition(block.position())

    def _dress_block(self, block: QTextBlock) -> None:
        cursor, parts = QTextCursor(self.document()), block.begin()
        while not parts.atEnd():
            part = parts.fragment()
            form = part.charFormat()
            form.setForeground(self._colour(str(form.property(_STYLE))))
            cursor.setPosition(part.position())
            cursor.setPosition(part.position() + part.length(), QTextCursor.MoveMode.KeepAnchor)
            cursor.setCharFormat(form)
            parts += 1

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Stop the script by Ctrl+C, where nothing is selected that it would copy."""
        if event.matches(QKeySequence.StandardKey.Copy) and not self.textCursor().hasSelection():
            self._stop()
        else:
            super().keyPressEvent(event)


_STYLE = QTextCharFormat.Property.UserProperty + 1
