"""The panel of the grammar: an editor, what is wrong with it, and the language it says."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from ckyparse.grammar import GrammarError
from ui.parsing.model import Language, Latest, read
from ui.qt.parsing.grammar import GrammarEditor

_TYPING = 150  # milliseconds without a key until a grammar is read
_DOUBT = 450  # more of them until an error is said: a rule that is being typed is no error yet


class GrammarPanel(QWidget):
    """Edits a grammar, and reads it as it is typed.

    An error is said when no key has been pressed for a while, and goes as soon as it is mended.

    language: of the last text without errors, None if there was none. changed: it is another one;
    checked: there is an error, or there is no more.
    """

    changed = Signal()
    checked = Signal()
    _landed = Signal(int, object)

    def __init__(self, backend: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.backend = backend
        self.language: Language | None = None
        self.editor = GrammarEditor()
        self.note = QLabel()
        self.note.setTextFormat(Qt.TextFormat.PlainText)
        self.note.setAccessibleName("What is wrong with the grammar")
        self.note.setContentsMargins(6, 2, 6, 2)
        self.note.setWordWrap(True)
        self.note.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        # Room for an error and what follows of it, so that nothing moves when one is said.
        self.note.setMinimumHeight(2 * self.note.fontMetrics().lineSpacing() + 6)
        self.note.setAlignment(Qt.AlignmentFlag.AlignTop)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(5)
        box.addWidget(self.editor)
        box.addWidget(self.note)
        self.typing = QTimer(self, singleShot=True, interval=_TYPING)
        self.doubt = QTimer(self, singleShot=True, interval=_DOUBT)
        self._error: Exception | None = None
        self._is_typed = False
        self.reader = Latest("grammar", self._landed.emit)
        self._landed.connect(self._land, Qt.ConnectionType.QueuedConnection)
        self.typing.timeout.connect(self.read)
        self.doubt.timeout.connect(self._show_error)
        self.editor.textChanged.connect(self._changed)

    @property
    def is_busy(self) -> bool:
        """Tell whether the text is being read, or is to be."""
        return self.typing.isActive() or self.doubt.isActive() or self.reader.is_busy

    def _changed(self) -> None:
        self._is_typed = True
        self.doubt.stop()
        self.typing.start()

    def show_text(self, text: str) -> None:
        """Show a text in place of what is there, as it was read from a file."""
        self.editor.setPlainText(text)
        self.editor.document().setModified(False)
        self.typing.stop()
        self._is_typed = False
        self.read()

    def read(self) -> None:
        """Read the text as it is now."""
        text, backend = self.editor.toPlainText(), self.backend
        if text.strip():
            self.reader.ask(lambda: [read(text, backend)])
            return
        self.reader.ask(None)
        self._error = None
        self._show_error()
        self.language = None
        self.changed.emit()

    def _land(self, serial: int, found: object) -> None:
        if serial != self.reader.serial:
            return
        if isinstance(found, Language):
            self.language, self._error = found, None
            self._show_error()
            self.changed.emit()
        elif isinstance(found, Exception):
            self._error = found
            if self._is_typed and not self.note.property("error"):
                self.doubt.start()
                return
            self._show_error()

    def _show_error(self) -> None:
        """Show what is wrong with the last text that was read, or what is odd about it."""
        error, found = self._error, self.language
        self.doubt.stop()
        self.editor.show_error(error if isinstance(error, GrammarError) else None)
        if isinstance(error, GrammarError):
            where = f"Line {error.line}, column {error.column}: " if error.line else ""
            self._say(f"{where}{error.message}", True)
        elif error is not None:
            what = "Out of memory" if isinstance(error, MemoryError) else type(error).__name__
            self._say(f"{what}: {error}", True)
        elif found is not None and self.editor.toPlainText().strip():
            empty = "The language is empty: no sentence will be accepted."
            notes = [empty] if found.is_empty else []
            notes += [found.note[0].upper() + found.note[1:] + "."] if found.note else []
            self._say("\n".join(notes) or "No errors", False)
        else:
            self._say("", False)
        self.checked.emit()

    def _say(self, text: str, wrong: bool) -> None:
        kept = "\nWhat is shown is of the last grammar without errors."
        self.note.setText(text + (kept if wrong and self.language else ""))
        self.note.setProperty("error", wrong)
        self.note.setProperty("dim", not wrong)
        self.note.style().unpolish(self.note)
        self.note.style().polish(self.note)

    def go_to_error(self) -> None:
        """Move the cursor to the error, if there is one."""
        if self.editor.error is not None:
            self.editor.go_to(self.editor.error.line, self.editor.error.column)

    def close_down(self) -> None:
        """Stop the thread."""
        self.reader.close()
        self.language = None
