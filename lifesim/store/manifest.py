"""The files beside the tiles: the manifest and the journal of a phase.

The manifest is of one generation. A phase, which takes the universe from that generation
to a later one, adds to the journal a line for every tile that it has finished; when none
is left, the manifest moves on by one rename and the journal goes.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from kernels.ranges.rules import RangeRule
from kernels.tables.rules import TableRule
from lifesim.errors import DamagedDataError, LifesimError
from lifesim.rule import Rule
from lifesim.states import MOST_PLANES
from lifesim.store import facts as checked
from lifesim.store.facts import FactError, Facts
from lifesim.store.names import MOST_GENERATION, is_edited, label_of
from lifesim.store.rulefacts import rule_facts, rule_of
from lifesim.store.sealed import seal, unseal
from lifesim.store.tilefile import COMPRESSIONS, TileFormat, TileRecord, table_bytes, widest_chunk
from lifesim.store.tiling import MOST_CELLS, MOST_TILES, WORD, Tiling, pyramid_top
from lifesim.store.undo import Edge, EditLog, edge_of, log_of
from lifesim.topology import Topology

FORMAT, VERSION = "lifesim universe", 2
PLANES_VERSION = 3  # of a universe whose cells are in several bit planes
EDITS_VERSION = 4  # of one with changes at its generation, or with files that a change has made
RULES_VERSION = 5  # of one with a rule of a table, or of Larger than Life
_MASK = (1 << 128) - 1
MOST_CORNER = 1 << 62  # cells from the origin of a plane without bounds


@dataclass(frozen=True, slots=True)
class Manifest:
    """A universe of one generation.

    steady: of each tile, whether its cells are those of `last` generations ago, where
    last is the length of the phase before (0: there was none). run: where the run that
    is under way started and where it ends; None when it is there. origin: what its first
    cells were made from, where that can be told. corner: of a plane without bounds, whose
    tiles hold what lives and some room, the coordinates of the top-left cell; None of a
    universe that has the size of its tiling. edge: a generation up to which no live cell met
    the edge, and one in which one had, or None; None where nobody asked. edits: changes of
    cells at this generation.
    """

    id: str
    tiling: Tiling
    rule: Rule
    generation: int
    form: TileFormat
    tiles: tuple[TileRecord, ...]
    steady: tuple[bool, ...]
    last: int = 0
    run: tuple[int, int] | None = None
    origin: str = ""
    corner: tuple[int, int] | None = None
    edge: Edge = None
    edits: EditLog | None = None

    @property
    def topology(self) -> Topology:
        """Return how the edges meet."""
        return Topology.TORUS if self.tiling.torus else Topology.PLANE

    @property
    def population(self) -> int:
        """Return the number of live cells."""
        return sum(tile.population for tile in self.tiles)

    @property
    def digest_sums(self) -> tuple[int, ...]:
        """Return the sums of bit planes that the digest is made of (lifesim.digests.finish)."""
        return tuple(
            sum(tile.partials[plane] for tile in self.tiles) & _MASK
            for plane in range(self.form.planes)
        )

    @property
    def stored_bytes(self) -> int:
        """Return the bytes of the files of all tiles."""
        return sum(tile.size for tile in self.tiles)

    def halo(self, generations: int) -> int:
        """Return how many cells news travels in so many generations."""
        return generations * self.rule.cells.reach

    def linked_after(self, generations: int) -> set[int]:
        """Return the tiles that are known to be the same after a phase of so many generations.

        These are the tiles whose whole window is as it was one phase ago, if a whole number of
        such phases is to come: every cell of the window then repeats itself, except for what
        comes in from its rim, and does not reach the tile. And those
        whose window is dead, unless the rule has dead cells born of nothing.
        """
        found: set[int] = set()
        halo = self.halo(generations)
        if self.last and generations % self.last == 0:
            found = self.tiling.whose_windows(np.array(self.steady), halo)
        if self.rule.stays_empty:
            dead = np.array([not tile.population for tile in self.tiles])
            found |= self.tiling.whose_windows(dead, halo)
        return found


@dataclass(slots=True)
class Phase:
    """The way from the manifest's generation to another. done: by tile; None: unchanged."""

    start: int
    stop: int
    keep_previous: bool
    done: dict[int, TileRecord | None] = field(default_factory=dict)

    @property
    def generations(self) -> int:
        """Return the length of the phase."""
        return self.stop - self.start


def write_manifest(manifest: Manifest) -> bytes:
    """Return the bytes of a manifest's file."""
    tiling, form = manifest.tiling, manifest.form
    planes = {"planes": form.planes} if form.planes > 1 else {}
    edits = {"edits": manifest.edits.facts()} if manifest.edits else {}
    version = PLANES_VERSION if planes else VERSION
    if edits or any(is_edited(tile.file) for tile in manifest.tiles):
        version = EDITS_VERSION
    if isinstance(manifest.rule.cells, TableRule | RangeRule):
        version = RULES_VERSION
    return seal(
        {
            "format": FORMAT,
            "version": version,
            "id": manifest.id,
            "width": tiling.width,
            "height": tiling.height,
            "topology": str(manifest.topology),
            **rule_facts(manifest.rule),
            **planes,
            **edits,
            "origin": manifest.origin,
            "generation": manifest.generation,
            "population": manifest.population,
            "columns": tiling.columns,
            "rows": tiling.rows,
            "chunk_rows": form.chunk_rows,
            "compression": form.compression,
            "pyramid": form.top,
            "corner": manifest.corner,
            "edge": manifest.edge,
            "last": manifest.last,
            "run": manifest.run,
            "steady": "".join("01"[steady] for steady in manifest.steady),
            "tiles": [_tile_facts(tile) for tile in manifest.tiles],
        }
    )


def read_manifest(data: bytes, path: str) -> Manifest:
    """Return the manifest that the bytes of a file hold.

    Anybody can make a checksum, so every value is checked as an enemy's. Raises
    DamagedDataError for bytes that were never written so, and LifesimError for a newer version.
    """
    facts = unseal(data)
    if facts is None or facts.get("format") != FORMAT:
        raise DamagedDataError(f"{path}: the manifest is damaged: its checksum is wrong")
    try:
        version = checked.integer(facts, "version", 1, 10**9)
        if version > RULES_VERSION:
            raise LifesimError(
                f"{path}: version {version} is newer than this program, which reads "
                f"version {RULES_VERSION}: update it"
            )
        return _manifest_of(facts)
    except FactError as error:
        raise DamagedDataError(f"{path}: the manifest is damaged: {error}") from None


def _manifest_of(facts: Facts) -> Manifest:
    """Return the manifest that facts describe."""
    tiling, rule = _tiling_of(facts), rule_of(facts)
    form = _form_of(facts, tiling, rule.states)
    generation = checked.integer(facts, "generation", 0, MOST_GENERATION)
    count = len(tiling)
    tiles = checked.items(facts, "tiles", MOST_TILES)
    edited = facts["version"] >= EDITS_VERSION
    if len(tiles) != count:
        raise FactError(f"there are {len(tiles)} tiles of {count}")
    manifest = Manifest(
        id=checked.text(facts, "id", "[0-9a-f]{1,64}"),
        tiling=tiling,
        rule=rule,
        generation=generation,
        form=form,
        tiles=tuple(
            _tile_of(tile, i, tiling, form, 0, generation, edited=edited)
            for i, tile in enumerate(tiles)
        ),
        steady=tuple(
            letter == "1" for letter in checked.text(facts, "steady", f"[01]{{{count}}}", count)
        ),
        last=checked.integer(facts, "last", 0, MOST_GENERATION),
        run=_run_of(facts, generation),
        origin=checked.text(facts, "origin", r"[\s\S]*"),
        corner=_corner_of(facts, tiling),
        edge=edge_of(facts),
        edits=log_of(facts) if edited else None,
    )
    for name, right in (("width", tiling.width), ("height", tiling.height),
                        ("population", manifest.population)):  # fmt: skip
        if checked.integer(facts, name, 0, MOST_CELLS) != right:
            raise FactError(f"{name} is not that of the tiles")
    return manifest


def _tiling_of(facts: Facts) -> Tiling:
    topology = checked.choice(facts, "topology", [str(known) for known in Topology])
    columns, rows = (
        _edges_of(facts, name, unit) for name, unit in (("columns", WORD), ("rows", 1))
    )
    if (len(columns) - 1) * (len(rows) - 1) > MOST_TILES or columns[-1] * rows[-1] > MOST_CELLS:
        raise FactError("there are too many cells or tiles")
    return Tiling(columns, rows, topology == str(Topology.TORUS))


def _edges_of(facts: Facts, name: str, unit: int) -> tuple[int, ...]:
    edges = [
        checked.as_integer(e, name, 0, MOST_CELLS)
        for e in checked.items(facts, name, MOST_TILES + 1)
    ]
    if len(edges) < 2 or edges[0] or any(a >= b for a, b in pairwise(edges)):
        raise FactError(f"{name} do not rise from 0")
    if any(edge % unit for edge in edges[:-1]):
        raise FactError(f"{name} start at other places than multiples of {unit}")
    return tuple(edges)


def _form_of(facts: Facts, tiling: Tiling, states: int) -> TileFormat:
    compression = checked.choice(facts, "compression", COMPRESSIONS)
    top = checked.integer(facts, "pyramid", 0, pyramid_top(tiling))
    if top in (1, 2):
        raise FactError("pyramid has no such level")
    wide, _ = tiling.largest(1, 1)
    planes = 1
    has_planes = facts["version"] >= EDITS_VERSION and "planes" in facts
    if facts["version"] == PLANES_VERSION or has_planes:
        planes = checked.integer(facts, "planes", 2, MOST_PLANES)
    if planes != (states - 1).bit_length():
        raise FactError("planes are not those of the rule")
    row = -(-wide // WORD) * 8 * planes
    rows = checked.integer(facts, "chunk_rows", 8, max(8, widest_chunk(row) // row))
    if rows % 8:
        raise FactError("chunk_rows is no multiple of 8")
    return TileFormat(rows, compression, top, states)


def _run_of(facts: Facts, generation: int) -> tuple[int, int] | None:
    if facts.get("run", 0) is None:
        return None
    run = checked.as_items(facts.get("run"), "run", 2, 2)
    start = checked.as_integer(run[0], "run", 0, generation)
    return start, checked.as_integer(run[1], "run", generation + 1, MOST_GENERATION)


def _corner_of(facts: Facts, tiling: Tiling) -> tuple[int, int] | None:
    if facts.get("corner") is None:
        return None
    if tiling.torus:
        raise FactError("corner is of a plane without bounds, and this is a torus")
    pair = checked.as_items(facts["corner"], "corner", 2, 2)
    x, y = (checked.as_integer(value, "corner", -MOST_CORNER, MOST_CORNER) for value in pair)
    return x, y


def first_line(manifest: Manifest, phase: Phase) -> bytes:
    """Return the line that begins the journal of a phase."""
    return seal(
        {
            "id": manifest.id,
            "from": phase.start,
            "to": phase.stop,
            "keep_previous": phase.keep_previous,
        }
    )


def tile_line(tile: int, record: TileRecord | None) -> bytes:
    """Return the line of a journal that notes a tile."""
    return seal({"tile": tile, "record": record and _tile_facts(record)})


def read_journal(data: bytes, manifest: Manifest, path: str) -> tuple[Phase | None, int]:
    """Return the phase under way, None where the journal is of one that is over, and how many of
    the bytes hold it: a line that a kill cut off is left out.

    Raises DamagedDataError for lines that are not as they were written.
    """
    lines = data.splitlines(keepends=True)
    head = unseal(lines[0]) if lines else None
    if head is None or "from" not in head:
        raise DamagedDataError(f"{path}: the journal is damaged: checksum of line 1")
    number = 1
    try:
        phase = _phase_of(head, manifest, path)
        if phase is None:
            return None, 0
        length = len(lines[0])
        for number, line in enumerate(lines[1:], 2):
            facts = unseal(line)
            if facts is None:
                torn = number == len(lines) and not line.endswith(b"\n")
                if torn and unseal(line[:-1] + b"\n") is None:
                    break
                raise DamagedDataError(f"{path}: the journal is damaged: checksum of line {number}")
            tile = checked.integer(facts, "tile", 0, len(manifest.tiling) - 1)
            phase.done[tile] = _record_of(facts, tile, manifest, phase.stop)
            length += len(line)
        return phase, length
    except FactError as error:
        raise DamagedDataError(f"{path}: the journal is damaged: line {number}: {error}") from None


def _phase_of(head: Facts, manifest: Manifest, path: str) -> Phase | None:
    """Return the phase that the head of a journal begins, None where it is over. Raises FactError,
    and DamagedDataError for a journal that is not the manifest's."""
    if checked.text(head, "id", "[0-9a-f]{1,64}") != manifest.id:
        raise DamagedDataError(f"{path}: the journal is of another universe")
    start = checked.integer(head, "from", 0, MOST_GENERATION)
    stop = checked.integer(head, "to", start + 1, MOST_GENERATION)
    if stop <= manifest.generation:
        return None
    if start != manifest.generation:
        raise DamagedDataError(
            f"{path}: the journal starts at generation {start}, "
            f"the manifest is of {manifest.generation}"
        )
    return Phase(start, stop, checked.flag(head, "keep_previous"))


def _record_of(facts: Facts, tile: int, manifest: Manifest, generation: int) -> TileRecord | None:
    if facts.get("record", 0) is None:
        return None
    record = facts.get("record")
    return _tile_of(record, tile, manifest.tiling, manifest.form, generation, generation)


def _tile_facts(tile: TileRecord) -> list[Any]:
    return [*astuple(tile)[:-1], "".join(f"{plane:032x}" for plane in tile.partials)]


def _tile_of(
    facts: Any,
    tile: int,
    tiling: Tiling,
    form: TileFormat,
    first: int,
    last: int,
    *,
    edited: bool = False,
) -> TileRecord:
    """Return the record of that tile's file, of a generation `first` to `last`. edited: whether a
    change may have made it."""
    what = f"tile {tile}"
    values = checked.as_items(facts, what, 7, 7)
    row, column = divmod(tile, tiling.across)
    file = checked.as_text(values[0], f"the file of {what}", "[-.0-9h]*", 255)
    label = label_of(file, row, column)
    if label is None or not first <= label.generation <= last or (label.edit and not edited):
        raise FactError(f"the file of {what} has a name that none of its files has")
    box = tiling.box(tile)
    size = checked.as_integer(values[1], f"the size of {what}", 0, (1 << 63) - 1)
    room = size - table_bytes(box.width, box.height, form)
    digits = 32 * form.planes
    digest = checked.as_text(values[6], f"the digest of {what}", f"[0-9a-f]{{{digits}}}")
    return TileRecord(
        file,
        size,
        checked.as_integer(values[2], f"the place of the table of {what}", 0, room),
        checked.as_text(values[3], f"the checksum of {what}", "[0-9a-f]{16}"),
        checked.as_text(values[4], f"the checksum of {what}", "[0-9a-f]{16}"),
        checked.as_integer(values[5], f"the population of {what}", 0, box.width * box.height),
        tuple(int(digest[first : first + 32], 16) for first in range(0, digits, 32)),
    )
