"""Plan what scatter.cu is compiled with and reads: tiles of pairs, the ring, the rows of pairs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..costs import CHART_COSTS, ChartCosts
from ..rules import Rules
from .dense_plan import MAX_SYMBOLS, MAX_WARPS, ROW, TooManySymbolsError, join, padded
from .lists import Ints
from .plan import DENSE_LANES
from .tiles import TILE, slots, tiles

RINGS = (4, 6), (4, 5), (4, 4), (4, 3), (2, 4), (2, 3), (1, 4), (2, 2), (1, 2)  # see dense_plan
PAIRS = TILE * TILE
MOST_RANKS = 4
_AHEAD = 1  # words that are read in vain after the last

Tables = npt.NDArray[np.uint32]


@dataclass(frozen=True, eq=False)
class ScatterPlan:
    """Holds what scatter.cu is compiled with and reads.

    warps: of a block that have tiles. passes: over the pairs of a span. units: whether there are
    unit rules. slots: tiles of symbols that a pass reads. runs: in which they are copied. step,
    depth: of the ring. ranks, fours: see `Ways`. heads: uint32. tables: uint32 (passes * warps,
    words).
    """

    symbols: int
    warps: int
    passes: int
    units: bool
    slots: int
    runs: int
    step: int
    depth: int
    ranks: int
    heads: npt.NDArray[np.uint32]
    tables: Tables

    @property
    def defines(self) -> dict[str, int | str]:
        """Macros of scatter.cu."""
        return {
            "SYMBOLS": self.symbols,
            "WARPS": self.warps,
            "UNITS": int(self.units),
            "SLOTS": self.slots,
            "RUNS": self.runs,
            "STEP": self.step,
            "DEPTH": self.depth,
            "RANKS": self.ranks,
            "WORDS": self.tables.shape[1],
        }

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return 32 * (1 + self.warps)

    @property
    def shared(self) -> int:
        """Bytes of shared memory of a block."""
        rows = self.symbols + 1 + self.depth * self.step * self.slots * TILE
        return ROW * rows + 16 * (self.depth + 2)


@dataclass(frozen=True, eq=False)
class RulesByTile:
    """Holds binary rules in the order of their tiles, and of their pairs in a tile.

    left: A of A -> B C. tile, pair: of B and C. nth: of its pair, counted from 0.
    """

    left: Ints
    tile: Ints
    pair: Ints
    nth: Ints

    @classmethod
    def of(cls, rules: Rules, tile_of: Ints) -> RulesByTile:
        """Return the rules so. tile_of: which tile a place in the grid of tiles is."""
        a, b, c = rules.binary.astype(np.int64).T
        tile, pair = tile_of[b // TILE, c // TILE], b % TILE * TILE + c % TILE
        order = np.lexsort((a, pair, tile))
        a, tile, pair = a[order], tile[order], pair[order]
        first = np.flatnonzero(np.diff(tile * PAIRS + pair, prepend=-1))
        counts = np.diff(first, append=a.size)
        return cls(a, tile, pair, np.arange(a.size) - np.repeat(first, counts))

    def ranks(self, tiles: int, costs: ChartCosts = CHART_COSTS) -> tuple[int, float]:
        """Return how many rows it is quickest to OR each pair to, and the clocks of a span for
        all that is ORed."""
        most = 1 + int(self.nth.max(initial=0))
        found = []
        for ranks in range(1, min(most, MOST_RANKS) + 1):
            rest = np.count_nonzero(self.nth >= ranks)
            cost = tiles * costs.scatter_rank * ranks + costs.scatter_entry * rest
            found.append((cost, ranks))
        cost, ranks = min(found)
        return ranks, cost


def fits(symbols: int, shared: int) -> bool:
    """Return whether the rows of all symbols and the smallest ring fit in shared memory."""
    return symbols <= MAX_SYMBOLS and _ring(symbols, 8, shared) is not None


def _ring(symbols: int, slots: int, shared: int) -> tuple[int, int] | None:
    """Return splits of a step and steps of the best ring that has room beside the rows."""
    room = shared // ROW - padded(symbols) - 3  # one that nobody reads, two that have gates
    return next((ring for ring in RINGS if ring[0] * ring[1] * slots * TILE <= room), None)


def scatter_cost(
    rules: Rules, length: int, shared: int = 227 * 1024, costs: ChartCosts = CHART_COSTS
) -> float:
    """Return what plan.dense_cost() does, for scatter.cu."""
    if not fits(rules.symbols, shared):
        return float("inf")
    places, tile_of = tiles(rules)
    _, of_rows = RulesByTile.of(rules, tile_of).ranks(len(places), costs)
    spans = length * (length - 1) / 2
    splits = (length - 1) * length * (length + 1) / 6
    of_tiles = len(places) * (costs.scatter_split * splits + costs.scatter_span * spans)
    of_spans = costs.scatter_end + len(rules.units) + rules.symbols
    return (of_tiles + spans * (of_rows + of_spans)) / DENSE_LANES


def plan(rules: Rules, shared: int = 227 * 1024) -> ScatterPlan:
    """Return tiles and tables of a grammar. Raises TooManySymbolsError.

    shared: bytes that a block can have.
    """
    n = rules.symbols
    places, tile_of = tiles(rules)
    for most in range(MAX_WARPS, 0, -1):
        passes = -(-len(places) // most)
        warps = -(-len(places) // passes)
        codes, runs, count = slots(places, passes, warps)
        ring = _ring(n, count, shared)
        if ring is not None:
            break
    if ring is None or n > MAX_SYMBOLS:
        raise TooManySymbolsError(f"{n} symbols do not fit in {shared >> 10} KiB shared memory")
    by_tile = RulesByTile.of(rules, tile_of)
    ranks, _ = by_tile.ranks(len(places))
    heads = [codes, runs]
    if len(rules.units):
        heads.append(_below(rules))
    return ScatterPlan(
        symbols=padded(n),
        warps=warps,
        passes=passes,
        units=bool(len(rules.units)),
        slots=count,
        runs=runs.shape[1],
        step=ring[0],
        depth=ring[1],
        ranks=ranks,
        heads=join(heads),
        tables=tables(by_tile, ranks, passes * warps, padded(n)),
    )


def _below(rules: Rules) -> Ints:
    """Return for each symbol where those begin of which unit rules make it, and these."""
    above, below = rules.units[np.lexsort(rules.units.T[::-1])].astype(np.int64).T
    rows = padded(rules.symbols) + 1
    return np.concatenate([np.searchsorted(above, np.arange(rows)) + rows, below])


def tables(rules: RulesByTile, ranks: int, count: int, nothing: int) -> Tables:
    """Return the table of each of so many tiles, as scatter.cu has it: uint32 (count, words).

    nothing: the row that nobody reads.
    """
    a, tile, pair, nth = rules.left, rules.tile, rules.pair, rules.nth
    rows = np.full((count, ranks, PAIRS), nothing, np.uint16)
    some = nth < ranks
    rows[tile[some], nth[some], pair[some]] = a[some]

    some = ~some
    of = tile[some]
    rest = np.bincount(of, minlength=count)
    words = 1 + int(rest.max(initial=0)) + _AHEAD
    lists = np.zeros((count, -(-words // 4) * 4), np.uint32)
    lists[:, 0] = rest
    first = np.cumsum(rest) - rest
    lists[of, 1 + np.arange(of.size) - first[of]] = a[some] | pair[some] << 16
    return np.concatenate([rows.reshape(count, -1).view(np.uint32), lists], axis=1)
