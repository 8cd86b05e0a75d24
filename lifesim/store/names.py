"""The names that files of a universe have, and no others."""

from __future__ import annotations

import re
from typing import NamedTuple

MANIFEST, JOURNAL, LOCK, TILES = "manifest.json", "journal.jsonl", "lock", "tiles"

TILE_NAME = re.compile(
    r"(?P<row>[0-9]{4,})-(?P<column>[0-9]{4,})\.(?P<generation>[0-9]+)(-(?P<edit>[1-9][0-9]*))?"
    r"\.h5(?P<draft>(\.[0-9a-f]+)?\.tmp)?"
)
UNDO_NAME = re.compile(r"undo\.[1-9][0-9]*\.zst(\.tmp)?")  # beside the tiles
MOST_GENERATION = 10**60  # whose digits fit into the name of a file
MOST_EDITS = 10**9  # of one generation


class TileLabel(NamedTuple):
    """The part of a file's name that tells it from others of its tile: a generation, and which
    change of that generation has made the file; 0 for none."""

    generation: int
    edit: int = 0


def tile_name(row: int, column: int, generation: int, edit: int = 0) -> str:
    """Return the name of a tile's file. edit: which change of that generation has made it; 0 for
    none."""
    return f"{row:04d}-{column:04d}.{generation}{f'-{edit}' if edit else ''}.h5"


def undo_name(number: int) -> str:
    """Return the name of the file that undoes a change."""
    return f"undo.{number}.zst"


def draft_name(name: str, attempt: str) -> str:
    """Return the name of a tile's file that has not got its own yet.

    attempt: hexadecimal; which of several attempts to make the file this one is.
    """
    return f"{name}.{attempt}.tmp"


def label_of(name: str, row: int, column: int) -> TileLabel | None:
    """Return what stands in the name of a tile's file; None where it is no file of that tile."""
    match = TILE_NAME.fullmatch(name)
    if match is None or match["draft"] or _is_long(match):
        return None
    label = TileLabel(int(match["generation"]), int(match["edit"] or 0))
    right = label.edit <= MOST_EDITS and name == tile_name(row, column, *label)
    return label if right else None


def is_edited(name: str) -> bool:
    """Tell whether a tile's file has been made by a change."""
    match = TILE_NAME.fullmatch(name)
    return bool(match and match["edit"])


def is_left_over(name: str, across: int, down: int, generation: int) -> bool:
    """Return whether a name is one that a run as far as `generation` gives to a tile's file or
    draft, or a change to what undoes it, in a universe of so many tiles across and down."""
    if UNDO_NAME.fullmatch(name):
        return True
    match = TILE_NAME.fullmatch(name)
    if match is None or _is_long(match):
        return False
    row, column, of = (int(match[part]) for part in ("row", "column", "generation"))
    plain = tile_name(row, column, of, int(match["edit"] or 0))
    return row < down and column < across and of <= generation and name.startswith(plain)


def _is_long(match: re.Match[str]) -> bool:
    """Tell whether a number of a name has more digits than any has."""
    return max(len(part or "") for part in match.groups()[:5]) > len(str(MOST_GENERATION))
