"""The panel of the grammar: an editor, what is wrong with it, and the language it says."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from ckyparse.grammar import GrammarError
from ui.parsing.model import Language, Latest, read
from ui.qt.parsing.grammar import GrammarEditor

_TYPING = 150  # milliseconds without a key until a grammar is read


class GrammarPanel(QWidget):
    """Edits a grammar, and reads it as it is typed.

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
        self.note.hide()
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(5)
        box.addWidget(self.editor)
        box.addWidget(self.note)
        self.typing = QTimer(self, singleShot=True, interval=_TYPING)
        self.reader = Latest("grammar", self._landed.emit)
        self._landed.connect(self._land, Qt.ConnectionType.QueuedConnection)
        self.typing.timeout.connect(self.read)
        self.editor.textChanged.connect(self.typing.start)

    @property
    def is_busy(self) -> bool:
        """Tell whether the text is being read, or is to be."""
        return self.typing.isActive() or self.reader.is_busy

    def show_text(self, text: str) -> None:
        """Show a text in place of what is there, as it was read from a file."""
        self.editor.setPlainText(text)
        self.editor.document().setModified(False)
        self.typing.stop()
        self.read()

    def read(self) -> None:
        """Read the text as it is now."""
        text, backend = self.editor.toPlainText(), self.backend
        if text.strip():
            self.reader.ask(lambda: [read(text, backend)])
            return
        self.reader.ask(None)
        self.editor.show_error(None)
        self._say("", False)
        self.language = None
        self.changed.emit()

    def _land(self, serial: int, found: object) -> None:
        if serial != self.reader.serial:
            return
        if isinstance(found, Language):
            self.language = found
            self.editor.show_error(None)
            empty = "The language is empty: no sentence will be accepted."
            notes = [empty] if found.is_empty else []
            notes += [found.note[0].upper() + found.note[1:] + "."] if found.note else []
            self._say("\n".join(notes), False)
            self.changed.emit()
        elif isinstance(found, GrammarError):
            self.editor.show_error(found)
            where = f"Line {found.line}, column {found.column}: " if found.line else ""
            self._say(f"{where}{found.message}", True)
        elif isinstance(found, Exception):
            self.editor.show_error(None)
            what = "Out of memory" if isinstance(found, MemoryError) else type(found).__name__
            self._say(f"{what}: {found}", True)
        self.checked.emit()

    def _say(self, text: str, wrong: bool) -> None:
        kept = "\nWhat is shown is of the last grammar without errors."
        self.note.setText(text + (kept if wrong and self.language else ""))
        self.note.setProperty("error", wrong)
        self.note.style().unpolish(self.note)
        self.note.style().polish(self.note)
        self.note.setVisible(bool(text))

    def go_to_error(self) -> None:
        """Move the cursor to the error, if there is one."""
        if self.editor.error is not None:
            self.editor.go_to(self.editor.error.line, self.editor.error.column)

    def close_down(self) -> None:
        """Stop the thread."""
        self.reader.close()
        self.language = None
