"""Plan what dense.cu is compiled with and reads: tiles of pairs, the ring, the program of lists."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..rules import Rules
from . import buckets
from .lists import LISTERS, Ints, Lists, ListWriter
from .tiles import TILE, slots, tiles

MAX_WARPS = 16  # with tiles
MAX_SYMBOLS = 1024
ROW = 128  # bytes
RINGS = (2, 4), (2, 3), (1, 4), (2, 2)  # splits of a step, and steps: the first that has room
SMALL_RINGS = *RINGS, (1, 2)  # where room for tiles is worth more than a deep ring
SMALL = 200 << 10  # bytes of shared memory
SHARES = 48  # lists that are worked off at about the same time
_SHARED = {(7, 5): 64, (8, 0): 163, (8, 7): 163, (9, 0): 227, (10, 0): 227, (10, 3): 227}  # KiB


class TooManySymbolsError(ValueError):
    """Says that the rows of a grammar do not fit in shared memory."""


@dataclass(frozen=True, eq=False)
class DensePlan:
    """Holds what dense.cu is compiled with and reads.

    warps: of a block that have tiles. passes: over the pairs of a span. buckets: rows.
    units: whether single tokens must be closed. slots: tiles of symbols that a pass reads.
    runs: in which they are copied. step, depth: of the ring. kept: vectors of the program of
    which shared memory has a copy: all or none. wires: generated code, if there is any.
    heads: uint32. program: uint16 (vectors, 4, 8).
    """

    symbols: int
    warps: int
    passes: int
    buckets: int
    units: bool
    slots: int
    runs: int
    step: int
    depth: int
    kept: int
    wires: str
    heads: npt.NDArray[np.uint32]
    program: npt.NDArray[np.uint16]

    @property
    def defines(self) -> dict[str, int | str]:
        """Macros of dense.cu."""
        return {
            "SYMBOLS": self.symbols,
            "WARPS": self.warps,
            "LISTERS": LISTERS,
            "BUCKETS": self.buckets,
            "UNITS": int(self.units),
            "SLOTS": self.slots,
            "RUNS": self.runs,
            "STEP": self.step,
            "DEPTH": self.depth,
            "KEPT": self.kept,
            "CIRCUIT": int(bool(self.wires)),
            "WIRES": self.wires,
        }

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return 32 * (LISTERS + 1 + self.warps)

    @property
    def published(self) -> int:
        """Rows that all tiles publish."""
        return (self.symbols if self.wires else TILE * TILE) * self.warps

    @property
    def shared(self) -> int:
        """Bytes of shared memory of a block."""
        rows = self.published + self.buckets + 1
        rows += self.depth * self.step * self.slots * TILE
        return ROW * rows + 64 * self.kept + 16 * (self.depth + 2)


def shared_bytes(capability: tuple[int, int]) -> int:
    """Return how much shared memory a block can have."""
    return _SHARED.get(capability, 99) * 1024


def padded(symbols: int) -> int:
    """Return the symbols of a chart: those above the grammar's are never set."""
    return -(-symbols // TILE) * TILE


def room(shared: int) -> int:
    """Return the rows, of so many bytes, besides that of zeros and two that have gates."""
    return shared // ROW - 3


def fits(symbols: int, shared: int) -> bool:
    """Return whether one tile of pairs and the smallest ring fit in shared memory."""
    rows = TILE * TILE + padded(symbols) + min(rows for *_, rows in _rings(2, shared))
    return symbols <= MAX_SYMBOLS and rows <= room(shared)


def ring(slots: int, shared: int, room: int, program: int) -> tuple[int, int, int] | None:
    """Return splits of a step, steps, and rows of the best ring; None if none has room.

    shared: bytes that a block can have. room: rows for the ring and, if that can be, the
    program, which takes about so many.
    """
    rings = [ring for ring in _rings(slots, shared) if ring[2] <= room]
    kept = [ring for ring in rings if ring[2] + program <= room]
    return next(iter(kept or rings), None)


def _rings(slots: int, shared: int) -> Iterable[tuple[int, int, int]]:
    rings = RINGS if shared >= SMALL else SMALL_RINGS
    return ((step, depth, step * depth * slots * TILE) for step, depth in rings)


def plan(rules: Rules, shared: int = 227 * 1024) -> DensePlan:
    """Return tiles and lists of a grammar. Raises TooManySymbolsError.

    It is long as each step takes from the room that the steps before have left.

    shared: bytes that a block can have.
    """
    n = rules.symbols
    if not fits(n, shared):
        raise TooManySymbolsError(f"{n} symbols do not fit in {shared >> 10} KiB shared memory")
    free = room(shared)
    rows = padded(n)
    places, tile_of = tiles(rules)
    some = buckets.fewest_rows(rules, max(rows, free - 16 * TILE * TILE - 32 * TILE))
    program = (some.bucket.size + some.symbol.size) // 32 + 8  # rows, about
    for most in range(MAX_WARPS, 0, -1):
        passes = -(-len(places) // most)
        warps = -(-len(places) // passes)
        codes, runs, count = slots(places, passes, warps)
        first = TILE * TILE * warps  # row of buckets
        left = free - first - max(some.count, rows - first)
        best = ring(count, shared, left, program)
        if best is not None:
            break
    else:
        raise AssertionError("one tile fits")
    step, depth, size = best
    free -= size
    spare = program if size + program <= left else 0

    b, c = some.pairs.T
    tile = tile_of[b // TILE, c // TILE]
    some = some.split(tile[some.pair] // warps, SHARES, free - first - spare)
    held = max(some.count, rows - first)  # so that a cell has room, too
    writer = ListWriter(warps, first + held)
    heads = [codes, runs]
    row = ((b - places[tile, 0]) * TILE + c - places[tile, 1]) * warps + tile % warps
    for number in range(passes):
        chosen = tile[some.pair] // warps == number
        bucket, source = some.bucket[chosen], row[some.pair[chosen]]
        results = np.arange(some.count)
        if number:  # only those to which there is something to add
            results, bucket = np.unique(bucket, return_inverse=True)
            bucket = np.concatenate([bucket, np.arange(results.size)])
            source = np.concatenate([source, first + results])
        heads.append(writer.write(Lists.of(first + results, bucket, source), shared=True))
    heads.append(writer.write(Lists.of(np.arange(rows), some.symbol, first + some.symbol_bucket)))
    heads.append(writer.write(single_tokens(rules)))
    vectors = writer.program()
    return DensePlan(
        symbols=rows,
        warps=warps,
        passes=passes,
        buckets=held,
        units=bool(len(rules.units)),
        slots=count,
        runs=runs.shape[1],
        step=step,
        depth=depth,
        kept=kept(len(vectors), free - first - held),
        wires="",
        heads=join(heads),
        program=vectors,
    )


def below(rules: Rules) -> tuple[Ints, Ints]:
    """Return A and B for each A that is itself, or by a unit rule, B."""
    symbols = np.arange(rules.symbols)
    a, b = np.concatenate([np.stack([symbols, symbols], axis=1), rules.units]).astype(np.int64).T
    return a, b


def single_tokens(rules: Rules) -> Lists:
    """Return, for each symbol, the rows of those that it can be."""
    return Lists.of(np.arange(padded(rules.symbols)), *below(rules))


def kept(vectors: int, rows: int) -> int:
    """Return so many vectors, if they have room in these rows, else none."""
    return vectors if 64 * vectors <= ROW * rows else 0


def join(heads: list[Ints]) -> npt.NDArray[np.uint32]:
    """Return the heads one after another, as the kernel reads them."""
    return np.concatenate([head.reshape(-1) for head in heads]).astype(np.uint32)
