"""Engines that keep a byte a cell, its state, and move on by a function of all cells.

They are the obvious engines of their rules: those that always work, and the oracles of others.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from kernels.life.chain import ChainedUniverse, ChainTurns, check_chain, even_passes
from kernels.life.contract import (
    ChainShape,
    LifeArena,
    LifeChain,
    LifeEngine,
    LifeShape,
    LifeUniverse,
    RuleT,
    Words,
    check_planes,
)
from kernels.life.rules import CellRule

States = npt.NDArray[np.uint8]  # (rows, columns): the state of each cell

_LONGEST_PASS = 8  # of a chain
_CHECKED_WORDS = 1 << 17  # of a plane, whose states are looked at at once


class BytewiseEngine(LifeEngine[RuleT]):
    """Computes rules by step(), a generation at a time.

    planes: the bit planes of cells, the same for all rules that it computes. copies: how many
    arrays as large as the cells step() needs beside them, at most, with the arena's spare.
    """

    copies = 5

    def __init__(self, planes: int = 1) -> None:
        self.planes = planes

    @abstractmethod
    def step(self, cells: States, rule: RuleT, torus: bool) -> States:
        """Return the next generation of cells, another array. Outside is the other side on a
        torus, and of state 0 for ever otherwise."""

    def step_into(self, cells: States, rule: RuleT, torus: bool, out: States) -> States:
        """Return the next generation, as step() does; it may be made in `out`, an array that is
        as large, and no part of which is used any more."""
        return self.step(cells, rule, torus)

    def arena(
        self,
        shapes: Sequence[LifeShape],
        slots: int,
        rule: RuleT,
        chain: ChainShape | None = None,
    ) -> LifeArena:
        """Return an arena of arrays of states."""
        check_planes(shapes, chain, self.planes)
        check_rule(rule, self.planes)
        check_reach(rule, chain)
        chosen = None if chain is None else self.chain(chain)
        return BytewiseArena(self, _most_cells(shapes, chain), slots, rule, chosen)

    def arena_bytes(
        self, shapes: Sequence[LifeShape], slots: int, chain: ChainShape | None = None
    ) -> tuple[int, int]:
        """Return the bytes of host memory that arena() and its steps would take, and 0."""
        check_planes(shapes, chain, self.planes)
        beside = 0
        if chain is not None:
            longest = self.chain(chain).longest
            beside = (2 * chain.generations + (self.copies + 1) * 2 * longest) * chain.width
        return (slots + self.copies) * _most_cells(shapes, chain) + beside, 0

    def chain(self, shape: ChainShape) -> LifeChain:
        """Return a chain of passes of at most 8 generations."""
        check_planes((), shape, self.planes)
        check_chain(shape)
        passes = even_passes(shape.generations, min(_LONGEST_PASS, shape.height // 2))
        return LifeChain(shape.width, shape.torus, passes, self.planes)


def check_rule(rule: CellRule, planes: int) -> None:
    """Raise ValueError for a rule of another number of bit planes."""
    if rule.planes != planes:
        raise ValueError(f"a rule of {rule.states} states for cells in {planes} bit planes")


def check_reach(rule: CellRule, chain: ChainShape | None) -> None:
    """Raise ValueError for a chain of a rule that looks farther than the next cell: the halo of a
    chain is one row for each generation."""
    if chain is not None and rule.reach > 1:
        raise ValueError(f"a rule that looks {rule.reach} cells far cannot be computed in chains")


def _most_cells(shapes: Sequence[LifeShape], chain: ChainShape | None) -> int:
    """Return the cells of the largest universe that is asked for, or of the typical follower."""
    sizes = [shape.width * shape.height for shape in shapes]
    return max(sizes if chain is None else [*sizes, chain.width * chain.height])


class BytewiseArena(LifeArena):
    """An arena of arrays of states, one for each slot, and the spare: what the latest step left."""

    def __init__(
        self,
        engine: BytewiseEngine[RuleT],
        room: int,
        slots: int,
        rule: RuleT,
        chain: LifeChain | None = None,
    ) -> None:
        self.slots, self.chain, self.planes = slots, chain, engine.planes
        self.states = rule.states
        self.step: Callable[[States, bool, States], States] = lambda cells, torus, out: (
            engine.step_into(cells, rule, torus, out)
        )
        self._room = room
        self.cells: list[States] = [np.empty((0, 0), np.uint8)] * slots
        self.spare: States = np.empty((0, 0), np.uint8)
        self.history: States = np.empty((0, 0), np.uint8)
        if chain is not None:
            self._turns = ChainTurns(chain)
            self.history = np.empty((2 * chain.generations, chain.width), np.uint8)

    def open(self, slot: int, shape: LifeShape) -> BytewiseLife:
        """Return a universe in a slot, of dead cells."""
        self.check_slot(slot, shape)
        self._make_room(slot, shape)
        return BytewiseLife(self, slot, shape)

    def open_chained(self, slot: int, height: int, *, first: bool) -> ChainedBytewiseLife:
        """Return a universe of the chain in a slot."""
        self._make_room(slot, self.check_chained(slot, height, first=first))
        return ChainedBytewiseLife(self, slot, height, self._turns, first=first)

    def _make_room(self, slot: int, shape: LifeShape) -> None:
        if shape.width * shape.height > self._room:
            raise ValueError(f"{shape.width}x{shape.height} cells in the room of {self._room}")
        self.cells[slot] = np.zeros((shape.height, shape.width), np.uint8)

    def spare_like(self, cells: States) -> States:
        """Return the spare, made anew where the latest step was of cells of another shape."""
        if self.spare.shape != cells.shape:
            self.spare = np.empty((0, 0), np.uint8)  # freed before more is asked for
            self.spare = np.empty_like(cells)
        return self.spare

    def close(self) -> None:
        """Let the arrays go."""
        self.cells.clear()
        self.spare = np.empty((0, 0), np.uint8)
        self.history = np.empty((0, 0), np.uint8)


class BytewiseLife(LifeUniverse):
    """A universe of a byte a cell."""

    stride = 1

    def __init__(self, arena: BytewiseArena, slot: int, shape: LifeShape) -> None:
        self.width, self.height, self.generation = shape.width, shape.height, 0
        self.planes = arena.planes
        self._arena, self._slot, self._torus = arena, slot, shape.torus

    def step(self, generations: int) -> None:
        """Move on by generations, one after the other."""
        arena, slot = self._arena, self._slot
        cells = arena.cells
        for _ in range(generations):
            made = arena.step(cells[slot], self._torus, arena.spare_like(cells[slot]))
            # No call, and so no interrupt, between these.
            cells[slot], arena.spare = made, cells[slot]
            self.generation += 1

    def put(self, y: int, words: Words) -> None:
        """Unpack rows into the array."""
        self.check_rows(y, words)
        cells = unpacked(words, self.width)
        check_most(int(cells.max(initial=0)), self._arena.states)
        self._arena.cells[self._slot][y : y + len(words)] = cells

    def get(self, y: int, words: Words) -> None:
        """Pack rows of the array."""
        self.check_rows(y, words, written=True)
        words[:] = packed(self._arena.cells[self._slot][y : y + len(words)], self.planes)


class ChainedBytewiseLife(ChainedUniverse, BytewiseLife):
    """A universe of a chain, of a byte a cell."""

    def __init__(
        self, arena: BytewiseArena, slot: int, height: int, turns: ChainTurns, *, first: bool
    ) -> None:
        ChainedUniverse.__init__(self, turns, height, first=first)
        self.planes = arena.planes
        self._arena, self._slot, self._torus = arena, slot, self.chain.torus
        self._above: States = np.empty((0, self.width), np.uint8)

    def _take(self, i: int) -> None:
        self._above = self._arena.history[slice(*self.entry(i))].copy()

    def _leave(self, i: int) -> None:
        rows = slice(*self.left_rows(i))
        self._arena.history[slice(*self.entry(i))] = self._arena.cells[self._slot][rows]

    def _make(self, i: int) -> None:
        cells, slot = self._arena.cells, self._slot
        steps, top = self.chain.passes[i], 0 if self.first else self.chain.passes[i]
        made = np.concatenate((self._above, cells[slot]))
        spare = np.empty_like(made)
        for _ in range(steps):
            spare, made = made, self._arena.step(made, self._torus, spare)
        made = made[top : top + self.height].copy()
        # No call, and so no interrupt, between these.
        cells[slot] = made
        self.generation += steps
        self._turns.made += 1


def check_most(most: int, states: int) -> None:
    """Raise ValueError for a cell of a state that the rule does not have."""
    if most >= states:
        raise ValueError(f"cells in state {most}, where the rule has states 0 to {states - 1}")


def check_states(words: Words, states: int) -> None:
    """Raise ValueError for cells in states that the rule does not have.

    words: (rows, words) or (rows, planes, words). They stay packed: rows are looked at some at a
    time, in a few megabytes beside them.
    """
    if words.ndim == 2 or states == 1 << words.shape[1]:
        return
    rows = max(1, _CHECKED_WORDS // max(1, words.shape[2]))
    for first in range(0, len(words), rows):
        _check_band(words[first : first + rows], states)


def _check_band(words: Words, states: int) -> None:
    """Raise ValueError for cells, (rows, planes, words), in states that the rule does not have."""
    planes, last = words.shape[1], states - 1
    # Where the digits so far, from the highest on, are those of the last state.
    same = np.full((words.shape[0], words.shape[2]), 2**64 - 1, np.uint64)
    above = np.zeros_like(same)
    for plane in reversed(range(planes)):
        digit = words[:, plane]
        if last >> plane & 1:
            same &= digit
        else:
            above |= same & digit
            same &= ~digit
    if above.any():
        y, x = (int(i[0]) for i in np.nonzero(above))
        bit = (int(above[y, x]) & -int(above[y, x])).bit_length() - 1
        check_most(sum((int(d) >> bit & 1) << i for i, d in enumerate(words[y, :, x])), states)


def unpacked(words: Words, width: int) -> States:
    """Return the states of rows of words, (rows, words) or (rows, planes, words)."""
    bits = np.unpackbits(words.view(np.uint8), axis=-1, count=width, bitorder="little")
    if bits.ndim == 2:
        return bits
    states = bits[:, 0].copy()
    for plane in range(1, bits.shape[1]):
        states |= bits[:, plane] << plane
    return states


def packed(cells: States, planes: int) -> Words:
    """Return rows of states as words: (rows, words) for one plane, else (rows, planes, words)."""
    rows, width = cells.shape
    words = np.zeros((rows, planes, -(-width // 64)), np.uint64)
    for plane in range(planes):
        bits = np.packbits(cells >> plane & 1, axis=-1, bitorder="little")
        words.view(np.uint8)[:, plane, : bits.shape[1]] = bits
    return words[:, 0] if planes == 1 else words
