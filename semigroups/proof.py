"""Prove that the images of some points tell all elements apart.

Numbers have distinct images of the base B, so there are at least as many elements. There are no
more if the rules that were found hold for whole maps, as then all edges of the right Cayley graph
do, those deduced from rules included. That is checked in one of two ways.

By maps: both sides of each rule are multiplied out.

By graphs, when all is finished, and every point that some generator moves is b v for b in B and a
product v of generators. If (1) an edge from i by h leads to the number whose images of B are those
of i h, and (2) for each generator g what left says, L(i) = g i, maps edges to edges, L(i h) =
L(i) h, then by induction L(w) is the number of g w for all words w. So where w and w' have the
same number, g w and g w' have, and v w and v w' for all v: (b v) w is (b v) w'. It takes as many
steps as there are edges, times generators and points of B, and none as long as a map.
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from kernels.transformations import Enumerator, Maps
from kernels.transformations.graphs import rules

_SAMPLED = 4 << 20  # bytes of maps of rules that fail
_SLOWER = 16  # numpy, than an engine that multiplies maps
_LEVEL = 1000  # images that numpy could have found instead of beginning another level


class Claim:
    """Claims that what is found holds for whole maps, from number `start` on: before it, it does.

    rules: how many are to hold. by_maps, by_graphs: what the two ways take, about, in images of
    points that an engine finds.
    """

    def __init__(self, enumerator: Enumerator, start: int) -> None:
        self._enumerator = enumerator
        problem, starts = enumerator.problem, enumerator.starts
        self._right = enumerator.array("right")
        words, letters, others = rules(self._right, enumerator.array("suffix"))
        later = int(np.searchsorted(words, start))
        self._words, self._letters, self._others = words[later:], letters[later:], others[later:]
        self.rules = len(self._words)
        sides = np.concatenate((self._words, self._others))
        lengths = np.searchsorted(starts, sides, side="right")
        self.by_maps = int(lengths.sum()) * problem.degree
        steps = enumerator.expanded * problem.letters * (problem.letters + problem.width)
        self.by_graphs = _SLOWER * (steps + _LEVEL * len(starts))

    def failures(self) -> npt.NDArray[np.bool_]:
        """Return at which points some rules fail: bool (rules, degree), of none if all hold."""
        enumerator = self._enumerator
        words, letters, others = self._words, self._letters, self._others
        none = np.empty((0, enumerator.problem.degree), np.bool_)
        if self.by_graphs < self.by_maps and self._is_proved_by_graphs():
            return none
        at = enumerator.differ(words, letters, others) if self.rules else None
        if at is None:
            return none
        # The first that fails, and some of those behind it.
        generators = enumerator.problem.generators
        count = max(1, _SAMPLED // generators[0].nbytes)
        some = np.unique(np.linspace(at[0], self.rules - 1, count).astype(np.int64))
        products = generators[letters[some, None], enumerator.maps(words[some])]
        unequal = products != enumerator.maps(others[some])
        failures: npt.NDArray[np.bool_] = unequal[unequal.any(axis=1)]
        return failures

    def is_consistent(self) -> bool:
        """Return whether (1) and (2) hold as far as products are known."""
        return self._edges_hold() and self._left_maps_edges()

    def _is_proved_by_graphs(self) -> bool:
        generators = self._enumerator.problem.generators
        if not self._enumerator.finished:
            return False
        reached = (generators == np.arange(generators.shape[1])).all(axis=0)  # or fixed by all
        reached[self._rows] = True
        return bool(reached.all()) and self.is_consistent()

    @cached_property
    def _rows(self) -> Maps:
        """Return the images of the base: (size, points)."""
        enumerator, problem = self._enumerator, self._enumerator.problem
        prefix, last = enumerator.array("prefix"), enumerator.array("last")
        rows: Maps = np.empty((enumerator.size, problem.width), problem.generators.dtype)
        rows[0] = problem.points
        for start, stop in pairwise([*enumerator.starts[1:], enumerator.size]):
            level = slice(start, stop)
            rows[level] = problem.generators[last[level, None], rows[prefix[level]]]
        return rows

    def _edges_hold(self) -> bool:
        expanded = self._rows[: len(self._right)]
        generators = enumerate(self._enumerator.problem.generators)
        return all(
            np.array_equal(images[expanded], self._rows[self._right[:, h]])
            for h, images in generators
        )

    def _left_maps_edges(self) -> bool:
        right, left = self._right, self._enumerator.array("left")
        if not np.array_equal(left[:1], right[: len(left)][:1]):
            return False  # g times the empty word
        targets = right[: len(left)]
        known = targets < len(left)
        everywhere = self._enumerator.finished
        for by_g in np.ascontiguousarray(left.T):
            if everywhere:
                holds = by_g[targets] == right[by_g]
            else:
                sure = known & (by_g < len(right))[:, None]
                after = right[np.minimum(by_g, len(right) - 1)]
                holds = ~sure | (by_g[np.where(known, targets, 0)] == after)
            if not holds.all():
                return False
        return True
