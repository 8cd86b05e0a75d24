"""Files of the parsing window: grammars and sentences, opened, saved and asked about."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ui.parsing.export import ExportForm
from ui.parsing.files import FileError, check_source, read_grammar, write
from ui.parsing.sentences import SentenceLines, examples
from ui.qt import file_dialogs
from ui.qt.actions import Action
from ui.qt.background import Opening
from ui.qt.dialogs import Dialogs, UnsavedAnswer

if TYPE_CHECKING:
    from ui.qt.parsing.window import ParseWindow

_GRAMMARS = "Grammars (*.cfg *.pcfg *.txt);;All files (*)"
_SENTENCES = "Sentences (*.txt *.examples);;All files (*)"


class ParseDialogs(Dialogs):
    """The dialogs of the window for parsing: each method shows one and waits. None is: not after
    all."""

    def open_grammar(self, folder: str) -> str | None:
        """Ask for a grammar."""
        return file_dialogs.open_file(self._window, "Open a grammar", folder, _GRAMMARS) or None

    def open_sentences(self, folder: str) -> str | None:
        """Ask for a file of sentences."""
        return file_dialogs.open_file(self._window, "Open sentences", folder, _SENTENCES) or None

    def save_grammar(self, path: str) -> str | None:
        """Ask where to save a grammar."""
        chosen, _ = file_dialogs.save_file(self._window, "Save the grammar", path, _GRAMMARS)
        return chosen or None

    def save_sentences(self, path: str) -> str | None:
        """Ask where to save sentences."""
        chosen, _ = file_dialogs.save_file(self._window, "Save sentences", path, _SENTENCES)
        return chosen or None

    def export(
        self, title: str, path: str, forms: Sequence[ExportForm]
    ) -> tuple[str, ExportForm] | None:
        """Ask for a file to export to, and the form; the file's name follows the form."""
        titles = {f"{form.title} (*{form.suffix})": form for form in forms}
        suffixes = {name: form.suffix for name, form in titles.items()}
        chosen, name = file_dialogs.save_in_form(self._window, title, path, suffixes)
        return (chosen, titles.get(name, forms[0])) if chosen else None


class Files:
    """Opens and saves the grammar and the sentences of a window.

    path: of the grammar, None if it has none yet. dialogs: whom to ask.
    """

    def __init__(self, window: ParseWindow) -> None:
        self.window = window
        self.dialogs = ParseDialogs(window)
        self.path: str | None = None

    def actions(self) -> list[Action]:
        """Return the actions of files."""
        made = [
            Action("file.open", "&Open grammar…", "&File", self.open_grammar, ("Ctrl+O",)),
            Action(
                "file.sentences", "Open &sentences…", "&File", self.open_sentences,
                ("Ctrl+Shift+O",), tip="A file of them, one a line",
            ),
            Action(
                "file.cancel", "Cance&l opening", "&File", self.cancel, ("Escape",),
                tip="Stay with the sentences that are there",
                enabled=lambda: self.window.background.is_opening,
            ),
            Action("file.save", "&Save grammar", "&File", self.save, ("Ctrl+S",), section=1),
            Action(
                "file.save-as", "Save grammar &as…", "&File", self.save_as, ("Ctrl+Shift+S",),
                section=1,
            ),
            Action(
                "file.save-sentences", "Save s&entences…", "&File", self.save_sentences,
                section=1, enabled=lambda: len(self.window.lines) > 0,
            ),
            Action("file.close", "&Close", "&File", self.close, ("Ctrl+W", "Ctrl+Q"),
                   section=9),
        ]  # fmt: skip
        for path in examples():
            made.append(
                Action(
                    f"example.{path.name}", path.name.replace("&", "&&"), "&File > &Examples",
                    partial(self.open_example, path), tip="A grammar, with sentences",
                )
            )  # fmt: skip
        return made

    def close(self) -> None:
        """Close the window."""
        self.window.close()

    # --- grammars --------------------------------------------------------------

    def open_grammar(self) -> None:
        """Ask for a grammar, and open it. Raises FileError."""
        path = self.dialogs.open_grammar(self.folder())
        if path is not None:
            self.open_path(path)

    def open_path(self, path: str) -> None:
        """Open a grammar. Raises FileError."""
        path = os.path.abspath(path)
        check_source(path)
        text = read_grammar(path)
        self._confirm_grammar(lambda: self.show(text, path))

    def open_example(self, path: Path) -> None:
        """Open a grammar that comes with the project, with its sentences. Raises FileError."""
        text = read_grammar(path)
        beside = path.with_suffix(".examples")
        lines = SentenceLines.read(beside) if beside.is_file() else None

        def go() -> None:
            self.show(text, str(path))
            if lines is not None:
                self.window.batch.show_lines(lines, select=True)

        self.confirm(go)

    def show(self, text: str, path: str) -> None:
        """Show what was read from a file."""
        self.path = os.path.abspath(path)
        self.window.grammar.show_text(text)
        self.retitle()

    def save(self, then: Callable[[], None] = lambda: None) -> None:
        """Save; then go on, if it could be saved. Raises FileError."""
        if self.path is None:
            self.save_as(then)
        else:
            self._write_grammar(self.path, then)

    def save_as(self, then: Callable[[], None] = lambda: None) -> None:
        """Ask for a name, and save there; then go on, if it could be saved. Raises FileError."""
        start = self.path or os.path.join(self.folder(), "grammar.cfg")
        path = self.dialogs.save_grammar(start)
        if path is not None:
            self._write_grammar(os.path.abspath(path), then)

    def _write_grammar(self, path: str, then: Callable[[], None]) -> None:
        write(path, self.window.editor.toPlainText().encode("utf-8", "surrogatepass"))
        self.path = path
        self.window.editor.document().setModified(False)
        self.window.note(f"Saved {os.path.basename(path)}")
        self.retitle()
        then()

    def retitle(self) -> None:
        """Show the name of the grammar in the title of the window."""
        name = os.path.basename(self.path) if self.path else "untitled grammar"
        self.window.setWindowTitle(f"{name}[*] — ckyparse")
        self.window.setWindowModified(self.window.editor.document().isModified())

    # --- sentences -------------------------------------------------------------

    def open_sentences(self) -> None:
        """Ask for a file of sentences, and read it. Raises FileError."""
        path = self.dialogs.open_sentences(self.folder())
        if path is not None:
            self.read_sentences([path])

    def read_sentences(self, paths: list[str]) -> None:
        """Read the sentences of all files, one after the other, off the main thread, in place of
        those that are there. Raises FileError for a pipe."""
        for path in paths:
            check_source(path)
        what = os.path.basename(paths[0]) if len(paths) == 1 else f"{len(paths)} files"
        window = self.window

        def landed(lines: SentenceLines) -> None:
            self._confirm_sentences(lambda: show(lines))

        def show(lines: SentenceLines) -> None:
            window.batch.show_lines(lines, select=True)
            if len(paths) > 1:
                window.note(f"Opened the sentences of {what}, one after the other")

        def read(opening: Opening) -> SentenceLines:
            return SentenceLines.read_all(paths, opening, opening.tell)

        window.background.open(f"Opening {what}…", read, landed, window.report)

    def cancel(self) -> None:
        """Cancel what is being read: stay with the sentences that are there."""
        self.window.background.cancel()
        self.window.note("Opening was cancelled.")

    def save_sentences(self, then: Callable[[], None] = lambda: None) -> None:
        """Save; then go on, if they could be saved. Raises FileError."""
        path = self.dialogs.save_sentences(os.path.join(self.folder(), "sentences.txt"))
        if path is not None:
            write(path, self.window.lines.data)
            self.window.batch.modified = False
            self.window.note(f"Saved {os.path.basename(path)}")
            then()

    # --- what would be lost ----------------------------------------------------

    def confirm(self, then: Callable[[], None]) -> None:
        """Go on when all is saved, or may be lost."""
        self._confirm_grammar(lambda: self._confirm_sentences(then))

    def _confirm_grammar(self, then: Callable[[], None]) -> None:
        name = os.path.basename(self.path) if self.path else "the grammar"
        modified = self.window.editor.document().isModified()
        self._confirm(modified, name, self.save, then)

    def _confirm_sentences(self, then: Callable[[], None]) -> None:
        changed = self.window.batch.modified and len(self.window.lines) > 0
        self._confirm(changed, "the sentences", self.save_sentences, then)

    def _confirm(
        self,
        changed: bool,
        name: str,
        save: Callable[[Callable[[], None]], None],
        then: Callable[[], None],
    ) -> None:
        answer = self.dialogs.unsaved(name) if changed else UnsavedAnswer.DISCARD
        if answer is UnsavedAnswer.DISCARD:
            then()
        elif answer is UnsavedAnswer.SAVE:
            try:
                save(then)
            except FileError as error:
                self.window.report(error)

    def folder(self) -> str:
        """Return the folder of the grammar, or the one that the program runs in."""
        return os.path.dirname(self.path) if self.path else os.getcwd()
