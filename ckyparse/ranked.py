"""The parses of one sentence in the order of their probabilities.

Huang & Chiang, "Better k-best parsing" (2005), algorithm 3: a node's next best tree is
looked for only when a tree above asks for it.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any

from kernels.cky import cell
from kernels.cky.weighted.semirings import log

from .forest import Forest, Node, Path, Step
from .normal import NormalForm

if TYPE_CHECKING:
    from nltk.tree import ProbabilisticTree

    from kernels.cky.weighted.contract import Logs

# A node, and what must not occur below it: so no state is below itself.
State = tuple[Node, Path]
# What a tree costs, the number of its first step, and which trees of the children it has.
Choice = tuple[float, int, tuple[int, ...]]

_NOTHING: Path = frozenset()
_LEAST = sys.float_info.min  # of floats that have all their digits
_LOG_2 = math.log(2)


@dataclass(slots=True)
class _Entry:
    """steps: with the states below each. found: the best trees of a state, in order; of so
    many of them what may come next was offered. waiting: a heap of what was."""

    steps: list[tuple[Step, tuple[State, ...]]]
    found: list[Choice] = field(default_factory=list)
    spread: int = 0
    waiting: list[Choice] = field(default_factory=list)
    seen: set[tuple[int, tuple[int, ...]]] = field(default_factory=set)


class Ranked:
    """Gives the trees of forest.trees(), the most probable first; of a grammar with probabilities.

    best: the logarithms of the best probabilities of all spans, as WeightedCky.chart() has
        them; with these no more of the forest is looked at than trees need.

    A tree costs the sum of minus the logarithms of its productions' probabilities, in
    float64: trees that differ by less than rounding may come in either order.
    """

    def __init__(self, forest: Forest, best: Logs | None = None) -> None:
        if not forest.normal_form.grammar.is_probabilistic:
            raise ValueError("the grammar has no probabilities")
        self._forest, self._best = forest, best
        self._floats, self._logs = _weights(forest.normal_form)
        self._entries: dict[State, _Entry] = {}

    def trees(self) -> Iterator[ProbabilisticTree]:
        """Yield one tree after another, each when asked for, with the probability of each part.

        A probability that is less than a float can be is there as its logarithm: prob() is 0.0
        then, but logprob() is right.
        """
        if self._forest.root is None:
            return
        root = self._forest.root, _NOTHING
        rank = 0
        while self._found(root, rank):
            yield self._tree(root, rank)
            rank += 1

    def _found(self, state: State, rank: int) -> bool:
        """Look for so many more trees of a state; return whether there are."""
        stack = [self._look(state, rank)]
        while stack:
            needed = next(stack[-1], None)
            if needed is None:
                stack.pop()
            else:
                stack.append(self._look(*needed))
        return rank < len(self._entries[state].found)

    def _look(self, state: State, rank: int) -> Generator[tuple[State, int]]:
        """Look without recursion: yield what has to be looked for before it goes on."""
        entry = self._entries.get(state)
        if entry is None:
            entry = self._entries[state] = _Entry(self._steps(state))
            for number, (_, below) in enumerate(entry.steps):
                for child in below:
                    if self._least(child) is None:
                        yield child, 0
                self._offer(entry, number, (0,) * len(below))
        while len(entry.found) <= rank:
            if entry.spread < len(entry.found):
                entry.spread += 1
                _, number, ranks = entry.found[-1]
                for place, child in enumerate(entry.steps[number][1]):
                    following = (*ranks[:place], ranks[place] + 1, *ranks[place + 1 :])
                    yield child, following[place]
                    self._offer(entry, number, following)
            if not entry.waiting:
                return
            entry.found.append(heappop(entry.waiting))

    def _offer(self, entry: _Entry, number: int, ranks: tuple[int, ...]) -> None:
        """Offer a tree that may be the next, if there is such and it was not offered before."""
        if (number, ranks) in entry.seen:
            return
        (production, _), below = entry.steps[number]
        cost = -self._logs[production]
        for child, rank in zip(below, ranks, strict=True):
            more = self._cost(child, rank)
            if more is None:
                return
            cost += more
        entry.seen.add((number, ranks))
        heappush(entry.waiting, (cost, number, ranks))

    def _cost(self, state: State, rank: int) -> float | None:
        """Return the cost of a tree that was looked for; None if there is no such."""
        if rank == 0:
            return self._least(state)
        found = self._entries[state].found
        return found[rank][0] if rank < len(found) else None

    def _least(self, state: State) -> float | None:
        """Return what the best tree costs; None if that is not known yet, or there is none."""
        entry = self._entries.get(state)
        if entry is not None:
            return entry.found[0][0] if entry.found else None
        (symbol, i, j), above = state
        if self._best is None or above or i == j:
            return None
        cost = -self._best.item(cell(i, j), symbol)
        return cost if cost < math.inf else None

    def _steps(self, state: State) -> list[tuple[Step, tuple[State, ...]]]:
        node, above = state
        knot = self._forest._knots.get(node, _NOTHING)
        return [
            (step, tuple((child, below if child in knot else _NOTHING) for child in step[1]))
            for step, below in self._forest._choices(node, above)
        ]

    def _tree(self, state: State, rank: int) -> ProbabilisticTree:
        from nltk.tree import ProbabilisticTree

        form, tokens = self._forest.normal_form, self._forest.tokens
        order: list[tuple[Node, int, int]] = []  # from the root down, left before right
        waiting = [(state, rank)]
        while waiting:
            above, place = waiting.pop()
            self._found(above, place)
            entry = self._entries[above]
            _, number, ranks = entry.found[place]
            (production, _), below = entry.steps[number]
            order.append((above[0], production, len(below)))
            waiting += reversed(list(zip(below, ranks, strict=True)))
        # Parts from left to right, their probability, and its logarithm.
        done: list[tuple[list[Any], float, float]] = []
        for (symbol, i, j), production, children in reversed(order):
            value, logarithm = self._floats[production], self._logs[production]
            parts: list[Any] = [] if children or i == j else [tokens[i]]
            for _ in range(children):
                more, probability, its_log = done.pop()
                parts += more
                value *= probability
                logarithm += its_log
            name = form.symbol_of(symbol)
            if name is not None:
                # A tree of nltk has one of the two: the other follows from it. Products of
                # floats are exact to the last digits, but not of any size.
                exact = _LEAST <= value < math.inf
                known = {"prob": value} if exact else {"logprob": logarithm / _LOG_2}
                parts = [ProbabilisticTree(form.grammar.label(name), parts, **known)]
            done.append((parts, value, logarithm))
        tree: ProbabilisticTree = done[0][0][0]
        return tree


@lru_cache(maxsize=4)
def _weights(form: NormalForm) -> tuple[list[float], list[float]]:
    """Return the probability of each production and, last, of -1; and its natural logarithm."""
    values = [*(p.probability or Fraction(0) for p in form.productions), Fraction(1)]
    return [float(x) for x in values], [log(x) for x in values]
