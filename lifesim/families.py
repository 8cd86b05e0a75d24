"""Families of rules that are not Life-like: what an error says of them."""

from __future__ import annotations

import re
from collections.abc import Iterable

_NAMES = {
    "tables": (
        "wireworld",
        "banks-i",
        "banks-ii",
        "banks-iii",
        "banks-iv",
        "byl-loop",
        "caterpillars",
        "chou-reggia-1",
        "chou-reggia-2",
        "codd",
        "codd2",
        "devore",
        "ed-rep",
        "evoloop",
        "evoloop-finite",
        "hpp",
        "hutton32",
        "jvn29",
        "langtons-ant",
        "langtons-loops",
        "lifeontheedge",
        "lifeontheslope",
        "nobili32",
        "perrier",
        "sdsr-loop",
        "tempesti",
    ),
}
_TABLE = "a rule table of several states"
# The first that fits the text, which has no blanks at its ends, in any case of letters.
_FAMILIES = [
    (r"R[0-9]+,.*|[0-9]+,[0-9]+,[0-9]+,[0-9]+,[0-9]+", "of the Larger than Life family"),
    (r".*(?:History|Super|Investigator)", "of several states (it marks cells beside Life's)"),
    (r".*Margolus.*", "a block rule of the Margolus neighbourhood, as a table of several states"),
    (r".*Turmite_.*|LangtonsAnt_.*", "a turmite, as a table of several states"),
    (r"Worm-.*", "one of Paterson's worms, as a table of several states"),
]
_MEANT = {"tables": _TABLE}


def family(text: str) -> str | None:
    """Return what kind of rule this is that is not Life-like, as an error goes on after "is"."""
    name = text.strip()
    if len(name) > 1000:
        return None
    for group, names in _NAMES.items():
        if name.lower() in names:
            return _MEANT[group]
    for pattern, meaning in _FAMILIES:
        if re.fullmatch(pattern, name, re.IGNORECASE):
            return meaning
    return None


def nearest(text: str, known: Iterable[str]) -> str | None:
    """Return the known name that `text` is likely meant to be, or None."""
    if len(text) > 100:
        return None
    import difflib  # which only a mistake needs

    close = difflib.get_close_matches(text.lower(), list(known), 1, 0.7)
    return close[0] if close else None
