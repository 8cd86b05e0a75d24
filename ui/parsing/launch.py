"""What the window for parsing begins with: the arguments of `ckyparse view`, without Qt."""

from __future__ import annotations

from dataclasses import dataclass

from ui.parsing.files import read_grammar
from ui.parsing.model import Way
from ui.parsing.sentences import SentenceLines


@dataclass(frozen=True, slots=True)
class ParseLaunch:
    """The arguments of a command that opens the window for parsing.

    grammar: a file, or None. sentences: a file, or None. way: what tokens are, None for what the
    grammar suggests. theme: "dark", "light" or None for the last one.
    """

    grammar: str | None = None
    sentences: str | None = None
    way: Way | None = None
    backend: str = "auto"
    theme: str | None = None

    def text(self) -> str:
        """Return the text of the grammar, right or wrong: the window shows what is wrong. Raises
        FileError."""
        return read_grammar(self.grammar) if self.grammar is not None else ""

    def lines(self) -> SentenceLines:
        """Return the sentences. Raises TextError."""
        return SentenceLines.read(self.sentences) if self.sentences is not None else SentenceLines()
