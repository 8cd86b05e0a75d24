"""The names that files of a universe have, and no others."""

from __future__ import annotations

import re

MANIFEST, JOURNAL, LOCK, TILES = "manifest.json", "journal.jsonl", "lock", "tiles"

TILE_NAME = re.compile(r"([0-9]{4,})-([0-9]{4,})\.([0-9]+)\.h5((\.[0-9a-f]+)?\.tmp)?")
MOST_GENERATION = 10**60  # whose digits fit into the name of a file


def tile_name(row: int, column: int, generation: int) -> str:
    """Return the name of a tile's file."""
    return f"{row:04d}-{column:04d}.{generation}.h5"


def draft_name(name: str, attempt: str) -> str:
    """Return the name of a tile's file that has not got its own yet.

    attempt: hexadecimal; which of several attempts to make the file this one is.
    """
    return f"{name}.{attempt}.tmp"


def generation_of(name: str, row: int, column: int) -> int | None:
    """Return the generation that a file is of, None where it is no file of that tile."""
    match = TILE_NAME.fullmatch(name)
    if match is None or match[4] or len(match[3]) > len(str(MOST_GENERATION)):
        return None
    generation = int(match[3])
    return generation if name == tile_name(row, column, generation) else None


def is_left_over(name: str, across: int, down: int, generation: int) -> bool:
    """Return whether a name is one that a run as far as `generation` gives to a tile's file or
    draft, in a universe of so many tiles across and down."""
    match = TILE_NAME.fullmatch(name)
    if match is None or max(map(len, match.group(1, 2, 3))) > len(str(MOST_GENERATION)):
        return False
    row, column, of = map(int, match.group(1, 2, 3))
    plain = tile_name(row, column, of)
    return row < down and column < across and of <= generation and name.startswith(plain)
