"""Lists of rows that are ORed to one another, as warps of lists.hpp work them off."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

LISTERS = 3  # warps that do nothing else
LISTED = 7  # rows of a vector
AHEAD = 4  # vectors that are read in vain after the last
LAST, SHORT, RESULT = 0x8000, 0x4000, 0x0FFF
LEAD = 100  # rows that a lister has read when tilers come to help; see dense.cu

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Lists:
    """Holds rows to be ORed to each of some results, one list after another.

    results: int64 (lists,). lengths: int64 (lists,). rows: int64 (sum of the lengths,).
    """

    results: Ints
    lengths: Ints
    rows: Ints

    @classmethod
    def of(cls, results: Ints, of: Ints, rows: Ints) -> Lists:
        """Return lists of rows. of: for each of the rows, which place in results it is for."""
        order = np.argsort(of, kind="stable")
        return cls(results, np.bincount(of, minlength=results.size), rows[order])


class ListWriter:
    """Writes the program: all lists, dealt out to the warps that work them off.

    tilers: warps that may help the listers. zero: number of the row of zeros.
    """

    def __init__(self, tilers: int, zero: int) -> None:
        self._tilers, self._zero = tilers, zero
        self._parts: list[npt.NDArray[np.uint16]] = []
        self._vectors = 0

    def write(self, lists: Lists, shared: bool = False) -> Ints:
        """Return where each warp's share begins, and how many vectors it has: (LISTERS + tilers,
        2).

        shared: whether tilers take a part, too, of what is left after LEAD rows for each
        lister. Four lists of about the same length go together; the longest go first, each
        to the warp that has least to do.
        """
        order = np.argsort(-lists.lengths, kind="stable")
        longest = lists.lengths[order[::4]]
        vectors = np.maximum(1, -(-longest // LISTED))
        loads = [(0, warp) for warp in range(LISTERS)]
        if shared:
            loads += [(LEAD, LISTERS + warp) for warp in range(self._tilers)]
        many = LISTERS + self._tilers
        shares: list[list[int]] = [[] for _ in range(many)]
        for number, work in enumerate((6 + longest).tolist()):
            load, warp = loads[0]
            shares[warp].append(number)
            heapq.heapreplace(loads, (load + work, warp))
        dealt = np.array([number for share in shares for number in share], np.int64)
        begin = np.zeros(longest.size, np.int64)  # of each four, in vectors
        begin[dealt] = np.cumsum(vectors[dealt]) - vectors[dealt]
        end = begin + vectors - 1

        part = np.full((int(vectors.sum()), 4, 1 + LISTED), self._zero, np.uint16)
        part[:, :, 0] = 0
        part[end, :, 0] = self._zero
        place = np.empty(order.size, np.int64)
        place[order] = np.arange(order.size)
        four, column = place // 4, place % 4
        part[end[four], column, 0] = lists.results
        part[end, :, 0] |= LAST
        part[end[longest - (vectors - 1) * LISTED <= 3], :, 0] |= SHORT
        owner = np.repeat(np.arange(order.size), lists.lengths)
        ends = np.cumsum(lists.lengths)
        at = np.arange(owner.size) - (ends - lists.lengths)[owner]
        part[begin[four[owner]] + at // LISTED, column[owner], 1 + at % LISTED] = lists.rows

        counts = np.array([vectors[share].sum() for share in shares], np.int64)
        firsts = np.zeros(many, np.int64)
        firsts[counts > 0] = begin[[share[0] for share in shares if share]]
        firsts += self._vectors
        self._parts.append(part)
        self._vectors += len(part)
        return np.stack([firsts, counts], axis=1)

    def program(self) -> npt.NDArray[np.uint16]:
        """Return the program: uint16 (vectors, 4, 8), the last AHEAD of them read in vain."""
        return np.concatenate([*self._parts, np.zeros((AHEAD, 4, 1 + LISTED), np.uint16)])
