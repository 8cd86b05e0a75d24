"""Names of our patterns where a file is asked for."""

from __future__ import annotations

import os

from lifesim.library.folder import extension_of
from lifesim.library.library import PatternLibrary


def file_called(name: str) -> str | None:
    """Return the file of our pattern of that name; None where there is none, and where a file or
    folder of that name is in the working directory, which wins."""
    if not is_bare(name) or os.path.lexists(name):
        return None
    entry = PatternLibrary.of_ours().find(name)
    return entry.path if entry else None


def meant(name: str) -> list[str]:
    """Return the names of our patterns that a name which is none is likely meant to be."""
    if not is_bare(name):
        return []
    return PatternLibrary.of_ours().nearest(name.removesuffix(extension_of(name)))


def is_bare(name: str) -> bool:
    """Tell whether this could be the name of a pattern of ours: it leads into no folder."""
    separators = {os.sep, os.altsep or os.sep, "\0"}
    return name not in ("", "-", ".", "..") and not separators & set(name)
