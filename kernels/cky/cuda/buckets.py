"""Buckets: sets of symbols to which pairs of symbols are ORed before symbols are made of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..rules import Rules
from .lists import Ints


@dataclass(frozen=True, eq=False)
class Buckets:
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
        """Rows to be read."""
        return self.bucket.size + self.symbol.size + 2 * self.count

    def split(self, of_pass: Ints, shares: int, most: int) -> Buckets:
        """Return several buckets for each that takes so many pairs in a pass that others would
        wait.

        of_pass: of each in `pair`. shares: lists that are worked off at once. most: buckets.
        """
        passes = int(of_pass.max(initial=0)) + 1
        # As many as few warps take for their share; in whole vectors.
        longest = max(14, int(self.pair.size / passes / shares / 2.5) // 7 * 7)
        while True:
            found = self._split(of_pass, passes, longest)
            if found.count <= most:
                return found
            if longest > self.pair.size:
                return self
            longest += longest // 4

    def _split(self, of_pass: Ints, passes: int, longest: int) -> Buckets:
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
        first = np.cumsum(copies) - copies
        bucket = np.empty_like(self.bucket)
        bucket[order] = first[self.bucket[order]] + part
        times = copies[self.symbol_bucket]
        symbol = np.repeat(self.symbol, times)
        own = np.repeat(first[self.symbol_bucket], times)
        own += np.arange(own.size) - np.repeat(np.cumsum(times) - times, times)
        return Buckets(count, self.pairs, self.pair, bucket, symbol, own)


def fewest_rows(rules: Rules, most: int) -> Buckets:
    """Return the buckets that have the fewest rows to be read; not more than `most`."""
    n = rules.symbols
    left, right_b, right_c = rules.binary.astype(np.int64).T
    codes, pair = np.unique(right_b * n + right_c, return_inverse=True)
    pairs = np.stack([codes // n, codes % n], axis=1)
    symbols = np.arange(n)
    own = np.concatenate([np.stack([symbols, symbols], axis=1), rules.units]).astype(np.int64)
    best = Buckets(n, pairs, pair, left, own[:, 0], own[:, 1])
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
        found = Buckets(len(kinds), pairs, codes // groups, bucket, symbol, symbol_bucket)
        if found.cost < best.cost and len(kinds) <= most:
            best = found
    return best
