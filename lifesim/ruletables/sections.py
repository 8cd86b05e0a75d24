"""Sections of a rule file: what stands below @TABLE, @TREE, @COLORS and so on."""

from __future__ import annotations

from dataclasses import dataclass

from lifesim.ruletables.errors import RuleFileError, at

MOST_BYTES = 64 << 20  # of a file
MOST_LINE = 1 << 16  # characters of a line


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a file: its number, from 1 on, and its text without spaces at either end."""

    number: int
    text: str


Sections = dict[str, list[Line]]


def lines_of(data: bytes, path: str) -> list[Line]:
    """Return all lines of a file. Raises RuleFileError where it or a line is too long."""
    if len(data) > MOST_BYTES:
        raise RuleFileError(f"{path}: a rule file has at most {MOST_BYTES >> 20} MiB")
    found = []
    # Bytes that are no UTF-8 can only be in comments and texts that nothing depends on.
    for number, text in enumerate(data.decode("utf-8", "replace").split("\n"), 1):
        if len(text) > MOST_LINE:
            raise at(path, number, f"a line of more than {MOST_LINE} characters")
        found.append(Line(number, text.strip(" \t\r\f\v\ufeff")))
    return found


def sections_of(lines: list[Line]) -> Sections:
    """Return the lines of each section by its name, as TABLE; of equal names only the first counts.

    The section RULE has the rule's name as its first line, or an empty one.
    """
    sections: Sections = {}
    rows: list[Line] = []
    for line in lines:
        if line.text[:1] == "@" and line.text[1:2].isupper():
            name, _, rest = line.text[1:].partition(" ")
            rows = [Line(line.number, rest.strip())] if name == "RULE" else []
            sections.setdefault(name, rows)
        else:
            rows.append(line)
    return sections


def without_comment(text: str) -> str:
    """Return what stands before a `#` in a line."""
    return text.partition("#")[0].strip()
