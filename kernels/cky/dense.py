"""Charts on a CUDA device for grammars with many rules per pair of symbols.

See dense.cu. Here are the tiles of pairs, the lists of rows that the kernel works off,
and the launcher.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels.device import Buffer, Device, Slice

from .rules import Rules

SOURCE = Path(__file__).with_name("dense.cu")
LANES = 32
TILE = 8
MAX_WARPS = 16
MAX_SYMBOLS = 1024
ROW = 128  # bytes
_SHARED = {(7, 5): 64, (8, 0): 163, (8, 7): 163, (9, 0): 227, (10, 0): 227, (10, 3): 227}  # KiB

Ints = npt.NDArray[np.int64]


class TooManySymbolsError(ValueError):
    """The rows of a grammar do not fit in shared memory."""


@dataclass(frozen=True, eq=False)
class Lists:
    """Rows to be ORed to each of some results, one list after another.

    results: int64 (lists,). lengths: int64 (lists,). rows: int64 (sum of the lengths,).
    """

    results: Ints
    lengths: Ints
    rows: Ints

    @classmethod
    def of(cls, results: Ints, of: Ints, rows: Ints) -> Lists:
        """of: for each of the rows, which place in results it is for."""
        order = np.argsort(of, kind="stable")
        return cls(results, np.bincount(of, minlength=results.size), rows[order])


@dataclass(frozen=True, eq=False)
class Plan:
    """What the kernel is compiled with, and reads.

    warps: of a block that have tiles. passes: over the pairs of a span. buckets: rows.
    units: whether single tokens must be closed. kept: vectors of shared memory.
    heads: uint32, program: uint16 (vectors, 4, 8). All as in dense.cu.
    """

    symbols: int
    warps: int
    passes: int
    buckets: int
    units: bool
    kept: int
    heads: npt.NDArray[np.uint32]
    program: npt.NDArray[np.uint16]

    @property
    def defines(self) -> dict[str, int | str]:
        return {
            "SYMBOLS": self.symbols,
            "WARPS": self.warps,
            "BUCKETS": self.buckets,
            "UNITS": int(self.units),
            "KEPT": self.kept,
        }

    @property
    def shared(self) -> int:
        return ROW * (TILE * TILE * self.warps + self.buckets + 1) + 64 * self.kept


def shared_bytes(capability: tuple[int, int]) -> int:
    """Shared memory that a block can have."""
    return _SHARED.get(capability, 99) * 1024


def dense_cost(rules: Rules, length: int, shared: int = 227 * 1024) -> float:
    """Clocks of a multiprocessor for 32 strings of a length, near those seen on an H200.

    Infinite where a block's shared memory cannot hold the symbols.
    """
    if not _fits(rules.symbols, shared):
        return float("inf")
    side = -(-rules.symbols // TILE)
    b, c = (rules.binary[:, 1:] // TILE).T
    tiles = max(1, np.unique(b * side + c).size)
    spans = length * (length - 1) / 2
    splits = (length - 1) * length * (length + 1) / 6
    sources = len(rules.binary) + len(rules.units) + rules.symbols
    return (50 * splits * tiles + spans * (120 * tiles + sources)) / LANES


def padded(symbols: int) -> int:
    """Symbols of a chart: those above the grammar's are never set."""
    return -(-symbols // TILE) * TILE


def _fits(symbols: int, shared: int) -> bool:
    """With one tile of pairs."""
    rows = TILE * TILE + padded(symbols) + 1
    return symbols <= MAX_SYMBOLS and rows <= shared // ROW


def plan(rules: Rules, shared: int = 227 * 1024) -> Plan:
    """Tiles and lists of a grammar. Raises TooManySymbolsError.

    shared: bytes that a block can have.
    """
    n = rules.symbols
    if not _fits(n, shared):
        raise TooManySymbolsError(f"{n} symbols do not fit in {shared >> 10} KiB shared memory")
    room = shared // ROW - 1  # rows; one is of zeros
    rows = padded(n)
    tiles, tile_of = _tiles(rules)
    buckets = _buckets(rules, max(rows, room - 16 * TILE * TILE))
    for most in range(MAX_WARPS, 0, -1):
        passes = -(-len(tiles) // most)
        warps = -(-len(tiles) // passes)
        first = TILE * TILE * warps  # row of buckets
        if room - first >= max(buckets.count, rows - first):
            break
    codes = np.zeros((passes, warps), np.int64)
    codes.reshape(-1)[: len(tiles)] = tiles[:, 0] | tiles[:, 1] << 16

    b, c = buckets.pairs.T
    tile = tile_of[b // TILE, c // TILE]
    buckets = buckets.split(tile[buckets.pair] // warps, 4 * warps, room - first)
    held = max(buckets.count, rows - first)  # so that a cell has room, too
    writer = _Writer(warps, first + held)
    heads = [codes]
    row = ((b - tiles[tile, 0]) * TILE + c - tiles[tile, 1]) * warps + tile % warps
    for number in range(passes):
        chosen = tile[buckets.pair] // warps == number
        bucket, source = buckets.bucket[chosen], row[buckets.pair[chosen]]
        results = np.arange(buckets.count)
        if number:  # only those to which there is something to add
            results, bucket = np.unique(bucket, return_inverse=True)
        heads.append(writer.write(Lists.of(first + results, bucket, source)))
    symbols = np.arange(rows)
    last = Lists.of(symbols, buckets.symbol, first + buckets.symbol_bucket)
    heads.append(writer.write(last))
    own = np.concatenate([np.stack([symbols, symbols], axis=1), rules.units])
    heads.append(writer.write(Lists.of(symbols, own[:, 0], own[:, 1])))
    program = writer.program()

    kept = len(program) if len(program) <= 2 * (room - first - held) else 0
    return Plan(
        symbols=rows,
        warps=warps,
        passes=passes,
        buckets=held,
        units=bool(len(rules.units)),
        kept=kept,
        heads=np.concatenate([h.reshape(-1) for h in heads]).astype(np.uint32),
        program=program,
    )


@dataclass(frozen=True, eq=False)
class _Buckets:
    """Sets of symbols such that those over a pair of symbols are a union of few.

    A bucket is what collects the pairs whose rules have on their left side, of a few
    symbols that follow one another, just this set (as the method of the four Russians).

    pairs: int64 (pairs, 2). pair, bucket: for each pair, the buckets that it goes to.
    symbol, symbol_bucket: for each symbol, the buckets that it comes from.
    """

    count: int
    pairs: Ints
    pair: Ints
    bucket: Ints
    symbol: Ints
    symbol_bucket: Ints

    @property
    def cost(self) -> int:
        return self.bucket.size + self.symbol.size + 2 * self.count

    def split(self, of_pass: Ints, shares: int, most: int) -> _Buckets:
        """Several buckets for one that takes so many pairs in a pass that others would wait.

        of_pass: of each in `pair`. shares: lists that are worked off at once. most: buckets.
        """
        passes = int(of_pass.max(initial=0)) + 1
        longest = max(14, int(self.pair.size / passes / shares / 2.5))
        order = np.lexsort((of_pass, self.bucket))
        runs = self.bucket[order] * passes + of_pass[order]
        _, start, run, size = np.unique(
            runs, return_index=True, return_inverse=True, return_counts=True
        )
        parts = -(-size // longest)
        part = (np.arange(runs.size) - start[run]) * parts[run] // size[run]
        copies = np.ones(self.count, np.int64)
        np.maximum.at(copies, self.bucket[order][start], parts)
        count = int(copies.sum())
        if count > most:
            return self
        first = np.cumsum(copies) - copies
        bucket = np.empty_like(self.bucket)
        bucket[order] = first[self.bucket[order]] + part
        times = copies[self.symbol_bucket]
        symbol = np.repeat(self.symbol, times)
        own = np.repeat(first[self.symbol_bucket], times)
        own += np.arange(own.size) - np.repeat(np.cumsum(times) - times, times)
        return _Buckets(count, self.pairs, self.pair, bucket, symbol, own)


def _buckets(rules: Rules, most: int) -> _Buckets:
    """Those that have the fewest rows to be read; not more than `most`."""
    n = rules.symbols
    left, right_b, right_c = rules.binary.astype(np.int64).T
    codes, pair = np.unique(right_b * n + right_c, return_inverse=True)
    pairs = np.stack([codes // n, codes % n], axis=1)
    symbols = np.arange(n)
    own = np.concatenate([np.stack([symbols, symbols], axis=1), rules.units]).astype(np.int64)
    best = _Buckets(n, pairs, pair, left, own[:, 0], own[:, 1])
    if len(left) <= 2 * len(pairs):
        return best
    for size in range(2, 8):
        groups = -(-n // size)
        codes, where = np.unique(pair * groups + left // size, return_inverse=True)
        sets = np.bincount(where, 1 << left % size).astype(np.int64)
        kinds, bucket = np.unique((codes % groups << size) + sets, return_inverse=True)
        # The symbols of each bucket, and whatever a unit rule makes of them.
        members = kinds[None, :] >> size == (symbols // size)[:, None]
        members &= (kinds[None, :] >> (symbols % size)[:, None] & 1).astype(np.bool_)
        above = members.copy()
        for a, b in rules.units.tolist():
            above[a] |= members[b]
        symbol, symbol_bucket = np.nonzero(above)
        found = _Buckets(len(kinds), pairs, codes // groups, bucket, symbol, symbol_bucket)
        if found.cost < best.cost and len(kinds) <= most:
            best = found
    return best


def _tiles(rules: Rules) -> tuple[Ints, Ints]:
    """The first B and C of each tile with pairs in it; and which tile a place in the grid is.

    Four by four they lie side by side.
    """
    n = rules.symbols
    side = -(-n // TILE)
    used = np.zeros((side, side), np.bool_)
    b, c = (rules.binary[:, 1:] // TILE).T
    used[b, c] = True
    if not used.any():
        used[0, 0] = True
    x, y = np.nonzero(used)
    order = np.lexsort((y, x, y // 4, x // 4))
    x, y = x[order], y[order]
    tile_of = np.zeros((side, side), np.int64)
    tile_of[x, y] = np.arange(x.size)
    return np.stack([x, y], axis=1) * TILE, tile_of


class _Writer:
    """Lists, dealt out to the warps, as dense.cu reads them."""

    def __init__(self, warps: int, zero: int) -> None:
        self._warps, self._zero = warps, zero
        self._parts: list[npt.NDArray[np.uint16]] = []
        self._vectors = 0

    def write(self, lists: Lists) -> Ints:
        """Where each warp's share begins, and how many times four lists it has: (warps, 2).

        Four lists of about the same length go together; the longest go first, each to
        the warp that has least to do.
        """
        order = np.argsort(-lists.lengths, kind="stable")
        quads = -(-order.size // 4)
        longest = lists.lengths[order[::4]]
        vectors = 1 + (longest + 1) // 8
        loads = [(0, warp) for warp in range(self._warps)]
        shares: list[list[int]] = [[] for _ in range(self._warps)]
        for number, work in enumerate((4 + longest).tolist()):
            load, warp = loads[0]
            shares[warp].append(number)
            heapq.heapreplace(loads, (load + work, warp))
        dealt = np.array([number for share in shares for number in share], np.int64)
        begin = np.zeros(quads, np.int64)  # of each quad, in vectors
        begin[dealt] = np.cumsum(vectors[dealt]) - vectors[dealt]

        part = np.full((int(vectors.sum()), 4, 8), 8 * self._zero, np.uint16)
        part[begin, :, 0] = self._zero
        part[begin, :, 1] = longest[:, None]
        place = np.empty(order.size, np.int64)
        place[order] = np.arange(order.size)
        quad, column = place // 4, place % 4
        part[begin[quad], column, 0] = lists.results
        owner = np.repeat(np.arange(order.size), lists.lengths)
        ends = np.cumsum(lists.lengths)
        at = 2 + np.arange(owner.size) - (ends - lists.lengths)[owner]
        part[begin[quad[owner]] + at // 8, column[owner], at % 8] = 8 * lists.rows

        counts = np.array([len(share) for share in shares], np.int64)
        firsts = np.zeros(self._warps, np.int64)
        firsts[counts > 0] = begin[[share[0] for share in shares if share]]
        firsts += self._vectors
        self._parts.append(part)
        self._vectors += len(part)
        return np.stack([firsts, counts], axis=1)

    def program(self) -> npt.NDArray[np.uint16]:
        return np.concatenate(self._parts)


class DenseColumns:
    """kernels.cky.columns.Columns by dense.cu.

    Raises TooManySymbolsError.
    """

    lanes = LANES
    side = 4
    blocks = 1

    def __init__(self, device: Device, rules: Rules) -> None:
        self.plan = plan(rules, shared_bytes(device.info.capability))
        self.symbols = self.plan.symbols
        self._module = device.module(SOURCE, self.plan.defines)
        self._heads = device.alloc(self.plan.heads.nbytes)
        self._program = device.alloc(self.plan.program.nbytes)
        device.upload(self._heads, self.plan.heads)
        device.upload(self._program, self.plan.program)
        device.synchronize()

    def run(self, chart: Buffer | Slice, groups: int, length: int) -> None:
        """As Columns.run. The chart begins at a multiple of 16 bytes."""
        if not groups or not length:
            return
        args: list[Any] = [chart, self._heads, self._program]
        args += [np.int32(length), np.int32(self.plan.passes)]
        self._module.launch(
            "dense_charts",
            (groups, 1, 1),
            (32 * self.plan.warps, 1, 1),
            *args,
            shared=self.plan.shared,
        )
