"""Plan what the compiled parser (cky.hpp) is told about a grammar: pure functions of its rules."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..costs import HOST_COSTS, HostCosts
from ..rules import Rules

Words = npt.NDArray[np.uint32]
Numbers = npt.NDArray[np.int64]
Halves = npt.NDArray[np.uint16]

BLOCK = 8  # A's of a tile (CKY_BLOCK)
COUNTS = 10  # (CKY_COUNTS)
CHUNK = 32  # B's of a tile, about
SCALE = 8  # (CKY_SCALE)
MOST_OPERANDS = (1 << 16) // SCALE


@dataclass(frozen=True, eq=False)
class Renumbering:
    """Symbols in another order, by what they can span.

    old: uint32, the original numbers; new: int64, the inverse. The first `single` of the
    new numbers can span one token; `wide` from `first` on can span more. What can do
    neither comes last.
    """

    old: Words
    new: Numbers
    first: int
    wide: int
    single: int


def renumber(rules: Rules) -> Renumbering:
    """Return the symbols in the order of what they can span."""
    single = np.zeros(rules.symbols, np.bool_)
    wide = single.copy()
    for spans, below in ((single, rules.lexical[:, 0]), (wide, rules.binary[:, 0])):
        spans[below] = True
        spans[rules.units[spans[rules.units[:, 1]], 0]] = True
    kinds = np.select([single & ~wide, single & wide, wide], [0, 1, 2], 3)
    old = np.argsort(kinds, kind="stable")
    new = np.empty_like(old)
    new[old] = np.arange(old.size)
    first, both = int((kinds == 0).sum()), int((kinds == 1).sum())
    return Renumbering(old.astype(np.uint32), new, first, int(wide.sum()), first + both)


@dataclass(frozen=True, eq=False)
class RuleRows:
    """Holds CkyRows of cky.hpp: uint32 arrays."""

    head: Words
    left: Words
    right: Words  # (entries, arity)


@dataclass(frozen=True, eq=False)
class Matrix:
    """Holds CkyMatrix of cky.hpp."""

    bits: Words
    counts: Words  # (tiles, COUNTS)
    place: Halves
    operand: Halves
    more: Halves

    @property
    def words(self) -> int:
        """Words of all tables."""
        return int((1 << self.bits.astype(np.int64)).sum())


@dataclass(frozen=True, eq=False)
class HostPlan:
    """Holds CkyPlan of cky.hpp.

    rows and matrices are indexed by the kind of the right child: 0 for cells of one token, 1
    for wider ones; rows then by that of the left child. One of them is empty.
    """

    renumbering: Renumbering
    lexical_start: Words
    lexical: Words
    unit_right: Words  # B's
    unit_start: Words  # (B's + 1)
    unit_left: Words  # A's of each
    arity: int
    rows: tuple[tuple[RuleRows, RuleRows], ...]
    chunk: int
    matrices: tuple[Matrix, ...]


def host_plan(rules: Rules, dense: bool | None = None, costs: HostCosts = HOST_COSTS) -> HostPlan:
    """Return the plan of a grammar.

    dense: whether all pairs (A, B) are multiplied or those that are in rules; by default what
    costs less.
    """
    order = renumber(rules)
    binary = order.new[rules.binary]
    # A rule with a symbol that derives nothing never fires.
    known = max(order.first + order.wide, order.single)
    binary = binary[(binary < known).all(axis=1)]
    binary[:, 0] -= order.first
    binary = binary[np.lexsort(binary.T[::-1])]
    pairs = len(_pairs(binary)[0])
    if dense is None:
        fits = pairs > costs.few and known <= MOST_OPERANDS
        dense = fits and costs.pair * pairs >= order.wide * known
    lexical_start, lexical = _lexical(rules, order)
    unit = order.new[rules.units] - order.first
    unit = unit[((unit >= 0) & (unit < order.wide)).all(axis=1)]
    unit = unit[np.argsort(unit[:, 1], kind="stable")]
    unit_right, unit_start = np.unique(unit[:, 1], return_index=True)
    first, end = (0, order.first), (order.single, order.first + order.wide)
    rights = [_within(binary, 2, first[kind], end[kind]) for kind in (0, 1)]
    rows: tuple[tuple[RuleRows, RuleRows], ...] = ()
    matrices: tuple[Matrix, ...] = ()
    chunk, arity = 1, 1
    if dense:
        chunk = -(-known // -(-known // CHUNK)) if known else 1
        matrices = tuple(
            _matrix(some, order.wide, known, chunk, end[kind] - first[kind], costs)
            for kind, some in enumerate(rights)
        )
    else:
        arity = _arity(binary, costs)
        rows = tuple(
            (
                _rows(_within(some, 1, first[0], end[0]), arity),
                _rows(_within(some, 1, first[1], end[1]), arity),
            )
            for some in rights
        )
    return HostPlan(
        renumbering=order,
        lexical_start=lexical_start,
        lexical=lexical,
        unit_right=unit_right.astype(np.uint32),
        unit_start=np.append(unit_start, len(unit)).astype(np.uint32),
        unit_left=unit[:, 0].astype(np.uint32),
        arity=arity,
        rows=rows,
        chunk=chunk,
        matrices=matrices,
    )


def _within(binary: Numbers, child: int, first: int, end: int) -> Numbers:
    """Return the rules whose child is one of these symbols, which it is counted from."""
    some = binary[(binary[:, child] >= first) & (binary[:, child] < end)]
    some[:, child] -= first
    return some


def _lexical(rules: Rules, order: Renumbering) -> tuple[Words, Words]:
    """Return where the symbols of each terminal start, and the symbols, all that are so by
    units."""
    below, terminal = rules.lexical.astype(np.int64).T
    units = rules.units[np.argsort(rules.units[:, 1], kind="stable")]
    start = np.searchsorted(units[:, 1], below, "left")
    count = np.searchsorted(units[:, 1], below, "right") - start
    above = units[_ranges(start, count), 0]
    closed = np.append(terminal, np.repeat(terminal, count)) * rules.symbols
    closed += np.append(below, above)
    closed.sort()
    closed = closed[np.diff(closed, prepend=-1) > 0]
    starts = np.searchsorted(closed, np.arange(rules.terminals + 1) * rules.symbols)
    return starts.astype(np.uint32), order.new[closed % rules.symbols].astype(np.uint32)


def _ranges(start: Numbers, count: Numbers) -> Numbers:
    """Return start[i], start[i] + 1, .. of count[i] numbers, one range after the other."""
    before = np.cumsum(count) - count
    return np.repeat(start - before, count) + np.arange(int(count.sum()))


def _pairs(binary: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Return the distinct pairs (A, B), where the rules of each start, and how many they are."""
    first = np.ones(len(binary), np.bool_)
    first[1:] = (binary[1:, :2] != binary[:-1, :2]).any(axis=1)
    start = np.flatnonzero(first)
    return binary[start, :2], start, np.diff(start, append=len(binary))


def _arity(binary: Numbers, costs: HostCosts) -> int:
    """Return the number of C's of an entry that makes all entries cheapest."""
    count = _pairs(binary)[2]
    return min((1, 2, 4), key=lambda k: int((-(-count // k)).sum()) * (k + costs.entry))


def _rows(binary: Numbers, arity: int) -> RuleRows:
    pairs, start, count = _pairs(binary)
    entries = -(-count // arity)
    # Entry e of a pair has its C's from arity * e on; the last one is repeated.
    number = _ranges(np.zeros_like(entries), entries)[:, None] * arity + np.arange(arity)
    number = np.minimum(number, np.repeat(count, entries)[:, None] - 1)
    right = binary[np.repeat(start, entries)[:, None] + number, 2]
    heads, lefts = np.repeat(pairs, entries, axis=0).T.astype(np.uint32, order="C")
    return RuleRows(heads, lefts, right.astype(np.uint32))


def _matrix(
    binary: Numbers, heads: int, lefts: int, chunk: int, rights: int, costs: HostCosts
) -> Matrix:
    """Return the matrix of rules whose symbols are counted from 0 each: so many A's, B's and
    C's."""
    bits = _tables(binary, rights, costs)
    operands = binary if not bits.size else _looked_up(binary, bits)
    pairs, start, count = _pairs(operands)
    # All pairs, those without rules too.
    every = np.zeros((heads, lefts), np.int64)
    every[pairs[:, 0], pairs[:, 1]] = count
    starts = np.zeros((heads, lefts), np.int64)
    starts[pairs[:, 0], pairs[:, 1]] = start
    a, b = np.indices((heads, lefts)).reshape(2, -1)
    across = -(-lefts // chunk)
    tile = a // BLOCK * across + b // chunk
    place = b % chunk * BLOCK + a % BLOCK
    count, start = every.ravel(), starts.ravel()
    kind = np.minimum(count, COUNTS - 1)
    order = np.lexsort((place, kind, tile))
    tiles = -(-heads // BLOCK) * across
    counts = np.bincount(tile * COUNTS + kind, minlength=tiles * COUNTS).reshape(-1, COUNTS)
    return Matrix(
        bits,
        counts.astype(np.uint32),
        (SCALE * place[order]).astype(np.uint16),
        (SCALE * operands[_ranges(start[order], count[order]), 2]).astype(np.uint16),
        count[order][kind[order] == COUNTS - 1].astype(np.uint16),
    )


def _tables(binary: Numbers, rights: int, costs: HostCosts) -> Words:
    """Return the bits of each table, none if a list of C's for each pair costs less."""
    best, cost = np.empty(0, np.uint32), float(len(binary))
    for size in (8, 7, 6, 5, 4):
        tables = -(-rights // size)
        bits = np.full(tables, rights // max(tables, 1), np.uint32)
        bits[: rights - int(bits.sum())] += 1
        words = int((1 << bits.astype(np.int64)).sum())
        if words <= MOST_OPERANDS and costs.table_word * words < cost:
            found = costs.table_word * words + len(_looked_up(binary, bits))
            if found < cost:
                best, cost = bits, found
    return best


def _looked_up(binary: Numbers, bits: Words) -> Numbers:
    """Return A, B and a place in the tables, in place of rules; sorted, distinct."""
    table = np.repeat(np.arange(bits.size), bits)
    first = np.cumsum(bits, dtype=np.int64) - bits
    base = np.cumsum(1 << bits.astype(np.int64)) - (1 << bits.astype(np.int64))
    g = table[binary[:, 2]]
    key = np.column_stack([binary[:, :2], g])
    new = np.ones(len(key), np.bool_)
    new[1:] = (key[1:] != key[:-1]).any(axis=1)
    start = np.flatnonzero(new)
    masks = np.add.reduceat(np.int64(1) << (binary[:, 2] - first[g]), start)
    return np.column_stack([key[start, :2], base[g[start]] + masks])
