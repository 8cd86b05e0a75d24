"""Widths of texts where no font can be asked: in files, and in a terminal."""

from __future__ import annotations

from unicodedata import category, east_asian_width

_CLASSES = (
    ("ijl.,:;'|!", 0.32), ("frt()[]{}/\\-`\"*I ", 0.46), ("mwMW@%—", 1.0),
)  # fmt: skip
_WIDTHS = {character: width for characters, width in _CLASSES for character in characters}


def cells(text: str) -> int:
    """Return the columns of a terminal that a text takes."""
    return sum(_columns(character) for character in text)


def ems(text: str) -> float:
    """Return about how wide a text is without serifs, in ems: rather too much than too little."""
    return sum(_ems(character) for character in text)


def _columns(character: str) -> int:
    if category(character) in ("Mn", "Me"):
        return 0
    return 2 if east_asian_width(character) in "WF" else 1


def _ems(character: str) -> float:
    known = _WIDTHS.get(character)
    if known is None:
        known = (0.0, 0.76 if character.isupper() else 0.64, 1.1)[_columns(character)]
    return known
