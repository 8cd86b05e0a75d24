"""CKY parsing as the book has it: a set of symbols for each span of one string."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .batch import Batch, ChartGroup, Mask
from .contract import Cky, Lengths
from .dispatch import Progress
from .rules import Rules, cell, cells

Table = dict[tuple[int, int], frozenset[int]]


def table(rules: Rules, terminals: list[int]) -> Table:
    """Return the symbols that derive tokens i .. j - 1, for all i < j (Fujita 2017, 7.1)."""
    above: dict[int, set[int]] = {b: {b} for b in range(rules.symbols)}
    for a, b in rules.units.tolist():
        above[b].add(a)
    lexical: dict[int, set[int]] = {}
    for a, terminal in rules.lexical.tolist():
        lexical.setdefault(terminal, set()).add(a)
    right: dict[int, list[tuple[int, int]]] = {}
    for a, b, c in rules.binary.tolist():
        right.setdefault(b, []).append((c, a))

    result: Table = {}
    for j in range(1, len(terminals) + 1):
        for i in reversed(range(j)):
            found = set(lexical.get(terminals[i], ())) if i == j - 1 else set()
            for k in range(i + 1, j):
                rights = result[k, j]
                for b in result[i, k]:
                    found.update(a for c, a in right.get(b, ()) if c in rights)
            result[i, j] = frozenset().union(*(above[a] for a in found))
    return result


class ReferenceCky(Cky):
    """Parses one string after another, in plain Python."""

    name = "reference"
    at_once = 1

    def __init__(self, rules: Rules, memory: int = 1 << 30) -> None:
        self.rules, self.memory = rules, memory

    def accept(self, batch: Batch, symbol: int, progress: Progress | None = None) -> Mask:
        """See Cky.accept()."""
        found = self.longest(batch, symbol, progress)
        accepted: Mask = (found == batch.lengths) & (found > 0)
        return accepted

    def longest(self, batch: Batch, symbol: int, progress: Progress | None = None) -> Lengths:
        """See Cky.longest()."""
        self.check(batch, symbol)
        result = np.zeros(len(batch), np.int32)
        for s in range(len(batch)):
            string = batch[s].tolist()
            spans = table(self.rules, string)
            ends = [j for j in range(1, len(string) + 1) if symbol in spans[0, j]]
            result[s] = max(ends, default=0)
            if progress is not None:
                progress(s + 1)
        return result

    def charts(self, batch: Batch) -> Iterator[ChartGroup]:
        """See Cky.charts()."""
        self.check_lengths(batch)
        for s in np.flatnonzero(batch.lengths).tolist():
            string = batch[s].tolist()
            words = np.zeros((cells(len(string)), self.rules.symbols, 1), np.uint32)
            for (i, j), symbols in table(self.rules, string).items():
                words[cell(i, j), sorted(symbols)] = 1
            yield ChartGroup(np.array([s]), np.array([len(string)]), words)

    @property
    def max_length(self) -> int:
        # A set of small integers takes about 64 bytes an element.
        """Tokens of the longest string whose chart fits in memory, about."""
        length = int((self.memory / (32 * self.rules.symbols)) ** 0.5)
        return max(length, 1)
