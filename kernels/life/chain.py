"""The order in which universes of a chain take, leave and make passes: the same for all engines."""

from __future__ import annotations

from abc import abstractmethod
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import replace

from kernels.life.contract import ChainShape, LifeChain, LifeShape, LifeUniverse


class ChainTurns:
    """Keeps whose turn it is among the chained universes of one arena.

    opened: how many there were. stepping: the number of the one that has stepped last, and
    made: the passes that it has made.
    """

    def __init__(self, chain: LifeChain) -> None:
        self.chain = chain
        self.opened = self.stepping = self.made = 0


class ChainedUniverse(LifeUniverse):
    """Universe of a chain: holds the order of things, which is the same for all engines.

    An engine says how to take what the one before has left, how to leave rows behind for
    the one after, and how to make a pass. Entry i of the history is both: before pass i it
    is taken, and replaced by what is left.
    """

    def __init__(self, turns: ChainTurns, height: int, *, first: bool) -> None:
        turns.chain.check_height(height, first=first)
        self.chain, self.first = turns.chain, first
        self.width, self.height, self.generation = self.chain.width, height, 0
        self.planes = self.chain.planes
        self.stride = self.chain.longest
        # The row of the memory at which row 0 stands: in front is room for what is taken.
        self.base = 0 if first else 2 * self.chain.longest
        self._turns = turns
        self._number = turns.opened = turns.opened + 1
        self._taken = -1  # the pass that has what it takes

    def next_steps(self, at_most: int) -> int:
        """Return the whole passes that at_most generations make, at least one; 0 after the last."""
        starts, made = self.chain.starts, self._passes_made()
        after = max(made + 1, bisect_right(starts, self.generation + at_most) - 1)
        return starts[min(after, len(starts) - 1)] - self.generation

    def _passes_made(self) -> int:
        return bisect_left(self.chain.starts, self.generation)

    def step(self, generations: int) -> None:
        """Make the passes that add up to `generations`.

        Raises ValueError where none do, and where it is another universe's turn.
        """
        starts, made = self.chain.starts, self._passes_made()
        after = bisect_left(starts, self.generation + generations)
        if after < made or after == len(starts) or starts[after] != self.generation + generations:
            raise ValueError(f"{generations} generations from {self.generation} are no passes")
        if after == made:
            return
        self._await_turn(made)
        for i in range(made, after):
            # A pass that was interrupted finds its entry replaced: it takes nothing anew.
            if not self.first and self._taken != i:
                self._take(i)
                self._taken = i
            self._leave(i)
            self._make(i)

    def _await_turn(self, made: int) -> None:
        """Raise ValueError where another has to step first, or has stepped since."""
        turns = self._turns
        if turns.stepping == self._number:
            return
        if made:
            raise ValueError("another universe of the chain has stepped since")
        before = self._number - 1, len(self.chain.passes)
        if not self.first and (turns.stepping, turns.made) != before:
            raise ValueError("the universe before in the chain has not made all its passes")
        turns.stepping, turns.made = self._number, 0

    def left_rows(self, i: int) -> tuple[int, int]:
        """First and last + 1 of the rows to leave behind before pass i."""
        end = self.height - (self.chain.starts[i] if self.first else 0)
        return end - 2 * self.chain.passes[i], end

    def entry(self, i: int) -> tuple[int, int]:
        """First and last + 1 of the rows of the history that pass i takes and leaves."""
        return 2 * self.chain.starts[i], 2 * self.chain.starts[i + 1]

    @abstractmethod
    def _take(self, i: int) -> None:
        """Copy entry i of the history to right in front of row 0."""

    @abstractmethod
    def _leave(self, i: int) -> None:
        """Copy left_rows(i) to entry i of the history."""

    @abstractmethod
    def _make(self, i: int) -> None:
        """Make pass i, and count it in `generation` and `made` of the turns.

        A follower's is over what it has taken and its rows, 2 passes[i] more; `height` rows
        of the result from passes[i] on are its rows then.
        """


def even_passes(generations: int, longest: int) -> tuple[int, ...]:
    """Split `generations` into as few passes as possible, of lengths that differ by at most one."""
    count = -(-generations // longest)
    return tuple(generations // count + (i < generations % count) for i in range(count))


def with_slack(shapes: Sequence[LifeShape], shape: ChainShape, chain: LifeChain) -> list[LifeShape]:
    """Return `shapes` and the typical follower, with the slack of the chain where they fit it."""
    follower = LifeShape(shape.width, shape.height, shape.torus, shape.planes)
    return [
        replace(one, height=one.height + chain.slack)
        if (one.width, one.torus) == (shape.width, shape.torus)
        else one
        for one in (*shapes, follower)
    ]


def check_chain(shape: ChainShape) -> None:
    """Raise ValueError for sizes that make no chain."""
    if shape.width < 1 or shape.generations < 1 or shape.height < 2:
        raise ValueError(
            f"no chain of {shape.width}x{shape.height} cells for {shape.generations} generations"
        )
