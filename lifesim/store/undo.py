"""What changes of a universe on disk can be undone: the list in the manifest, and a file for each.

The file of a change holds the cells of a box as they were before, and what else the manifest said
then. To undo a change is to put these cells back, which is a change like any other: what was there
becomes the file that redoes it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kernels.targets.memory import available_memory
from lifesim.engines import cells_for
from lifesim.errors import DamagedDataError, LifesimError
from lifesim.grid import BitGrid, Box, GridError, bytes_of, check_size, human_bytes, shape_of
from lifesim.rule import Rule
from lifesim.store import disk
from lifesim.store import facts as checked
from lifesim.store.facts import FactError, Facts
from lifesim.store.names import MOST_EDITS, MOST_GENERATION, undo_name
from lifesim.store.sealed import HEAD, seal, unseal
from lifesim.store.tilefile import hash_of

MOST_KEPT = 100  # changes that can be undone, and as many that can be redone
_TITLE = "[a-z ]{1,40}"
_FAR = 1 << 63  # cells from the origin
_MOST_HEAD = 1 << 16  # bytes of the line that a file begins with

Edge = tuple[int, int | None] | None


@dataclass(frozen=True, slots=True)
class UndoEntry:
    """A change that can be undone, or redone. number: of its file. title: what it was, in a few
    words."""

    number: int
    title: str


@dataclass(frozen=True, slots=True)
class EditLog:
    """The changes of the cells of one generation.

    count: how many have been made, those included that undid others. undo, redo: those that can be
    undone and redone, the next one last.
    """

    count: int
    undo: tuple[UndoEntry, ...] = ()
    redo: tuple[UndoEntry, ...] = ()

    @property
    def files(self) -> set[str]:
        """Return the names of the files."""
        return {undo_name(entry.number) for entry in (*self.undo, *self.redo)}

    def counted(self, path: str) -> EditLog:
        """Return the log with one more change counted. path: of the universe. Raises LifesimError
        for too many, as their numbers stand in the names of files."""
        if self.count >= MOST_EDITS:
            raise LifesimError(f"{path}: its cells have been changed too often: move it on")
        return replace(self, count=self.count + 1)

    def facts(self) -> dict[str, Any]:
        """Return what stands in the manifest."""
        undo, redo = (
            [[entry.number, entry.title] for entry in some] for some in (self.undo, self.redo)
        )
        return {"count": self.count, "undo": undo, "redo": redo}


def log_of(facts: Facts) -> EditLog | None:
    """Return the changes that a manifest tells of; None where there were none. Raises FactError."""
    value = facts.get("edits")
    if value is None:
        return None
    if not isinstance(value, dict):
        raise FactError("edits are no object")
    count = checked.integer(value, "count", 0, MOST_EDITS)
    undo, redo = (
        tuple(_entry(entry, count) for entry in checked.items(value, name, MOST_KEPT))
        for name in ("undo", "redo")
    )
    if len({entry.number for entry in (*undo, *redo)}) < len(undo) + len(redo):
        raise FactError("two edits have one number")
    return EditLog(count, undo, redo)


def _entry(value: Any, count: int) -> UndoEntry:
    number, title = checked.as_items(value, "an edit", 2, 2)
    return UndoEntry(
        checked.as_integer(number, "the number of an edit", 1, count),
        checked.as_text(title, "the title of an edit", _TITLE),
    )


@dataclass(frozen=True, slots=True)
class Before:
    """The cells of a box before a change, and what the manifest said then.

    box: by the universe's own coordinates. edge, origin: as
    of the manifest.
    """

    box: Box
    cells: BitGrid
    edge: Edge
    origin: str


def write_before(path: str, id: str, number: int, before: Before) -> None:
    """Write the file that undoes a change, whole or not at all. id: of the universe. Raises
    OSError."""
    import zstandard

    cells = before.cells
    body = zstandard.ZstdCompressor(level=1).compress(np.ascontiguousarray(cells.words).data)
    head = {
        "undo": number,
        "universe": id,
        "box": list(before.box),
        "planes": cells.planes,
        "edge": before.edge,
        "origin": before.origin,
        "bytes": len(body),
        "hash": f"{hash_of(body):016x}",
    }
    disk.write_whole(path, seal(head) + body)


def read_before(path: str, id: str, number: int, rule: Rule) -> Before:
    """Return what the file of a change holds. Raises DamagedDataError for one that was never
    written so, GridError for a file or cells that memory does not hold, OSError."""
    size = os.lstat(path).st_size
    if 2 * size > available_memory():  # with a copy of all but its first line
        raise GridError(f"{path}: more than memory holds: {human_bytes(size)}")
    data = disk.read_file(path, size, HEAD)
    end = data.find(b"\n", 0, _MOST_HEAD) + 1
    facts = unseal(data[:end]) if end else None
    try:
        if facts is None:
            raise FactError("its checksum is wrong")
        return _before_of(facts, data[end:], id, number, rule)
    except FactError as error:
        what = f"{path}: what undoes a change is damaged: {error}"
        raise DamagedDataError(what) from None


def _before_of(facts: Facts, body: bytes, id: str, number: int, rule: Rule) -> Before:
    import zstandard

    if checked.integer(facts, "undo", 1, MOST_EDITS) != number:
        raise FactError("it is of another change")
    if checked.text(facts, "universe", "[0-9a-f]{1,64}") != id:
        raise FactError("it is of another universe")
    x, y, width, height = (
        checked.as_integer(value, "box", -_FAR, _FAR)
        for value in checked.as_items(facts.get("box"), "box", 4, 4)
    )
    planes = checked.integer(facts, "planes", rule.planes, rule.planes)
    if width < 1 or height < 1:
        raise FactError("box holds no cells")
    if checked.integer(facts, "bytes", 0, 1 << 62) != len(body):
        raise FactError("it has another length")
    if checked.text(facts, "hash", "[0-9a-f]{16}") != f"{hash_of(body):016x}":
        raise FactError("its checksum is wrong")
    size = bytes_of(width, height, planes)
    try:
        if zstandard.frame_content_size(body) != size:
            raise FactError("it has another number of cells")
    except zstandard.ZstdError as error:
        raise FactError(f"its cells are none ({error})") from None
    check_size(width, height, 3 * planes)
    try:
        words = np.frombuffer(zstandard.ZstdDecompressor().decompress(body), np.uint64)
        grid = BitGrid(width, height, words.reshape(shape_of(width, height, planes)).copy())
        cells = cells_for(rule, grid)
    except (zstandard.ZstdError, ValueError, GridError) as error:
        raise FactError(f"its cells are none ({error})") from None
    return Before(Box(x, y, width, height), cells, edge_of(facts), _origin(facts))


def edge_of(facts: Facts) -> Edge:
    """Return what facts tell of the edge (Manifest). Raises FactError."""
    if facts.get("edge") is None:
        return None
    after, by = checked.as_items(facts["edge"], "edge", 2, 2)
    after = checked.as_integer(after, "edge", -1, MOST_GENERATION)
    return after, None if by is None else checked.as_integer(by, "edge", after + 1, MOST_GENERATION)


def _origin(facts: Facts) -> str:
    return checked.text(facts, "origin", r"[\s\S]*")


def undo_path(folder: str, number: int) -> str:
    """Return the path of the file that undoes a change."""
    return os.path.join(folder, undo_name(number))
