"""Grammars in nltk's syntax.

    # A comment.
    %start S
    S -> NP VP [0.9] | VP [0.1]
    NP -> 'the' "child's" N [1/3] | \\
          PRO [2/3]

A nonterminal is what nltk takes for one: a letter, a digit, '_' or '/', and then also '^',
'<', '>', '-'. Strings have no escapes. A comment is a line of its own. An alternative
without symbols derives the empty string. Without %start the first left-hand side is the
start symbol. Probabilities may be there; then each alternative has one.

What nltk's CFG.fromstring or PCFG.fromstring accept is accepted, as the same grammar, and
what both refuse is refused, but for this:

- equal productions become one, their probabilities added;
- where some alternatives have probabilities and some have none, nltk takes those for 0; it
  is an error here, as is a second probability of one alternative;
- probabilities are exact: their sum must be nearer to 1 than 0.01 before any rounding, and
  they may be fractions, [1/3], or have an exponent, [1e-05], as nltk itself writes them;
- a backslash that ends the text ends its line; nltk forgets the line;
- letters, digits and spaces are Python's, where nltk's are those of the package regex,
  which counts combining marks among letters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import NoReturn

from .productions import GrammarError, Nonterminal, Production, Symbol

_NAME = re.compile(r"([\w/][\w/^<>-]*)\s*")
_ARROW = re.compile(r"\s*->\s*")
_TOKEN = re.compile(
    r"""(?:([\w/][\w/^<>-]*)|'([^']*)'|"([^"]*)"|(\|)|\[([^\[\]]*)\])\s*""",
)
_NAMED, _BAR, _SHARE = 1, 4, 5  # its groups
_NUMBER = re.compile(r"[\d.]{1,999}(?:[eE][+-]?\d{1,3})?|\d{1,999}/\d{1,999}")


@dataclass(slots=True)
class _Statement:
    """A line, with those that continue it.

    places: where its parts begin: (offset in text, line, column).
    """

    text: str
    places: list[tuple[int, int, int]]

    def place(self, offset: int) -> tuple[int, int]:
        """Return the line and column of a character."""
        begin, line, column = self.places[0]
        for place in self.places[1:]:
            if place[0] <= offset:
                begin, line, column = place
        return line, column + offset - begin


def read_text(
    text: str, start: str | Nonterminal | None = None, source: str = "<string>"
) -> tuple[Nonterminal, list[Production]]:
    """Return the start symbol and the productions that a text says. Raises GrammarError.

    start: instead of the text's start symbol. source: the text's name in errors.
    """
    return _GrammarReader(source).read(text, start)


def read_file(path: str | PathLike[str]) -> str:
    """Return the text of a file in UTF-8. Raises GrammarError where it cannot be read."""
    source = str(path)
    if not source:
        raise GrammarError("no file is named so", "''")
    try:
        data = Path(path).read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise GrammarError(f"cannot be read: {reason}", source) from None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # The error counts from behind a byte order mark.
        before = error.object[: error.start]
        line, column = before.count(b"\n") + 1, len(before.split(b"\n")[-1].decode()) + 1
        what = f"byte 0x{error.object[error.start]:02x} is not UTF-8"
        raise GrammarError(what, source, line, column) from None
    return text


def check_writable(nonterminals: Iterable[Nonterminal], terminals: Iterable[str]) -> None:
    """Raise GrammarError where symbols have no text that would be read as the same."""
    for nonterminal in nonterminals:
        match = _NAME.fullmatch(nonterminal.name)
        if match is None or match[1] != nonterminal.name:
            raise GrammarError(
                f"nonterminal {nonterminal.name!r} cannot be written in nltk's syntax: names have "
                "letters, digits and _ / ^ < > - only"
            )
    for terminal in terminals:
        if ("'" in terminal and '"' in terminal) or "\n" in terminal:
            which = "an end of line" if "\n" in terminal else "both kinds of quotes"
            raise GrammarError(
                f"terminal {terminal!r} cannot be written in nltk's syntax: it has {which}"
            )


class _GrammarReader:
    def __init__(self, source: str) -> None:
        self.source = source
        self.start: Nonterminal | None = None
        self.productions: list[Production] = []
        self.symbols: dict[str, Nonterminal] = {}  # by name
        # The first production with a probability, and the first without.
        self.probable: Production | None = None
        self.bare: Production | None = None

    def read(
        self, text: str, start: str | Nonterminal | None
    ) -> tuple[Nonterminal, list[Production]]:
        for statement in _statements(text):
            if statement.text.startswith("%"):
                self.directive(statement)
            else:
                self.rule(statement)
        if not self.productions:
            raise GrammarError("no productions: not a grammar", self.source)
        if self.probable is not None and self.bare is not None:
            what = f"no probability, though line {self.probable.line} has one"
            raise GrammarError(what, self.source, self.bare.line, self.bare.column)
        if start is None:
            chosen = self.start or self.productions[0].lhs
        else:
            chosen = Nonterminal(start) if isinstance(start, str) else start
            if all(production.lhs != chosen for production in self.productions):
                what = f"the start symbol {shown(chosen.name)} has no productions"
                raise GrammarError(what, self.source)
        return chosen, self.productions

    def directive(self, statement: _Statement) -> None:
        text = statement.text
        words = text[1:].split(None, 1)
        if not words or words[0] != "start":
            self.fail(f"{_shown(text)} is no directive; %start is the one there is", statement, 0)
        if len(words) == 1:
            self.fail("%start names no symbol", statement, 0)
        offset = len(text) - len(words[1])
        name, end = self.name(statement, offset)
        if end != len(text):
            self.fail(f"%start names one symbol, then comes {_shown(text[end:])}", statement, end)
        self.start = name

    def name(self, statement: _Statement, offset: int) -> tuple[Nonterminal, int]:
        match = _NAME.match(statement.text, offset)
        if match is None:
            what = f"a nonterminal was expected, not {_shown(statement.text[offset:])}"
            self.fail(what, statement, offset)
        return self.symbol(match[1]), match.end()

    def symbol(self, name: str) -> Nonterminal:
        symbol = self.symbols.get(name)
        if symbol is None:
            symbol = self.symbols[name] = Nonterminal(name)
        return symbol

    def rule(self, statement: _Statement) -> None:
        text = statement.text
        lhs, offset = self.name(statement, 0)
        arrow = _ARROW.match(text, offset)
        if arrow is None:
            found = _shown(text[offset:]) if offset < len(text) else "the end of the line"
            hint = ", with a space before it" if "->" in lhs.name else ""
            what = f"'->' was expected after {_shown(lhs.name)}{hint}, not {found}"
            self.fail(what, statement, offset)
        begin, offset = 0, arrow.end()
        rhs: list[Symbol] = []
        probability: Fraction | None = None
        symbols = self.symbols
        for match in _TOKEN.finditer(text, offset):
            if match.start() != offset:
                break
            kind = match.lastindex or 0
            word = match[kind]
            if kind == _NAMED:
                rhs.append(symbols.get(word) or self.symbol(word))
            elif kind == _BAR:
                self.add(lhs, rhs, probability, statement, begin)
                rhs, probability, begin = [], None, match.end()
            elif kind == _SHARE:
                if probability is not None:
                    self.fail(f"a second probability, [{word}]", statement, offset)
                probability = self.probability(word, statement, offset)
            else:
                rhs.append(word)
            offset = match.end()
        if offset < len(text):
            self.fail(_trouble(text, offset), statement, offset)
        self.add(lhs, rhs, probability, statement, begin)

    def add(
        self,
        lhs: Nonterminal,
        rhs: list[Symbol],
        probability: Fraction | None,
        statement: _Statement,
        begin: int,
    ) -> None:
        line, column = statement.place(begin)
        production = Production(lhs, tuple(rhs), probability, line, column)
        self.productions.append(production)
        if probability is None:
            self.bare = self.bare or production
        else:
            self.probable = self.probable or production

    def probability(self, word: str, statement: _Statement, offset: int) -> Fraction:
        try:
            if _NUMBER.fullmatch(word) is None:
                raise ValueError
            value = Fraction(word)
        except (ValueError, ZeroDivisionError):
            self.fail(f"{_shown(f'[{word}]')} is no probability", statement, offset)
        if value > 1:
            self.fail(f"the probability {word} is greater than 1", statement, offset)
        return value

    def fail(self, what: str, statement: _Statement, offset: int) -> NoReturn:
        raise GrammarError(what, self.source, *statement.place(offset))


def _statements(text: str) -> Iterator[_Statement]:
    """Yield the lines that say something, joined where a backslash continues them."""
    begun: _Statement | None = None
    for number, line in enumerate(text.split("\n"), 1):
        stripped = line.strip()
        column = line.find(stripped) + 1
        if begun is None:
            if not stripped or stripped.startswith("#"):
                continue
            statement = _Statement(stripped, [(0, number, column)])
        else:
            statement = begun
            statement.places.append((len(begun.text), number, column))
            statement.text += stripped
        begun = None
        if statement.text.endswith("\\"):
            statement.text = statement.text[:-1].rstrip() + " "
            begun = statement
        else:
            yield statement
    if begun is not None and begun.text.strip():
        yield begun


def _trouble(text: str, offset: int) -> str:
    if text[offset] in "'\"":
        return f"no {text[offset]} ends the string {_shown(text[offset:])}"
    if text[offset] == "[":
        return f"{_shown(text[offset:])} is no probability"
    return f"a symbol was expected, not {_shown(text[offset:])}"


def _shown(text: str) -> str:
    return shown(text.rstrip())


def shown(text: str) -> str:
    """Quote a text for an error: one line, not too long."""
    return repr(text if len(text) <= 30 else text[:29] + "…")
