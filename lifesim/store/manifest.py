"""What is written beside the sub-universe files: the manifest and the journal of a phase.

The manifest is of one generation. A phase, which takes the universe from that generation
to a later one, adds to the journal a line for every tile that it has finished; when none
is left, the manifest moves on by one rename and the journal goes.
"""

from __future__ import annotations

import re
from dataclasses import astuple, dataclass, field
from typing import Any

from lifesim.errors import DamagedDataError, LifesimError
from lifesim.rule import Rule
from lifesim.store.sealed import seal, unseal
from lifesim.store.tilefile import Format, TileRecord
from lifesim.store.tiling import Tiling
from lifesim.topology import Topology

FORMAT, VERSION = "lifesim universe", 1
_MASK = (1 << 128) - 1


@dataclass(frozen=True, slots=True)
class Manifest:
    """A universe of one generation.

    steady: of each tile, whether its cells are those of `last` generations ago, where
    last is the length of the phase before (0: there was none). run: where the run that
    is under way started and where it ends; None when it is there. origin: what its first
    cells were made from, where that can be told.
    """

    id: str
    tiling: Tiling
    rule: Rule
    generation: int
    form: Format
    tiles: tuple[TileRecord, ...]
    steady: tuple[bool, ...]
    last: int = 0
    run: tuple[int, int] | None = None
    origin: str = ""

    @property
    def topology(self) -> Topology:
        return Topology.TORUS if self.tiling.torus else Topology.PLANE

    @property
    def population(self) -> int:
        return sum(tile.population for tile in self.tiles)

    @property
    def digest_sum(self) -> int:
        return sum(tile.partial for tile in self.tiles) & _MASK

    @property
    def stored_bytes(self) -> int:
        return sum(tile.size for tile in self.tiles)


@dataclass(slots=True)
class Phase:
    """The way from the manifest's generation to another. done: by tile; None: unchanged."""

    start: int
    stop: int
    keep_previous: bool
    done: dict[int, TileRecord | None] = field(default_factory=dict)

    @property
    def generations(self) -> int:
        return self.stop - self.start


def tile_name(row: int, column: int, generation: int) -> str:
    return f"{row:04d}-{column:04d}.{generation}.h5"


def draft_name(name: str, attempt: str) -> str:
    """Of a tile's file that has not got its name yet, as one of several attempts may make it.

    attempt: hexadecimal.
    """
    return f"{name}.{attempt}.tmp"


TILE_NAME = re.compile(r"[0-9]{4,}-[0-9]{4,}\.[0-9]+\.h5((\.[0-9a-f]+)?\.tmp)?")


def write_manifest(manifest: Manifest) -> bytes:
    tiling, form = manifest.tiling, manifest.form
    return seal(
        {
            "format": FORMAT,
            "version": VERSION,
            "id": manifest.id,
            "width": tiling.width,
            "height": tiling.height,
            "topology": str(manifest.topology),
            "rule": str(manifest.rule),
            "origin": manifest.origin,
            "generation": manifest.generation,
            "population": manifest.population,
            "columns": tiling.columns,
            "rows": tiling.rows,
            "chunk_rows": form.chunk_rows,
            "compression": form.compression,
            "pyramid": form.top,
            "last": manifest.last,
            "run": manifest.run,
            "steady": "".join("01"[steady] for steady in manifest.steady),
            "tiles": [_tile_facts(tile) for tile in manifest.tiles],
        }
    )


def read_manifest(data: bytes, path: str) -> Manifest:
    """Raises DamagedDataError for bytes that were never written so, and LifesimError for a
    newer version. What follows the checksum was written by this code and is trusted."""
    facts = unseal(data)
    if facts is None or facts.get("format") != FORMAT:
        raise DamagedDataError(f"{path}: the manifest is damaged: its checksum is wrong")
    if facts["version"] > VERSION:
        raise LifesimError(
            f"{path}: version {facts['version']} is newer than this program, which reads "
            f"version {VERSION}: update it"
        )
    tiling = Tiling(
        tuple(facts["columns"]), tuple(facts["rows"]), facts["topology"] == str(Topology.TORUS)
    )
    return Manifest(
        id=facts["id"],
        tiling=tiling,
        rule=Rule.parse(facts["rule"]),
        generation=facts["generation"],
        form=Format(facts["chunk_rows"], facts["compression"], facts["pyramid"]),
        tiles=tuple(_tile_of(tile) for tile in facts["tiles"]),
        steady=tuple(letter == "1" for letter in facts["steady"]),
        last=facts["last"],
        run=tuple(facts["run"]) if facts["run"] else None,
        origin=facts["origin"],
    )


def first_line(manifest: Manifest, phase: Phase) -> bytes:
    return seal(
        {
            "id": manifest.id,
            "from": phase.start,
            "to": phase.stop,
            "keep_previous": phase.keep_previous,
        }
    )


def tile_line(tile: int, record: TileRecord | None) -> bytes:
    return seal({"tile": tile, "record": record and _tile_facts(record)})


def read_journal(data: bytes, manifest: Manifest, path: str) -> tuple[Phase | None, int]:
    """The phase under way, None where the journal is of one that is over, and how many of
    the bytes hold it: a line that a kill cut off is left out.

    Raises DamagedDataError for lines that are not as they were written.
    """
    lines = data.splitlines(keepends=True)
    head = unseal(lines[0]) if lines else None
    if head is None or "from" not in head:
        raise DamagedDataError(f"{path}: the journal is damaged: checksum of line 1")
    if head["id"] != manifest.id:
        raise DamagedDataError(f"{path}: the journal is of another universe")
    if head["to"] <= manifest.generation:
        return None, 0
    if head["from"] != manifest.generation:
        raise DamagedDataError(
            f"{path}: the journal starts at generation {head['from']}, "
            f"the manifest is of {manifest.generation}"
        )
    phase = Phase(head["from"], head["to"], head["keep_previous"])
    length = len(lines[0])
    for number, line in enumerate(lines[1:], 2):
        facts = unseal(line)
        if facts is None:
            torn = number == len(lines) and not line.endswith(b"\n")
            if torn and unseal(line[:-1] + b"\n") is None:
                break
            raise DamagedDataError(f"{path}: the journal is damaged: checksum of line {number}")
        record = facts["record"]
        phase.done[facts["tile"]] = None if record is None else _tile_of(record)
        length += len(line)
    return phase, length


def _tile_facts(tile: TileRecord) -> list[Any]:
    return [*astuple(tile)[:-1], f"{tile.partial:032x}"]


def _tile_of(facts: list[Any]) -> TileRecord:
    file, size, table, table_hash, rest_hash, population, partial = facts
    return TileRecord(file, size, table, table_hash, rest_hash, population, int(partial, 16))
