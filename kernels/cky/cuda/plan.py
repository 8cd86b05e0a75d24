"""Choose how charts are computed on a device: cost models, parameters and launches, all pure."""

from __future__ import annotations

from dataclasses import dataclass
from math import expm1

import numpy as np
import numpy.typing as npt

from ..batch import Indices
from ..costs import CHART_COSTS, ChartCosts
from ..rules import Rules, cells
from .dense_plan import fits
from .tiles import TILE

DENSE_LANES = 32  # words of a group of dense.cu
SIMILAR = 0.94  # groups that are shorter than that wait for a launch of their own
SHARED = 48 << 10  # bytes that a block has without asking for more
PART = 16  # rules that a thread lists, at most
ROOM = 8192  # rules of a chunk, at most

Numbers = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class ChartLaunch:
    """Says that groups first .. first + groups - 1 are computed as if all were so long."""

    first: int
    groups: int
    length: int


def launches(longest: Indices, cell_bytes: int, room: int, wave: int) -> list[ChartLaunch]:
    """Return launches of all groups: the longest first, those of similar lengths together.

    longest: of each group, ascending. cell_bytes: of a cell of one group. room: bytes for
    the charts of a launch, exceeded only by a single group. wave: groups that keep the
    device busy; what is less takes as long, so that shorter groups may as well join.
    """
    found = []
    end = longest.size
    while end:
        length = int(longest[end - 1])
        most = max(1, room // (cells(length) * cell_bytes))
        similar = int(np.searchsorted(longest, SIMILAR * length))
        first = max(0, end - most, min(similar, end - wave))
        if first and end - first > wave:
            first += (end - first) % wave  # whole waves, as long as there are others
        found.append(ChartLaunch(first, end - first, length))
        end = first
    return found


def dense_cost(
    rules: Rules, length: int, shared: int = 227 * 1024, costs: ChartCosts = CHART_COSTS
) -> float:
    """Return the clocks of a multiprocessor for 32 strings of a length.

    Infinite where a block's shared memory cannot hold the symbols.
    """
    if not fits(rules.symbols, shared):
        return float("inf")
    side = -(-rules.symbols // TILE)
    b, c = (rules.binary[:, 1:] // TILE).T
    tiles = max(1, np.unique(b * side + c).size)
    spans = length * (length - 1) / 2
    splits = (length - 1) * length * (length + 1) / 6
    sources = len(rules.binary) + len(rules.units) + rules.symbols
    of_spans = spans * (costs.tile_span * tiles + sources)
    return (costs.tile_split * splits * tiles + of_spans) / DENSE_LANES


@dataclass(frozen=True, slots=True)
class SparseParams:
    """Says how a kernel is cut up. lanes: words of a group; room: rules that a block can list
    at a time."""

    lanes: int
    room: int
    in_shared: bool

    def shared(self, symbols: int) -> int:
        """Return the bytes of shared memory of a block."""
        return 4 * (self.room + symbols * self.lanes * self.in_shared)

    def defines(self, threads: int) -> dict[str, int | str]:
        """Return the macros of sparse.cu."""
        return {"LANES": self.lanes, "THREADS": threads, "IN_SHARED": int(self.in_shared)}


def choose(symbols: int, rules: int, lanes: int | None = None) -> SparseParams:
    """Return parameters with few words to a block where there is much to do with each: a small
    batch then keeps more multiprocessors busy.
    """
    if lanes is None:
        lanes = 32
        while lanes > 1 and lanes * max(symbols, rules) > 4096:
            lanes //= 2
    room = max(PART, min(ROOM, rules))
    return SparseParams(lanes, room, SparseParams(lanes, room, True).shared(symbols) <= SHARED)


def threads_for(work: int, groups: int, multiprocessors: int) -> int:
    """Return the threads of a block with so many words or rules to look at for a cell: fewer where
    many blocks keep the multiprocessors busy.
    """
    threads = 128 if work < 4096 else 256
    while threads < min(1024, work // 4) and groups * threads * 2 <= 2560 * multiprocessors:
        threads *= 2
    return threads


@dataclass(frozen=True, eq=False)
class RulesByRight:
    """Holds binary rules by their last symbol, as sparse.cu reads them."""

    chunk: Numbers
    part: Numbers
    part_first: Numbers
    left: Numbers
    right: Numbers


def table(binary: Numbers, room: int) -> RulesByRight:
    """Return binary rules by their last symbol.

    binary: rows A, B, C. room: rules of a chunk, at least PART.
    """
    binary = binary[np.lexsort((binary[:, 0], binary[:, 1], binary[:, 2]))]
    rights, firsts, counts = np.unique(binary[:, 2], return_index=True, return_counts=True)
    times = -(-counts // PART)
    nth = np.arange(times.sum()) - np.repeat(np.cumsum(times) - times, times)
    part_first = np.append(np.repeat(firsts, times) + PART * nth, len(binary))
    chunk = [0]
    while chunk[-1] < nth.size:
        most = part_first[chunk[-1]] + room
        chunk.append(int(np.searchsorted(part_first, most, "right")) - 1)
    arrays = chunk, np.repeat(rights, times), part_first, binary[:, :2], binary[:, 2]
    return RulesByRight(*(np.ascontiguousarray(array, np.int32) for array in arrays))


def sparse_cost(rules: Rules, length: int, costs: ChartCosts = CHART_COSTS) -> float:
    """Return the clocks of a multiprocessor for 32 random strings of a length.

    Assumes that every symbol is as likely as the next: how full a cell is follows from how
    full those are that it is made of.
    """
    n = rules.symbols
    units = 1 + len(rules.units) / n
    full = np.zeros(length + 1)
    full[1] = min(1.0, units * len(rules.lexical) / (n * max(1, rules.terminals)))
    for w in range(2, length + 1):
        expected = len(rules.binary) / n * float(full[1:w] @ full[w - 1 : 0 : -1])
        full[w] = min(1.0, units * -expm1(-expected))
    some = 1 - (1 - full) ** 32  # of a word's strings
    visits = sum(
        (length + 1 - w) * float(some[1:w] @ some[w - 1 : 0 : -1]) for w in range(2, length + 1)
    )
    lanes = choose(n, len(rules.binary)).lanes
    threads = threads_for(lanes * max(n, len(rules.binary)), 1 << 20, 1)
    steps = cells(length) * threads / lanes
    return costs.visit * len(rules.binary) * visits + costs.step * steps
