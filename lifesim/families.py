"""Kinds of rules that cannot be run, and what an error says of them."""

from __future__ import annotations

import re
from collections.abc import Iterable

# The first that fits the text, which has no blanks at its ends, in any case of letters.
_KINDS = ((".*(?:Super|Investigator)", "one with states that mark cells: a rule file is needed"),)


def family(text: str) -> str | None:
    """Return what kind of rule this is that cannot be run, as an error goes on after "is"."""
    if len(text) > 1000:
        return None
    for pattern, meaning in _KINDS:
        if re.fullmatch(pattern, text, re.IGNORECASE):
            return meaning
    return None


def nearest(text: str, known: Iterable[str]) -> str | None:
    """Return the known name that `text` is likely meant to be, or None."""
    if len(text) > 100:
        return None
    import difflib  # which only a mistake needs

    close = difflib.get_close_matches(text.lower(), list(known), 1, 0.7)
    return close[0] if close else None
