"""What stands on the cards of files: a title, a line below it, and the path."""

from __future__ import annotations

import os
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Card:
    """A file or directory, as a list shows it. title and line: what stands beside its picture. tip:
    more about it."""

    path: str
    title: str
    line: str
    tip: str = ""


def card_of_file(path: str) -> Card:
    """Return the card of a recent file: its name, and the folder that it is in."""
    folder, name = os.path.split(path)
    return Card(path, name or path, short_path(folder, 40), path)


def short_path(path: str, most: int = 60) -> str:
    """Return a path with `~` for the user's own folder, and its end only where it is long."""
    home = os.path.expanduser("~")
    if path == home or path.startswith(home + os.sep):
        path = "~" + path[len(home) :]
    return path if len(path) <= most else "…" + path[-most + 1 :]
