"""Sums over chains of unit rules, from the symbols that are asked for to those that have rules.

The closure of a chain of n symbols has n²/2 pairs, but few of them matter: a symbol's value over
a span is asked for only where it is on a right-hand side beside another or the start symbol, and
a chain ends only at a symbol that has other rules. What lies between is eliminated, that first
which makes least new edges (Markowitz 1957), so that chains and cycles take linear time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from heapq import heapify, heappop, heappush

import numpy as np
import numpy.typing as npt

from kernels.cky.weighted.semirings import Node, Semiring

from .sums import Matrix, check_pairs, closure


def between(
    matrix: Matrix[Node], above: Collection[Node], below: Collection[Node], semiring: Semiring
) -> Matrix[Node]:
    """Return the entries of closure(matrix) in the rows of `above` and the columns of `below`.

    Raises GrammarError where there are too many.
    """
    nodes = dict.fromkeys(matrix) | dict.fromkeys(b for row in matrix.values() for b in row)
    inner = {a: dict(matrix.get(a, {})) for a in nodes}
    outer = {a: {a: semiring.one} if a in below else {} for a in nodes}
    parents: dict[Node, set[Node]] = {a: set() for a in nodes}
    for a, row in inner.items():
        for b in row:
            parents[b].add(a)
    number = {a: k for k, a in enumerate(nodes)}  # so that all is done in one order

    def cost(a: Node) -> int:
        return len(parents[a]) * (len(inner[a]) + len(outer[a]))

    names = list(nodes)
    waiting = [(cost(a), number[a]) for a in nodes if a not in above]
    heapify(waiting)
    entries = sum(map(len, inner.values())) + sum(map(len, outer.values()))
    while waiting:
        least, k = heappop(waiting)
        node = names[k]
        if least < cost(node):
            heappush(waiting, (cost(node), k))
            continue
        row, ends, over = inner.pop(node), outer.pop(node), parents.pop(node)
        entries -= len(row) + len(ends)
        if node in row:
            star = semiring.star(row.pop(node))
            over.discard(node)
            row = {b: semiring.multiply(star, value) for b, value in row.items()}
            ends = {b: semiring.multiply(star, value) for b, value in ends.items()}
        for b in row:
            parents[b].discard(node)
            parents[b] |= over
        for a in over:
            weight = inner[a].pop(node)
            entries -= len(inner[a]) + len(outer[a])
            for into, part in ((inner[a], row), (outer[a], ends)):
                for b, value in part.items():
                    value = semiring.multiply(weight, value)
                    into[b] = semiring.add(into[b], value) if b in into else value
            entries += len(inner[a]) + len(outer[a])
        check_pairs(entries)
    return closure(inner, semiring, outer)


def completed(
    bits: npt.NDArray[np.bool_], matrix: Matrix[int], order: Iterable[list[int]]
) -> npt.NDArray[np.bool_]:
    """Return a chart with the symbols that unit rules lead to the others from.

    bits: bool (cells, symbols). matrix: the unit rules, of such symbols. order: its strongly
    connected parts, successors first.
    """
    rows = np.ascontiguousarray(bits.T)
    for part in order:
        found = list(dict.fromkeys(b for a in part for b in (a, *matrix.get(a, ()))))
        if len(found) > 1:
            rows[part] = rows[found].any(axis=0)
    return np.ascontiguousarray(rows.T)
